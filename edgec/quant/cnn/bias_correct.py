"""Empirical bias correction: take out the mean error that rounded weights cause.

Source: Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", ICCV
2019, section 4.2 and appendix D (the empirical form).  Rounding the weights shifts the mean of each
output channel, and later layers shift it further.  Layer by layer, in graph order, the mean over
the calibration data of float minus quantized output is added to the bias, where each layer reads
what the layers before it, corrected, give as codes: small values that all round to one code shift
means as weights do.  A layer between a carried value and its update is corrected by what all turns
give, before the others are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT32_MAX, round_half_up
from edgec.base.free_memory import give_back
from edgec.floatrun.activations import MANY_SAMPLES, activations
from edgec.floatrun.cycles import computed_in_turns
from edgec.floatrun.executor import RULES, Executor
from edgec.ir import ops
from edgec.ir.fusion import fused_clip
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.quant.common.progress import Progress
from edgec.quant.common.weights import accumulator_bound, bias_params

SAMPLES = 32
"""Samples that the means are taken over."""


Recode = Callable[[Graph, Node, Array], Graph]
"""The graph with other codes of a layer's weights, where they are better; told what it reads."""


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """A network with corrected biases.

    Attributes:
        graph: ANNOTATED stage.
        values: what it computes on all samples, by name; float64 [S, ...].
    """

    graph: Graph
    values: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """Means that corrected biases bring back, and values to compare, from one float run.

    Attributes:
        means: mean of each channel by output of a layer whose weights edgec rounded; float64 [C].
        values: what the float network computes on all samples, by name; float32 [S, ...], int32 of
            whole numbers.
    """

    means: Mapping[str, Array]
    values: Mapping[str, Array]


def wanted_of(real: Graph, data: Mapping[str, Array], names: tuple[str, ...] = ()) -> Wanted:
    """Run the float network.

    Args:
        real: REAL stage.
        data: graph input name to float32 [N, ...]; all are used.
        names: values that are wanted beside the means.
    """
    seen = WantedSeen(real, len(next(iter(data.values()))), names)
    for done, batch in activations(real, seen.names, data, MANY_SAMPLES) if seen.names else ():
        seen.update(done, batch)
    return seen.wanted


class WantedSeen:
    """Takes in what is wanted where the float network is run, maybe for another reason.

    Attributes:
        names: the values that it has to be told.
    """

    def __init__(self, real: Graph, samples: int, names: tuple[str, ...] = ()) -> None:
        """Begin before the first sample.

        Args:
            real: REAL stage.
            samples: how many of the first samples count.
            names: values that are wanted beside the means.
        """
        layers = [node for node in real.nodes if isinstance(node.attrs, ops.Weighted)]
        rounded = (n for n in layers if real.constants[ops.layer_inputs(n).w].quant is None)
        self._means = {node.output: _Mean(real.shape(node.output)[-1]) for node in rounded}
        self._kept: dict[str, list[Array]] = {name: [] for name in names}
        self.names = tuple(dict.fromkeys((*self._means, *names)))
        self._begun, self._samples = 0, samples

    def update(self, done: int, batch: Mapping[str, Array]) -> None:
        """Take in a few samples, from `activations`.

        Args:
            done: number of samples up to the last one of these.
            batch: values of the samples by name, more than its own may be there.
        """
        count = min(done, self._samples) - self._begun
        if count <= 0:
            return
        share = count, done - self._begun
        self._begun += count
        for name, parts in self._kept.items():
            parts.append(_of_first(batch[name], *share))
        for name, mean in self._means.items():
            mean.update(_of_first(batch[name], *share))

    @property
    def is_complete(self) -> bool:
        """Whether all samples that count have been seen."""
        return self._begun == self._samples

    @property
    def wanted(self) -> Wanted:
        """The means and values of the samples that were seen."""
        means = {name: mean.result for name, mean in self._means.items()}
        return Wanted(means, {name: np.concatenate(parts) for name, parts in self._kept.items()})


def _of_first(values: Array, count: int, samples: int) -> Array:
    """The rows of the first of some samples; a sample has as many rows as turns."""
    return values[: len(values) // samples * count]


class _Mean:
    """Running mean of each channel, the last axis."""

    def __init__(self, channels: int) -> None:
        self._sum, self._count = np.zeros(channels), 0

    def update(self, values: Array) -> None:
        """Take in float32 values [S, ..., C]."""
        samples = values.reshape(len(values), -1, values.shape[-1])
        for mean in samples.sum(axis=1, dtype=np.float64) / samples.shape[1]:
            self._sum += mean
            self._count += 1

    @property
    def result(self) -> Array:
        """The mean over samples and positions; float64 [C]."""
        return np.asarray(self._sum / self._count)


def correct_biases(
    annotated: Graph,
    data: Mapping[str, Array],
    wanted: Wanted,
    progress: Progress | None = None,
    *,
    on_codes: bool = True,
    recode: Recode | None = None,
) -> Corrected:
    """Correct the biases of layers whose weights edgec rounded.

    Args:
        annotated: ANNOTATED stage.
        data: graph input name to float32 [N, ...]; all are used.
        wanted: what the float network computes on them, from `wanted_of`.  The values that it
            holds are wanted of the corrected network, too.
        progress: told after each layer.
        on_codes: layers read int8 codes; False where all tensors will have int16 codes.
        recode: chooses other codes of a layer's weights, before its bias is corrected.

    Returns:
        The annotated graph with other biases, and codes from `recode`.  A layer whose accumulators
        would no longer be bounded by int32 keeps its bias.
    """
    means = dict(wanted.means)
    if on_codes:
        rounded = {name: _rounded(annotated, name, data[name]) for name in annotated.inputs}
        data = {**data, **rounded}
    turns = {name: means.pop(name) for name in computed_in_turns(annotated) & means.keys()}
    if turns:
        annotated = _corrected_turns(annotated, turns, data, on_codes=on_codes)
    # All samples at once: a layer is corrected before the next one runs.
    names = (*annotated.outputs, *wanted.values)
    corrections = _Corrections(annotated, means, progress, recode, on_codes=on_codes)
    executor = Executor(annotated, names)
    values = executor.run(data, corrections.change, corrections.instead)
    give_back()
    return Corrected(corrections.graph, values)


def _corrected_turns(
    graph: Graph, wanted: Mapping[str, Array], data: Mapping[str, Array], *, on_codes: bool
) -> Graph:
    """The graph with other biases in layers that run turn by turn.

    Args:
        graph: ANNOTATED stage.
        wanted: mean of each channel in the float network by output of a layer; float64 [C].
        data: graph input name to what its codes stand for [N, ...]; all are used.
        on_codes: see `correct_biases`.
    """
    stored = _Corrections(graph, {}, None, None, on_codes=on_codes)
    # The layers' own outputs, before they are rounded.
    sums = {name: np.zeros_like(mean) for name, mean in wanted.items()}
    counts = dict.fromkeys(wanted, 0)

    def seen(node: Node, output: Array, known: Mapping[str, Array]) -> Array:
        if node.output in wanted:
            rows = output.reshape(-1, output.shape[-1])
            sums[node.output] += rows.sum(axis=0)
            counts[node.output] += len(rows)
        return stored.change(node, output, known)

    Executor(graph, graph.outputs).run(data, seen)
    for node in graph.nodes:
        name = node.outputs[0]
        if counts.get(name):
            graph, _ = _corrected(graph, node.name, wanted[name] - sums[name] / counts[name])
    return graph


class _Corrections:
    """Corrects one layer after the other while the network runs."""

    def __init__(
        self,
        graph: Graph,
        wanted: Mapping[str, Array],
        progress: Progress | None,
        recode: Recode | None,
        *,
        on_codes: bool,
    ) -> None:
        self.graph = graph
        self._on_codes = on_codes
        self._wanted = wanted
        self._progress = progress
        self._recode = recode
        self._done = 0

    def change(self, node: Node, output: Array, known: Mapping[str, Array]) -> Array:
        """The output of a layer, float64 [S, ..., C], with the layer's bias corrected."""
        if node.output not in self._wanted:
            return self._stored(node, output, known)
        found = _mean(output)
        self.graph, step = _corrected(self.graph, node.name, self._wanted[node.output] - found)
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, len(self._wanted))
        output += step
        return self._stored(node, output, known)

    def instead(self, node: Node, known: Mapping[str, Array]) -> Array | None:
        """The output of a layer whose weights have got other codes; None where it has the same."""
        if self._recode is None or node.output not in self._wanted:
            return None
        changed = self._recode(self.graph, node, known[node.first])
        if changed is self.graph:
            return None
        self.graph = changed
        return layer_output(changed, node.name, known[node.first])

    def _stored(self, node: Node, output: Array, known: Mapping[str, Array]) -> Array:
        """Input of the next layers: codes, unless a Clip that is part of the node follows."""
        if not self._on_codes or fused_clip(self.graph, node) is not None:
            return output
        quant = self.graph.values[node.output].quant
        # What is computed shares memory with operands, if with anything.
        is_own = output.flags.writeable and not any(
            np.may_share_memory(output, known[name]) for name in node.inputs if name in known
        )
        if quant is not None and quant.axis is None and output.dtype == np.float64 and is_own:
            quant.round_in_place(output)
            return output
        return _rounded(self.graph, node.output, output)


def layer_output(annotated: Graph, name: str, x: Array) -> Array:
    """Output of one layer with its integer weights for x [S, ...]; float64 [S, ...]."""
    node = next(each for each in annotated.nodes if each.name == name)
    source = ops.layer_inputs(node).x
    constants = annotated.constants
    # With an axis for samples, like x.
    arrays = [
        x if each == source else constants[each].real64()[None] if each else None
        for each in node.inputs
    ]
    return np.asarray(RULES[type(node.attrs)](node.attrs, node.attrs.Inputs.of(arrays)))


def _rounded(graph: Graph, name: str, values: Array) -> Array:
    """Values rounded to their codes; whole numbers stay."""
    quant = graph.values[name].quant
    if quant is None or values.dtype.kind != "f":
        return values
    return quant.dequantize64(quant.quantize(values))


def channel_means(graph: Graph, names: list[str], data: Mapping[str, Array]) -> dict[str, Array]:
    """Mean of each channel (the last axis) over samples and positions; float64 [C].

    Args:
        graph: REAL or ANNOTATED stage.
        names: values whose means are wanted.
        data: graph input name to float32 [N, ...]; all are used.
    """
    means = {name: _Mean(graph.shape(name)[-1]) for name in names}
    for _, batch in activations(graph, names, data, MANY_SAMPLES) if names else ():
        for name, mean in means.items():
            mean.update(batch[name])
    return {name: mean.result for name, mean in means.items()}


def _mean(values: Array) -> Array:
    """Mean of each channel of [..., C]; float64 [C]."""
    rows = values.reshape(-1, values.shape[-1])
    return np.asarray(rows.sum(axis=0) / len(rows))


def _corrected(graph: Graph, node_name: str, correction: Array) -> tuple[Graph, Array]:
    """The graph with another bias in one layer, and what that adds to the output; float64 [C]."""
    node: Node = next(node for node in graph.nodes if node.name == node_name)
    inputs = ops.layer_inputs(node)
    x, weight = graph.quant(inputs.x), graph.constants[inputs.w]
    params = bias_params(x.tensor_scale, np.asarray(graph.quant(weight.name).scale))
    name = inputs.b
    bias = graph.constants[name].array if name else np.zeros(weight.shape[0])
    steps = np.clip(correction / np.asarray(params.scale), -(2.0**40), 2.0**40)
    corrected = bias.astype(np.int64) + round_half_up(steps)
    if np.any(accumulator_bound(weight.array, corrected) > INT32_MAX):
        return graph, np.zeros_like(correction)
    stored = corrected.astype(DType.INT32.numpy)
    step = (corrected - bias) * np.asarray(params.scale)
    if name:
        return graph.with_constant(Constant(name, stored, params)), step
    builder = GraphBuilder.of(graph)
    put = builder.constant(f"{node.name}_bias", stored, params)
    builder.put(replace(node, inputs=replace(inputs, b=put).names()))
    return builder.build(), step
