from __future__ import annotations

import pytest
from integer_samples import IntegerMaker, assert_same_codes, random_integer_graph

from edgec.passes.fuse_residual import fuse_residual, residual_notes


def names(graph) -> list[str]:
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize("conv_first", [True, False])
def test_rule_1_residual_block(conv_first: bool):
    m = IntegerMaker(1)
    x = m.conv(m.input(1, 5, 4, 3), 6)
    y = m.conv(x, 6)
    total = m.add(y, x) if conv_first else m.add(x, y)
    graph = m.graph(m.conv(total, 2))
    after = fuse_residual(graph)
    assert_same_codes(graph, after)
    assert names(after) == ["QConv", "QConv", "QConv"]
    assert residual_notes(graph, after) == ("1 residual additions fused into convolutions",)
    assert y not in after.values


def test_rule_1_the_later_of_two_convolutions():
    m = IntegerMaker(2)
    x = m.input(1, 5, 4, 3)
    short, main = m.conv(x, 6, 1), m.conv(m.conv(x, 4), 6)
    graph = m.graph(m.add(short, main))
    after = fuse_residual(graph)
    assert_same_codes(graph, after)
    assert short in after.values
    assert main not in after.values


def test_rule_1_other_operand_computed_after_the_convolution():
    m = IntegerMaker(3)
    x = m.conv(m.input(1, 6, 4, 3), 4)
    main = m.conv(x, 4)
    shortcut = m.lut(x)
    graph = m.graph(m.add(shortcut, main))
    after = fuse_residual(graph)
    assert_same_codes(graph, after)
    assert names(after) == ["QConv", "QLut", "QConv"]


def test_convolutions_with_other_readers_constants_and_broadcasts_stay():
    m = IntegerMaker(4)
    x = m.conv(m.input(1, 6, 4, 3), 4)
    y = m.conv(x, 4)
    read_twice = m.add(y, m.lut(x))
    broadcast = m.add(m.conv(x, 4), m.mean(x))
    doubled_source = m.conv(x, 4)
    doubled = m.add(doubled_source, doubled_source)
    graph = m.graph(m.lut(y), read_twice, broadcast, doubled)
    after = fuse_residual(graph)
    assert_same_codes(graph, after)
    assert names(after).count("QAdd") == 3


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs_keep_every_bit(seed: int):
    graph = random_integer_graph(seed)
    assert_same_codes(graph, fuse_residual(graph), runs=2)
