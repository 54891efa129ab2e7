"""Fold per-channel scalings and shifts into convolutions and dense layers.

Runs after `layout`, so that the channels are last.  Weights that a QDQ model pinned to integers are
left alone.

Rules:
1. after: ``BatchNormalization`` after a Conv, ConvTranspose or Gemm goes into its weights
   and bias.
2. mul: likewise ``Mul`` by a constant per channel.
3. add: likewise ``Add`` and ``Sub`` (the constant second) of a constant per channel.
4. before: ``BatchNormalization`` of the input of a Gemm or Conv goes into its weights and bias.
   (Where a Conv has padding it must shift nothing: it would shift the zeros around the image.)
5. alone: any other ``BatchNormalization`` becomes a depthwise 1x1 Conv.
6. pool: rules 1 to 3 for weights that come from a pool: the factors go into their scales, if all
   are positive; the indices stay.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
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


def fold_batch_norm(graph: Graph) -> Graph:
    """Apply the rules until none applies; no `BatchNormalization` is left."""
    graph = sweep(graph, _fold_after)
    graph = sweep(graph, _fold_before)
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
    if constant.pooled is not None:
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
    with np.errstate(over="ignore"):
        scale = (np.asarray(weight.quant.scale) * affine.scale).astype(np.float32)
    # A scale cannot hold a sign, nor a factor of zero.
    if not np.all((scale > 0) & np.isfinite(scale)):
        return None
    scaled = Constant(weight.name, weight.array, QuantParams.per_output(scale), weight.pooled)
    shift = _bias(graph, linear, len(weight.array)) * affine.scale + affine.shift
    return fused(graph, linear, node, scaled, shift)


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
