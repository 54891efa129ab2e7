"""REAL to ANNOTATED: choose the parameters of every value, quantize every weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from edgec.base.dtypes import Array
from edgec.base.errors import QuantizationError
from edgec.base.options import Observer, Precision, QuantOptions
from edgec.ir.graph import Graph, Value
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.balance import balance, can_balance
from edgec.quant.cnn.bias_correct import WantedSeen
from edgec.quant.cnn.fit_weights import effort_in_force, fitted, to_be_seen
from edgec.quant.cnn.ranges import observed
from edgec.quant.common.calibration import Calibration, few_of
from edgec.quant.common.progress import Progress
from edgec.quant.common.quality import quality_of
from edgec.quant.common.refuse import refuse_real_only
from edgec.quant.common.report import InForce, QuantReport
from edgec.quant.common.statistics import ChannelStatistics
from edgec.quant.common.weights import quantize_constants
from edgec.quant.convert.codes import Codes16
from edgec.quant.convert.conversion import Converters, to_integer
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.precision.codes import real_constants
from edgec.quant.precision.feedback import feedback_codes
from edgec.quant.precision.pinned import pinned_codes, pinned_notes, without_int16
from edgec.quant.scales.groups import Group, code_groups, pinned_by_model, split_conflicts
from edgec.quant.scales.known import data_free_params, open_groups
from edgec.quant.scales.planner import planned


@dataclass(frozen=True, slots=True, eq=False)
class Annotated:
    """A quantized graph beside the real one.

    Attributes:
        real: REAL stage that the quantized one stands for: channels scaled, with its values.
        graph: ANNOTATED stage, int8 codes everywhere.
        int16: the tensors to which the file gives int16 codes.
        report: what there is to know about it.
        data: what was calibrated on; None where nothing was.
    """

    real: Graph
    graph: Graph
    int16: Mapping[str, Codes16]
    report: QuantReport
    data: Mapping[str, Array] | None

    def converted(
        self, converters: Converters, more: Mapping[str, Codes16] = MappingProxyType({})
    ) -> Graph:
        """The INTEGER stage, with int16 codes for some more tensors."""
        int16 = {**more, **self.int16}
        constants = real_constants(self.real, self.graph) if int16 else {}
        return to_integer(self.graph, converters, int16, constants)


def annotate(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
) -> tuple[Graph, QuantReport]:
    """Quantize a real graph.

    Values that share parameters (`scales.groups`) get those that the model pins; else the known
    ones of Sigmoid, Tanh and Softmax; else those of their range over the calibration data.  A model
    that pins everything needs no data.  Without data a float model is calibrated on synthetic
    inputs (`common.synthetic`: uniform noise in `options.synthetic_range`) with a warning, by their
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
    if not found.data:
        return found.graph, found.report
    integer = found.converted(converters)
    layers = quality_of(found.real, integer, few_of(found.data), progress)
    return found.graph, replace(found.report, layers=layers)


def annotate_beside(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
) -> Annotated:
    """As `annotate`, with the real graph beside the result; the report says nothing of layers."""
    found = ranged(graph, calibration, options, progress, converters)
    return with_weights(found, found.calibration.data, options, progress)


@dataclass(frozen=True, slots=True, eq=False)
class Ranged:
    """A network whose values have their parameters, and whose weights have their nearest codes.

    Attributes:
        real: REAL stage that it stands for: channels scaled.
        graph: ANNOTATED stage, int8 codes everywhere.
        int16: the tensors to which the file gives int16 codes.
        calibration: what was calibrated on.
        observed: whether a range was observed.
        equalized: whether channels were scaled.
        notes: what the user should know.
        seen: what weights and biases want of the float network on all samples, where it was seen.
    """

    real: Graph
    graph: Graph
    int16: Mapping[str, Codes16]
    calibration: Calibration
    observed: bool
    equalized: bool
    notes: tuple[str, ...]
    seen: WantedSeen | None = None


def ranged(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
) -> Ranged:
    """The first half of `annotate_beside`: the parameters of values."""
    refuse_real_only(graph, lambda node: type(node.attrs) in converters)
    settings = options.settings()
    pinned = without_int16(graph)
    graph = pinned.narrow
    used = Calibration.given(graph, calibration)
    equalized = used.data is not None and settings.equalize and can_balance(graph)
    statistics: Mapping[str, ChannelStatistics] = {}
    if equalized and used.data is not None:
        balanced = balance(graph, used.data)
        graph, statistics = balanced.graph, balanced.statistics
    graph = split_conflicts(graph)
    groups = code_groups(graph)
    params = data_free_params(graph, groups, has_data=used.is_users)
    groups = open_groups(groups, params)
    if groups and not used.is_users:
        _refuse_some_pins(graph, groups)
        used = used.or_noise(graph, settings)
        settings = replace(settings, observer=Observer.MINMAX)
    seen = None
    if groups and used.data is not None:
        if used.is_users and settings.bias_correction:
            count = len(next(iter(used.data.values())))
            seen = to_be_seen(graph, count, effort_in_force(graph, settings, count))
        ranges = observed(graph, groups, used.data, settings, progress, statistics, seen)
        params = planned(groups, ranges, known=params)
    values = {name: _with_quant(value, params) for name, value in graph.values.items()}
    annotated, notes = quantize_constants(graph.replace(values=values))
    # Who asks for int8 gets it; by default a file's own types stay.
    wide = {} if options.precision is Precision.INT8 else pinned.ranges
    int16 = pinned_codes(annotated, wide)
    notes = (*notes, *pinned_notes(wide, int16))
    if options.precision is None and used.is_users and used.data is not None:
        int16 = {**feedback_codes(graph, annotated, used.data), **int16}
    complete = seen if seen is not None and seen.is_complete else None
    return Ranged(graph, annotated, int16, used, bool(groups), equalized, notes, complete)


def with_weights(
    found: Ranged,
    samples: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
) -> Annotated:
    """The second half of `annotate_beside`: codes of weights, biases, and the report.

    Args:
        found: the parameters of values.
        samples: what weights and biases are chosen by, all of the calibration data or a part.
        options: bias correction, effort, the element type of activations.
        progress: told what is being done.
    """
    settings, annotated, used = options.settings(), found.graph, found.calibration
    corrects = settings.bias_correction and samples is not None and used.is_users
    weights, effort = None, None
    if samples is not None and used.is_users:
        effort = effort_in_force(found.real, settings, len(next(iter(samples.values()))))
    if corrects and samples is not None:
        seen = found.seen if samples is used.data else None
        annotated, weights = fitted(
            found.real, annotated, samples, settings, effort, progress, seen
        )
    observer = Observer.MINMAX if used.is_noise else settings.observer
    in_force = InForce(
        observer=observer if found.observed else None,
        equalize=found.equalized,
        bias_correction=corrects,
        percentile=settings.percentile,
        effort=effort,
    )
    report = replace(used.report(in_force, found.notes, ()), weights=weights)
    return Annotated(found.real, annotated, found.int16, report, used.data)


def _with_quant(value: Value, params: Mapping[str, QuantParams]) -> Value:
    return replace(value, quant=params.get(value.name))


def _refuse_some_pins(graph: Graph, groups: tuple[Group, ...]) -> None:
    """Check that a model without calibration data pins nothing, as it does not pin everything."""
    if pinned_by_model(graph):
        names = ", ".join(repr(group.sources[0]) for group in groups)
        raise QuantizationError(
            f"the model quantizes some tensors, but not these: {names}",
            hint="give calibration data, or quantize the whole model",
        )
