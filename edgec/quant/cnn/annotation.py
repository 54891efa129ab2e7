"""REAL to ANNOTATED: choose the parameters of every value, quantize every weight."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from edgec.base.dtypes import Array
from edgec.base.errors import QuantizationError
from edgec.base.options import Observer, QuantOptions
from edgec.floatrun.activations import checked_calibration
from edgec.ir.graph import Graph, Value
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.balance import balance, can_balance
from edgec.quant.cnn.fit_weights import effort_in_force, fitted
from edgec.quant.cnn.known import data_free_params
from edgec.quant.cnn.ranges import calibrated_params
from edgec.quant.cnn.ties import TieGroup, split_conflicts, tie_groups
from edgec.quant.common.calibrate import Progress
from edgec.quant.common.quality import quality_of
from edgec.quant.common.refuse import refuse_real_only
from edgec.quant.common.report import (
    CalibrationSource,
    InForce,
    LayerQuality,
    QuantReport,
)
from edgec.quant.common.synthetic import describe, synthetic_inputs, warn_synthetic
from edgec.quant.common.weights import quantize_constants
from edgec.quant.convert.conversion import Converters, to_integer
from edgec.quant.convert.converters import CONVERTERS

_LOG = logging.getLogger(__name__)

QUALITY_SAMPLES = 8
"""Calibration samples that the quality of each layer is measured on."""


@dataclass(frozen=True, slots=True, eq=False)
class Annotated:
    """A quantized graph beside the real one.

    Attributes:
        real: REAL stage that the quantized one stands for: channels scaled, with its values.
        graph: ANNOTATED stage.
        report: what there is to know about it.
        data: what was calibrated on; None where nothing was.
    """

    real: Graph
    graph: Graph
    report: QuantReport
    data: Mapping[str, Array] | None


def annotate(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
) -> tuple[Graph, QuantReport]:
    """Quantize a real graph.

    Values that share parameters (`ties`) get those that the model pins; else the known ones of
    Sigmoid, Tanh and Softmax; else those of their range over the calibration data.  A model that
    pins everything needs no data.  Without data a float model is calibrated on synthetic inputs
    (`common.synthetic`: uniform noise in `options.synthetic_range`) with a warning, by their
    extremes and without bias correction: noise says nothing about the shape of a distribution.

    Args:
        graph: REAL stage, batch norms folded, no Q/DQ nodes.
        calibration: graph input name to float32 [N, ...graph shape without batch...], or None.
        options: observer, equalization, bias correction.
        progress: told what is being done.
        converters: converter of each operator that has an integer form.

    Returns:
        The graph in the ANNOTATED stage, and what there is to know about it.

    Raises:
        ConfigError: the calibration data do not fit the graph.
        UnsupportedModelError: operators without an integer form.
        QuantizationError: NaN or infinite numbers, accumulators that cannot be bounded, or a model
            that pins some tensors but not all when there is no calibration data.
    """
    found = annotate_beside(graph, calibration, options, progress, converters)
    return found.graph, found.report


def annotate_beside(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
) -> Annotated:
    """As `annotate`, with the real graph beside the result."""
    found = ranged(graph, calibration, options, progress, converters)
    return with_weights(found, found.data, options, progress, converters)


@dataclass(frozen=True, slots=True, eq=False)
class Ranged:
    """A network whose values have their parameters, and whose weights have their nearest codes.

    Attributes:
        real: REAL stage that it stands for: channels scaled.
        graph: ANNOTATED stage.
        data: what was calibrated on; None where nothing was.
        source: where the data come from.
        observed: whether a range was observed.
        equalized: whether channels were scaled.
        notes: what the user should know.
    """

    real: Graph
    graph: Graph
    data: Mapping[str, Array] | None
    source: CalibrationSource
    observed: bool
    equalized: bool
    notes: tuple[str, ...]


def ranged(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
) -> Ranged:
    """The first half of `annotate`: the parameters of values."""
    refuse_real_only(graph, converters)
    settings = options.settings()
    data: Mapping[str, Array] | None = None
    if calibration is not None:
        data = checked_calibration(graph, calibration)
    equalized = data is not None and settings.equalize and can_balance(graph)
    if equalized and data is not None:
        graph = balance(graph, data)
    graph = split_conflicts(graph)
    groups = tie_groups(graph)
    params = data_free_params(graph, groups, has_data=data is not None)
    open_groups = [group for group in groups if group.members[0] not in params]
    data, source = _data(graph, data, open_groups, options)
    if open_groups and data is not None:
        if source is CalibrationSource.SYNTHETIC:
            settings = replace(settings, observer=Observer.MINMAX)
        params |= calibrated_params(graph, open_groups, data, settings, progress)
    values = {name: _with_quant(value, params) for name, value in graph.values.items()}
    annotated, notes = quantize_constants(graph.replace(values=values))
    return Ranged(graph, annotated, data, source, bool(open_groups), equalized, notes)


def with_weights(
    found: Ranged,
    samples: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
) -> Annotated:
    """The second half of `annotate`: codes of weights, biases, and the report.

    Args:
        found: the parameters of values.
        samples: what weights and biases are chosen by, all of the calibration data or a part.
        options: bias correction, effort, the element type of activations.
        progress: told what is being done.
        converters: converter of each operator that has an integer form.
    """
    settings, annotated = options.settings(), found.graph
    synthetic = found.source is CalibrationSource.SYNTHETIC
    corrects = settings.bias_correction and samples is not None and not synthetic
    weights, effort = None, None
    if samples is not None and found.source is CalibrationSource.USER:
        effort = effort_in_force(found.real, settings, len(next(iter(samples.values()))))
    if corrects and samples is not None:
        annotated, weights = fitted(found.real, annotated, samples, settings, effort, progress)
    observer = Observer.MINMAX if synthetic else settings.observer
    in_force = InForce(
        observer=observer if found.observed else None,
        equalize=found.equalized,
        bias_correction=corrects,
        percentile=settings.percentile,
        effort=effort,
    )
    integer = to_integer(annotated, converters)
    layers = _quality(found.real, integer, samples, progress) if samples else ()
    report = _report(found.data, options, in_force, found.source, found.notes, layers)
    return Annotated(found.real, annotated, replace(report, weights=weights), found.data)


def _with_quant(value: Value, params: Mapping[str, QuantParams]) -> Value:
    return replace(value, quant=params.get(value.name))


def _data(
    graph: Graph,
    data: Mapping[str, Array] | None,
    open_groups: list[TieGroup],
    options: QuantOptions,
) -> tuple[Mapping[str, Array] | None, CalibrationSource]:
    """The data to calibrate on, and where they come from."""
    if data is not None:
        return data, CalibrationSource.USER
    if not open_groups:
        return None, CalibrationSource.NONE
    if any(v.quant is not None for n, v in graph.values.items() if n not in graph.input_features):
        names = ", ".join(repr(group.sources[0]) for group in open_groups)
        raise QuantizationError(
            f"the model quantizes some tensors, but not these: {names}",
            hint="give calibration data, or quantize the whole model",
        )
    low, high = options.synthetic_range
    warn_synthetic(low, high)
    return synthetic_inputs(graph, low, high), CalibrationSource.SYNTHETIC


def _quality(
    graph: Graph, integer: Graph, data: Mapping[str, Array], progress: Progress | None
) -> tuple[LayerQuality, ...]:
    few = {name: array[:QUALITY_SAMPLES] for name, array in data.items()}
    return quality_of(graph, integer, few, progress)


def _report(
    data: Mapping[str, Array] | None,
    options: QuantOptions,
    in_force: InForce,
    source: CalibrationSource,
    notes: tuple[str, ...],
    layers: tuple[LayerQuality, ...],
) -> QuantReport:
    low, high = options.synthetic_range
    warning = f"calibrated on {describe(low, high)}; expect bad accuracy"
    return QuantReport(
        source=source,
        samples=len(next(iter(data.values()))) if data else 0,
        in_force=in_force,
        warnings=(*([warning] if source is CalibrationSource.SYNTHETIC else []), *notes),
        layers=layers,
    )
