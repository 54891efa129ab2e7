"""The one entry: from a real graph to an integer graph, whatever operators it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edgec.base.dtypes import Array
from edgec.base.effect import refuse_without_effect
from edgec.base.options import CompileOptions, Progress, no_progress
from edgec.ir.graph import Graph
from edgec.passes.base import Pass, PassesResult, run_passes
from edgec.passes.compare_lengths import with_real_length
from edgec.passes.mean_by_attention import mean_by_attention
from edgec.passes.pipeline import (
    INTEGER_PASSES,
    REAL_PASSES,
    TRANSFORMER_INTEGER_PASSES,
    TRANSFORMER_PASSES,
)
from edgec.passes.variable_length import with_variable_length
from edgec.quant.cnn.annotation import annotate
from edgec.quant.common.intervals import check_intervals
from edgec.quant.common.report import QuantReport
from edgec.quant.common.searched import is_searched
from edgec.quant.convert.conversion import Converters, to_integer
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.effects import quantization_effects
from edgec.quant.transformer.quantize import quantize_transformer


@dataclass(frozen=True, slots=True, eq=False)
class Quantized:
    """What `quantize` makes of a real graph.

    Attributes:
        integer: INTEGER stage, optimised: what is lowered.
        annotated: ANNOTATED stage, which standard ONNX can say; None where the arithmetic of a
            layer has no form there.
        report: how ranges were found, and the quality of each layer.
        notes: what passes want the user to know.
    """

    integer: Graph
    annotated: Graph | None
    report: QuantReport
    notes: tuple[str, ...]


def quantize(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: CompileOptions,
    progress: Progress = no_progress,
    *,
    shorter: Graph | None = None,
    converters: Converters = CONVERTERS,
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

    Raises:
        ConfigError: an option has no effect on this network, or the data do not fit the graph.
        UnsupportedModelError: operators without an integer form.
        QuantizationError: NaN or infinite numbers, accumulators that cannot be bounded, or a model
            that pins some tensors but not all when there is no calibration data.
    """
    has_data = calibration is not None
    refuse_without_effect(quantization_effects(options, graph, has_data=has_data))
    run = _Run(calibration, options, progress, converters)
    if is_searched(graph):
        return run.by_search(graph, shorter)
    return run.by_observers(graph)


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
        options: CompileOptions,
        progress: Progress,
        converters: Converters,
    ) -> None:
        self._calibration, self._options, self._progress = calibration, options, progress
        self._converters = converters
        self._steps = len(REAL_PASSES)

    def by_observers(self, graph: Graph) -> Quantized:
        """Ranges from observers, by way of an annotated graph."""
        annotated, report = annotate(
            graph, self._calibration, self._options.quant, self._tell, self._converters
        )
        converted = to_integer(annotated, self._converters)
        check_intervals(converted)
        integer = self._passes(converted, INTEGER_PASSES)
        return Quantized(integer.graph, annotated, report, _texts(integer))

    def by_search(self, graph: Graph, shorter: Graph | None) -> Quantized:
        """Scales searched by the error of what reads them."""
        real = self._passes(graph, TRANSFORMER_PASSES)
        graph = real.graph
        if shorter is not None:
            shortened = run_passes(shorter, TRANSFORMER_PASSES).graph
            graph = mean_by_attention(with_real_length(graph, shortened))
        quantized, report = quantize_transformer(
            graph, self._calibration, self._options.quant, self._tell, self._converters
        )
        integer = self._passes(quantized, TRANSFORMER_INTEGER_PASSES)
        ready = integer.graph
        if graph.length is not None:
            ready = with_variable_length(ready, graph)
        return Quantized(ready, None, report, _texts(real, integer))

    def _passes(self, graph: Graph, passes: tuple[Pass, ...]) -> PassesResult:
        found = run_passes(graph, passes, self._options.dump_ir, first_number=self._steps)
        self._steps += len(passes)
        return found

    def _tell(self, done: int, total: int) -> None:
        self._progress("quantizing", done, total)


def _texts(*results: PassesResult) -> tuple[str, ...]:
    return tuple(note.text for result in results for note in result.notes)
