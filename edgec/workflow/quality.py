"""Is what quantization left good enough: warnings on poor outputs, their causes, what to try."""

from __future__ import annotations

import math
from collections.abc import Iterator

from edgec.base.names import shown
from edgec.base.options import (
    DEFAULT_TARGET_DB,
    Observer,
    Precision,
    QuantSettings,
    Residual,
)
from edgec.ir.graph import Graph
from edgec.quant.common.report import (
    CalibrationSource,
    Cause,
    Decisions,
    Estimate,
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
        f"output {shown(name)!r} has {found:.1f} dB of signal to quantization noise "
        f"on the calibration data; below {POOR_DB:g} dB noise is more than a tenth of the signal"
        for name, found in _output_db(graph, report).items()
        if found < POOR_DB
    ]
    poor = poor or list(_poor_elsewhere(report.estimate))
    if report.decisions is not None and _is_decided_badly(report.decisions):
        poor.append(_decided(report.decisions))
    total = sum(loss.noise for loss in report.losses)
    if not poor or total <= 0.0:
        return tuple(poor)
    worst = sorted(report.losses, key=lambda loss: -loss.noise)[:_WORST]
    causes = [
        f"{loss.noise / total:.0%} from {shown(loss.value)!r} "
        f"({_why(loss, graph, report, settings)})"
        for loss in worst
        if loss.noise > _LEAST_SHARE * total
    ]
    if not causes:
        return (*poor, f"no layer adds more than {_LEAST_SHARE:.0%} of the noise at the outputs")
    return (*poor, f"noise at the outputs: {', '.join(causes)}")


def _why(loss: LayerLoss, graph: Graph, report: QuantReport, settings: QuantSettings) -> str:
    found = advice(loss, graph, report, settings)
    return f"{loss.why.value}: {found}" if found else loss.why.value


def _poor_elsewhere(found: Estimate | None) -> Iterator[str]:
    """A sentence where the calibration data are well and others are not.

    Where others may not be, but most likely are, the line of the estimate says so.
    """
    if found is None or found.output_db >= POOR_DB:
        return
    expected = (
        f"{found.output_db:.1f} dB of signal to quantization noise are expected at the worst "
        f"output on data that calibration has not seen, {found.fitted_db:.1f} dB on the others"
    )
    least = f"{found.lower_db:.1f} dB" if math.isfinite(found.lower_db) else "anything"
    why = "; few samples: give more" if found.few_samples else ""
    yield f"{expected}; it may be {least}: below {POOR_DB:g} dB noise is more than a tenth{why}"


def _output_db(graph: Graph, report: QuantReport) -> dict[str, float]:
    return {layer.value: layer.sqnr_db for layer in report.layers if layer.value in graph.outputs}


def _is_decided_badly(found: Decisions) -> bool:
    return found.samples - found.equal >= _FEWEST_OTHERS and found.share < LEAST_AGREEMENT


def _decided(found: Decisions) -> str:
    samples = f"on {found.equal} of {found.samples} calibration samples"
    wrong = f"below {LEAST_AGREEMENT:.0%} something is wrong"
    if found.classes:
        return f"the integers decide as the float model {samples}; {wrong}"
    return (
        f"the largest output is that of the float model {samples}; if the outputs score classes, "
        f"{wrong}"
    )


def advice(loss: LayerLoss, graph: Graph, report: QuantReport, settings: QuantSettings) -> str:
    """The remedy for the loss of a layer; "" where none is known, or none is needed.

    Only what was tried, or follows from what was measured, is advised: codes of int16 take away the
    noise of a tensor's codes, a range that holds all values has less noise where `Cause.CLIPPED` is
    the cause.  Whether more samples or `--effort best` give better weights is not known before.

    Args:
        loss: what it loses, and why.
        graph: INTEGER stage.
        report: what quantization did.
        settings: what was asked for.
    """
    outputs, decisions = _output_db(graph, report), report.decisions
    worst = min(outputs.values(), default=POOR_DB)
    is_poor = worst < POOR_DB or (decisions is not None and _is_decided_badly(decisions))
    force = report.in_force
    searched = force.residual is not None
    if not is_poor:
        return ""
    if force.observer is None and not searched:
        return "its codes are the file's: give edgec the float model, or quantize it anew"
    if force.residual is Residual.INT8:
        return "--residual int16"
    if loss.why is Cause.WEIGHTS and not searched:
        return "edgec quantize --train"
    if loss.why is Cause.CLIPPED and not searched and force.observer is not Observer.MINMAX:
        return "--observer minmax"
    explained = loss.codes >= loss.weights or searched
    if not explained or loss.value in graph.input_features:
        return ""
    return _wider(worst, decisions, settings)


def _wider(worst_db: float, decisions: Decisions | None, settings: QuantSettings) -> str:
    """The option that gives int16 codes to more tensors; "" where none would."""
    named = decisions is not None and decisions.classes
    match settings:
        case QuantSettings(precision=Precision.INT8):
            if worst_db < DEFAULT_TARGET_DB:
                return "--precision auto"
            return "--precision auto --max-drop 1" if named else ""
        case QuantSettings(precision=Precision.AUTO, max_drop=None, target_db=float(target)):
            return "a higher --target-db" if worst_db >= target else ""
        case QuantSettings(precision=Precision.AUTO, max_drop=float(drop)) if decisions is not None:
            return "a smaller --max-drop" if 100.0 * (1.0 - decisions.share) <= drop else ""
    return ""
