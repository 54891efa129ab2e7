"""Loops and state in the oracle: turns, carried values, nested loops, streams, refusals."""

import numpy as np
import pytest
from integer_samples import IntegerMaker

from edgec.base.errors import InternalError
from edgec.interp import run_graph, run_graph_batch, state_after
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.ir.turns import Loop, Part, Turns
from edgec.ir.verify import Stage, verify

Q = QuantParams.per_tensor(0.1, 3)


class Sketch:
    """Integer graphs of operators that move codes, all in one quantization."""

    def __init__(self) -> None:
        self.builder = GraphBuilder("turns")

    def input(self, *shape: int) -> str:
        name = self.builder.value(Value("x", shape, quant=Q, dtype=Q.dtype))
        self.builder.inputs.append(name)
        return name

    def zeros(self, *shape: int) -> str:
        return self.builder.constant("zeros", np.full(shape, Q.tensor_zero_point, np.int8), Q)

    def op(self, attrs, *inputs: str, shape: tuple[int, ...], name: str = "t") -> str:
        name = self.builder.fresh(name)
        self.builder.value(Value(name, shape, quant=Q, dtype=Q.dtype))
        self.builder.node(f"node of {name}", attrs, inputs, [name])
        return name

    def graph(self, *outputs: str) -> Graph:
        self.builder.outputs = list(outputs)
        graph = self.builder.build()
        verify(graph, Stage.INTEGER)
        return graph


def delays(m: Sketch, x_t: str, line: str, width: int, taps: int) -> str:
    """The last `taps` rows: those of the line without its first, and the new one."""
    rest = qops.QSlice((0, 1, 0), (1, 1, 1), (1, taps - 1, width))
    kept = m.op(rest, line, shape=(1, taps - 1, width))
    return m.op(qops.QConcat(1), kept, x_t, shape=(1, taps, width))


def delay_line(turns: int, width: int = 2, taps: int = 3, backwards: bool = False) -> Graph:
    """x [1, turns, width] -> the windows of `taps` rows that end at each row, and the last one."""
    m, loop = Sketch(), Loop("line", turns)
    x, start = m.input(1, turns, width), m.zeros(1, taps, width)
    part = Part.backwards(1, turns) if backwards else Part(1)
    x_t = m.op(qops.QTurnSlice(loop, part), x, shape=(1, 1, width))
    line = m.op(qops.QCarry(loop), start, shape=(1, taps, width), name="line")
    window = delays(m, x_t, line, width, taps)
    m.op(qops.QUpdate(), window, line, shape=(1, taps, width), name="next")
    stack = qops.QTurnStack(loop, Part(1, size=taps, step=taps))
    windows = m.op(stack, window, shape=(1, turns * taps, width), name="windows")
    last = m.op(qops.QTurnLast(loop), window, shape=(1, taps, width), name="last")
    return m.graph(windows, last)


def stream(width: int = 2, taps: int = 3) -> Graph:
    """x [1, 1, width], a row a run -> the last `taps` rows."""
    m = Sketch()
    x = m.input(1, 1, width)
    line = m.op(qops.QCarry(None), m.zeros(1, taps, width), shape=(1, taps, width), name="line")
    window = delays(m, x, line, width, taps)
    m.op(qops.QUpdate(), window, line, shape=(1, taps, width), name="next")
    return m.graph(window)


def rows(count: int, width: int = 2) -> np.ndarray:
    return np.random.default_rng(5).integers(-128, 128, (1, count, width)).astype(np.int8)


def windows_of(x: np.ndarray, taps: int = 3) -> np.ndarray:
    before = np.full((1, taps - 1, x.shape[2]), Q.tensor_zero_point, np.int8)
    padded = np.concatenate([before, x], axis=1)
    return np.concatenate([padded[:, t : t + taps] for t in range(x.shape[1])], axis=1)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("turns", [1, 2, 7])
def test_a_loop_carries_values_from_turn_to_turn(turns, backwards):
    graph, x = delay_line(turns, backwards=backwards), rows(turns)
    found = run_graph(graph, {"x": x})
    expected = windows_of(x[:, ::-1] if backwards else x)
    assert np.array_equal(found["windows"], expected)
    assert np.array_equal(found["last"], expected[:, -3:])
    # Values of a loop have an axis for its turns.
    assert np.array_equal(found["next"].reshape(expected.shape), expected)
    assert found["line"].shape == (turns, 1, 3, 2)
    assert np.array_equal(found["line"][1:], found["next"][:-1])
    assert not any(array.flags.writeable for array in found.values())


def test_a_stream_is_a_loop_whose_turns_are_runs():
    graph, x = stream(), rows(10)
    found = run_graph_batch(graph, {"x": x.reshape(10, 1, 2)})["t#1"]
    assert np.array_equal(found.reshape(1, 30, 2), windows_of(x))


def test_two_streams_have_a_state_each():
    graph, x = stream(), rows(6)
    states: list[dict[str, np.ndarray]] = [{}, {}]
    outputs = [[], []]
    for step in range(6):
        which = step % 2
        found = run_graph(graph, {"x": x[:, step : step + 1]}, states[which])
        states[which] = state_after(graph, found)
        outputs[which].append(found["t#1"])
    for which in range(2):
        expected = windows_of(x[:, which::2])
        assert np.array_equal(np.concatenate(outputs[which], axis=1), expected)


def test_loops_may_be_nested():
    """The sum of nothing but order: rows of an image, and in each row its columns, backwards."""
    m = Sketch()
    outer = Loop("rows", 3)
    inner = Loop("columns", 4, outer)
    x = m.input(1, 3, 4)
    row = m.op(qops.QTurnSlice(outer, Part(1)), x, shape=(1, 1, 4), name="row")
    pixel = m.op(qops.QTurnSlice(inner, Part.backwards(2, 4)), row, shape=(1, 1, 1), name="pixel")
    back = m.op(qops.QTurnStack(inner, Part(2)), pixel, shape=(1, 1, 4), name="back")
    y = m.op(qops.QTurnStack(outer, Part(1)), back, shape=(1, 3, 4), name="y")
    graph, image = m.graph(y), rows(3, 4)
    found = run_graph(graph, {"x": image})
    assert np.array_equal(found["y"], image[:, :, ::-1])
    assert found["pixel"].shape == (3, 4, 1, 1, 1)
    (turns,) = graph.sequence
    assert isinstance(turns, Turns)
    assert [type(item).__name__ for item in turns.body] == ["Node", "Turns", "Node"]


def test_what_does_not_depend_on_the_turn_runs_once():
    m, loop = Sketch(), Loop("turns", 2)
    x = m.input(1, 2, 3)
    x_t = m.op(qops.QTurnSlice(loop, Part(1)), x, shape=(1, 1, 3))
    held = m.op(qops.QSlice((0, 0, 0), (1, 1, 1), (1, 1, 3)), x, shape=(1, 1, 3), name="held")
    pair = m.op(qops.QConcat(1), x_t, held, shape=(1, 2, 3))
    y = m.op(qops.QTurnStack(loop, Part(1, 2, 2)), pair, shape=(1, 4, 3), name="y")
    graph = m.graph(y)
    assert graph.scopes.nodes["node of held"] is None
    x = rows(2, 3)
    expected = np.concatenate([x[:, :1], x[:, :1], x[:, 1:], x[:, :1]], axis=1)
    assert np.array_equal(run_graph(graph, {"x": x})["y"], expected)


def test_a_carried_value_needs_its_update():
    m, loop = Sketch(), Loop("turns", 2)
    x = m.input(1, 2, 3)
    line = m.op(qops.QCarry(loop), x, shape=(1, 2, 3))
    y = m.op(qops.QTurnLast(loop), line, shape=(1, 2, 3), name="y")
    with pytest.raises(InternalError, match="updated 0 times"):
        m.graph(y)


def test_values_of_two_loops_do_not_meet():
    m = Sketch()
    x = m.input(1, 2, 3)
    parts = [
        m.op(qops.QTurnSlice(Loop(name, 2), Part(1)), x, shape=(1, 1, 3)) for name in ("a", "b")
    ]
    y = m.op(qops.QConcat(1), *parts, shape=(1, 2, 3))
    with pytest.raises(InternalError, match="two loops"):
        m.graph(y)


def test_an_output_lies_outside_of_loops():
    m, loop = Sketch(), Loop("turns", 2)
    y = m.op(qops.QTurnSlice(loop, Part(1)), m.input(1, 2, 3), shape=(1, 1, 3))
    with pytest.raises(InternalError, match="inside of a loop"):
        m.graph(y)


@pytest.mark.parametrize("part", [Part(1, 2, 1), Part(1, 1, 2), Part(1, 1, 1, start=1), Part(3)])
def test_parts_that_do_not_fit_are_refused(part):
    m, loop = Sketch(), Loop("turns", 2)
    x_t = m.op(qops.QTurnSlice(loop, Part(1)), m.input(1, 2, 3), shape=(1, 1, 3))
    y = m.op(qops.QTurnStack(loop, part), x_t, shape=(1, 2, 3))
    with pytest.raises(InternalError, match=r"parts|part has|axis"):
        m.graph(y)


def test_integer_maker_graphs_stay_straight():
    m = IntegerMaker()
    graph = m.graph(m.lut(m.input(1, 4)))
    assert graph.scopes.is_straight
    assert graph.sequence == graph.nodes
