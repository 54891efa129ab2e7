from __future__ import annotations

import pytest
from integer_samples import IntegerMaker, assert_same_codes, random_integer_graph

from edgec.ir import qops
from edgec.passes.schedule import peak_bytes, schedule, schedule_notes


def branches() -> IntegerMaker:
    """Two wide tensors, each reduced to a small one; given breadth first."""
    m = IntegerMaker()
    x = m.input(1, 4, 4, 2)
    wide = [m.conv(x, 30) for _ in range(2)]
    small = [m.conv(w, 1) for w in wide]
    m.builder.outputs = [m.add(*small)]
    return m


def test_rule_1_branches_run_one_after_the_other():
    graph = branches().builder.build()
    after = schedule(graph)
    assert_same_codes(graph, after)
    assert peak_bytes(graph, graph.nodes) == 2 * 480 + 32
    assert peak_bytes(after, after.nodes) == 480 + 32 + 16
    assert schedule_notes(graph, after) == (
        "operators reordered: peak of live tensors 992 -> 528 bytes",
    )


def test_rule_2_chains_stay():
    m = IntegerMaker()
    y = m.conv(m.conv(m.input(1, 4, 4, 2), 8), 4)
    graph = m.graph(m.same(qops.QReshape((1, 64)), y))
    assert schedule(graph) is graph
    assert schedule_notes(graph, graph) == ()
    assert peak_bytes(graph, graph.nodes) == 16 * (8 + 4)


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(seed: int):
    graph = random_integer_graph(seed)
    after = schedule(graph)
    assert_same_codes(graph, after, runs=1)
    assert peak_bytes(after, after.nodes) <= peak_bytes(graph, graph.nodes)
