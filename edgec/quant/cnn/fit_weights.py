"""Integer weights and biases of a network by what they do to its outputs.

Layer after layer, each on what the layers before it give as codes: the codes of its weights
(`weight_codes`), then its bias (`bias_correct`).  Every fourth sample is held back from the choice
of codes.  These samples decide for each filter whether it keeps its new codes, and in the end, by
the noise at the outputs, whether the network does.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT32_MAX
from edgec.base.options import Effort, Precision, QuantSettings
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.quant.cnn.bias_correct import (
    SAMPLES,
    Corrected,
    WantedSeen,
    correct_biases,
    wanted_of,
)
from edgec.quant.cnn.weight_codes import better_codes, read_rows
from edgec.quant.common.output_noise import energy, judged
from edgec.quant.common.progress import Progress
from edgec.quant.common.quality import share_db
from edgec.quant.common.report import WeightsReport
from edgec.quant.common.weights import accumulator_bound

LEAST_SAMPLES = 16
"""With fewer samples weights keep their nearest codes: what helps these need not help others."""
_MOST_SAMPLES = {Effort.FAST: SAMPLES, Effort.NORMAL: 64, Effort.BEST: 256}
_MOST_BYTES = 1 << 29
"""Activations beyond `SAMPLES` samples take no more memory than this."""
_HELD = 4
"""One in this number of samples is held back."""


def effort_in_force(graph: Graph, settings: QuantSettings, samples: int) -> Effort | None:
    """Effort for the weights of a network; None where it brings integer weights alone.

    Args:
        graph: REAL stage.
        settings: the effort that is asked for, and whether biases are corrected, which other than
            the nearest codes need.
        samples: calibration samples.
    """
    if not has_real_weights(graph) or not samples:
        return None
    few = samples < LEAST_SAMPLES or not settings.bias_correction
    return Effort.FAST if few else settings.effort


def has_real_weights(graph: Graph) -> bool:
    """Whether a layer of a graph of the REAL stage has weights that edgec rounds."""
    names = (ops.layer_inputs(n).w for n in graph.nodes if isinstance(n.attrs, ops.Weighted))
    return any(name in graph.constants and graph.constants[name].quant is None for name in names)


def fitted(
    real: Graph,
    annotated: Graph,
    data: Mapping[str, Array],
    settings: QuantSettings,
    effort: Effort | None,
    progress: Progress | None = None,
    seen: WantedSeen | None = None,
) -> tuple[Graph, WeightsReport | None]:
    """Choose codes of weights, and correct biases.

    Args:
        real: REAL stage.
        annotated: ANNOTATED stage, weights rounded to their nearest codes.
        data: graph input name to float32 [N, ...].
        settings: the element type of activations.
        effort: from `effort_in_force`.
        progress: told after each layer.
        seen: from `to_be_seen`, if all was seen on these data; None: the float network is run.

    Returns:
        The annotated graph with other weights and biases, and what the weights gained; None where
        each weight has its nearest code.
    """
    on_codes = settings.precision is not Precision.INT16
    available = len(next(iter(data.values())))

    fewest = _samples(annotated, available, Effort.FAST)
    is_fast = effort is None or effort is Effort.FAST

    def rounded() -> Graph:
        few = _first(data, fewest)
        wanted = wanted_of(real, few) if seen is None or not is_fast else seen.wanted
        return correct_biases(annotated, few, wanted, progress, on_codes=on_codes).graph

    if effort is None or effort is Effort.FAST:
        return rounded(), None
    count = _samples(annotated, available, effort)
    data = _first(data, count)
    wanted = wanted_of(real, data, judged(real)) if seen is None else seen.wanted
    nearest = correct_biases(annotated, data, wanted, progress, on_codes=on_codes)
    recoding = _Recoding(real, count)
    found = correct_biases(
        annotated, data, wanted, progress, on_codes=on_codes, recode=recoding.recode
    )
    # Labels and other whole numbers are left out.
    values = {name: array for name, array in wanted.values.items() if array.dtype.kind == "f"}
    noise = [_noise(each, values, recoding.held) for each in (nearest, found)]
    kept = noise[1] <= noise[0]
    report = WeightsReport(
        layers=recoding.layers,
        kept=kept,
        nearest_db=share_db(noise[0]),
        output_db=share_db(noise[1]),
        samples=count,
    )
    # Codes that are rejected leave no trace: also the biases are those of `fast`.
    if kept:
        return found.graph, report
    return nearest.graph if count == fewest else rounded(), report


def to_be_seen(real: Graph, available: int, effort: Effort | None) -> WantedSeen:
    """The part of a float run that `fitted` needs.

    Args:
        real: REAL stage.
        available: number of samples.
        effort: from `effort_in_force`.
    """
    is_fast = effort is None or effort is Effort.FAST
    count = _samples(real, available, effort or Effort.FAST)
    return WantedSeen(real, count, () if is_fast else judged(real))


def _first(data: Mapping[str, Array], count: int) -> dict[str, Array]:
    return {name: array[:count] for name, array in data.items()}


def _samples(graph: Graph, available: int, effort: Effort) -> int:
    """Number of samples that are run at once."""
    room = _MOST_BYTES // max(Executor(graph, graph.outputs).sample_bytes, 1)
    most = max(min(_MOST_SAMPLES[effort], room), SAMPLES)
    return min(most, available)


def _noise(found: Corrected, wanted: Mapping[str, Array], held: Array) -> float:
    """The largest share of an output's energy that is noise on the samples held back."""
    shares = [
        energy(found.values[name].reshape(real.shape)[held] - real[held])
        / (energy(real[held]) or 1.0)
        for name, real in wanted.items()
    ]
    return max(shares, default=0.0)


class _Recoding:
    """Gives layers other codes, one after the other."""

    def __init__(self, real: Graph, samples: int) -> None:
        self._real = real
        self._nodes = {node.name: node for node in real.nodes}
        self.held = np.arange(samples) % _HELD == _HELD - 1
        self.layers = 0

    def recode(self, graph: Graph, node: Node, x: Array) -> Graph:
        """The graph with other codes in one layer; see `bias_correct.Recode`."""
        inputs = ops.layer_inputs(node)
        if not isinstance(node.attrs, ops.Conv | ops.Gemm) or len(graph.consumers[inputs.w]) > 1:
            return graph
        weight = graph.constants[inputs.w]
        group = node.attrs.group if isinstance(node.attrs, ops.Conv) else 1
        grouped = (group, len(weight.array) // group, -1)
        scale = np.asarray(graph.quant(inputs.w).scale).reshape(*grouped[:2], 1)
        own = self._real.constants[ops.layer_inputs(self._nodes[node.name]).w].real64()
        held = np.repeat(self.held, len(x) // len(self.held))
        codes = better_codes(
            own.reshape(grouped) / scale,
            weight.array.reshape(grouped),
            read_rows(node, weight.shape, x, ~held),
            read_rows(node, weight.shape, x, held),
        ).reshape(weight.shape)
        bias = graph.constants[inputs.b].array if inputs.b else None
        fits = bool(np.all(accumulator_bound(codes, bias) <= INT32_MAX))
        if np.array_equal(codes, weight.array) or not fits:
            return graph
        self.layers += 1
        return graph.with_constant(Constant(inputs.w, codes, weight.quant))
