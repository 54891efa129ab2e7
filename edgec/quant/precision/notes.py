"""What the user reads of a choice of precision."""

from __future__ import annotations

from edgec.quant.common.report import PrecisionReport


def precision_notes(report: PrecisionReport | None) -> tuple[str, ...]:
    """What the user reads of a choice, a line each."""
    if report is None:
        return ()
    counted = f"{len(report.tensors)} of {report.candidates} tensors have int16 codes"
    found = (
        f"{counted}: {report.output_db:.1f} dB at the worst output, "
        f"{report.int8_db:.1f} dB with int8 alone, {report.int16_db:.1f} dB with int16 everywhere"
    )
    lines = [found]
    if report.decisions and report.int8_decisions and report.int16_decisions:
        lines.append(
            f"decisions as the float model: {report.decisions.equal} of {report.decisions.samples} "
            f"calibration samples, {report.int8_decisions.equal} with int8 alone, "
            f"{report.int16_decisions.equal} with int16 everywhere"
        )
    if report.tensors and len(report.tensors) < report.candidates:
        lines.append(f"int16: {', '.join(report.tensors)}")
    if report.tensors and report.arena_bytes is not None:
        price = (
            f"int16 codes take an arena of {report.arena_bytes:,} bytes, int8 alone "
            f"{report.int8_arena_bytes:,}"
        )
        if report.slowdown is not None:
            price += f"; layers with weights take about {report.slowdown:.1f} times its cycles"
        lines.append(price)
    if report.left_out:
        lines.append(
            f"{report.left_out} more tensors would need int16 codes; they do not fit the RAM"
        )
    return tuple(lines)
