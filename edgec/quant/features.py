"""A scale for each feature of a tabular input, so that all are seen, whatever their units.

Columns of a table have units of their own: the proline of a wine reaches 1680, its hue 1.7.  One
int8 scale for both leaves nothing of the hue, and a ``StandardScaler`` in the network comes too
late.  Here each feature gets the scale of its own range, and whatever the network does to single
features first (subtract, divide, multiply, add) is folded into the scales or into the layers that
follow: ``x = scale * (code - zero_point)`` is affine in the code, as these are.

Rules, for each float input that no file pins to codes, of shape [1, F], or a window of more axes,
one of which counts the features:
0. trees: where decision trees alone read the features, the codes span the thresholds of each:
   values beyond the last of them are all alike.
1. pinned: where the operators on features lead to a tensor that the file pins to the steps of
   `QuantParams.in_steps`, it is the input: this is how `edgec quantize` writes one.
2. scaled: operators on features come first, and the input is no window, or a feature has a range so
   small beside the scale of the whole window that more than `_LOST_BITS` of its 8 bits would be
   lost.
3. uneven: half of the features have such a small range; features of a window must go into the
   weights of the layers that read it.
4. All other inputs are left as they are, with one scale.

A layer with padding reads zeros beside a window: its features get codes that are 0 where what it
reads is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MIN
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import FEATURE_STEP, QuantParams
from edgec.passes.fold_batch_norm import fold_batch_norm
from edgec.passes.linear import Affine
from edgec.quant.common.few_samples import fresh_range
from edgec.quant.feature_paths import (
    Chain,
    Leaf,
    chain_of,
    is_padded,
    leaves,
    put_affine,
    takes_factors,
)

_LOST_BITS = 1.5
_DOUBT_BITS = 3.0
"""Bits that a range seen in one sample may lack; in n samples by the root of n less."""
_CODES = 255
"""Steps between the least and the greatest code of int8."""
_TINY = float(np.finfo(np.float32).tiny)
_LARGEST_CODE = 2.0**30
"""Bound of zero points: codes must be computed in 64-bit floats and held by 32-bit integers."""
_THRESHOLD_BITS = 12
"""A feature that trees compare with one number has steps of its size over 2 to this power."""
_WHOLE = 1e-3
"""Largest distance from a whole number of a zero point that a file states."""


_STEPS = QuantParams.per_tensor(FEATURE_STEP, 0)
"""The parameters of an input in steps."""


def with_feature_scales(
    graph: Graph,
    samples: Mapping[str, Array] | None,
    synthetic: tuple[float, float],
    shorter: Graph | None = None,
) -> tuple[Graph, Mapping[str, Array] | None]:
    """Apply the rules to all inputs.

    Args:
        graph: REAL stage, cleaned.
        samples: calibration data, float32 [N, ...] by input, or None.
        synthetic: range of the noise that stands for data where there are none.
        shorter: the network for a shorter run, of a model of variable length: an axis of another
            size there counts no features.

    Returns:
        The graph, whose scaled inputs are in steps (`Graph.input_features`), and the samples for
        it.
    """
    found: dict[str, QuantParams] = {}
    for name in graph.inputs:
        value = graph.values[name]
        if value.dtype is DType.FLOAT32 and len(value.shape) >= 2 and name not in graph.outputs:
            data = None if samples is None else samples[name]
            scaled = _Input(graph, name, data, synthetic, shorter).scaled()
            if scaled is not None:
                graph, found[name] = scaled
    if samples is not None:
        samples = {
            name: found[name].in_steps(array) if name in found else array
            for name, array in samples.items()
        }
    return (fold_batch_norm(graph) if found else graph), samples


def with_scales_of(graph: Graph, features: Mapping[str, QuantParams]) -> Graph:
    """A network whose inputs are in the steps that `with_feature_scales` found for another one.

    Args:
        graph: REAL stage, cleaned: the other network for another length of its inputs.
        features: `Graph.input_features` of the other one.
    """
    for name, params in features.items():
        graph, _ = _Input(graph, name, None, (0.0, 1.0)).in_steps(params)
    return fold_batch_norm(graph) if features else graph


class _Input:
    """An input, which may get a scale for each feature."""

    def __init__(
        self,
        graph: Graph,
        name: str,
        data: Array | None,
        synthetic: tuple[float, float],
        shorter: Graph | None = None,
    ) -> None:
        self._graph, self._name, self._data, self._synthetic = graph, name, data, synthetic
        self._chain = chain_of(graph, name)
        self._window = len(graph.shape(name)) > 2
        self._other = graph.shape(name) if shorter is None else shorter.shape(name)

    def scaled(self) -> tuple[Graph, QuantParams] | None:
        """The graph with the input in steps, and the parameters; None where one scale serves."""
        graph, chain = self._graph, self._chain
        if not self._window:
            thresholds = _thresholds(graph, chain)
            if thresholds is not None:
                return self.in_steps(_range_params(*_before(chain.along(1), thresholds), 1))
        pinned = graph.values[chain.output].quant
        if pinned is not None:
            axis = (*chain.axes, len(graph.shape(self._name)) - 1)[0]
            params = _pinned_params(chain.along(axis), axis)
            if not chain.nodes or pinned != _STEPS or params is None:
                return None
            return self.in_steps(params)
        tried = (self._along(axis) for axis in self._axes())
        params = next((each for each in tried if each is not None), None)
        return None if params is None else self.in_steps(params)

    def _axes(self) -> tuple[int, ...]:
        """The axes along which features may lie, the likeliest first."""
        shape = self._graph.shape(self._name)
        axes = self._chain.axes or tuple(range(len(shape) - 1, 0, -1))
        return tuple(axis for axis in axes if shape[axis] == self._other[axis])

    def _along(self, axis: int) -> QuantParams | None:
        """Parameters of the features along an axis, None where one scale serves all."""
        chain, affine = self._chain, self._chain.along(axis)
        scaled = bool(chain.axes) if self._window else bool(chain.nodes)
        if self._data is None:
            low, high = _before(affine, self._synthetic)
            uneven = bool(chain.nodes)
        else:
            rows = np.moveaxis(self._data, axis, -1).astype(np.float64)
            others = tuple(range(rows.ndim - 1))
            low, high = rows.min(axis=others), rows.max(axis=others)
            if not np.all(np.isfinite(low) & np.isfinite(high)):
                return None  # an error that calibration reports
            uneven = _is_uneven(low, high, len(rows), np.min if scaled else np.median)
            low, high = fresh_range(rows.reshape(-1, rows.shape[-1]))
        if not uneven and (self._window or not scaled):
            return None
        read = list(leaves(self._graph, Leaf(None, chain.output, chain.labels)))
        features = self._features(axis)
        folded = all(takes_factors(self._graph, leaf, features) for leaf in read)
        if self._window and not scaled and not folded:
            return None
        if folded and any(map(is_padded, read)):
            centred = _centred_params(affine, low, high, axis)
            if centred is not None or not scaled:
                return centred
        return _range_params(low, high, axis)

    def _features(self, axis: int) -> Array:
        """Number of the feature of each element of the input; int64 of its shape."""
        shape = self._graph.shape(self._name)
        own = [size if i == axis else 1 for i, size in enumerate(shape)]
        return np.broadcast_to(np.arange(shape[axis]).reshape(own), shape)

    def in_steps(self, params: QuantParams) -> tuple[Graph, QuantParams]:
        """The graph with the input in steps, from which readers take what the chain led to."""
        graph, chain, name = self._graph, self._chain, self._name
        builder = GraphBuilder.of(graph)
        builder.input_features[name] = params
        builder.value(replace(graph.values[name], quant=_STEPS))
        bases: dict[str, str] = {}
        for node, source in zip(chain.nodes, chain.read, strict=True):
            bases[node.output] = bases.get(source, source)
            builder.remove(node)
        for output, base in bases.items():
            if output != chain.output:
                builder.rewire(output, base)
        base = bases.get(chain.output, chain.output)
        if graph.values[chain.output].quant is not None:  # pinned to the same codes
            builder.rewire(chain.output, base)
        else:
            assert params.axis is not None
            self._compute(builder, base, params, self._features(params.axis))
        return builder.build(), params

    def _compute(
        self, builder: GraphBuilder, base: str, params: QuantParams, features: Array
    ) -> None:
        """Let the readers of the chain's output have it from steps."""
        graph, chain, names = self._graph, self._chain, features.reshape(-1)
        scale, zero_point = np.asarray(params.scale)[names], np.asarray(params.zero_point)[names]
        gain, offset = chain.affine.scale.reshape(-1), chain.affine.shift.reshape(-1)
        factor, shift = gain * scale / FEATURE_STEP, offset - gain * scale * zero_point
        shift = np.where(np.abs(shift) < np.abs(factor) * FEATURE_STEP * _WHOLE, 0.0, shift)
        readers = [node for node in graph.consumers[chain.output] if node not in chain.nodes]
        for reader in [*readers, *([None] if chain.output in graph.outputs else [])]:
            trees = reader is not None and isinstance(reader.attrs, ops.TreeEnsemble)
            if reader is not None and trees and np.all(factor > 0):
                _move_thresholds(builder, graph, reader, base, factor, shift)
                continue
            own = Leaf(reader, chain.output, chain.labels)
            found = list(leaves(graph, own)) if reader is not None else [own]
            fits = (
                takes_factors(graph, leaf, features) and not (is_padded(leaf) and shift.any())
                for leaf in found
            )
            found = found if all(fits) else [own]
            if found != [own] and reader is not None:
                _read(builder, reader, chain.output, base)
            for leaf in found:
                source = base if leaf.value == chain.output else leaf.value
                if leaf.reader is None:
                    put_affine(builder, leaf, source, chain.output, factor, shift)
                    continue
                # Each reader has its own, so that all may fold it.
                made = builder.fresh(f"{leaf.value}/scaled")
                put_affine(builder, leaf, source, made, factor, shift)
                _read(builder, leaf.reader, leaf.value, made)


def _read(builder: GraphBuilder, reader: Node, old: str, new: str) -> None:
    """Let a node read another value."""
    current = builder.nodes[reader.name]
    names = tuple(new if each == old else each for each in current.inputs)
    builder.put(replace(current, inputs=names))


def _thresholds(graph: Graph, chain: Chain) -> tuple[Array, Array] | None:
    """The least and the greatest number that trees compare each feature with; None: rule 0 fails.

    A feature that no tree tests has the range [-1, 1].
    """
    readers = graph.consumers[chain.output]
    trees = all(isinstance(node.attrs, ops.TreeEnsemble) for node in readers)
    affine = chain.along(1)
    if not readers or not trees or chain.output in graph.outputs or np.any(affine.scale <= 0):
        return None
    low, high = np.full_like(affine.scale, np.inf), np.full_like(affine.scale, -np.inf)
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


def _is_uneven(low: Array, high: Array, samples: int, of: Callable[[Array], float]) -> bool:
    """Whether one scale for the ranges of features loses too much.

    Args:
        low, high: the ranges; float64 [F].
        samples: few of them show each feature a part of its range.
        of: the feature whose range counts: the median one, or the least.
    """
    spans = (high - low)[high > low]
    whole = max(float(high.max()), 0.0) - min(float(low.min()), 0.0)
    bits = _LOST_BITS + _DOUBT_BITS / math.sqrt(samples)
    return spans.size > 1 and bool(of(spans) * 2.0**bits < whole)


def _before(affine: Affine, values: tuple[float | Array, float | Array]) -> tuple[Array, Array]:
    """The ranges of features that lead to ranges of values."""
    scale = np.where(affine.scale == 0.0, 1.0, affine.scale)
    ends = [(end - affine.shift) / scale for end in values]
    return np.minimum(*ends), np.maximum(*ends)


def _centred_params(affine: Affine, low: Array, high: Array, axis: int) -> QuantParams | None:
    """Int8 parameters of features whose code 0 stands for the number that leads to 0.

    Args:
        affine: what the network makes of each feature.
        low, high: their ranges; float64 [F].
        axis: that of the features.

    Returns:
        None where such a number lies within a step of 0, but not on it: codes cannot say it.
    """
    if np.any(affine.scale == 0.0):
        return None
    zero = -affine.shift / affine.scale
    reach = np.maximum(np.maximum(high - zero, zero - low), 0.0) / -INT8_MIN
    least = np.abs(zero) / _LARGEST_CODE
    scale = np.maximum(np.maximum(np.where(reach > 0, reach, 1.0 / _CODES), least), _TINY)
    steps = np.floor(np.abs(zero) / scale)
    if np.any((steps == 0) & (zero != 0.0)):
        return None
    scale = np.where(steps > 0, np.abs(zero) / np.maximum(steps, 1.0), scale)
    scale = scale.astype(np.float32).astype(np.float64)
    return QuantParams.per_feature(scale, np.floor(0.5 - zero / scale), axis)


def _range_params(low: Array, high: Array, axis: int) -> QuantParams:
    """Int8 parameters of features by their ranges; float64 [F] each."""
    constant = high <= low
    # A feature that never changed in the data may do so later: it gets a range that holds zero.
    low, high = (
        np.where(constant, np.minimum(low, 0), low),
        np.where(constant, np.maximum(high, 0), high),
    )
    span = np.where(high > low, high - low, 1.0)
    least = np.maximum(np.abs(low), np.abs(high)) / _LARGEST_CODE
    scale = np.maximum(np.maximum(span / _CODES, least), _TINY)
    scale = scale.astype(np.float32).astype(np.float64)
    zero_point = np.floor(-128 - low / scale + 0.5)
    return QuantParams.per_feature(scale, zero_point, axis)


def _pinned_params(affine: Affine, axis: int) -> QuantParams | None:
    """Rule 1: those of features that become steps; None if codes of features cannot say it."""
    zero_point = affine.shift / FEATURE_STEP
    whole = np.floor(zero_point + 0.5)
    # A file holds float32 numbers.
    near = np.abs(whole - zero_point) <= _WHOLE + np.abs(whole) * np.finfo(np.float32).eps
    if np.any(affine.scale <= 0.0) or not np.all(near):
        return None
    scale = (FEATURE_STEP / affine.scale).astype(np.float32)
    return QuantParams.per_feature(scale, whole, axis)


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
