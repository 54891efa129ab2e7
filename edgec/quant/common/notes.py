"""What the user reads of the choice of weights."""

from __future__ import annotations

from edgec.quant.common.report import WeightsReport


def weights_notes(report: WeightsReport | None) -> tuple[str, ...]:
    """A line on what codes chosen by the error of outputs gained; none where no layer has any."""
    if report is None or not report.layers:
        return ()
    compared = (
        f"{report.output_db:.1f} dB at the worst output on calibration samples held back, "
        f"{report.nearest_db:.1f} dB with nearest codes"
    )
    if report.kept:
        return (f"weights of {report.layers} layers chosen by the error of outputs: {compared}",)
    return (f"weights keep their nearest codes; chosen by the error of outputs: {compared}",)
