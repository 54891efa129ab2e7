"""Fold per-channel scalings and shifts into convolutions and dense layers.

Runs after `layout`, so that the channels are last.  Weights that a QDQ model pinned to integers
keep their codes.

Rules:
1. after: ``BatchNormalization`` after a Conv, ConvTranspose or Gemm goes into its weights
   and bias.
2. mul: likewise ``Mul`` by a constant per channel.
3. add: likewise ``Add`` and ``Sub`` (the constant second) of a constant per channel.
4. before: ``BatchNormalization`` of the input of a Gemm or Conv goes into its weights and bias.
   (Where a Conv has padding it must shift nothing: it would shift the zeros around the image.)
5. pair: a ``Mul`` and an ``Add`` or ``Sub``, one after the other, that no layer takes are a
   ``BatchNormalization``: as one step they round once, and the shift has the steps of a bias.
   Those of an input stay, for they say how features are scaled.
6. alone: any other ``BatchNormalization`` becomes a depthwise 1x1 Conv.
7. codes: rules 1 to 3 for weights that come from a pool or are pinned to integers: the factors go
   into their scales; the indices stay, and so do codes, but for their sign.  (Scales of a pool
   cannot hold a sign.)  A bias has steps of the scales of input and weights.  Where both have few
   codes that is coarse beside what decides between two codes of the output, so such weights get
   codes up to 127 for the same numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.passes.edit import sweep
from edgec.passes.linear import (
    Affine,
    affine_of,
    batch_norm_affine,
    fused,
    has_float_weights,
    unpinned_linear_before,
)

_FEW_CODES = 7
"""The largest code of three bits."""


def fold_batch_norm(graph: Graph) -> Graph:
    """Apply the rules until none applies; no `BatchNormalization` is left."""
    graph = sweep(graph, _fold_after)
    graph = sweep(graph, _fold_before)
    graph = sweep(graph, _pair)
    return sweep(graph, _to_depthwise)


def norm_operands(builder: GraphBuilder, stem: str, affine: Affine) -> tuple[str, ...]:
    """Constants with which a `BatchNormalization` of epsilon 0 computes ``x * scale + shift``."""
    zeros, ones = np.zeros_like(affine.scale), np.ones_like(affine.scale)
    return tuple(
        builder.constant(f"{stem}/{i}", array.astype(np.float32))
        for i, array in enumerate((affine.scale, affine.shift, zeros, ones))
    )


def layer_of_ones(builder: GraphBuilder, x: Value, sources: tuple[str, ...]) -> str:
    """A new value equal to x, which `fold_batch_norm` makes the output of a layer with weights 1.

    Args:
        builder: holds the graph.
        x: a value of it.
        sources: those of the new node.
    """
    name = builder.value(replace(x, name=builder.fresh(f"{x.name}/alone")))
    ones = np.ones(x.shape[-1])
    operands = norm_operands(builder, name, Affine(ones, np.zeros_like(ones)))
    norm = ops.BatchNormalization(epsilon=0.0)
    builder.node(name, norm, (x.name, *operands), (name,), sources)
    return name


def _fold_after(graph: Graph, node: Node) -> Graph | None:
    found = affine_of(graph, node)
    if found is None:
        return None
    affine, source = found
    linear = unpinned_linear_before(graph, node, source)
    if linear is None:
        return None
    constant = graph.constants[ops.layer_inputs(linear).w]
    if constant.quant is not None:
        return _fold_into_scales(graph, linear, node, affine)
    if not has_float_weights(graph, linear):
        return None
    weight = constant.array.astype(np.float64)
    bias = _bias(graph, linear, len(weight))
    scale = affine.scale.reshape(-1, *[1] * (weight.ndim - 1))
    return fused(graph, linear, node, weight * scale, bias * affine.scale + affine.shift)


def _fold_into_scales(graph: Graph, linear: Node, node: Node, affine: Affine) -> Graph | None:
    inputs = ops.layer_inputs(linear)
    weight, bias = graph.constants[inputs.w], inputs.b
    if weight.quant is None or (bias and graph.constants[bias].quant is not None):
        return None
    factors, codes = affine.scale, weight.array
    if weight.pooled is None and (affine.scale == 1.0).all():
        # A bias, whose own codes `fuse_bias` keeps.
        return None
    if weight.pooled is None:
        turned = _turned(graph, linear, weight, affine.scale)
        if turned is None:
            return None
        codes, factors = turned
    with np.errstate(over="ignore"):
        scale = (np.asarray(weight.quant.scale) * factors).astype(np.float32)
    # A scale cannot hold a sign, nor a factor of zero.
    if not np.all((scale > 0) & np.isfinite(scale)):
        return None
    scaled = Constant(weight.name, codes, QuantParams.per_output(scale), weight.pooled)
    shift = _bias(graph, linear, len(weight.array)) * affine.scale + affine.shift
    return fused(graph, linear, node, scaled, shift)


def _turned(
    graph: Graph, linear: Node, weight: Constant, scale: Array
) -> tuple[Array, Array] | None:
    """Codes of pinned weights with the signs of factors, and the factors of their scales.

    None where the codes are not int8 around 0 with outputs on axis 0.
    """
    quant = weight.quant
    assert quant is not None
    plain = quant.dtype is DType.INT8 and not any(quant.zero_point) and quant.axis in (None, 0)
    if not plain or not isinstance(linear.attrs, ops.Conv | ops.Gemm):
        return None
    signs = np.sign(scale).astype(np.int64).reshape(-1, *[1] * (weight.array.ndim - 1))
    codes = weight.array.astype(np.int64) * signs
    largest = int(np.abs(codes).max(initial=0))
    # The opposite of the least code is no code.
    if largest == 0 or codes.max() > INT8_MAX:
        return None
    few = largest <= _FEW_CODES and _has_few_codes(graph, linear.first)
    times = INT8_MAX // largest if few else 1
    return (codes * times).astype(np.int8), np.abs(scale) / times


def _has_few_codes(graph: Graph, name: str) -> bool:
    """Whether a pinned value is limited to a few of its codes."""
    quant, made = graph.values[name].quant, graph.producers.get(name)
    if quant is None or quant.axis is not None or made is None:
        return False
    if not isinstance(made.attrs, ops.Clip):
        return False
    return (made.attrs.high - made.attrs.low) / quant.tensor_scale < _FEW_CODES + 1


def _pair(graph: Graph, node: Node) -> Graph | None:
    """Rule 5."""
    if not isinstance(node.attrs, ops.Mul | ops.Add | ops.Sub):
        return None
    last = affine_of(graph, node)
    made = None if last is None else graph.producers.get(last[1])
    if last is None or made is None or not isinstance(made.attrs, ops.Mul | ops.Add | ops.Sub):
        return None
    first = affine_of(graph, made)
    single = graph.sole_consumer(made.output) is node and graph.values[made.output].quant is None
    both = isinstance(node.attrs, ops.Mul) is not isinstance(made.attrs, ops.Mul)
    if first is None or not single or not both or not graph.shape(node.output):
        return None
    if _is_of_input(graph, first[1]):
        return None
    scale = first[0].scale * last[0].scale
    if (scale == scale[0]).all():
        return None
    shift = first[0].shift * last[0].scale + last[0].shift
    builder = GraphBuilder.of(graph)
    operands = norm_operands(builder, node.name, Affine(scale, shift))
    builder.remove(made)
    norm = ops.BatchNormalization(epsilon=0.0)
    sources = (*made.sources, *node.sources)
    builder.put(replace(node, attrs=norm, inputs=(first[1], *operands), sources=sources))
    return builder.build()


def _is_of_input(graph: Graph, name: str) -> bool:
    """Whether a value is an input, moved at most: its features get scales of their own."""
    made = graph.producers.get(name)
    while made is not None and isinstance(made.attrs, ops.Reshape | ops.Transpose | ops.Slice):
        name = made.first
        made = graph.producers.get(name)
    return name in graph.inputs


def _bias(graph: Graph, linear: Node, outputs: int) -> Array:
    name = ops.layer_inputs(linear).b
    return graph.constants[name].array.astype(np.float64) if name else np.zeros(outputs)


def _fold_before(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.BatchNormalization):
        return None
    between = graph.values[node.output]
    linear = graph.sole_consumer(between.name)
    affine = batch_norm_affine(graph, node)
    if linear is None or between.quant is not None or not _takes(linear, affine):
        return None
    if not has_float_weights(graph, linear):
        return None
    weight = graph.constants[ops.layer_inputs(linear).w].array.astype(np.float64)
    scale, shift = (_per_weight(part, weight, linear) for part in (affine.scale, affine.shift))
    axes = tuple(range(1, weight.ndim))
    bias = _bias(graph, linear, len(weight)) + np.sum(weight * shift, axis=axes)
    return _fused_before(graph, node, linear, weight * scale, bias)


def _fused_before(graph: Graph, node: Node, linear: Node, weight: Array, bias: Array) -> Graph:
    builder = GraphBuilder.of(graph)
    inputs = ops.Weighted.Inputs(
        x=node.first,
        w=builder.constant(ops.layer_inputs(linear).w, weight.astype(np.float32)),
        b=builder.constant(f"{linear.name}/bias", bias.astype(np.float32)),
    )
    builder.remove(node)
    builder.put(replace(linear, inputs=inputs.names(), sources=(*node.sources, *linear.sources)))
    return builder.build()


def _takes(linear: Node, affine: Affine) -> bool:
    """Whether a layer reads zeros as the numbers that the affine makes of zeros, if any."""
    if isinstance(linear.attrs, ops.Conv):
        return not any(linear.attrs.pads) or not affine.shift.any()
    return isinstance(linear.attrs, ops.Gemm)


def _per_weight(channels: Array, weight: Array, linear: Node) -> Array:
    """A number per input channel, shaped to multiply the weights."""
    if not isinstance(linear.attrs, ops.Conv):
        return channels
    outputs, _, _, inputs = weight.shape
    groups = channels.reshape(linear.attrs.group, inputs)
    return np.repeat(groups, outputs // linear.attrs.group, axis=0)[:, None, None, :]


def _to_depthwise(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.BatchNormalization):
        return None
    affine = batch_norm_affine(graph, node)
    shape = graph.shape(node.output)
    channels = shape[-1]
    builder = GraphBuilder.of(graph)
    builder.remove(node)
    weight = builder.constant(
        f"{node.name}/scale", affine.scale.astype(np.float32).reshape(channels, 1, 1, 1)
    )
    bias = builder.constant(f"{node.name}/shift", affine.shift.astype(np.float32))
    x, y = node.first, node.output
    if len(shape) != 4:
        flat = (1, 1, int(np.prod(shape[:-1])), channels)
        source = builder.values[x]
        x = builder.value(replace(source, name=builder.fresh(f"{x}/4d"), shape=flat))
        builder.node(x, ops.Reshape(flat), (node.first,), (x,), node.sources)
        target = builder.values[y]
        y = builder.value(replace(target, name=builder.fresh(f"{y}/4d"), shape=flat))
        builder.node(f"{y}/back", ops.Reshape(shape), (y,), (target.name,), node.sources)
    builder.node(
        node.name, ops.Conv(group=channels), ops.Conv.Inputs(x, weight, bias), (y,), node.sources
    )
    return builder.build()
