"""Small transformers of any length, and integer graphs of them that serve all lengths."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from small_transformers import Net, inputs_of

from edgec.base.dtypes import Array, DType
from edgec.base.options import QuantOptions
from edgec.interp import run_graph
from edgec.ir import ops
from edgec.ir.graph import Graph, Value
from edgec.ir.specialize import specialized
from edgec.passes.base import run_passes
from edgec.passes.compare_lengths import with_real_length
from edgec.passes.pipeline import TRANSFORMER_INTEGER_PASSES, TRANSFORMER_PASSES
from edgec.passes.pooling import mean_by_attention
from edgec.passes.variable_length import with_variable_length
from edgec.quant.transformer import quantize_transformer

MAXIMUM = 12
LENGTHS = (1, 2, 3, 7, MAXIMUM - 1, MAXIMUM)
MOST = 40
"""Positions that the networks know."""


class SequenceNet(Net):
    """A network whose weights do not depend on its length."""

    def positions(self, name: str, length: int, width: int) -> str:
        """The first rows of a constant, [1, length, width]."""
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        return self.const(name, rng.normal(0, 0.5, (1, MOST, width))[:, :length])

    def integers(self, name: str, length: int) -> str:
        """An input of token ids or of a mask, int32 [1, length]."""
        self.builder.inputs.append(name)
        return self.builder.value(Value(name, (1, length), DType.INT32))


def vit(n: int) -> Graph:
    """Embedded patches, class token, positions, blocks, classes of the first token."""
    net = SequenceNet("vit", 1)
    x = net.linear(net.input("x", 1, n, 8), 16, "embed")
    x = net(ops.Concat(1), net.normal("cls", 1, 1, 16), x, name="all")
    x = net(ops.Add(), x, net.positions("pos", n + 1, 16), name="placed")
    x = net.norm(net.block(net.block(x, 2, "b0"), 2, "b1"), "last")
    x = net(ops.Slice((0, 0, 0), (1, 1, 1), (1, 1, 16)), x, name="first")
    return net.graph(net.linear(net(ops.Reshape((1, 16)), x), 5, "head"))


def bert(n: int) -> Graph:
    """Ids and a mask, norms after the sums, four scores for each token."""
    net = SequenceNet("bert", 3)
    ids, mask = net.integers("ids", n), net.integers("mask", n)
    x = net(ops.Embedding(), ids, net.normal("words", 40, 16), name="word")
    x = net.norm(net(ops.Add(), x, net.positions("pos", n, 16), name="placed"), "first")
    y = net.attention(x, 2, "b0", keys=mask)
    x = net.norm(net(ops.Add(), x, y, name="mid"), "n1")
    y = net.linear(net(ops.Unary(ops.UnaryKind.GELU), net.linear(x, 32, "up")), 16, "down")
    x = net.norm(net(ops.Add(), x, y, name="sum"), "n2")
    return net.graph(net.linear(x, 4, "head"), net(ops.ArgMax(2), net.linear(x, 3, "tags")))


def pooled(n: int) -> Graph:
    """Without a mask; the mean of all tokens, and another pooling by attention."""
    net = SequenceNet("pooled", 5)
    x = net.norm(net.block(net.input("x", 1, n, 16), 4, "b0"), "last")
    mean = net(ops.Reduce(ops.ReduceKind.MEAN, (1,), keepdims=False), x, name="mean")
    weights = net(ops.Reshape((1, 1, n)), net.linear(x, 1, "pool"))
    mixed = net(ops.MatMul(), net(ops.Softmax(), weights), x, name="mixed")
    return net.graph(net.linear(mean, 5, "head"), net(ops.Reshape((1, 16)), mixed))


def moves(n: int) -> Graph:
    """Copies, joins and element functions along, across and before the variable axis."""
    net = SequenceNet("moves", 7)
    x = net.norm(net.linear(net.input("x", 1, n, 8), 12, "embed"), "norm")
    left = net(ops.Slice((0, 0, 2), (1, 1, 1), (1, n, 6)), x, name="columns")
    wide = net(ops.Concat(2), left, net.positions("beside", n, 3), x, name="wide")
    long = net(ops.Concat(1), wide, net.normal("behind", 1, 2, 21), name="long")
    later = net(ops.Slice((0, 1, 0), (1, 1, 1), (1, n + 1, 21)), long, name="later")
    flipped = net(ops.Transpose((0, 1, 3, 2)), net(ops.Reshape((1, n + 1, 3, 7)), later))
    rows = net(ops.Reshape((n + 1, 21)), flipped, name="rows")
    gate = net(ops.Mul(), rows, net.const("gate", np.linspace(-1, 1, 21)[None]), name="gated")
    y = net(ops.Mul(), gate, net(ops.Unary(ops.UnaryKind.TANH), rows, name="tanh"), name="product")
    sums = net(ops.Reduce(ops.ReduceKind.SUM, (1,)), y, name="sums")
    added = net(ops.Add(), sums, net(ops.Slice((0, 3), (1, 1), (n + 1, 1)), y), name="added")
    return net.graph(net.linear(y, 3, "out"), added)


def biased(n: int) -> Graph:
    """Relative positions of each head, then a causal mask, on the logits."""
    net = SequenceNet("biased", 11)
    x = net.linear(net.input("x", 1, n, 8), 16, "embed")
    apart = np.arange(n)[:, None] - np.arange(n)[None]
    table = np.random.default_rng(4).normal(0, 1, (2, 2 * MOST))
    for name, bias in (
        ("near", table[:, apart + MOST]),
        ("causal", np.where(apart < 0, -1e4, 0.0)),
    ):
        y = net.norm(x, f"{name}_norm")
        parts = [net.linear(y, 16, f"{name}_{part}") for part in "qkv"]
        shape = (1, -1, n, n) if bias.ndim == 3 else (1, 1, n, n)
        constant = net.const(f"{name}_bias", bias.reshape(shape))
        y = net(ops.Attention(2, 8**-0.5), *parts, constant, "", name=f"{name}_attention")
        x = net(ops.Add(), x, net.linear(y, 16, f"{name}_out"), name=f"{name}_sum")
    return net.graph(net.linear(x, 3, "head"))


def wide(n: int) -> Graph:
    """Attention whose tokens are so far apart that no load's offset reaches from one to all."""
    net = SequenceNet("wide", 9)
    x = net.linear(net.input("x", 1, n, 8), 208, "embed")
    x = net(ops.Add(), x, net.attention(net.norm(x, "norm"), 4, "a"), name="sum")
    return net.graph(net.linear(x, 3, "head"))


NETS: dict[str, Callable[[int], Graph]] = {
    "vit": vit,
    "bert": bert,
    "pooled": pooled,
    "moves": moves,
    "biased": biased,
}


def integer_graph(make: Callable[[int], Graph], maximum: int = MAXIMUM) -> Graph:
    """The integer graph of a network for all lengths, as the compiler makes it."""
    longest, shorter = (
        run_passes(make(n), TRANSFORMER_PASSES).graph for n in (maximum, maximum - 1)
    )
    real = mean_by_attention(with_real_length(longest, shorter))
    found, _ = quantize_transformer(real, inputs_of(real, 32), QuantOptions())
    scheduled = run_passes(found, TRANSFORMER_INTEGER_PASSES).graph
    return with_variable_length(scheduled, real)


def samples(
    graph: Graph, length: int, count: int = 2
) -> list[tuple[list[Array], dict[str, Array]]]:
    """Inputs of a run of one length, and what the oracle says to them."""
    one = specialized(graph, length)
    rng = np.random.default_rng(length)
    found = []
    for _ in range(count):
        inputs = {name: _codes(one, name, rng) for name in one.inputs}
        found.append((list(inputs.values()), run_graph(one, inputs)))
    return found


def _codes(graph: Graph, name: str, rng: np.random.Generator) -> Array:
    shape = graph.shape(name)
    if graph.dtype(name) is DType.INT32:
        return rng.integers(0, 2 if name == "mask" else 40, shape).astype(np.int32)
    return rng.integers(-128, 128, shape).astype(np.int8)
