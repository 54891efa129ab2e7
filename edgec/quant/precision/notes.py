"""Notes for the user on a choice of precision."""

from __future__ import annotations

from edgec.quant.common.report import PrecisionReport
from edgec.quant.precision.held import LEAST_SAMPLES


def precision_warnings(report: PrecisionReport | None) -> tuple[str, ...]:
    """A sentence where the samples were too few to judge a choice by others than it suits."""
    if report is None or report.held_back:
        return ()
    return (
        "the accuracy of int16 codes was measured on the samples that scales and biases were "
        f"fitted to, and other data have less: from {LEAST_SAMPLES} samples on a quarter of them "
        "is held back to measure it",
    )


def precision_notes(report: PrecisionReport | None) -> tuple[str, ...]:
    """Notes for the user on a choice, a line each."""
    if report is None:
        return ()
    counted = f"{len(report.tensors)} of {report.candidates} tensors have int16 codes"
    found = (
        f"{counted}: {report.output_db:.1f} dB at the worst output{_on(report)}, "
        f"{report.int8_db:.1f} dB with int8 alone, {report.int16_db:.1f} dB with int16 everywhere"
    )
    lines = [found]
    if not report.tensors and report.int16_db < report.int8_db:
        lines.append("no tensor has int16 codes: with int8 codes alone less is lost")
    if report.decisions and report.int8_decisions and report.int16_decisions:
        lines.append(
            f"decisions as the float model: {report.decisions.equal} of {report.decisions.samples} "
            f"calibration samples{_held(report)}, {report.int8_decisions.equal} with int8 alone, "
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


def _on(report: PrecisionReport) -> str:
    return f" on {report.samples} calibration samples{_held(report)}"


def _held(report: PrecisionReport) -> str:
    return " held back" if report.held_back else ""
