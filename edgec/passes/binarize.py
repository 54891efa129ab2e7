"""Signs before layers of binary weights take two values: 1 at zero, where ONNX's Sign has 0.

Binary networks are trained with signs that are -1 or 1, and exported with Sign, which has a third
value that real numbers hardly ever meet; codes meet it often, for each stands for an interval.

Rules:
1. sign: a Sign that only convolutions and dense layers of binary weights read, each filter's being
   plus or minus one number, maybe flattened or padded by ones in between, becomes the sign that is
   1 at zero.  One whose operand is nowhere negative stays: it tells zeros from other numbers.
2. factor: a number that such signs are multiplied with before a convolution or dense layer of
   binary weights becomes a part of these.
3. pins: codes of weights that are signs, and of the bias beside them, become the numbers that they
   stand for, where the layer reads such signs.  So a file that pins both, as QONNX's BipolarQuant
   does, gives the same layers as one that pins nothing.
4. pool: a MaxPool of signs that nobody else reads becomes the sign of a MaxPool.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import UnaryKind
from edgec.ir.qops.signs import is_binary
from edgec.passes.edit import below_layout, never_negative, pads_ones, sweep


def binarize(graph: Graph) -> Graph:
    """Apply the rules until none applies."""
    return sweep(graph, partial(_rewrite, never_negative(graph)))


def _rewrite(nowhere_negative: frozenset[str], graph: Graph, node: Node) -> Graph | None:
    if _is_binary_layer(graph, node):
        return _layer(graph, node)
    if isinstance(node.attrs, ops.MaxPool):
        return _pool(graph, node)
    if not isinstance(node.attrs, ops.Unary) or node.attrs.kind is not UnaryKind.SIGN:
        return None
    if not _read_by_binary(graph, node.output) or node.first in nowhere_negative:
        return None
    builder = GraphBuilder.of(graph)
    builder.put(replace(node, attrs=ops.Unary(UnaryKind.BINARIZE)))
    return builder.build()


def _pool(graph: Graph, pool: Node) -> Graph | None:
    """Rule 4: signs do not fall where numbers rise, so the largest of them is that of the largest.

    Padding is no element of a window.
    """
    sign = graph.producers.get(pool.input)
    if sign is None or graph.sole_consumer(sign.output) is not pool:
        return None
    if not isinstance(sign.attrs, ops.Unary) or sign.attrs.kind is not UnaryKind.BINARIZE:
        return None
    x, y = graph.values.get(sign.input), graph.values[pool.output]
    if x is None or y.quant is not None or graph.values[sign.output].quant is not None:
        return None
    builder = GraphBuilder.of(graph)
    largest = builder.value(
        replace(x, name=builder.fresh(f"{x.name}/largest"), shape=y.shape, form_of="")
    )
    builder.remove(sign)
    builder.remove(pool)
    builder.node(pool.name, pool.attrs, (x.name,), (largest,), pool.sources)
    builder.node(sign.name, sign.attrs, (largest,), (y.name,), sign.sources)
    return builder.build()


def _layer(graph: Graph, node: Node) -> Graph | None:
    """Rules 2 and 3."""
    inputs = ops.layer_inputs(node)
    signs, factor = _scaled_signs(graph, inputs.x)
    read = [inputs.w, *([inputs.b] if inputs.b else [])]
    pinned = any(graph.constants[name].quant is not None for name in read)
    if signs is None or (signs == inputs.x and not pinned):
        return None
    builder = GraphBuilder.of(graph)
    w = graph.constants[inputs.w]
    changed = replace(inputs, x=signs, w=builder.constant(w.name, w.real() * np.float32(factor)))
    if inputs.b:
        changed = replace(changed, b=builder.constant(inputs.b, graph.constants[inputs.b].real()))
    builder.put(replace(node, inputs=changed.names()))
    return builder.build()


def _scaled_signs(graph: Graph, name: str) -> tuple[str | None, float]:
    """The signs that a value is some times of, and how many; None where it is of no signs."""
    made = below_layout(graph, name)
    if made is None:
        return None, 1.0
    if isinstance(made.attrs, ops.Unary) and made.attrs.kind is UnaryKind.BINARIZE:
        return name, 1.0
    if isinstance(made.attrs, ops.Mul) and made.output == name:
        operands = ops.Mul.Inputs.of(made.inputs)
        for x, other in ((operands.a, operands.b), (operands.b, operands.a)):
            number = graph.constants.get(other)
            if number is None or number.array.size == 0 or graph.shape(x) != graph.shape(name):
                continue
            factors = np.unique(number.real64())
            signs, _ = _scaled_signs(graph, x)
            if signs == x and factors.size == 1 and factors[0] != 0.0:
                return signs, float(factors[0])
    return None, 1.0


def _read_by_binary(graph: Graph, name: str) -> bool:
    """Whether layers of binary weights alone read a value, as it is or flattened."""
    readers = graph.consumers[name]
    return (
        bool(readers)
        and name not in graph.outputs
        and all(
            _read_by_binary(graph, reader.output)
            if isinstance(reader.attrs, ops.Reshape) or pads_ones(reader)
            else _is_binary_layer(graph, reader)
            for reader in readers
        )
    )


def _is_binary_layer(graph: Graph, node: Node) -> bool:
    if not isinstance(node.attrs, ops.Conv | ops.Gemm):
        return False
    weights = graph.constants[ops.layer_inputs(node).w]
    # Any single weight is plus or minus one number: that says nothing.
    several = weights.array[:1].size > 1 and getattr(node.attrs, "group", 1) == 1
    return several and is_binary(weights.real64())
