"""More channels between layers: the same codes, and numbers for every channel."""

from __future__ import annotations

import numpy as np
import pytest
from integer_samples import IntegerMaker, assert_same_codes, random_integer_graph

from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify
from edgec.ir.weighted import plain_inputs
from edgec.passes.widen_channels import channel_groups, nodes_beside, widened


def all_widened(graph: Graph, more: int) -> Graph:
    for group in channel_groups(graph):
        graph = widened(graph, group, graph.shape(next(iter(group)))[-1] + more)
        verify(graph, Stage.INTEGER)
    return graph


def test_a_tensor_between_convolutions_repeats_its_last_channel_to_no_effect() -> None:
    m = IntegerMaker(2)
    hidden = m.conv(m.input(1, 5, 4, 3), 7, constant=0)
    graph = m.graph(m.conv(hidden, 6, constant=0))
    (group,) = channel_groups(graph)
    assert group == {hidden}
    after = widened(graph, group, 9)
    assert after.shape(hidden) == (1, 5, 4, 9)
    first, second = (plain_inputs(node) for node in after.nodes)
    for name in first.w, first.b, first.multiplier:
        array = after.constants[name].array
        assert np.array_equal(array[7:], array[[6, 6]])
    weights = after.constants[second.w].array
    assert not weights[..., 7:].any()
    assert weights[..., 6].any()
    assert_same_codes(graph, after)


def test_a_depthwise_layer_takes_its_input_and_output_together() -> None:
    m = IntegerMaker(3)
    before = m.conv(m.input(1, 5, 5, 3), 5)
    after = m.depthwise(before)
    graph = m.graph(m.conv(after, 4))
    assert channel_groups(graph) == (frozenset({before, after}),)
    assert {each.output for each in nodes_beside(graph, channel_groups(graph)[0])} == {
        before,
        after,
        graph.outputs[0],
    }
    assert_same_codes(graph, all_widened(graph, 3))


def test_several_filters_a_channel_stay() -> None:
    m = IntegerMaker(4)
    before = m.conv(m.input(1, 5, 5, 3), 5)
    wide = m.depthwise(before, times=2)
    assert channel_groups(m.graph(m.conv(wide, 4))) == ()


@pytest.mark.parametrize("kind", ["add", "lut", "average", "output"])
def test_tensors_that_others_read_stay(kind: str) -> None:
    m = IntegerMaker(5)
    one = m.conv(m.input(1, 5, 5, 3), 5)
    read = {"add": lambda: m.add(one, one), "lut": lambda: m.lut(one)}
    read |= {"average": lambda: m.average(one), "output": lambda: one}
    assert channel_groups(m.graph(read[kind]())) == ()


@pytest.mark.parametrize(
    "form", [qops.TwoRoundings31((-3, -4, -5, -6, -7)), qops.Offset31(2, (1, 2, 3, 4, 5))]
)
def test_numbers_of_a_form_by_channel_are_repeated(
    form: qops.TwoRoundings31 | qops.Offset31,
) -> None:
    m = IntegerMaker(6)
    attrs = qops.QConv((1, 1), (0,) * 4, (1, 1), 1, form)
    hidden = m.op(attrs, m.input(1, 3, 3, 4), *m.weights(5, 1, 1, 4), zero=0)
    graph = m.graph(m.conv(hidden, 3))
    after = all_widened(graph, 2)
    assert_same_codes(graph, after)
    output = after.nodes[0].attrs.output
    numbers = output.offsets if isinstance(output, qops.Offset31) else output.shifts
    assert len(numbers) == 7
    assert numbers[4:] == numbers[4:5] * 3


def test_random_graphs_keep_their_codes() -> None:
    grown = 0
    for seed in range(40):
        graph = random_integer_graph(seed)
        after = all_widened(graph, 1 + seed % 3)
        assert_same_codes(graph, after)
        grown += after is not graph
    assert grown > 5
