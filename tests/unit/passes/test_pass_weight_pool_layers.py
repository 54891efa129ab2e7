from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from integer_samples import IntegerMaker, assert_same_codes, random_integer_graph
from pass_samples import Maker, assert_same_function, ops_of
from quant_samples import samples
from random_pools import pooled_constant, random_pool

from edgec.base.options import QuantOptions
from edgec.ir import ops, qops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import total_macs
from edgec.ir.text import graph_text
from edgec.ir.verify import Stage, verify
from edgec.ir.weight_pool import PooledWeights, WeightPool
from edgec.passes.base import run_passes
from edgec.passes.channel_ranges import channel_ranges
from edgec.passes.fold_batch_norm import fold_batch_norm
from edgec.passes.fuse_residual import fuse_residual, residual_notes
from edgec.passes.pipeline import INTEGER_PASSES, REAL_PASSES
from edgec.passes.remove_constant_channels import remove_constant_channels
from edgec.passes.weight_pool_layers import pool_layers, pool_notes
from edgec.quant import annotate, to_integer

RNG = np.random.default_rng(0)
POOL = random_pool(RNG, 64, 8)
ZERO_POOL = WeightPool(np.concatenate([POOL.vectors[:15], np.zeros((1, 8), np.int8)]))
SCALES = (1.0, 0.5, 2.0, 0.25, 3.0, 1.5)


def pooled(m: Maker, *shape: int, pool: WeightPool = POOL, name: str = "w") -> str:
    constant = pooled_constant(m.rng, name, shape, pool)
    return m.builder.constant(name, constant.array, constant.quant, pooled=constant.pooled)


def network() -> Graph:
    """conv, pooled conv with a skip, pooled conv over 12 channels, mean, pooled gemm."""
    m = Maker()
    same = ops.Conv(pads=(1, 1, 1, 1))
    x = m.op(ops.Clip(0.0), m.op(same, m.input(1, 6, 6, 3), m.const(12, 3, 3, 3), m.const(12)))
    y = m.op(same, x, pooled(m, 12, 3, 3, 12), m.const(12))
    y = m.op(ops.Clip(0.0), m.op(ops.Add(), x, y))
    y = m.op(ops.Conv(strides=(2, 2), pads=(1, 1, 1, 1)), y, pooled(m, 20, 3, 3, 12), "")
    y = m.op(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=False), m.op(ops.Clip(0.0), y))
    return m.graph(m.op(ops.Gemm(), y, pooled(m, 5, 20), m.const(5)))


def integer(graph: Graph) -> Graph:
    real = run_passes(graph, REAL_PASSES).graph
    annotated, _ = annotate(real, samples(real, 4), QuantOptions())
    return to_integer(annotated)


def without_pools(graph: Graph) -> Graph:
    constants = {n: replace(c, pooled=None) for n, c in graph.constants.items()}
    return graph.replace(constants=constants)


def test_rules_from_a_real_graph_to_equal_codes():
    graph = integer(network())
    after = pool_layers(graph)
    assert_same_codes(without_pools(graph), after)
    names = [op for op in ops_of(after) if op.startswith(("QConv", "QGemm", "QPooled"))]
    assert names == ["QConv", "QPooledConv", "QPooledConv", "QPooledGemm"]
    assert total_macs(after) == total_macs(graph)
    note = "3 of 4 layers pooled, 64 vectors of 8 weights"
    assert pool_notes(graph, after) == (note,)


def test_rule_3_equal_pools_are_one_constant():
    m = Maker()
    x = m.input(1, 4, 4, 8)
    for pool in (POOL, WeightPool(POOL.vectors.copy()), ZERO_POOL):
        x = m.op(ops.Conv(), x, pooled(m, 8, 1, 1, 8, pool=pool), "")
    after = pool_layers(integer(m.graph(x)))
    pools = [node.inputs[1] for node in after.nodes if isinstance(node.attrs, qops.QPooledConv)]
    assert pools[0] == pools[1] != pools[2]
    (note,) = pool_notes(after, after)
    assert note.endswith("64 vectors of 8 weights, 16 vectors of 8 weights")
    other = WeightPool(POOL.vectors[::-1].copy())
    x = m.op(ops.Conv(), x, pooled(m, 8, 1, 1, 8, pool=other), "")
    after = pool_layers(integer(m.graph(x)))
    (note,) = pool_notes(after, after)
    assert note.endswith("pooled, 2 pools of 64 vectors of 8 weights, 16 vectors of 8 weights")


def test_all_integer_passes_keep_every_bit_and_fuse_the_residual():
    graph = integer(network())
    result = run_passes(graph, INTEGER_PASSES)
    assert_same_codes(without_pools(graph), result.graph)
    assert "QAdd" not in ops_of(result.graph)
    assert any("pooled" in note.text for note in result.notes)


def test_layers_without_a_pool_stay():
    graph = random_integer_graph(0)
    assert graph_text(pool_layers(graph)) == graph_text(graph)
    assert pool_notes(graph, pool_layers(graph)) == ()


def test_text_shows_the_pool_and_the_arithmetic():
    graph = integer(network())
    assert "pool [64,8] crc" in graph_text(graph)
    text = graph_text(pool_layers(graph))
    assert "QPooledConv(" in text
    assert "rounding=PoolRounding(activation_bits=8, response_shift=0)" in text


def test_a_dropped_channel_takes_the_indices_with_it():
    """Rule 1 of remove_constant_channels for a pooled producer, read by a plain convolution."""
    m = IntegerMaker(1)
    graph = m.graph(
        m.conv(m.conv(m.input(1, 5, 4, 8), 6, constant=0.0), 3, pad=False, constant=0.0)
    )
    hidden, last = graph.nodes
    builder = GraphBuilder.of(graph)
    rows = np.full((6, 3, 3, 1), 15, np.uint16)
    rows[[0, 2, 5]] = 4
    weights = PooledWeights(ZERO_POOL, rows)
    builder.constant(hidden.inputs[1], weights.expand(8), pooled=weights, keep_name=True)
    before = pool_layers(builder.build())
    after = remove_constant_channels(before)
    assert_same_codes(before, after)
    assert after.shape(hidden.output)[3] == 3
    assert ops_of(after) == ["QPooledConv", "QConv"]
    assert last.output in after.values


def test_a_pooled_reader_keeps_all_channels():
    m = IntegerMaker(2)
    hidden = m.conv(m.input(1, 5, 4, 3), 8, constant=0.9)
    graph = m.graph(m.conv(hidden, 4, pad=False, constant=0.0))
    builder = GraphBuilder.of(graph)
    name = graph.nodes[1].inputs[1]
    constant = pooled_constant(m.rng, name, (4, 3, 3, 8), POOL)
    builder.constant(name, constant.array, pooled=constant.pooled, keep_name=True)
    plain = builder.build()
    assert remove_constant_channels(plain).shape(hidden)[3] < 8
    before = pool_layers(plain)
    after = remove_constant_channels(before)
    assert_same_codes(before, after)
    assert after.shape(hidden)[3] == 8


def test_ranges_of_rounded_responses_are_the_clamp():
    graph = pool_layers(integer(network()))
    node = next(n for n in graph.nodes if isinstance(n.attrs, qops.QPooledConv))
    exact = channel_ranges(graph)[node.output]
    builder = GraphBuilder.of(graph)
    builder.put(replace(node, attrs=replace(node.attrs, rounding=qops.PoolRounding(4, 3))))
    rounded = channel_ranges(builder.build())[node.output]
    assert np.all(rounded.low <= exact.low)
    assert np.all(rounded.high >= exact.high)
    assert {*rounded.low.tolist()} == {node.attrs.conv.output.low}


def test_a_residual_is_fused_once():
    graph = pool_layers(integer(network()))
    after = fuse_residual(graph)
    assert_same_codes(graph, after)
    assert residual_notes(graph, after) == ("1 residual additions fused into convolutions",)
    (fused,) = (n for n in after.nodes if len(n.inputs) == 6)
    assert fused.attrs.conv.residual is not None
    verify(remove_constant_channels(after), Stage.INTEGER)


@pytest.mark.parametrize("bias", [True, False])
def test_batch_norm_goes_into_the_scales(bias: bool):
    m = Maker()
    y = m.op(ops.Conv(), m.input(1, 5, 5, 8), pooled(m, 6, 3, 3, 8), m.const(6) if bias else "")
    y = m.op(ops.Mul(), y, m.const(6, array=np.array(SCALES, np.float32)))
    graph = m.graph(m.op(ops.Add(), y, m.const(6)))
    after = fold_batch_norm(graph)
    assert_same_function(graph, after)
    assert ops_of(after) == ["Conv"]
    weight = after.constants[after.nodes[0].inputs[1]]
    assert weight.pooled is graph.constants["w"].pooled


@pytest.mark.parametrize("factor", [-1.0, 0.0, 1e38])
def test_batch_norm_that_is_no_scale_stays(factor: float):
    m = Maker()
    y = m.op(ops.Conv(), m.input(1, 5, 5, 8), pooled(m, 6, 1, 1, 8), m.const(6))
    factors = np.array([*SCALES[:5], factor], np.float32)
    huge = m.builder.constants["w"].quant
    scale = (*huge.scale[:5], 1e6) if factor > 1 else huge.scale
    m.builder.constants["w"] = replace(m.builder.constants["w"], quant=replace(huge, scale=scale))
    graph = m.graph(m.op(ops.Mul(), y, m.const(6, array=factors)))
    after = fold_batch_norm(graph)
    assert ops_of(after) == ["Conv", "Mul"]
    assert after.constants["w"].pooled is not None
