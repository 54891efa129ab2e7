"""Passes on integer graphs that repeat and carry values: every output of every run stays."""

import numpy as np
import pytest
from integer_samples import IntegerMaker
from loop_nets import LOOPS, STREAMS, LoopMaker, constant_channels, stream_of

from edgec.interp import run_graph, state_after
from edgec.ir import qops
from edgec.ir.carried import late_readings
from edgec.ir.turns import Loop, Part
from edgec.passes import INTEGER_PASSES, run_passes
from edgec.passes.hold_carried import held_notes, hold_carried
from edgec.passes.remove_constant_channels import remove_constant_channels


@pytest.mark.parametrize("name", [*LOOPS, *STREAMS])
def test_integer_passes_keep_all_outputs(name):
    graph = {**LOOPS, **STREAMS}[name]()
    passed = run_passes(graph, INTEGER_PASSES).graph
    state = {}
    for inputs, oracle in stream_of(graph, 3):
        found = run_graph(passed, dict(zip(graph.inputs, inputs, strict=True)), state)
        state = state_after(passed, found)
        for output in graph.outputs:
            assert np.array_equal(found[output], oracle[output])


def test_channels_in_a_loop_are_removed_but_not_those_that_are_carried():
    graph = constant_channels()
    passed = remove_constant_channels(graph)
    (carry,) = graph.updates
    assert passed.shape(carry) == graph.shape(carry)
    sizes = [sum(c.array.size for c in each.constants.values()) for each in (passed, graph)]
    assert sizes[0] < sizes[1]


def exchange(m: LoopMaker, start: str, loop: Loop | None) -> tuple[str, str]:
    a, b = m.carry(start, loop, "a"), m.carry(start, loop, "b")
    m.update(b, a)
    m.update(a, b)
    return a, b


def test_an_exchange_takes_one_copy():
    m, loop = LoopMaker(), Loop("swap", 3)
    x_t = m.slice_of(m.input(1, 3, 4), loop, Part(1))
    a, _ = exchange(m, m.start(1, 1, 4), loop)
    graph = m.graph(m.stacked(m.sum_of(a, x_t), loop, Part(1)))
    held = hold_carried(graph)
    assert any(any(late_readings(graph, carry)) for carry in graph.updates)
    assert not any(any(late_readings(held, carry)) for carry in held.updates)
    assert held_notes(graph, held) == ("1 carried values copied before their update",)


def test_a_carried_value_that_is_read_after_the_loop_is_copied_in_each_turn():
    m, loop = LoopMaker(), Loop("rows", 3)
    x_t = m.slice_of(m.input(1, 3, 4), loop, Part(1))
    total = m.carry(m.start(1, 1, 4), loop)
    m.update(m.sum_of(total, x_t), total)
    held = hold_carried(m.graph(m.last(total, loop)))
    (copy,) = (node for node in held.nodes if isinstance(node.attrs, qops.QSlice))
    assert held.scopes.nodes[copy.name] == loop


def test_a_state_that_is_an_output_keeps_the_name_of_the_output():
    m = LoopMaker()
    x = m.input(1, 4)
    line = m.carry(m.start(1, 4), None, "line")
    m.update(x, line)
    graph = m.graph(line, "next line")
    held = hold_carried(graph)
    assert held.outputs == graph.outputs == ("line", "next line")
    assert set(held.outputs).isdisjoint(held.updates)


def test_straight_graphs_stay_as_they_are():
    m = IntegerMaker()
    graph = m.graph(m.lut(m.input(1, 4)))
    assert hold_carried(graph) is graph
