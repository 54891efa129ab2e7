"""REAL to ANNOTATED: choose the parameters of every value, quantize every weight."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from edgec.base.dtypes import Array
from edgec.base.errors import QuantizationError
from edgec.base.options import Observer, QuantOptions, QuantSettings
from edgec.floatrun.activations import checked_calibration
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.aims import range_aims
from edgec.quant.cnn.balance import balance, can_balance
from edgec.quant.cnn.costs import layer_costs
from edgec.quant.cnn.derive import derived_params
from edgec.quant.cnn.fit_weights import effort_in_force, fitted
from edgec.quant.cnn.ties import TieGroup, split_conflicts, tie_groups
from edgec.quant.common.calibrate import Progress, calibrate
from edgec.quant.common.importance import importance
from edgec.quant.common.params import Range, activation_params, range_of
from edgec.quant.common.refuse import refuse_real_only
from edgec.quant.common.report import (
    CalibrationSource,
    InForce,
    LayerCost,
    LayerQuality,
    QuantReport,
    quality_of,
)
from edgec.quant.common.statistics import channel_statistics
from edgec.quant.common.synthetic import describe, synthetic_inputs, warn_synthetic
from edgec.quant.common.weights import quantize_constants
from edgec.quant.convert.conversion import Converters, to_integer
from edgec.quant.convert.converters import CONVERTERS

_LOG = logging.getLogger(__name__)

QUALITY_SAMPLES = 8
"""Calibration samples that the quality of each layer is measured on."""
STATISTICS_SAMPLES = 64
"""Calibration samples that say which channels matter."""
_PAD_REACH = 16.0
_PAD_LEAST = 256.0
"""A number to fill with beyond _PAD_LEAST and _PAD_REACH times the data stands for "never wins"."""

_POOR_DB = 20.0
"""Signal to noise of an output below which the report says where it goes."""
_HIDDEN_BELOW = 12.0
"""A logit this far below the largest has a probability below that of an 8-bit step."""

_FIXED: Mapping[object, QuantParams] = MappingProxyType(
    {
        "Softmax": QuantParams.per_tensor(1 / 256, -128),
        ops.UnaryKind.SIGMOID: QuantParams.per_tensor(1 / 256, -128),
        ops.UnaryKind.TANH: QuantParams.per_tensor(1 / 128, 0),
    }
)
"""Functions with a known range.  Source: TensorFlow Lite 8-bit quantization specification."""


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
    refuse_real_only(graph, converters)
    settings = options.settings()
    data: Mapping[str, Array] | None = None
    if calibration is not None:
        data = checked_calibration(graph, calibration)
    equalized = data is not None and settings.equalize and can_balance(graph)
    graph = balanced(graph, data, settings)
    graph = split_conflicts(graph)
    groups = tie_groups(graph)
    params = _data_free_params(graph, groups, has_data=data is not None)
    open_groups = [group for group in groups if group.members[0] not in params]
    data, source = _data(graph, data, open_groups, options)
    if source is CalibrationSource.SYNTHETIC:
        settings = replace(settings, observer=Observer.MINMAX, bias_correction=False)
    if open_groups and data is not None:
        params |= _calibrated(graph, open_groups, data, settings, progress)
    values = {name: _with_quant(value, params) for name, value in graph.values.items()}
    annotated, notes = quantize_constants(graph.replace(values=values))
    corrects = settings.bias_correction and data is not None
    weights, effort = None, None
    if data is not None and source is CalibrationSource.USER:
        effort = effort_in_force(graph, settings, len(next(iter(data.values()))))
    if corrects and data is not None:
        annotated, weights = fitted(graph, annotated, data, settings, effort, progress)
    in_force = InForce(
        observer=settings.observer if open_groups else None,
        equalize=equalized,
        bias_correction=corrects,
        percentile=settings.percentile,
        effort=effort,
    )
    layers = _quality(graph, to_integer(annotated, converters), data, progress) if data else ()
    report = _report(data, options, in_force, source, notes, layers)
    costs = _costs(graph, annotated, report, data)
    return annotated, replace(report, costs=costs, weights=weights)


def balanced(graph: Graph, data: Mapping[str, Array] | None, settings: QuantSettings) -> Graph:
    """The real graph that an annotated graph stands for: channels scaled, where that is asked for.

    Args:
        graph: REAL stage, as for `annotate`.
        data: checked calibration data, or None.
        settings: those of `annotate`.
    """
    return balance(graph, data) if settings.equalize and data is not None else graph


def has_open_ranges(graph: Graph, has_data: bool) -> bool:
    """Whether ranges of some values come from calibration, rather than from the model.

    Args:
        graph: REAL stage, as for `annotate`.
        has_data: there are calibration data.
    """
    graph = split_conflicts(graph)
    groups = tie_groups(graph)
    params = _data_free_params(graph, groups, has_data=has_data)
    return any(group.members[0] not in params for group in groups)


def _data_free_params(
    graph: Graph, groups: tuple[TieGroup, ...], *, has_data: bool
) -> dict[str, QuantParams]:
    """Parameters that need no data, by value; without data, derived ones as well."""
    params = _known_params(graph, groups)
    return params if has_data else derived_params(graph, groups, params)


def _with_quant(value: Value, params: Mapping[str, QuantParams]) -> Value:
    return replace(value, quant=params.get(value.name))


def _known_params(graph: Graph, groups: tuple[TieGroup, ...]) -> dict[str, QuantParams]:
    """Parameters that need no data, by value."""
    known = {}
    for group in groups:
        found = group.pinned
        if found is None:
            fixed = {_fixed(graph, name) for name in group.sources}
            found = fixed.pop() if len(fixed) == 1 else None
        if found is not None:
            known.update(dict.fromkeys(group.members, found))
    return known


def _fixed(graph: Graph, name: str) -> QuantParams | None:
    node = graph.producers.get(name)
    if node is None:
        return None
    return _FIXED.get(node.attrs.kind if isinstance(node.attrs, ops.Unary) else node.op)


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


def _calibrated(
    graph: Graph,
    groups: list[TieGroup],
    data: Mapping[str, Array],
    options: QuantSettings,
    progress: Progress | None,
) -> dict[str, QuantParams]:
    names = [name for group in groups for name in group.sources]
    few = {name: array[:STATISTICS_SAMPLES] for name, array in data.items()}
    statistics = channel_statistics(graph, graph.values, few)
    aims = range_aims(graph, groups, importance(graph, statistics))
    ranges = calibrate(graph, names, data, options, progress, aims)
    params = {}
    for group in groups:
        found = ranges[group.sources[0]]
        for name in group.sources[1:]:
            found = found.union(ranges[name])
        found = _with_constants(graph, group, found)
        params.update(dict.fromkeys(group.members, activation_params(found)))
    return params


def _with_constants(graph: Graph, group: TieGroup, values: Range) -> Range:
    """The range widened to what Concat and Pad add to the tensor."""
    for name in group.members:
        node = graph.producers.get(name)
        if node is None:
            continue
        if isinstance(node.attrs, ops.Concat):
            for constant in (graph.constants[n] for n in node.inputs if n in graph.constants):
                values = values.union(range_of(constant.real64()))
        if isinstance(node.attrs, ops.Where):
            for constant in _chosen_constants(graph, node):
                for end in (float(constant.real64().min()), float(constant.real64().max())):
                    if _hides(graph, group, values, end):
                        values = values.union(Range(values.high - _HIDDEN_BELOW, values.high))
                    else:
                        values = _with_far(values, end, node.name)
        if isinstance(node.attrs, ops.Pad) and node.attrs.mode is ops.PadMode.CONSTANT:
            values = _with_far(values, node.attrs.value, node.name)
    return values


def _chosen_constants(graph: Graph, node: Node) -> list[Constant]:
    """The constants that a Where chooses from."""
    real = ops.Where.Inputs.of(node.inputs)
    return [graph.constants[name] for name in (real.a, real.b) if name in graph.constants]


def _hides(graph: Graph, group: TieGroup, values: Range, number: float) -> bool:
    """Whether a number stands for "as good as minus infinity" before a softmax."""
    readers = (reader for name in group.members for reader in graph.consumers[name])
    softmax = any(isinstance(reader.attrs, ops.Softmax | ops.LogSoftmax) for reader in readers)
    return softmax and number < values.high - _HIDDEN_BELOW


def _with_far(values: Range, number: float, where: str) -> Range:
    """The range with a number that a tensor is filled with, unless it lies far outside."""
    if abs(number) <= max(_PAD_REACH * values.magnitude, _PAD_LEAST):
        return values.union(Range(number, number))
    _LOG.warning(
        "%s fills with %g, far outside the data in [%g, %g]; that saturates",
        where,
        number,
        values.low,
        values.high,
    )
    return values


def _quality(
    graph: Graph, integer: Graph, data: Mapping[str, Array], progress: Progress | None
) -> tuple[LayerQuality, ...]:
    few = {name: array[:QUALITY_SAMPLES] for name, array in data.items()}
    return quality_of(graph, integer, few, progress)


def _costs(
    graph: Graph, annotated: Graph, report: QuantReport, data: Mapping[str, Array] | None
) -> tuple[LayerCost, ...]:
    """The worst causes of noise, where an output is poor on the user's data."""
    outputs = [layer.sqnr_db for layer in report.layers if layer.value in graph.outputs]
    poor = min(outputs, default=math.inf) < _POOR_DB
    if data is None or not poor or report.source is not CalibrationSource.USER:
        return ()
    return layer_costs(graph, annotated, data)


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
