"""One operator in place of several that together compute a known activation function.

Exporters write GELU, SiLU and the sigmoid in many ways: by erf, by tanh, by exp, halved before or
after, with squares or powers, with a choice by sign.  So they are recognised by their values, not
by their form: operands in any order, constants on either side.

Rules:
1. function: element-wise operators that make a value of one other value and numbers alone, and
   whose result equals one of `_FUNCTIONS` or one of `_candidates` with numbers of its own at
   `_POINTS`, become that operator, of a * x where sigmoid(a * x) or tanh(a * x) has no factor.
2. hard sigmoid: a sum, product and Clip after a convolution or dense layer that nothing else reads
   are left as they are: they become part of that layer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_functions import log
from edgec.floatrun.codes import unary_function
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import UnaryKind
from edgec.passes.cone import candidates, cone_between, elementwise, from_layer, is_real
from edgec.passes.edit import sweep

_NEAR = 0.125
"""The middle points are this far apart; a hard sigmoid is straight up to the first of them."""
_BESIDE = np.concatenate([_NEAR * 2.0 ** np.arange(-24, 0), [12.0, 20.5, 40.0, 80.0]])
_BEYOND = 10.0 ** np.arange(3.0, 10.0)
"""Points at which what a file computes may overflow; steps and bounds of any size lie between."""
_POINTS = np.sort(
    np.concatenate([-_BEYOND, -_BESIDE, np.linspace(-9.0, 9.0, 145), _BESIDE, _BEYOND])
)
"""The points at which functions are compared, ascending; -1, 0 and 1 are among them."""
_MOST_EXPONENT = 700.0
"""The exponential function of float64 ends beyond it, and is not infinite."""
_TOLERANCE = 1e-5
"""GELU and its approximation differ by 4.7e-4; the constants of a file are float32."""
_LEAST_BEND = 1e-3
"""Least value beside a straight line that makes a bent one."""
_LEAST_FACTOR = 0.1
"""With smaller ones a sigmoid and a straight line differ by less than the tolerance."""
_FUNCTIONS: tuple[ops.Unary | ops.Clip, ...] = (
    ops.Unary(UnaryKind.GELU),
    ops.Unary(UnaryKind.GELU_TANH),
    ops.Unary(UnaryKind.SOFTPLUS),
    ops.Unary(UnaryKind.MISH),
    ops.Unary(UnaryKind.HARD_SWISH),
    ops.Unary(UnaryKind.SOFTSIGN),
    ops.Unary(UnaryKind.ABS),
    ops.Unary(UnaryKind.BINARIZE),
    ops.Unary(UnaryKind.SIGN),
    ops.Clip(0.0, math.inf),
)


def fuse_functions(graph: Graph) -> Graph:
    """Apply the rule until it does not apply."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    # An operator of one function alone is no composition: nothing can be gained.
    if not elementwise(graph, node) or not is_real(graph, node.output):
        return None
    for source in candidates(graph, node):
        cone = cone_between(graph, node, source) if is_real(graph, source) else None
        if cone is None or len(cone) < 2:
            continue
        known = _recognised(_values(graph, node.output, source, {}))
        if known is None:
            continue
        attrs, factor = known
        if _is_hard_sigmoid(attrs) and from_layer(graph, source):
            return None
        if factor == 1.0:
            return _fused(graph, node, cone, source, attrs)
        if len(cone) > 2:
            return _scaled(graph, node, cone, source, attrs, factor)
    return None


def _fused(
    graph: Graph, node: Node, cone: tuple[Node, ...], source: str, attrs: ops.Unary | ops.Clip
) -> Graph:
    builder = GraphBuilder.of(graph)
    sources = tuple(dict.fromkeys(name for part in cone for name in part.sources))
    builder.put(replace(node, attrs=attrs, inputs=(source,), sources=sources))
    return builder.build()


def _scaled(
    graph: Graph,
    node: Node,
    cone: tuple[Node, ...],
    source: str,
    attrs: ops.Unary | ops.Clip,
    factor: float,
) -> Graph:
    """The graph with the function of `source` times a factor in place of `node`."""
    builder = GraphBuilder.of(graph)
    inner = builder.value(
        replace(graph.values[node.output], name=builder.fresh(f"{node.output}/scaled"), quant=None)
    )
    number = builder.constant(f"{node.name}/factor", np.float32(factor).reshape(1))
    sources = tuple(dict.fromkeys(name for part in cone for name in part.sources))
    builder.node(inner, ops.Mul(), (source, number), (inner,), sources)
    builder.put(replace(node, attrs=attrs, inputs=(inner,), sources=sources))
    return builder.build()


def _is_hard_sigmoid(attrs: ops.Unary | ops.Clip) -> bool:
    return isinstance(attrs, ops.Unary) and attrs.kind is UnaryKind.HARD_SIGMOID


def _values(graph: Graph, name: str, source: str, known: dict[str, Array]) -> Array:
    """Values of `name` where `source` is `_POINTS`; float64, results kept in `known`."""
    if name == source:
        return _POINTS
    if graph.is_constant(name):
        return graph.constants[name].real().astype(np.float64).reshape(-1)[:1]
    if name not in known:
        node = graph.producers[name]
        operands = [_values(graph, operand, source, known) for operand in node.inputs]
        known[name] = _computed(node, operands)
    return known[name]


def _computed(node: Node, operands: list[Array]) -> Array:
    with np.errstate(all="ignore"):
        match node.attrs:
            case ops.Arithmetic():
                return node.attrs.evaluate(node.attrs.Inputs.of(operands))
            case ops.Where():
                condition, a, b = operands
                return np.where(condition != 0, a, b)
            case ops.Cast():
                return operands[0].astype(np.float64)
        attrs = node.attrs_as(ops.Unary, ops.Clip)
        found = np.asarray(unary_function(attrs)(operands[0]))
        if isinstance(attrs, ops.Unary) and attrs.kind is UnaryKind.EXP:
            return np.where(operands[0] > _MOST_EXPONENT, math.inf, found)
        return found


def _recognised(values: Array) -> tuple[ops.Unary | ops.Clip, float] | None:
    """The operator with these values at `_POINTS` and the factor of its operand, or None."""
    finite = np.isfinite(values)
    if values.size != _POINTS.size or not finite[np.abs(_POINTS) < _BEYOND[0]].all():
        return None
    for attrs, factor in _candidates(values):
        wanted = unary_function(attrs)(_POINTS * factor)
        if _agree(values[finite], wanted[finite]):
            return attrs, factor
    return None


def _agree(values: Array, wanted: Array) -> bool:
    return np.allclose(values, wanted, rtol=_TOLERANCE, atol=_TOLERANCE)


def _candidates(values: Array) -> Iterator[tuple[ops.Unary | ops.Clip, float]]:
    """Known functions, with the numbers that follow from values at -1, 0, 1 and beside 0."""
    yield from ((attrs, 1.0) for attrs in _FUNCTIONS)
    below, at_zero, near, at_one = values[
        np.searchsorted(_POINTS, [-1.0, 0.0, _NEAR, 1.0])
    ].tolist()
    if 0.5 + _TOLERANCE < at_one < 1.0:  # 0.5: the slope is 0, and the function x / 2
        yield ops.Unary(UnaryKind.SWISH, alpha=_logit(at_one)), 1.0
    if 0.0 < at_one < 1.0 and abs(_logit(at_one)) > _LEAST_FACTOR:
        yield ops.Unary(UnaryKind.SIGMOID), _logit(at_one)
    if -1.0 < at_one < 1.0:
        factor = _logit((at_one + 1.0) / 2.0) / 2.0
        if abs(factor) > _LEAST_FACTOR:
            yield ops.Unary(UnaryKind.TANH), factor
    if abs(below + 1.0) > _LEAST_BEND:
        yield ops.Unary(UnaryKind.LEAKY_RELU, alpha=round(-below, 6)), 1.0
    if at_one > _LEAST_BEND < abs(below):
        alpha, gamma = round(below / np.expm1(-1.0) / at_one, 6), round(at_one, 6)
        yield ops.Unary(UnaryKind.ELU, alpha=alpha), 1.0
        yield ops.Unary(UnaryKind.SELU, alpha=alpha, beta=gamma), 1.0
    if 0.0 < at_zero < 1.0 and _agree(np.sort(values[[0, -1]]), np.asarray([0.0, 1.0])):
        slope = round((near - at_zero) / _NEAR, 6)
        yield ops.Unary(UnaryKind.HARD_SIGMOID, alpha=slope, beta=round(at_zero, 6)), 1.0


def _logit(share: float) -> float:
    """The argument at which a sigmoid has a value within 0..1."""
    return round(float(log(np.asarray(share / (1.0 - share)))), 6)
