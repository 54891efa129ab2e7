"""Small networks whose tensors have int8 and int16 codes."""

from collections.abc import Callable

import numpy as np
from quant_samples import conv, gemm, nearest, relu, samples
from sketch import Sketch

from edgec.base.options import QuantOptions
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.ops import UnaryKind
from edgec.quant import annotate
from edgec.quant.cnn.calibrate import roomy_ranges
from edgec.quant.convert.conversion import to_integer
from edgec.quant.precision.codes import int16_codes, real_constants
from edgec.quant.scales.groups import Group, code_groups


def squeezed() -> Graph:
    """A block of a mobile network: depthwise, squeeze and excitation, a skip, a clip at 6."""
    s = Sketch("squeezed")
    x = s.input("x", 1, 9, 8, 3)
    a = s(ops.Unary(UnaryKind.HARD_SWISH), conv(s, x, 8, stride=2, name="stem"))
    b = s(ops.Clip(0.0, 1.5), conv(s, a, 8, depthwise=True, name="dw"))
    gate = s(ops.AveragePool((5, 4), (1, 1)), b)
    gate = s(ops.Unary(UnaryKind.SIGMOID), conv(s, gate, 8, 1, name="gate"))
    c = s(ops.Add(), a, conv(s, s(ops.Mul(), b, gate), 8, 1, name="project"))
    d = s(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=False), c)
    return s.graph(gemm(s, d, 5))


def branching() -> Graph:
    """Moves, pools, a difference, constants, and operators that have no form for int16."""
    s = Sketch("branching")
    x = s.input("x", 1, 6, 8, 4)
    a = s(ops.PRelu(), conv(s, x, 6, name="left"), s.const("slope", np.linspace(-0.5, 0.5, 6)))
    b = s(ops.Unary(UnaryKind.SWISH, alpha=1.0), conv(s, x, 6, name="right"))
    c = s(ops.Concat(3), a, s(ops.Pad(((0, 0), (0, 0), (0, 0), (1, 2))), b))
    c = s(ops.Mul(), c, s.const("gain", np.linspace(0.5, 1.5, 15)))
    c = s(ops.Sub(), s.const("offset", np.linspace(-1, 1, 15)), c)
    c = s(ops.Slice((0, 5, 0, 0), (1, -1, 1, 2), (1, 6, 8, 8)), c)
    d = s(ops.MaxPool((2, 2), (2, 2)), c)
    d = s(ops.Resize(ops.ResizeMode.NEAREST, *nearest(3), *nearest(4)), d)
    d = s(ops.AveragePool((3, 3), (2, 2), (1, 1, 1, 1)), d)
    d = s(ops.Transpose((0, 3, 1, 2)), relu(s, d))
    return s.graph(s(ops.Softmax(), gemm(s, s(ops.Reshape((1, 8, 12)), d), 4)))


def dividing() -> Graph:
    """Cosines of features and of a constant: squares, roots and quotients of activations."""
    s = Sketch("dividing")
    x = s.input("x", 1, 5, 4, 6)
    a = conv(s, x, 8, 1, name="features")
    squares = s(ops.Reduce(ops.ReduceKind.SUM, (3,), keepdims=True), s(ops.Mul(), a, a))
    norm = s(ops.Unary(UnaryKind.SQRT), squares)
    b = s(ops.Div(), a, norm)
    c = s(ops.Div(), s(ops.Add(), a, b), s.const("divisors", np.linspace(-2.0, 3.0, 8)))
    return s.graph(s(ops.Div(), c, s(ops.Unary(UnaryKind.EXP), b)))


def multiplying() -> Graph:
    """Products of activations, as attention without a softmax has them, and a gate."""
    s = Sketch("multiplying")
    x = s.input("x", 1, 6, 8)
    q, k, v = (gemm(s, x, 8, name=name) for name in "qkv")
    q, k = (s(ops.Clip(0.0), part) for part in (q, k))
    kv = s(ops.MatMul(transpose_a=True), k, v)
    norms = s(ops.Reduce(ops.ReduceKind.SUM, (1,), keepdims=True), k)
    weight = s(ops.MatMul(transpose_b=True, scale=0.25), q, norms)
    return s.graph(s(ops.Div(), s(ops.MatMul(), q, kv), weight))


def choosing() -> Graph:
    """Comparisons, choices, extremes, the largest of an axis, functions of large logits."""
    s = Sketch("choosing")
    x = s.input("x", 1, 6, 8)
    a, b = (gemm(s, x, 8, name=name) for name in "ab")
    mask = s(ops.Compare(ops.CompareKind.LESS), s.const("bound", np.array(0.25)), a)
    c = s(ops.Where(), mask, s(ops.Unary(UnaryKind.TANH), b), a)
    c = s(ops.Minimum(), s(ops.Maximum(), c, b), s.const("most", np.linspace(0.5, 1.5, 8)))
    d = s(ops.Reduce(ops.ReduceKind.MAX, (1,), keepdims=True), c)
    logits = s(ops.Mul(), gemm(s, s(ops.Sub(), c, d), 5), s.const("sharp", np.array(20.0)))
    steep = s(ops.Unary(UnaryKind.TANH), logits)
    best, top = s(ops.ArgMax(2), steep), s(ops.TopK(3), logits)
    return s.graph(s(ops.Softmax(), logits), best, top)


def upwards() -> Graph:
    """A transposed convolution."""
    s = Sketch("upwards")
    x = s.input("x", 1, 5, 4, 6)
    w, b = s.normal("up_w", 4, 3, 3, 6, scale=0.2), s.normal("up_b", 4, scale=0.3)
    a = s(ops.ConvTranspose(strides=(2, 2), pads=(1, 1, 1, 1)), x, w, b)
    return s.graph(s(ops.Unary(UnaryKind.GELU), a))


NETWORKS = {
    "choosing": choosing,
    "squeezed": squeezed,
    "upwards": upwards,
    "branching": branching,
    "dividing": dividing,
    "multiplying": multiplying,
}
CHOICES: dict[str, Callable[[int], bool]] = {
    "all": lambda _: True,
    "even": lambda i: i % 2 == 0,
    "odd": lambda i: i % 2 == 1,
}
"""Which groups of tensors have int16 codes, by their number."""


def annotated(graph: Graph) -> Graph:
    found, _ = annotate(graph, samples(graph, 8), QuantOptions())
    return found


def mixed(graph: Graph, chosen: Callable[[int], bool]) -> Graph:
    """The integer graph with int16 codes for some groups of tensors."""
    ready = annotated(graph)
    groups = [group for i, group in enumerate(code_groups(ready)) if chosen(i)]
    constants = real_constants(graph, ready)
    return to_integer(ready, int16=codes_of(ready, groups), constants=constants)


def codes_of(ready: Graph, groups: list[Group]):
    names = [name for group in groups for name in group.members]
    return int16_codes(ready, groups, roomy_ranges(ready, names, samples(ready, 8)))
