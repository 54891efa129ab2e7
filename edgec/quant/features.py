"""A scale for each feature of a tabular input, so that all are seen, whatever their units.

Columns of a table have units of their own: the proline of a wine reaches 1680, its hue 1.7.  One
int8 scale for both leaves nothing of the hue, and a ``StandardScaler`` in the network comes too
late.  Here each feature gets the scale of its own range, and whatever the network does to single
features first (subtract, divide, multiply, add) is folded into the scales or into the layers that
follow: ``x = scale * (code - zero_point)`` is affine in the code, as these are.

Rules, for each float input of shape [1, F] that no file pins to codes:
0. trees: where decision trees alone read the features, the codes span the thresholds of each:
   values beyond the last of them are all alike.
1. pinned: where the operators on features lead to a tensor that the file pins to the steps of
   `QuantParams.in_steps`, it is the input: this is how `edgec quantize` writes one.
2. scaled: operators on features come first.
3. uneven: half of the features have a range so small beside the scale of the whole input that
   more than `_LOST_BITS` of their 8 bits would be lost.
4. All other inputs are left as they are, with one scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import FEATURE_STEP, QuantParams
from edgec.passes.fold_batch_norm import fold_batch_norm
from edgec.passes.linear import Affine, affine_of

_LOST_BITS = 1.5
_DOUBT_BITS = 3.0
"""Bits that a range seen in one sample may lack; in n samples by the root of n less."""
_CODES = 255
"""Steps between the least and the greatest code of int8."""
_LARGEST_CODE = 2.0**30
"""Bound of zero points: codes must be computed in 64-bit floats and held by 32-bit integers."""
_THRESHOLD_BITS = 12
"""A feature that trees compare with one number has steps of its size over 2 to this power."""
_WHOLE = 1e-3
"""Largest distance from a whole number of a zero point that a file states."""


_STEPS = QuantParams.per_tensor(FEATURE_STEP, 0)
"""The parameters of an input in steps."""


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """Operators on single features of an input, before anything else.

    Attributes:
        nodes: the operators, in order, each the only reader of the one before.
        output: the tensor they lead to; the input itself where there are none.
        affine: what they compute: ``output = scale * x + shift``.
    """

    nodes: tuple[Node, ...]
    output: str
    affine: Affine


def with_feature_scales(
    graph: Graph, samples: Mapping[str, Array] | None, synthetic: tuple[float, float]
) -> tuple[Graph, Mapping[str, Array] | None]:
    """Apply the rules to all inputs.

    Args:
        graph: REAL stage, cleaned.
        samples: calibration data, float32 [N, ...] by input, or None.
        synthetic: range of the noise that stands for data where there are none.

    Returns:
        The graph, whose scaled inputs are in steps (`Graph.input_features`), and the samples for
        it.
    """
    found: dict[str, QuantParams] = {}
    for name in graph.inputs:
        value = graph.values[name]
        if value.dtype is DType.FLOAT32 and len(value.shape) == 2 and name not in graph.outputs:
            chain = _chain(graph, name)
            data = None if samples is None else samples[name]
            params = _params(graph, chain, data, synthetic)
            if params is not None:
                graph = _in_steps(graph, name, chain, params)
                found[name] = params
    if samples is not None:
        samples = {
            name: found[name].in_steps(array) if name in found else array
            for name, array in samples.items()
        }
    return (fold_batch_norm(graph) if found else graph), samples


def _chain(graph: Graph, name: str) -> _Chain:
    features = graph.shape(name)[-1]
    affine = Affine(np.ones(features), np.zeros(features))
    nodes: list[Node] = []
    while graph.values[name].quant is None:
        node = graph.sole_consumer(name)
        found = None if node is None else affine_of(graph, node)
        if node is None or found is None or found[1] != name:
            break
        after = found[0]
        affine = Affine(after.scale * affine.scale, after.scale * affine.shift + after.shift)
        nodes.append(node)
        name = node.output
    return _Chain(tuple(nodes), name, affine)


def _params(
    graph: Graph, chain: _Chain, data: Array | None, synthetic: tuple[float, float]
) -> QuantParams | None:
    """Parameters of the features of an input, None where one scale serves all."""
    thresholds = _thresholds(graph, chain)
    if thresholds is not None:
        return _range_params(*_before(chain.affine, thresholds))
    pinned = graph.values[chain.output].quant
    if pinned is not None:
        return _pinned_params(chain.affine) if chain.nodes and pinned == _STEPS else None
    if data is None:
        return _range_params(*_before(chain.affine, synthetic)) if chain.nodes else None
    rows = data.reshape(-1, data.shape[-1]).astype(np.float64)
    low, high = rows.min(axis=0), rows.max(axis=0)
    if not np.all(np.isfinite(low) & np.isfinite(high)):
        return None  # an error that calibration reports
    if not chain.nodes and not _is_uneven(low, high, len(rows)):
        return None
    return _range_params(low, high)


def _thresholds(graph: Graph, chain: _Chain) -> tuple[Array, Array] | None:
    """The least and the greatest number that trees compare each feature with; None: rule 0 fails.

    A feature that no tree tests has the range [-1, 1].
    """
    readers = graph.consumers[chain.output]
    trees = all(isinstance(node.attrs, ops.TreeEnsemble) for node in readers)
    if not readers or not trees or chain.output in graph.outputs or np.any(chain.affine.scale <= 0):
        return None
    low, high = np.full_like(chain.affine.scale, np.inf), np.full_like(chain.affine.scale, -np.inf)
    for node in readers:
        rows = graph.constants[ops.TreeEnsemble.Inputs.of(node.inputs).nodes].real64()
        inner = rows[rows[:, 0] >= 0]
        feature = inner[:, 0].astype(np.int64)
        np.minimum.at(low, feature, inner[:, 1])
        np.maximum.at(high, feature, inner[:, 1])
    tested = np.isfinite(low)
    low, high = np.where(tested, low, -1.0), np.where(tested, high, 1.0)
    # A step more at each end: what lies beyond a threshold must have another code.
    size = np.where(np.abs(low) > 0.0, np.abs(low), 1.0)
    margin = np.maximum(high - low, size * 2.0**-_THRESHOLD_BITS) / (_CODES - 3)
    return low - margin, high + margin


def _is_uneven(low: Array, high: Array, samples: int) -> bool:
    """Rule 3, for the ranges of the features; few samples show each feature a part of its range."""
    spans = (high - low)[high > low]
    whole = max(float(high.max()), 0.0) - min(float(low.min()), 0.0)
    bits = _LOST_BITS + _DOUBT_BITS / math.sqrt(samples)
    return spans.size > 1 and bool(np.median(spans) * 2.0**bits < whole)


def _before(affine: Affine, values: tuple[float | Array, float | Array]) -> tuple[Array, Array]:
    """The ranges of features that lead to ranges of values."""
    scale = np.where(affine.scale == 0.0, 1.0, affine.scale)
    ends = [(end - affine.shift) / scale for end in values]
    return np.minimum(*ends), np.maximum(*ends)


def _range_params(low: Array, high: Array) -> QuantParams:
    """Int8 parameters of features by their ranges; float64 [F] each."""
    constant = high <= low
    # A feature that never changed in the data may do so later: it gets a range that holds zero.
    low, high = (
        np.where(constant, np.minimum(low, 0), low),
        np.where(constant, np.maximum(high, 0), high),
    )
    span = np.where(high > low, high - low, 1.0)
    least = np.maximum(np.abs(low), np.abs(high)) / _LARGEST_CODE
    scale = np.maximum(np.maximum(span / _CODES, least), np.finfo(np.float32).tiny)
    scale = scale.astype(np.float32).astype(np.float64)
    zero_point = np.floor(-128 - low / scale + 0.5)
    return QuantParams.per_feature(scale, zero_point, axis=1)


def _pinned_params(affine: Affine) -> QuantParams | None:
    """Rule 1: those of features that become steps; None if codes of features cannot say it."""
    zero_point = affine.shift / FEATURE_STEP
    whole = np.floor(zero_point + 0.5)
    # A file holds float32 numbers.
    near = np.abs(whole - zero_point) <= _WHOLE + np.abs(whole) * np.finfo(np.float32).eps
    if np.any(affine.scale <= 0.0) or not np.all(near):
        return None
    scale = (FEATURE_STEP / affine.scale).astype(np.float32)
    return QuantParams.per_feature(scale, whole, axis=1)


def _in_steps(graph: Graph, name: str, chain: _Chain, params: QuantParams) -> Graph:
    """The graph with an input in steps, from which each reader takes what the chain led to."""
    scale, zero_point = np.asarray(params.scale), np.asarray(params.zero_point)
    affine = chain.affine
    factor = affine.scale * scale / FEATURE_STEP
    shift = affine.shift - affine.scale * scale * zero_point
    builder = GraphBuilder.of(graph)
    for node in chain.nodes:
        builder.remove(node)
    readers = [node for node in graph.consumers[chain.output] if node not in chain.nodes]
    builder.input_features[name] = params
    builder.value(replace(graph.values[name], quant=_STEPS))
    if graph.values[chain.output].quant is not None:  # pinned to the same codes
        builder.rewire(chain.output, name)
        return builder.build()
    sources = tuple(source for node in chain.nodes for source in node.sources)
    parts = [factor, shift, np.zeros_like(factor), np.ones_like(factor)]
    constants = [builder.constant(f"{name}/features", part.astype(np.float32)) for part in parts]
    wanted = [*readers, *([None] if chain.output in graph.outputs else [])]
    for reader in wanted:
        if reader is not None and isinstance(reader.attrs, ops.TreeEnsemble) and np.all(factor > 0):
            _move_thresholds(builder, graph, reader, name, factor, shift)
            continue
        # Each reader has its own, so that all may fold it.
        made = chain.output if reader is None else builder.fresh(f"{chain.output}/scaled")
        builder.value(replace(graph.values[chain.output], name=made))
        inputs = ops.BatchNormalization.Inputs(name, *constants)
        builder.node(made, ops.BatchNormalization(epsilon=0.0), inputs, (made,), sources)
        if reader is not None:
            current = builder.nodes[reader.name]
            names = tuple(made if each == chain.output else each for each in current.inputs)
            builder.put(replace(current, inputs=names))
    return builder.build()


def _move_thresholds(
    builder: GraphBuilder, graph: Graph, trees: Node, name: str, factor: Array, shift: Array
) -> None:
    """Let trees compare steps with thresholds in steps: ``factor * step + shift <= threshold``."""
    inputs = ops.TreeEnsemble.Inputs.of(trees.inputs)
    rows = graph.constants[inputs.nodes].real64()
    feature = rows[:, 0].astype(np.int64)
    steps = ((rows[:, 1] - shift[feature]) / factor[feature]).astype(np.float32)
    # Upwards: a step that equals its threshold must not come to lie above it.
    rows[:, 1] = np.where(feature >= 0, np.nextafter(steps, np.float32(np.inf)), rows[:, 1])
    nodes = builder.constant(inputs.nodes, rows.astype(np.float32))
    builder.put(
        replace(builder.nodes[trees.name], inputs=replace(inputs, x=name, nodes=nodes).names())
    )
