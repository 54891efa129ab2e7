"""Loops and state in float execution: the rows of all turns, what is computed again, streams."""

from __future__ import annotations

import numpy as np
import pytest
from sketch import Sketch

from edgec.base.streams import RESETS
from edgec.floatrun.activations import Walk, activations, checked_calibration
from edgec.floatrun.cycles import computed_in_turns
from edgec.floatrun.executor import Executor
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.turns import Loop, Part

TURNS, WIDTH, UNITS = 5, 3, 4


def cell(*, state: bool) -> Graph:
    """h = tanh(wx x + wh h); y = wo h: over the rows of x, or a row a run."""
    m, loop = Sketch(), None if state else Loop("rows", TURNS)
    x = m.input("x", 1, WIDTH) if state else m.input("x", 1, TURNS, WIDTH)
    row = x
    if loop is not None:
        part = m(ops.TurnSlice(loop, Part(1)), x, name="part")
        row = m(ops.Reshape((1, WIDTH)), part, name="row")
    h = m(ops.Carry(loop), m.const("h0", np.zeros((1, UNITS))), name="h")
    a = m(ops.Gemm(), row, m.normal("wx", UNITS, WIDTH), name="a")
    b = m(ops.Gemm(), h, m.normal("wh", UNITS, UNITS, scale=0.3), name="b")
    new = m(ops.Unary(ops.UnaryKind.TANH), m(ops.Add(), a, b, name="sum"), name="new")
    m(ops.Update(), new, h, name="after")
    y = m(ops.Gemm(), new, m.normal("wo", 2, UNITS), name="y")
    if loop is None:
        return m.graph(y)
    ys = m(ops.TurnStack(loop, Part(1)), m(ops.Reshape((1, 1, 2)), y), name="ys")
    return m.graph(ys, m(ops.TurnLast(loop), "after", name="last"))


def by_hand(graph: Graph, x: np.ndarray, more: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """(y of all turns, h after the last): x [S, TURNS, WIDTH]."""
    wx, wh, wo = (graph.constants[name].real64() for name in ("wx", "wh", "wo"))
    h, ys = np.zeros((len(x), UNITS)), []
    for turn in range(x.shape[1]):
        h = np.tanh(x[:, turn] @ wx.T + more + h @ wh.T)
        ys.append(h @ wo.T)
    return np.stack(ys, axis=1), h


def data(count: int = 3) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(count, TURNS, WIDTH))


def test_values_of_a_loop_have_the_rows_of_all_turns():
    graph, x = cell(state=False), data()
    found = Executor(graph, [*graph.values]).run({"x": x})
    ys, last = by_hand(graph, x)
    np.testing.assert_allclose(found["ys"].reshape(ys.shape), ys, rtol=1e-6)
    np.testing.assert_allclose(found["last"].reshape(last.shape), last, rtol=1e-6)
    np.testing.assert_allclose(found["y"].reshape(ys.shape), ys, rtol=1e-6)
    assert found["h"].shape == (3 * TURNS, 1, UNITS)
    kept = found["h"].reshape(3, TURNS, UNITS)
    assert not kept[:, 0].any()
    np.testing.assert_array_equal(kept[:, 1:], found["after"].reshape(kept.shape)[:, :-1])


def test_only_what_is_carried_runs_turn_by_turn():
    assert computed_in_turns(cell(state=False)) == {"h", "b", "sum", "new", "after"}
    assert computed_in_turns(cell(state=True)) == {"h", "b", "sum", "new", "after"}


def test_a_change_reaches_later_turns():
    graph, x = cell(state=False), data()
    executor = Executor(graph, [*graph.values])
    known = executor.run({"x": x})
    again = executor.run_again(known, {"a": known["a"] + 0.1})
    ys, last = by_hand(graph, x, 0.1)
    np.testing.assert_allclose(again["ys"].reshape(ys.shape), ys, rtol=1e-6)
    np.testing.assert_allclose(again["last"].reshape(last.shape), last, rtol=1e-6)
    assert again.keys().isdisjoint({"x", "part", "row"})


def test_a_carried_value_can_be_changed():
    graph, x = cell(state=False), data()
    executor = Executor(graph, [*graph.values])
    known = executor.run({"x": x})
    zero = executor.run_again(known, {"h": np.zeros_like(known["h"])})
    alone = np.tanh(known["a"])
    np.testing.assert_allclose(zero["new"], alone, rtol=1e-6)


@pytest.mark.parametrize("streams", [1, 3])
def test_samples_are_steps_of_streams(streams):
    graph, x = cell(state=True), data(streams)
    steps = x.reshape(-1, WIDTH)
    resets = np.arange(len(steps)) % TURNS == 0
    ys, _ = by_hand(graph, x)
    found = Executor(graph, ["y"]).run({"x": steps, RESETS: resets})["y"]
    np.testing.assert_allclose(found.reshape(ys.shape), ys, rtol=1e-6)


def test_streams_of_different_lengths():
    graph, x = cell(state=True), data(2)
    steps = np.concatenate([x[0, :2], x[1]])
    resets = np.isin(np.arange(len(steps)), [0, 2])
    found = Executor(graph, ["y"]).run({"x": steps, RESETS: resets})["y"].reshape(-1, 2)
    wanted = np.concatenate([by_hand(graph, x[:1, :2])[0][0], by_hand(graph, x[1:])[0][0]])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_batches_go_on_where_the_one_before_ended():
    graph = cell(state=True)
    steps = np.random.default_rng(4).normal(size=(1, 50, WIDTH)).astype(np.float32)
    checked = checked_calibration(graph, {"x": steps[0]})
    assert checked[RESETS].tolist() == [True] + [False] * 49
    found = np.concatenate([batch["y"] for _, batch in activations(graph, ["y"], checked)])
    np.testing.assert_allclose(found.reshape(1, 50, 2), by_hand(graph, steps)[0], rtol=1e-4)


@pytest.mark.parametrize("state", [False, True])
def test_a_walk_gives_the_same(state):
    graph = cell(state=state)
    shape = graph.shape("x")[1:]
    x = np.random.default_rng(5).normal(size=(20, *shape)).astype(np.float32)
    checked = checked_calibration(graph, {"x": x})
    walk = Walk(graph, checked)
    names = ["sum", "y"]
    wanted = [batch for _, batch in activations(graph, names, checked)]
    for place in range(0, len(graph.nodes), 3):
        for one, other in zip(walk.activations(graph, names, place), wanted, strict=True):
            for name in names:
                np.testing.assert_array_equal(one[name], other[name])
