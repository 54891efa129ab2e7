"""Operators of elements become chains: the same codes, and only where nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chain_nets import NETS, ChainMaker
from loop_nets import LoopMaker
from random_graphs import adversarial_inputs

from edgec.base.dtypes import DType
from edgec.base.rounding import Rounding
from edgec.interp import run_graph, run_graph_batch, run_stream
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.rows import EACH_ROW
from edgec.ir.stored import graph_from_data, graph_to_data
from edgec.ir.turns import Loop, Part
from edgec.ir.verify import Stage, verify
from edgec.kernels.generic.elementwise.operators import ELEMENTS
from edgec.passes.fuse_chains import MOST_LINKS, chain_notes, fuse_chains
from edgec.passes.rows.reads import row_reads
from edgec.passes.stream import streamed
from edgec.workflow.rounding import rounding_of

N8, N16 = DType.INT8, DType.INT16


def fused(graph: Graph) -> Graph:
    """The graph after the pass, whose values are what they were."""
    after = fuse_chains(graph)
    verify(after, Stage.INTEGER, "fuse_chains")
    for inputs in adversarial_inputs(graph, np.random.default_rng(1)):
        before, found = run_graph(graph, inputs), run_graph(after, inputs)
        for name in after.values:
            np.testing.assert_array_equal(found[name], before[name])
    return after


def links(graph: Graph) -> list[int]:
    """How many operators each node stands for."""
    return [
        len(node.attrs.links) if isinstance(node.attrs, qops.QChain) else 1 for node in graph.nodes
    ]


@pytest.mark.parametrize("rules", ["once", "twice"])
@pytest.mark.parametrize("net", NETS)
def test_chains_give_the_codes_of_their_operators(net: str, rules: str) -> None:
    graph = NETS[net](rules)
    after = fused(graph)
    assert links(after) == {"lstm": [6, 3], "mixed": [7]}[net]
    sources = {node.name for node in graph.nodes} - {node.name for node in after.nodes}
    assert len(sources) == len(graph.nodes) - len(after.nodes)
    assert chain_notes(graph, after) == (
        f"{len(graph.nodes)} operators of elements fused into {len(after.nodes)}",
    )
    data, arrays = graph_to_data(after)
    assert graph_from_data(data, arrays).nodes == after.nodes
    assert fuse_chains(after) is after or links(fuse_chains(after)) == links(after)


def test_operators_are_apart_again() -> None:
    after = fuse_chains(NETS["lstm"]())
    for node in after.nodes:
        inner, nodes = qops.unchained(after, node)
        assert [type(each.attrs) for each in nodes] == [
            type(link.attrs) for link in node.attrs_as(qops.QChain).links
        ]
        verify(inner, Stage.INTEGER, "unchained")


@pytest.mark.parametrize("net", NETS)
def test_samples_are_computed_side_by_side(net: str) -> None:
    graph = fuse_chains(NETS[net]())
    samples = list(adversarial_inputs(graph, np.random.default_rng(2)))
    together = run_graph_batch(
        graph, {x: np.concatenate([s[x] for s in samples]) for x in graph.inputs}
    )
    for number, inputs in enumerate(samples):
        for name in graph.outputs:
            np.testing.assert_array_equal(together[name][number], run_graph(graph, inputs)[name][0])


def test_what_others_read_stays() -> None:
    m = ChainMaker()
    x = m.input(N8)
    inner = m.table(x)
    once, other = m.table(inner), m.sum(inner, x, N8)
    assert links(fused(m.graph(once, other))) == [1, 1, 1]
    m = ChainMaker()
    inner = m.table(m.input(N8))
    assert links(fused(m.graph(inner, m.table(inner)))) == [1, 1]


def test_a_smaller_result_stays() -> None:
    m = ChainMaker()
    x, few = m.input(N8), m.input(N8, 1, 1, 1, 5)
    assert links(fused(m.graph(m.sum(x, m.table(few), N8)))) == [1, 1]


def test_nothing_lives_longer_for_more_bytes_than_its_result_has() -> None:
    """Two tensors that would live while another operator runs, in place of one."""
    m = ChainMaker()
    a, b, c = m.input(N8), m.input(N8), m.input(N8)
    early = m.product(a, b, N8)
    between = m.sum(c, c, N8)
    other = m.sum(between, between, N8)
    graph = m.graph(other, m.sum(early, between, N8))
    assert links(fused(graph)) == [1, 1, 1, 1]
    order = [graph.nodes[i] for i in (1, 2, 0, 3)]
    assert links(fused(graph.replace(nodes=tuple(order)))) == [1, 1, 2]


def test_a_chain_has_a_length() -> None:
    m = ChainMaker()
    x = m.input(N16)
    for _ in range(MOST_LINKS + 3):
        x = m.rescaled(x, N16)
    assert links(fused(m.graph(x))) == [MOST_LINKS, 3]


def test_a_carried_value_is_read_before_its_update() -> None:
    m, loop = LoopMaker(3), Loop("turns", 4)
    x = m.input(1, 4, 8)
    carry = m.carry(m.start(1, 1, 8), loop)
    part = m.slice_of(x, loop, Part(1))
    before = m.table(carry)
    m.update(part, carry)
    y = m.stacked(m.sum_of(before, part), loop, Part(1))
    graph = m.ready(y)
    assert max(links(fused(graph))) == 1


def test_both_run_in_one_loop() -> None:
    m, loop = LoopMaker(3), Loop("turns", 4)
    x, y = m.input(1, 4, 8), m.input(1, 1, 8, name="y")
    outside = m.table(y)
    part = m.table(m.slice_of(x, loop, Part(1)))
    graph = m.ready(m.stacked(m.sum_of(part, outside), loop, Part(1)))
    assert sorted(links(fused(graph)))[-1] == 2


def swish(rules: str = "once") -> Graph:
    """x times a function of it, a chain."""
    m = ChainMaker(rules)
    x = m.input(N16)
    return fuse_chains(m.graph(m.product(m.table(x), x, N16)))


def test_a_chain_reads_row_by_row_and_frame_by_frame() -> None:
    graph = swish()
    (node,) = graph.nodes
    reads = row_reads(graph, node)
    assert reads is not None
    assert [(read.name, read.window) for read in reads] == [("x", EACH_ROW)]
    found = streamed(graph, {"x": 1}, 1, allow_delay=False).graph
    x = np.random.default_rng(4).integers(-32768, 32768, graph.shape("x")).astype(np.int16)
    (output,) = graph.outputs
    runs = list(run_stream(found, ({"x": x[:, at : at + 1]} for at in range(x.shape[1]))))
    frames = np.concatenate([each[found.outputs[0]] for each in runs], axis=1)
    np.testing.assert_array_equal(frames, run_graph(graph, {"x": x})[output])


@pytest.mark.parametrize(
    ("rules", "text"), [("twice", "every tensor"), ("once", "but for Chain v")]
)
def test_the_rounding_is_that_of_its_links(rules: str, text: str) -> None:
    assert text in rounding_of(swish(rules).replace(rounding=Rounding.TFLM))


def test_every_link_has_a_function() -> None:
    """Operators that the pass joins are those that the kernel knows."""
    assert set(qops.CHAINED) <= set(ELEMENTS)


def test_bad_chains_are_refused() -> None:
    graph = fuse_chains(NETS["lstm"]())
    node = graph.nodes[0]
    chain = node.attrs_as(qops.QChain)
    first = chain.links[0]
    wrong = [
        (replace(first, operands=(-3, first.operands[1])), *chain.links[1:]),
        (*chain.links, chain.links[-1]),
        (replace(first, attrs=qops.QIsEqual(3)), *chain.links[1:]),
        (*chain.links[:-1], replace(chain.links[-1], dtype=DType.INT8)),
    ]
    for each in wrong:
        changed = replace(node, attrs=qops.QChain(each))
        with pytest.raises(Exception, match=node.name.split()[0]):
            verify(graph.replace(nodes=(changed, *graph.nodes[1:])), Stage.INTEGER, "the test")
