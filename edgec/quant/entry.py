"""The one entry: from a real graph to an integer graph, whatever operators it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import refuse_without_effect
from edgec.base.options import IntegerOptions, Precision, Progress, no_progress
from edgec.floatrun.activations import checked_calibration
from edgec.ir.graph import Graph
from edgec.ir.searched import is_searched
from edgec.passes.base import Pass, PassesResult, run_passes
from edgec.passes.compare_lengths import with_real_length
from edgec.passes.pipeline import (
    INTEGER_PASSES,
    REAL_PASSES,
    TRANSFORMER_INTEGER_PASSES,
    TRANSFORMER_PASSES,
    WIDE_INTEGER_PASSES,
)
from edgec.passes.pooling import mean_by_attention
from edgec.passes.variable_length import with_variable_length
from edgec.quant.cnn.annotation import Annotated, annotate_beside, ranged
from edgec.quant.common.calibration import few_of
from edgec.quant.common.decisions import decisions_of
from edgec.quant.common.losses import layer_losses
from edgec.quant.common.numbers import check_intervals
from edgec.quant.common.quality import quality_of
from edgec.quant.common.refuse import refuse_endless_outputs
from edgec.quant.common.report import (
    CalibrationSource,
    Decisions,
    InForce,
    QuantReport,
    weights_notes,
)
from edgec.quant.common.sample_codes import Outputs
from edgec.quant.convert.conversion import Converters
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.convert.wide.conversion import is_wide
from edgec.quant.convert.wide.graph import to_wide
from edgec.quant.effects import quantization_effects
from edgec.quant.estimate import Refit, estimated
from edgec.quant.precision.choose import Choice, choose
from edgec.quant.precision.codes import check_reach
from edgec.quant.precision.goal import Chooser, Goal, Prices
from edgec.quant.precision.held import Fits
from edgec.quant.precision.notes import precision_notes
from edgec.quant.precision.observed import ObservedFits
from edgec.quant.transformer.fits import SearchedFits
from edgec.quant.transformer.quantize import Search, Searching, with_refit

T = TypeVar("T")
Reweigh = Callable[[Mapping[str, Array]], Graph]
"""Chooses the weights of a network from samples: gives its REAL stage."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantized:
    """Result of quantizing a real graph.

    Attributes:
        integer: INTEGER stage, optimised: what is lowered.
        annotated: ANNOTATED stage, which standard ONNX can say; None where the arithmetic of a
            layer has no form there.
        partly: the same, where values with int16 codes are left without a quantization; None where
            nothing was annotated.
        report: how ranges were found, and the quality of each layer.
        notes: what passes want the user to know.
        real: REAL stage that `annotated` stands for, channels scaled; None where nothing was
            annotated.
    """

    integer: Graph
    annotated: Graph | None
    report: QuantReport
    notes: tuple[str, ...]
    real: Graph | None = None
    partly: Graph | None = None


def quantize(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: IntegerOptions,
    progress: Progress = no_progress,
    *,
    shorter: Graph | None = None,
    converters: Converters = CONVERTERS,
    prices: Prices | None = None,
    chooser: Chooser | None = None,
    reference: Graph | None = None,
    reweigh: Reweigh | None = None,
) -> Quantized:
    """Quantize a real graph and optimise the integer graph.

    Args:
        graph: REAL stage, after `REAL_PASSES`.
        calibration: graph input name to [N, ...graph shape without batch...], or None without data.
        options: those of quantization, and the folder that dumps of the graph go to.
        progress: told what is being done.
        shorter: the graph for the maximum length less 1, for a model of variable length.
        converters: what makes the integer operator of each real one; `CONVERTERS.joined(more)`
            adds operators from outside, which say by `RealOperator.evaluate` what they compute.
        prices: the board that tensors with int16 codes have to fit; None: it is not known.
        chooser: names the tensors with int16 codes, with `Precision.AUTO`; None: the options do.
        reference: the float network that choices of int16 codes, decisions and the accuracy to
            expect are judged against, with values of the same names; None: `graph` is.
        reweigh: chooses the weights of `graph` from other samples; None: they follow from none.

    Raises:
        ConfigError: an option has no effect on this network, or the data do not fit the graph.
        UnsupportedModelError: operators without an integer form.
        QuantizationError: NaN or infinite numbers, accumulators that cannot be bounded, or a model
            that pins some tensors but not all when there is no calibration data.
    """
    samples = len(np.atleast_1d(next(iter(calibration.values()), ()))) if calibration else 0
    refuse_without_effect(quantization_effects(options, graph, samples))
    others = None if reference is graph else reference
    run = _Run(
        *(calibration, options, progress, converters, prices, chooser, reference, others),
        reweigh or (lambda _: graph),
    )
    if is_wide(graph):
        found = run.by_file(graph)
    elif is_searched(graph):
        found = run.by_search(graph, shorter)
    else:
        lengths = None if shorter is None else with_real_length(graph, shorter)
        # A mean over the variable axis is attention, which serves all lengths.
        pools = lengths is not None and is_searched(mean_by_attention(lengths))
        found = run.by_search(graph, shorter) if pools else run.by_observers(graph, lengths)
    refuse_endless_outputs(found.integer)
    return found


def keeps_activation_bits(graph: Graph) -> bool:
    """Whether layers with pooled weights always see all 8 bits of their activations.

    Args:
        graph: REAL stage.
    """
    return is_searched(graph)


class _Run:
    """One quantization: what its steps share."""

    def __init__(
        self,
        calibration: Mapping[str, Array] | None,
        options: IntegerOptions,
        progress: Progress,
        converters: Converters,
        prices: Prices | None,
        chooser: Chooser | None,
        reference: Graph | None,
        other_weights: Graph | None,
        reweigh: Reweigh,
    ) -> None:
        self._reference, self._reweigh = reference, reweigh
        self._other_weights = other_weights  # the float network, where this one has few bits
        self._calibration, self._options, self._progress = calibration, options, progress
        self._prices, self._chooser = prices, chooser
        self._converters = converters
        self._steps = len(REAL_PASSES)

    def by_observers(self, graph: Graph, lengths: Graph | None) -> Quantized:
        """Ranges from observers, by way of an annotated graph; `lengths` has its variable axis."""
        found, converted, refit = self._observed(graph)
        check_intervals(converted)
        check_reach(converted)
        integer = self._passes(converted, INTEGER_PASSES)
        report = self._judged(found, converted)
        if found.data is not None and report.in_force.observer is not None:
            report = self._with_estimate(report, found.real, converted, refit, found.data)
        mixed = found.int16 or (report.precision is not None and report.precision.tensors)
        said = (*weights_notes(report.weights), *precision_notes(report.precision))
        notes = (*_texts(integer), *said)
        annotated_graph = None if mixed else found.graph
        partly = _without_int16(found.graph, converted)
        ready = integer.graph
        if lengths is not None:
            ready = with_variable_length(ready, lengths)
        return Quantized(ready, annotated_graph, report, notes, found.real, partly)

    def _observed(self, graph: Graph) -> tuple[Annotated, Graph, Refit]:
        """The integer graph, with int16 codes where they are asked for.

        Returns:
            What it was made of, the graph, and what fits the network to other samples.
        """
        options, converters, tell = self._options.quant, self._converters, self._tell
        if options.settings().precision is Precision.INT8 or self._calibration is None:
            found = annotate_beside(graph, self._calibration, options, tell, converters)

            def narrow(samples: Mapping[str, Array]) -> Graph:
                again = annotate_beside(self._reweigh(samples), samples, options, None, converters)
                return again.converted(converters)

            return found, found.converted(converters), narrow
        data = checked_calibration(graph, self._calibration)
        values = ranged(graph, data, options, tell, converters)

        def fits(samples: Mapping[str, Array]) -> ObservedFits:
            return ObservedFits(values, samples, options, converters, tell)

        choice = self._chosen(fits, data, INTEGER_PASSES)
        report = replace(choice.made.report, precision=choice.report)

        def same(samples: Mapping[str, Array]) -> Graph:
            again = ranged(self._reweigh(samples), samples, options, None, converters)
            return choice.again(ObservedFits(again, samples, options, converters))

        return replace(choice.made, report=report), choice.integer, same

    def _chosen(
        self,
        fits: Callable[[Mapping[str, Array]], Fits[T]],
        data: Mapping[str, Array],
        passes: tuple[Pass, ...],
    ) -> Choice[T]:
        """The tensors with int16 codes, of an integer graph that passes will follow."""
        settings = self._options.quant.settings()
        goal = Goal(settings.target_db, settings.max_drop, settings.int16)
        return choose(
            fits,
            data,
            settings.precision,
            goal,
            self._prices,
            passes,
            self._tell,
            self._chooser,
            self._reference,
        )

    def _judged(self, found: Annotated, integer: Graph) -> QuantReport:
        """The report, with what the integer graph is beside the float network on the samples.

        Only the user's samples say what layers add at the outputs, and what is decided.
        """
        report, real, data = found.report, found.real, found.data
        if data is None:
            return report
        outputs = Outputs()
        layers = quality_of(real, integer, few_of(data), self._tell, outputs)
        report = replace(report, layers=layers)
        if report.source is not CalibrationSource.USER:
            return report
        corrected = report.in_force.bias_correction
        return replace(
            report,
            losses=layer_losses(real, integer, data, corrected=corrected),
            decisions=self._decisions(real, integer, data, outputs),
        )

    def _decisions(
        self, real: Graph, integer: Graph, data: Mapping[str, Array], known: Outputs | None = None
    ) -> Decisions | None:
        if self._other_weights is None:
            return decisions_of(real, integer, data, known)
        codes = Outputs() if known is None else Outputs(codes=known.codes)
        return decisions_of(self._other_weights, integer, data, codes)

    def _with_estimate(
        self,
        report: QuantReport,
        real: Graph,
        integer: Graph,
        refit: Refit,
        data: Mapping[str, Array],
    ) -> QuantReport:
        if report.source is not CalibrationSource.USER:
            return report
        judge = self._other_weights or real
        return replace(report, estimate=estimated(judge, integer, refit, data))

    def _with_decisions(self, real: Graph, integer: Graph, report: QuantReport) -> QuantReport:
        if self._calibration is None or report.source is not CalibrationSource.USER:
            return report
        data = checked_calibration(real, self._calibration)
        return replace(report, decisions=self._decisions(real, integer, data))

    def by_file(self, graph: Graph) -> Quantized:
        """Scales of a file with 16-bit activations, which brings all of them; data judge them."""
        converted = to_wide(graph)
        integer = self._passes(converted, WIDE_INTEGER_PASSES)
        report = QuantReport(CalibrationSource.NONE, 0, InForce(None, False, False), (), ())
        if self._calibration is not None:
            data = checked_calibration(graph, self._calibration)
            report = replace(
                report,
                source=CalibrationSource.USER,
                samples=len(next(iter(data.values()))),
                layers=quality_of(graph, converted, few_of(data), self._tell),
                losses=layer_losses(graph, converted, data, corrected=False),
            )
            report = self._with_decisions(graph, integer.graph, report)
        return Quantized(integer.graph, None, report, _texts(integer))

    def by_search(self, graph: Graph, shorter: Graph | None) -> Quantized:
        """Scales searched by the error at their readers."""
        real = self._passes(graph, TRANSFORMER_PASSES)
        graph = real.graph
        if shorter is not None:
            shortened = run_passes(shorter, TRANSFORMER_PASSES).graph
            graph = mean_by_attention(with_real_length(graph, shortened))
        wider = self._options.quant.settings().precision is not Precision.INT8
        choose = self._searched if wider and self._calibration is not None else None

        def reweighed(samples: Mapping[str, Array]) -> Graph:
            return run_passes(self._reweigh(samples), TRANSFORMER_PASSES).graph

        quantized, report, refit = with_refit(
            *(graph, self._calibration, self._options.quant, self._tell, self._converters, choose),
            None if self._other_weights is None else reweighed,
        )
        if report.source is CalibrationSource.USER and self._calibration is not None:
            data = checked_calibration(graph, self._calibration)
            report = self._with_estimate(report, graph, quantized, refit, data)
        integer = self._passes(quantized, TRANSFORMER_INTEGER_PASSES)
        ready = integer.graph
        if graph.length is not None:
            ready = with_variable_length(ready, graph)
        report = self._with_decisions(graph, ready, report)
        said = (*weights_notes(report.weights), *precision_notes(report.precision))
        notes = (*_texts(real, integer), *said)
        return Quantized(ready, None, report, notes)

    def _searched(self, search: Searching, data: Mapping[str, Array]) -> Choice[Search]:
        """The choice of a network whose scales are searched."""
        known = SearchedFits(data, search)

        def fits(samples: Mapping[str, Array]) -> SearchedFits:
            return known if samples is data else SearchedFits(samples, search, known)

        return self._chosen(fits, data, TRANSFORMER_INTEGER_PASSES)

    def _passes(self, graph: Graph, passes: tuple[Pass, ...]) -> PassesResult:
        found = run_passes(graph, passes, self._options.dump_ir, first_number=self._steps)
        self._steps += len(passes)
        return found

    def _tell(self, done: int, total: int) -> None:
        self._progress("quantizing", done, total)


def _texts(*results: PassesResult) -> tuple[str, ...]:
    return tuple(note.text for result in results for note in result.notes)


def _without_int16(annotated: Graph, integer: Graph) -> Graph:
    """An annotated graph whose values with int16 codes have no quantization."""
    values = {
        name: replace(value, quant=None)
        if name in integer.values and integer.values[name].dtype is DType.INT16
        else value
        for name, value in annotated.values.items()
    }
    return annotated.replace(values=values)
