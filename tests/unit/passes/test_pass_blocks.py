"""Large graphs are swept block by block: the same function, and nothing is left to do."""

from __future__ import annotations

from functools import partial

import pytest
from pass_samples import Maker, assert_same_function, ops_of
from random_real_graphs import random_graph
from work import calls_made

from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.passes import blocks, edit
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES

RELU = ops.Clip(0.0)


def chain(layers: int) -> Graph:
    """Dense layers, each with a scaling, a shift, a reshape to and fro, and a clip."""
    m = Maker()
    x = m.input(1, 4)
    for _ in range(layers):
        x = m.op(ops.Gemm(), x, m.const(4, 4), m.const(4))
        x = m.op(ops.Mul(), x, m.const(4))
        x = m.op(ops.Add(), x, m.const(1))
        x = m.op(ops.Reshape((1, 2, 2)), x)
        x = m.op(ops.Reshape((1, 4)), x)
        x = m.op(RELU, x)
    return m.graph(x)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of seven nodes, in every graph: borders everywhere."""
    monkeypatch.setattr(blocks, "SWEEP_BLOCK_NODES", 7)
    monkeypatch.setattr(edit, "SWEEP_WHOLE_NODES", 0)


@pytest.mark.usefixtures("small_blocks")
def test_blocks_give_the_same_function_and_as_few_nodes():
    graph = chain(9)
    found = run_passes(graph, REAL_PASSES).graph
    assert_same_function(graph, found)
    assert ops_of(found) == ["Gemm", "Clip"] * 9


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed):
    graph = random_graph(seed)
    assert_same_function(graph, run_passes(graph, REAL_PASSES).graph)


@pytest.mark.usefixtures("small_blocks")
def test_one_constant_of_many_blocks_is_changed_for_each():
    """Both blocks name their new weights alike; the names must not meet."""
    m = Maker()
    weight, bias = m.const(4, 4), m.const(4)
    x = m.input(1, 4)
    for _ in range(8):
        x = m.op(ops.Mul(), m.op(ops.Gemm(), x, weight, bias), m.const(4))
        x = m.op(ops.Clip(-0.9, 0.9), x)
    graph = m.graph(x)
    found = run_passes(graph, REAL_PASSES).graph
    assert_same_function(graph, found)
    weights = {node.inputs[1] for node in found.nodes if isinstance(node.attrs, ops.Gemm)}
    assert len(weights) == 8


@pytest.mark.usefixtures("small_blocks")
def test_work_grows_with_the_graph():
    """Four times the nodes take five times the calls; without blocks it is eight times."""
    small, large = (
        calls_made(partial(run_passes, chain(layers), REAL_PASSES)) for layers in (20, 80)
    )
    assert small < large < 6 * small
