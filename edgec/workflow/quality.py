"""Is what quantization left good enough: warnings on poor outputs, their causes, what to try."""

from __future__ import annotations

from edgec.base.names import shown
from edgec.base.options import Effort, Precision, QuantSettings, Residual
from edgec.ir.graph import Graph
from edgec.quant.cnn.fit_weights import LEAST_SAMPLES
from edgec.quant.common.report import (
    CalibrationSource,
    Cause,
    Decisions,
    LayerLoss,
    QuantReport,
)
from edgec.workflow.evaluation_check import LEAST_AGREEMENT

POOR_DB = 20.0
"""Signal to noise of an output below which a warning says so: noise of a tenth of the signal."""
_FEWEST_OTHERS = 2
"""One sample that is decided otherwise says nothing about a share."""
_WORST = 3
"""Layers that a warning names."""
_LEAST_SHARE = 0.05
"""Share of the noise below which a layer is not worth a word."""


def quality_warnings(graph: Graph, report: QuantReport, settings: QuantSettings) -> tuple[str, ...]:
    """Outputs of which quantization left little on the user's own data, and where it was lost.

    Args:
        graph: INTEGER stage.
        report: what its quantization did to each layer.
        settings: what was asked for, which is no advice any more.
    """
    if report.source is not CalibrationSource.USER:
        return ()
    poor = [
        f"output {shown(layer.value)!r} has {layer.sqnr_db:.1f} dB of signal to quantization noise "
        f"on the calibration data; below {POOR_DB:g} dB noise is more than a tenth of the signal"
        for layer in report.layers
        if layer.value in graph.outputs and layer.sqnr_db < POOR_DB
    ]
    found = report.decisions
    others = found.samples - found.equal if found else 0
    if found and others >= _FEWEST_OTHERS and found.share < LEAST_AGREEMENT:
        poor.append(_decided(found))
    total = sum(loss.noise for loss in report.losses)
    if not poor or total <= 0.0:
        return tuple(poor)
    worst = sorted(report.losses, key=lambda loss: -loss.noise)[:_WORST]
    causes = [
        f"{loss.noise / total:.0%} from {shown(loss.value)!r} "
        f"({loss.why.value}: {advice(loss, report, settings)})"
        for loss in worst
        if loss.noise > _LEAST_SHARE * total
    ]
    if not causes:
        return (*poor, f"no layer adds more than {_LEAST_SHARE:.0%} of the noise at the outputs")
    return (*poor, f"noise at the outputs: {', '.join(causes)}")


def _decided(found: Decisions) -> str:
    samples = f"on {found.equal} of {found.samples} calibration samples"
    wrong = f"below {LEAST_AGREEMENT:.0%} something is wrong"
    if found.classes:
        return f"the integers decide as the float model {samples}; {wrong}"
    return (
        f"the largest output is that of the float model {samples}; if the outputs score classes, "
        f"{wrong}"
    )


def advice(loss: LayerLoss, report: QuantReport, settings: QuantSettings) -> str:
    """Advice against the loss of a layer.

    Args:
        loss: what it loses, and why.
        report: what quantization did.
        settings: what was asked for.
    """
    if report.in_force.residual is not None:
        return _advice_on_transformers(report, settings)
    if report.in_force.observer is None:
        return "its codes are the file's: give edgec the float model, or quantize it anew"
    if loss.why is Cause.WEIGHTS:
        if report.samples < LEAST_SAMPLES:
            return f"{LEAST_SAMPLES} calibration samples or more, which choose weights"
        if settings.effort is not Effort.BEST:
            return "--effort best"
        return "edgec quantize --train"
    if loss.why is Cause.CLIPPED:
        return "more samples, or --observer minmax"
    if settings.precision is Precision.INT8:
        return "--precision auto"
    if settings.precision is Precision.AUTO:
        return "a higher --target-db" if settings.max_drop is None else "a smaller --max-drop"
    return "edgec quantize --train"


def _advice_on_transformers(report: QuantReport, settings: QuantSettings) -> str:
    """Searched scales leave the stream, the types, the samples and the biases to change."""
    if report.in_force.residual is Residual.INT8:
        return "--residual int16"
    if report.samples < LEAST_SAMPLES:
        return f"{LEAST_SAMPLES} calibration samples or more, which choose scales"
    if settings.precision is Precision.INT8:
        return "--precision auto"
    if not settings.bias_correction:
        return "--bias-correction"
    return "more calibration samples, of all kinds"
