"""A network that runs frame by frame gives the codes of its whole window."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import pytest
from stream_models import DELAYED, NETWORKS, TIME, Net

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, UnsupportedModelError
from edgec.base.options import IntegerOptions
from edgec.interp import run_graph, run_stream
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.ir.verify import Stage, verify
from edgec.passes.stream import Streamed, streamed
from edgec.workflow.integer import integer_model

PADDED = ("tcn and mean", "matchbox", "same, strided")
"""Networks whose padding in time reaches the outputs."""
_INTEGERS: dict[str, Graph] = {}


@pytest.fixture
def integer(tmp_path):
    """Gives the integer graph of the whole window of a network, quantized once."""

    def of(name: str, model: onnx.ModelProto | None = None) -> Graph:
        if name not in _INTEGERS:
            onnx.save(model or NETWORKS[name](), tmp_path / "net.onnx")
            _INTEGERS[name] = integer_model(tmp_path / "net.onnx", None, IntegerOptions()).integer
        return _INTEGERS[name]

    return of


def axes_of(graph: Graph, axis: int = 2) -> dict[str, int]:
    """The axis of time of the only input, as the graph has it."""
    perm = graph.input_layouts.get("x", tuple(range(9)))
    return {"x": perm.index(axis)}


def codes(graph: Graph, axis: int, frames: int) -> Array:
    """Frames that hold all codes."""
    shape = list(graph.shape("x"))
    shape[axis] = frames
    return np.random.default_rng(7).integers(-128, 128, shape).astype(np.int8)


def part(x: Array, axis: int, start: int, end: int) -> dict[str, Array]:
    """Frames from one on to before another."""
    return {"x": np.take(x, range(start, end), axis)}


def outputs(found: Streamed, x: Array, axis: int) -> list[Mapping[str, Array]]:
    """What each run gives."""
    verify(found.graph, Stage.INTEGER, "a stream")
    n = found.frames
    steps = (part(x, axis, at, at + n) for at in range(0, x.shape[axis], n))
    return list(run_stream(found.graph, steps))


@pytest.mark.parametrize("frames", [None, 4, 8])
@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in PADDED])
def test_equals_the_whole_window(name, frames, integer):
    graph = integer(name)
    axes = axes_of(graph, TIME[name])
    found = streamed(graph, axes, frames, allow_delay=False)
    assert found.equals_window
    assert not found.delay
    assert total_macs(found.graph) < total_macs(graph)
    axis, runs = axes["x"], found.window // found.frames + 20
    x = codes(graph, axis, runs * found.frames)
    given = outputs(found, x, axis)
    compared = 0
    for run in range(found.graph.warm_up, runs):
        end = (run + 1) * found.frames
        if end < found.window:
            continue
        wanted = run_graph(graph, part(x, axis, end - found.window, end))
        for output in graph.outputs:
            own = given[run][output]
            whole = wanted[output]
            if own.shape != whole.shape:  # a result for each frame: those of the run
                assert output in found.axes
                whole = np.take(whole, range(-own.shape[found.axes[output]], 0), found.axes[output])
            np.testing.assert_array_equal(own, whole)
        compared += 1
    assert compared >= 15


@pytest.mark.parametrize("name", NETWORKS)
def test_rings_slide_in_place(name, integer):
    graph = integer(name)
    found = streamed(graph, axes_of(graph, TIME[name]), None, allow_delay=name in DELAYED).graph
    windows = [found.producers[update.first].attrs for update in found.updates.values()]
    assert windows
    assert all(isinstance(attrs, qops.QSlide) for attrs in windows)


def test_10_000_frames(integer):
    graph = integer("valid")
    axes = axes_of(graph)
    found = streamed(graph, axes, 8, allow_delay=False)
    x = codes(graph, axes["x"], 10_000)
    given = outputs(found, x, axes["x"])[found.graph.warm_up :]
    ends = range((found.graph.warm_up + 1) * 8, 10_001, 8)
    windows = (part(x, axes["x"], end - found.window, end) for end in ends)
    for own, wanted in zip(given, run_stream(graph, windows), strict=True):
        for name in graph.outputs:
            np.testing.assert_array_equal(own[name], wanted[name])


def long_run(graph: Graph, x: Array, axis: int) -> Array:
    """What pooling over the window reads, computed for any number of frames at once."""
    live = {"x": x}
    frames = {"x": axis}
    for node in graph.nodes:
        if isinstance(node.attrs, qops.QReduce):
            return live[node.input]
        attrs, own = node.attrs, frames[node.first]
        operands = []
        for name in node.inputs:
            given = live[name] if name in live else graph.constants[name].array
            quant = graph.values[name].quant if name in live else None
            zero = 0 if quant is None else quant.tensor_zero_point
            operands.append(qops.Operand(given, zero))
        if isinstance(attrs, qops.QReshape):
            length = graph.shape(node.input)[own]
            own = graph.shape(node.output).index(length)
            shape = list(attrs.shape)
            shape[own] = live[node.input].shape[frames[node.input]]
            attrs = qops.QReshape(tuple(shape))
        (live[node.output],) = attrs.compute_outputs(attrs.Inputs.of(operands))
        frames[node.output] = own
    raise AssertionError("nothing is pooled")


@pytest.mark.parametrize("frames", [None, 4])
@pytest.mark.parametrize("name", PADDED)
def test_has_real_frames_in_place_of_padding(name, frames, integer):
    """What is pooled equals that of a run over all frames of the stream."""
    graph = integer(name)
    axes = axes_of(graph, TIME[name])
    axis = axes["x"]
    found = streamed(graph, axes, frames, allow_delay=name in DELAYED)
    assert not found.equals_window
    assert (found.delay > 0) is (name in DELAYED)
    n, runs = found.frames, found.graph.warm_up + 12
    x = codes(graph, axis, runs * n)
    given = outputs(found, x, axis)
    pooled = next(node for node in graph.nodes if isinstance(node.attrs, qops.QReduce))
    length = graph.shape(pooled.input)[1 if graph.shape(pooled.input)[1] > 1 else 2]
    stride = -(-found.window // length)
    # Positions of a stride begin where those of the window do.
    first = (n - found.delay - found.window) % stride
    everything = long_run(graph, np.take(x, range(first, x.shape[axis]), axis), axis)
    place = everything.shape.index(max(everything.shape[1:3]))
    for run in range(found.graph.warm_up, runs):
        start = (run + 1) * n - found.delay - found.window - first
        assert start % stride == 0
        window = np.take(everything, range(start // stride, start // stride + length), place)
        quant = graph.values[pooled.input].quant
        (wanted,) = pooled.attrs.compute_outputs(
            pooled.attrs.Inputs(qops.Operand(window, quant.tensor_zero_point))
        )
        np.testing.assert_array_equal(given[run][pooled.output], wanted)


@pytest.mark.parametrize("name", DELAYED)
def test_looking_ahead_needs_a_word(name, integer):
    graph = integer(name)
    with pytest.raises(UnsupportedModelError, match="late, in a stream") as caught:
        streamed(graph, axes_of(graph, TIME[name]), None, allow_delay=False)
    assert len(caught.value.nodes) == 1
    assert "--allow-delay" in caught.value.nodes[0].remedy


def test_rings_hold_what_windows_need(integer):
    found = streamed(integer("valid"), axes_of(integer("valid")), None, allow_delay=False)
    sizes = {found.graph.shape(name)[2] for name in found.graph.state}
    assert sizes == {3, 5, 11}  # with the frame of the run, which takes the place of the oldest
    assert found.graph.warm_up == 16


def reversed_frames(n: Net) -> str:
    return n.part(n.conv("x", (4, 4), [3]), 2, -1, -99, -1)


def softmax_over_time(n: Net) -> str:
    return n.node("Softmax", n.conv("x", (4, 4), [3]), axis=2)


def attention(n: Net) -> str:
    y = n.conv("x", (4, 4), [3])
    scores = n.node("MatMul", n.node("Transpose", y, perm=[0, 2, 1]), y)
    return n.node("MatMul", y, scores)


def gate_of_the_window(n: Net) -> str:
    y = n.conv("x", (4, 4), [3])
    gate = n.node("Sigmoid", n.conv(n.node("GlobalAveragePool", y), (4, 4), [1], relu=False))
    return n.node("Mul", y, gate)


def numbers_by_frame(n: Net) -> str:
    y = n.conv("x", (4, 4), [3])
    places = np.random.default_rng(0).normal(0, 1, (1, 4, 14)).astype(np.float32)
    return n.node("Add", y, n.array(places))


def frames_one_after_the_other(n: Net) -> str:
    y = n.conv("x", (4, 4), [3])
    return n.node("Concat", y, y, axis=2)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (reversed_frames, "turns the frames round"),
        (softmax_over_time, "works along the frames"),
        (attention, "attention over the window"),
        (gate_of_the_window, "a result of the window"),
        (numbers_by_frame, "a number for each frame"),
        (frames_one_after_the_other, "one after the other in time"),
    ],
)
def test_what_cannot_stream_is_named(make, reason, integer):
    n = Net(1, 4, 16)
    y = n.conv(make(n), (4, 2), [1], relu=False)
    graph = integer(make.__name__, n.model(n.node("GlobalAveragePool", y)))
    with pytest.raises(UnsupportedModelError, match=reason):
        streamed(graph, axes_of(graph), None, allow_delay=False)


@pytest.mark.parametrize(
    ("name", "frames", "what"),
    [
        ("tenet", 6, "do not fill the strides"),
        ("valid", 17, "would keep none"),
        ("valid", 100, "would keep none"),
    ],
)
def test_wrong_numbers_of_frames(name, frames, what, integer):
    graph = integer(name)
    with pytest.raises(ConfigError, match=what):
        streamed(graph, axes_of(graph), frames, allow_delay=False)


def test_the_fewest_frames_are_told(integer):
    graph = integer("tenet")
    with pytest.raises(ConfigError) as caught:
        streamed(graph, axes_of(graph), 6, allow_delay=False)
    assert caught.value.hint == "give a multiple of 4"
