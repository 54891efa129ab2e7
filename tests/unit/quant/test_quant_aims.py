"""Ranges by what reads a tensor, however it was moved in between."""

from __future__ import annotations

import numpy as np
import pytest
from movements import MOVEMENTS, SHAPE
from quant_samples import conv, gemm, samples
from sketch import Sketch

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, QuantOptions
from edgec.floatrun.activations import activations
from edgec.floatrun.codes import unary_function
from edgec.interp import run_graph_batch
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.ops import UnaryKind
from edgec.quant import annotate, quantize
from edgec.quant.cnn.aims import range_aims
from edgec.quant.cnn.observers import Aim
from edgec.quant.common.importance import importance
from edgec.quant.common.quality import sqnr_db
from edgec.quant.common.sample_codes import sample_codes
from edgec.quant.common.statistics import channel_statistics
from edgec.quant.scales.groups import code_groups

SIGMOID, TANH = ops.Unary(UnaryKind.SIGMOID), ops.Unary(UnaryKind.TANH)
KINDS = (UnaryKind.SIGMOID, UnaryKind.TANH, UnaryKind.HARD_SWISH, UnaryKind.GELU)


def aim_of(graph: Graph, name: str) -> Aim:
    found = importance(graph, channel_statistics(graph, graph.values, samples(graph, 16)))
    return range_aims(graph, code_groups(graph), found)[name]


def quality_db(graph: Graph) -> float:
    """Signal to noise on samples that the network was not quantized with, in dB."""
    integer = quantize(graph, samples(graph, 128), CompileOptions()).integer
    fresh = samples(graph, 32, seed=7)
    (name,) = graph.outputs
    wanted = np.concatenate([batch[name] for _, batch in activations(graph, [name], fresh)])
    codes = np.stack(
        [run_graph_batch(integer, sample_codes(integer, fresh, i))[name] for i in range(32)]
    )
    return sqnr_db(wanted, integer.quant(name).dequantize(codes).reshape(wanted.shape))


def ends(movement: str, function: ops.Unary) -> Graph:
    """A layer, a movement, a function, and a layer on all of it."""
    s = Sketch(seed=3)
    moved = MOVEMENTS[movement](s, conv(s, s.input("x", 1, 4, 6, 3), 8, name="first"))
    found = s(function, moved)
    shape = s.builder.values[found].shape
    return s.graph(gemm(s, s(ops.Reshape((1, int(np.prod(shape)))), found), 5, name="last"))


WITH_CODES = [name for name in MOVEMENTS if name != "expand"]
"""An Expand of real numbers becomes copies before quantization."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("movement", WITH_CODES)
def test_functions_after_each_movement_are_quantized_well(movement: str, kind: UnaryKind) -> None:
    assert quality_db(ends(movement, ops.Unary(kind))) > 25.0


def gates(rows: int = 1) -> Graph:
    """As in an LSTM: parts of one layer's output, each through a function of its own."""
    s = Sketch(seed=2)
    y = gemm(s, s.input("x", rows, 6), 12, name="gates")
    parts = [s(ops.Slice((0, start), (1, 1), (rows, 4)), y) for start in (0, 4, 8)]
    a, b, c = (s(f, part) for f, part in zip((SIGMOID, TANH, SIGMOID), parts, strict=True))
    cell = s(ops.Add(), s(ops.Mul(), a, b), s(ops.Mul(), c, s.normal("state", 1, 4)))
    return s.graph(gemm(s, cell, 3, name="last"))


def test_each_function_counts_in_the_channels_that_it_reads() -> None:
    first, second = aim_of(gates(), "gates").parts
    x = np.linspace(-3, 3, 7)
    np.testing.assert_array_equal(first.function(x), unary_function(SIGMOID)(x))
    np.testing.assert_array_equal(second.function(x), unary_function(TANH)(x))
    assert (first.weight > 0).tolist() == [True] * 4 + [False] * 4 + [True] * 4
    assert (second.weight > 0).tolist() == [False] * 4 + [True] * 4 + [False] * 4
    assert max(first.weight.max(), second.weight.max()) == 1.0


def test_each_function_counts_in_the_positions_that_it_reads() -> None:
    s = Sketch()
    y = conv(s, s.input("x", 1, 4, 4, 3), 5, name="c")
    upper = s(SIGMOID, s(ops.Slice((0, 0, 0, 0), (1, 1, 1, 1), (1, 1, 4, 5)), y))
    lower = s(TANH, s(ops.Slice((0, 1, 0, 0), (1, 1, 1, 1), (1, 3, 4, 5)), y))
    graph = s.graph(upper, lower)
    parts = aim_of(graph, y).parts
    read = [np.broadcast_to(part.weight > 0, (1, 4, 4, 5)) for part in parts]
    assert read[0][:, :1].all()
    assert not read[0][:, 1:].any()
    np.testing.assert_array_equal(read[1], ~read[0])


def shuffled(order: Array | None = None) -> tuple[Graph, str]:
    """Eight channels, shuffled, of which the last layer reads the first ones alone."""
    s = Sketch(seed=4)
    y = gemm(s, s.input("x", 1, 6), 8, name="first")
    mixed = s(ops.Transpose((0, 2, 1)), s(ops.Reshape((1, 2, 4)), y))
    f = s(SIGMOID, s(ops.Reshape((1, 8)), mixed))
    weight = np.zeros((2, 8), np.float32)
    weight[:, :3] = [[4, 1, 2], [1, 1, 1]]
    return s.graph(s(ops.Gemm(), f, s.const("w", weight))), y


def test_shuffled_channels_have_the_weights_of_their_new_places() -> None:
    """Places 0, 1, 2 after the shuffle hold channels 0, 4, 1: equal counts, other channels."""
    graph, y = shuffled()
    (part,) = aim_of(graph, y).parts
    assert np.flatnonzero(part.weight).tolist() == [0, 1, 4]
    assert part.weight.argmax() == 0
    assert part.weight[1] > part.weight[4]


def test_each_source_of_a_concat_has_its_own_weights() -> None:
    s = Sketch(seed=5)
    x = s.input("x", 1, 6)
    a, b = gemm(s, x, 3, name="a"), gemm(s, x, 5, name="b")
    f = s(SIGMOID, s(ops.Concat(1), a, b))
    weight = np.zeros((1, 8), np.float32)
    weight[0, [1, 3, 7]] = 1
    graph = s.graph(s(ops.Gemm(), f, s.const("w", weight)))
    found = importance(graph, channel_statistics(graph, graph.values, samples(graph, 16)))
    aims = range_aims(graph, code_groups(graph), found)
    assert np.flatnonzero(aims[a].parts[0].weight).tolist() == [1]
    assert np.flatnonzero(aims[b].parts[0].weight).tolist() == [0, 4]


def test_a_moved_channel_that_matters_is_not_clipped() -> None:
    """Where one wide channel matters the range is wide, whatever its place before a shuffle."""
    highs = []
    for wide in (4, 3):  # channel 4 is read after the shuffle, channel 3 is not
        s = Sketch(seed=6)
        y = gemm(s, s.input("x", 1, 6), 8, name="first")
        weight = s.builder.constants["first_w"].array.copy()
        weight[wide] *= 30
        s.builder.constant("first_w", weight, keep_name=True)
        mixed = s(ops.Transpose((0, 2, 1)), s(ops.Reshape((1, 2, 4)), y))
        mixed = s(ops.Reshape((1, 8)), mixed)
        weight = np.zeros((2, 8), np.float32)
        weight[:, :3] = 1
        graph = s.graph(s(ops.Gemm(), mixed, s.const("w", weight)))
        annotated, _ = annotate(graph, samples(graph, 64), QuantOptions(equalize=False))
        highs.append(annotated.quant(y).tensor_scale)
    assert highs[0] > 2 * highs[1]


def test_importance_of_shuffled_channels() -> None:
    s = Sketch(seed=6)
    y = gemm(s, s.input("x", 1, 6), 8, name="first")
    mixed = s(ops.Transpose((0, 2, 1)), s(ops.Reshape((1, 2, 4)), y))
    weight = np.array([[3, 0, 2, 0, 1, 0, 0, 0]], np.float32)
    graph = s.graph(s(ops.Gemm(), s(ops.Reshape((1, 8)), mixed), s.const("w", weight)))
    found = importance(graph, channel_statistics(graph, graph.values, samples(graph, 16)))
    np.testing.assert_allclose(found[y] / found[y].max() * 9, [9, 4, 1, 0, 0, 0, 0, 0], atol=1e-9)


def test_importance_of_a_product_with_numbers_by_row() -> None:
    """As many rows as channels do not make a number of a row one of a channel."""
    s = Sketch(seed=7)
    x = s.input("x", 1, 4, 4)
    y = s(ops.Mul(), x, s.const("k", np.array([[9.0], [0.0], [0.0], [0.0]])))
    graph = s.graph(y)
    found = importance(graph, channel_statistics(graph, graph.values, samples(graph, 16)))
    np.testing.assert_allclose(found[x], found[x][0])


def test_importance_of_a_maximum_over_channels() -> None:
    """[1, 4, 4] to [1, 4]: the last axis that is left is not the one that was there."""
    s = Sketch(seed=8)
    x = s.input("x", 1, 4, 4)
    y = s(ops.Reduce(ops.ReduceKind.MAX, (2,), keepdims=False), x)
    graph = s.graph(s(ops.Gemm(), y, s.const("w", np.array([[5.0, 0, 0, 0]]))))
    found = importance(graph, channel_statistics(graph, graph.values, samples(graph, 16)))
    np.testing.assert_allclose(found[x], found[x][0])


def test_depth_to_space_before_a_function() -> None:
    s = Sketch(seed=9)
    y = conv(s, s.input("x", 1, 4, 6, 3), 8, name="first")
    graph = s.graph(s(TANH, MOVEMENTS["depth to space, CRD"](s, y)))
    assert graph.shape(y) == SHAPE
    assert quality_db(graph) > 25.0
    assert quality_db(gates()) > 25.0


def test_a_layer_within_its_own_group_reads_it() -> None:
    """A dense block: what a layer makes of a tensor is joined to it before the function."""
    s = Sketch(seed=10)
    a = gemm(s, s.input("x", 1, 6), 6, name="a")
    joined = s(ops.Concat(1), a, gemm(s, a, 6, name="b"))
    graph = s.graph(s(ops.Unary(UnaryKind.HARD_SWISH), joined))
    assert aim_of(graph, a).parts[0].function is None
    assert quality_db(graph) > 25.0
