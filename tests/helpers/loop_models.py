"""ONNX models with loops and with state, as exporters and people write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray
FLOAT, BOOL = TensorProto.FLOAT, TensorProto.BOOL
INT32, INT64 = TensorProto.INT32, TensorProto.INT64


def info(name: str, *shape: int | str, kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def open_info(name: str) -> onnx.ValueInfoProto:
    """An output without a shape."""
    return helper.make_tensor_value_info(name, FLOAT, None)


def node(op: str, inputs: str, outputs: str, **attrs: object) -> onnx.NodeProto:
    """A node; names are separated by spaces, "-" is an absent input."""
    names = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(op, names, outputs.split(), **attrs)


def body(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    stored: Mapping[str, Array] | None = None,
) -> onnx.GraphProto:
    kept = [numpy_helper.from_array(array, name) for name, array in (stored or {}).items()]
    return helper.make_graph(nodes, "body", inputs, outputs, initializer=kept)


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    stored: Mapping[str, Array] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    graph = body(nodes, inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def weights(seed: int, rows: int, columns: int, gain: float = 1.0) -> Array:
    found = np.random.default_rng(seed).normal(size=(rows, columns))
    return (gain * found / np.sqrt(rows)).astype(np.float32)


def cumulative_sum(turns: int = 12, width: int = 4) -> onnx.ModelProto:
    inner = body(
        [node("Add", "s x_t", "s2"), node("Identity", "s2", "y")],
        [info("s", 1, width), info("x_t", 1, width)],
        [info("s2", 1, width), info("y", 1, width)],
    )
    attrs = {"num_scan_inputs": 1, "scan_input_axes": [1], "scan_output_axes": [1]}
    return model(
        [node("Scan", "zero x", "last ys", body=inner, name="scan", **attrs)],
        [info("x", 1, turns, width)],
        [open_info("ys")],
        {"zero": np.zeros((1, width), np.float32)},
    )


def two_layers(turns: int = 100) -> onnx.ModelProto:
    inner = body(
        [node("Gemm", "x_t w1 b1", "a"), node("Relu", "a", "r"), node("Gemm", "r w2 b2", "y")],
        [info("x_t", 1, 8)],
        [info("y", 1, 4)],
    )
    attrs = {"num_scan_inputs": 1, "scan_input_axes": [1], "scan_output_axes": [1]}
    return model(
        [node("Scan", "x", "ys", body=inner, name="scan", **attrs)],
        [info("x", 1, turns, 8)],
        [open_info("ys")],
        {"w1": weights(1, 8, 16), "b1": weights(2, 1, 16)[0]}
        | {"w2": weights(3, 16, 4), "b2": weights(4, 1, 4)[0]},
    )


def masked(turns: int = 12, width: int = 6) -> onnx.ModelProto:
    """A state that a step leaves as it is where its first feature is 2 or more."""
    inner = body(
        [
            *(node("MatMul", "s w", "a"), node("Add", "a x_t", "b"), node("Tanh", "b", "c")),
            *(node("Where", "m_t c s", "s2"), node("Identity", "s2", "y")),
        ],
        [info("s", 1, width), info("x_t", 1, width), info("m_t", 1, 1, kind=BOOL)],
        [info("s2", 1, width), info("y", 1, width)],
        {"w": weights(8, width, width, 0.5)},
    )
    attrs = {"num_scan_inputs": 2, "scan_input_axes": [1, 1], "scan_output_axes": [1]}
    return model(
        [
            node("Slice", "x begin end axis", "first"),
            node("Less", "first two", "m"),
            node("Scan", "start x m", "last ys", body=inner, name="scan", **attrs),
        ],
        [info("x", 1, turns, width)],
        [open_info("last"), open_info("ys")],
        {"start": np.zeros((1, width), np.float32), "two": np.full(1, 2, np.float32)}
        | {name: np.array([number]) for name, number in (("begin", 0), ("end", 1), ("axis", 2))},
    )


def cell(
    turns: int = 20, backwards: bool = False, width: int = 6, units: int = 8
) -> onnx.ModelProto:
    """An RNN cell in a Scan, its weights outside of the body and inside."""
    inner = body(
        [
            *(node("MatMul", "x_t wx", "a"), node("MatMul", "h wh", "b"), node("Add", "a b", "c")),
            *(node("Tanh", "c", "h2"), node("MatMul", "h2 wo", "y")),
        ],
        [info("h", 1, units), info("x_t", 1, width)],
        [info("h2", 1, units), info("y", 1, 4)],
        {"wh": weights(5, units, units, 0.5)},
    )
    attrs = {"num_scan_inputs": 1, "scan_input_axes": [1], "scan_output_axes": [1]}
    back = [int(backwards)]
    scan = node("Scan", "h0 x", "last ys", body=inner, name="scan", **attrs)
    scan.attribute.extend(
        helper.make_attribute(name, back)
        for name in ("scan_input_directions", "scan_output_directions")
    )
    return model(
        [scan],
        [info("x", 1, turns, width)],
        [open_info("last"), open_info("ys")],
        {"h0": np.zeros((1, units), np.float32), "wx": weights(6, width, units)}
        | {"wo": weights(7, units, 4)},
    )


def nested() -> onnx.ModelProto:
    """Rows of an image, and in each its columns; the inner loop reads a value of the outer one."""
    inner = body(
        [node("Add", "s x_t", "t"), node("Add", "t mean", "s2"), node("Identity", "s2", "y")],
        [info("s", 1), info("x_t", 1)],
        [info("s2", 1), info("y", 1)],
    )
    attrs = {"num_scan_inputs": 1, "scan_input_axes": [1], "scan_output_axes": [1]}
    outer = body(
        [
            node("ReduceMean", "row", "mean", axes=[1], keepdims=0),
            node("Scan", "s row", "s2 y", body=inner, **attrs),
        ],
        [info("s", 1), info("row", 1, 5)],
        [info("s2", 1), info("y", 1, 5)],
    )
    return model(
        [node("Scan", "zero x", "last ys", body=outer, name="rows", **attrs)],
        [info("x", 1, 4, 5)],
        [open_info("last"), open_info("ys")],
        {"zero": np.zeros(1, np.float32)},
    )


def counted(turns: int = 6, condition: str = "Identity") -> onnx.ModelProto:
    """A Loop that reads columns by its number, and multiplies by it."""
    inner = body(
        [
            *(node("Gather", "x i", "x_t", axis=1), node("Add", "s x_t", "s2")),
            *(node("Cast", "i", "number", to=FLOAT), node("Mul", "s2 number", "y")),
            node(condition, "go", "go2"),
        ],
        [info("i", kind=INT64), info("go", kind=BOOL), info("s", 1, 3)],
        [info("go2", kind=BOOL), info("s2", 1, 3), info("y", 1, 3)],
    )
    return model(
        [
            node("Loop", "count true zero", "last stacked", body=inner, name="loop"),
            node("Transpose", "stacked", "ys", perm=[1, 0, 2]),
        ],
        [info("x", 1, 6, 3)],
        [open_info("last"), open_info("ys")],
        {"count": np.asarray(turns), "true": np.asarray(True)}
        | {"zero": np.zeros((1, 3), np.float32)},
    )


def own_counter(count: bool = True, turns: int = 6) -> onnx.ModelProto:
    """A Loop as tf2onnx writes TensorFlow's: a counter of its own, weights carried unchanged.

    What is after it asks for the shape of the results.

    Args:
        count: whether it has a number of turns; otherwise its condition alone ends it.
        turns: after which its condition ends it.
    """
    inner = body(
        [
            node("Gather", "x_first step", "x_t", axis=0),
            *(node("MatMul", "s w", "a"), node("Add", "a x_t", "b"), node("Tanh", "b", "s2")),
            *(node("Add", "step one", "step2"), node("Cast", "step2", "number", to=FLOAT)),
            *(node("Less", "number all", "go2"), node("Identity", "w", "w2")),
            node("Identity", "s2", "y"),
        ],
        [
            *(info("i", kind=INT64), info("go", kind=BOOL), info("step", kind=INT32)),
            *(info("s", 1, 3), info("w", 3, 3)),
        ],
        [
            *(info("go2", kind=BOOL), info("step2", kind=INT32), info("s2", 1, 3)),
            *(info("w2", 3, 3), info("y", 1, 3)),
        ],
        {"one": np.asarray(1, np.int32), "all": np.asarray(turns, np.float32)},
    )
    before = "most" if count else "-"
    return model(
        [
            node("Transpose", "x", "x_first", perm=[1, 0, 2]),
            node(
                "Loop", f"{before} true zero start w", "n last v stacked", body=inner, name="loop"
            ),
            *(node("Shape", "stacked", "whole"), node("Gather", "whole first", "length")),
            node("Size", "last", "width"),
            *(node("Unsqueeze", "width first", "columns"), node("Sub", "length one64", "more")),
            node("Slice", "stacked more length first", "tail"),
            *(node("Concat", "one64 columns", "flat", axis=0), node("Reshape", "tail flat", "ys")),
        ],
        [info("x", 1, 6, 3)],
        [open_info("last"), open_info("ys")],
        {"most": np.asarray(100), "true": np.asarray(True), "zero": np.asarray(0, np.int32)}
        | {"start": np.zeros((1, 3), np.float32), "w": weights(9, 3, 3, 0.5)}
        | {"first": np.asarray([0]), "one64": np.asarray([1])},
    )


def ended_by_a_constant(goes_on: bool) -> onnx.ModelProto:
    """A Loop of at most 4 turns whose condition is a constant."""
    inner = body(
        [node("Gather", "x i", "x_t", axis=1), node("Add", "s x_t", "s2")],
        [info("i", kind=INT64), info("go", kind=BOOL), info("s", 1, 3)],
        [info("go2", kind=BOOL), info("s2", 1, 3)],
        {"go2": np.asarray(goes_on)},
    )
    return model(
        [node("Loop", "count - zero", "last", body=inner, name="loop")],
        [info("x", 1, 6, 3)],
        [open_info("last")],
        {"count": np.asarray(4), "zero": np.zeros((1, 3), np.float32)},
    )


def ended_by_its_number() -> onnx.ModelProto:
    """A Loop of at most 6 turns whose condition ends it after the third."""
    inner = body(
        [
            *(node("Gather", "x i", "x_t", axis=1), node("Add", "s x_t", "s2")),
            node("Less", "i two", "go2"),
        ],
        [info("i", kind=INT64), info("go", kind=BOOL), info("s", 1, 3)],
        [info("go2", kind=BOOL), info("s2", 1, 3)],
        {"two": np.asarray(2)},
    )
    return model(
        [node("Loop", "count - zero", "last", body=inner, name="loop")],
        [info("x", 1, 6, 3)],
        [open_info("last")],
        {"count": np.asarray(6), "zero": np.zeros((1, 3), np.float32)},
    )


def counter_around(kind: str) -> onnx.ModelProto:
    """A Loop in a Loop.

    Args:
        kind: "start": the inner one begins with the number of the outer turn, "scan": a Scan
            reads numbers that differ from turn to turn.
    """
    scan = {"num_scan_inputs": 1, "scan_input_axes": [0], "scan_output_axes": [0]}
    inner = {
        "start": body(
            [node("Identity", "g", "g2"), node("Add", "t row", "t2")],
            [info("j", kind=INT64), info("g", kind=BOOL), info("t", 1, 3)],
            [info("g2", kind=BOOL), info("t2", 1, 3)],
        ),
        "scan": body(
            [node("Add", "t n_t", "a"), node("Add", "a row", "t2"), node("Identity", "t2", "o")],
            [info("t", 1, 3), info("n_t")],
            [info("t2", 1, 3), info("o", 1, 3)],
        ),
    }[kind]
    turns = {
        "start": [
            *(node("Cast", "i", "f", to=FLOAT), node("Add", "zero f", "begin")),
            node("Loop", "three - begin", "t3", body=inner),
        ],
        "scan": [
            *(node("Add", "steps i", "k"), node("Cast", "k", "n", to=FLOAT)),
            node("Scan", "zero n", "t3 all", body=inner, **scan),
        ],
    }[kind]
    outer = body(
        [
            node("Gather", "x i", "row", axis=1),
            *turns,
            *(node("Add", "s t3", "s2"), node("Identity", "go", "go2")),
        ],
        [info("i", kind=INT64), info("go", kind=BOOL), info("s", 1, 3)],
        [info("go2", kind=BOOL), info("s2", 1, 3)],
    )
    return model(
        [node("Loop", "four - zero", "last", body=outer, name="outer")],
        [info("x", 1, 6, 3)],
        [open_info("last")],
        {"three": np.asarray(3), "four": np.asarray(4), "steps": np.arange(3)}
        | {"zero": np.zeros((1, 3), np.float32)},
    )


def passed_on() -> onnx.ModelProto:
    """A Loop that collects the carried value as it was before each turn."""
    inner = body(
        [
            *(node("Identity", "go", "go2"), node("Identity", "s", "before")),
            *(node("ReduceMax", "x", "m", axes=[1], keepdims=0), node("Add", "s m", "s2")),
        ],
        [info("i", kind=INT64), info("go", kind=BOOL), info("s", 1, 3)],
        [info("go2", kind=BOOL), info("s2", 1, 3), info("before", 1, 3)],
    )
    return model(
        [
            node("Loop", "count - zero", "last stacked", body=inner, name="loop"),
            node("Transpose", "stacked", "ys", perm=[1, 0, 2]),
        ],
        [info("x", 1, 6, 3)],
        [open_info("last"), open_info("ys")],
        {"count": np.asarray(4), "zero": np.zeros((1, 3), np.float32)},
    )


def sliced() -> onnx.ModelProto:
    """A Loop that cuts windows of two columns by bounds that it computes, from the last one on."""
    inner = body(
        [
            *(node("Sub", "four i", "first"), node("Unsqueeze", "first at", "start")),
            *(node("Add", "start two", "end"), node("Slice", "x start end one", "window")),
            *(
                node("ReduceMax", "window", "most", axes=[1], keepdims=0),
                node("Add", "s most", "s2"),
            ),
        ],
        [info("i", kind=INT64), info("go", kind=BOOL), info("s", 1, 3)],
        [info("go", kind=BOOL), info("s2", 1, 3)],
        {"four": np.asarray(4), "at": np.asarray([0])},
    )
    return model(
        [node("Loop", "count - zero", "last", body=inner, name="loop")],
        [info("x", 1, 6, 3)],
        [open_info("last")],
        {"count": np.asarray(5), "zero": np.zeros((1, 3), np.float32)}
        | {"one": np.asarray([1]), "two": np.asarray([2])},
    )


def maps() -> onnx.ModelProto:
    """A convolutional cell: what is carried is an image, channels first."""
    kernel = weights(8, 9, 9).reshape(3, 3, 3, 3) / 2
    inner = body(
        [
            node("Conv", "x_t wx", "a", pads=[1, 1, 1, 1]),
            node("Conv", "s ws", "b", pads=[1, 1, 1, 1]),
            *(
                node("Add", "a b", "c"),
                node("Relu", "c", "s2"),
                node("GlobalAveragePool", "s2", "y"),
            ),
        ],
        [info("s", 1, 3, 6, 6), info("x_t", 1, 3, 6, 6)],
        [info("s2", 1, 3, 6, 6), info("y", 1, 3, 1, 1)],
    )
    attrs = {"num_scan_inputs": 1, "scan_input_axes": [1], "scan_output_axes": [1]}
    return model(
        [node("Scan", "zero x", "last ys", body=inner, name="scan", **attrs)],
        [info("x", 1, 5, 3, 6, 6)],
        [open_info("last"), open_info("ys")],
        {"zero": np.zeros((1, 3, 6, 6), np.float32), "wx": kernel, "ws": kernel[::-1].copy() / 2},
    )


def chosen() -> onnx.ModelProto:
    """An If whose condition is known."""
    branches = {
        "then_branch": body([node("Relu", "x", "a")], [], [open_info("a")]),
        "else_branch": body([node("Neg", "x", "b")], [], [open_info("b")]),
    }
    return model(
        [node("If", "which", "y", **branches)],
        [info("x", 1, 4, 5)],
        [open_info("y")],
        {"which": np.asarray(False)},
    )


LOOPS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "cumulative sum": cumulative_sum,
    "two layers": two_layers,
    "masked": masked,
    "cell": cell,
    "cell backwards": lambda: cell(backwards=True),
    "nested": nested,
    "counted": counted,
    "own counter": own_counter,
    "condition": lambda: own_counter(count=False),
    "one turn": lambda: own_counter(turns=1),
    "never ended": lambda: ended_by_a_constant(True),
    "ended by a constant": lambda: ended_by_a_constant(False),
    "ended by its number": ended_by_its_number,
    "ended at once": lambda: counted(condition="Not"),
    "counter around a start": lambda: counter_around("start"),
    "counter around a scan": lambda: counter_around("scan"),
    "passed on": passed_on,
    "sliced": sliced,
    "maps": maps,
    "chosen": chosen,
}
"""Models with an input x."""


def moving_average(width: int = 4) -> onnx.ModelProto:
    """y = 0.75 y + 0.25 x, from run to run."""
    return model(
        [
            *(node("Mul", "state d", "a"), node("Mul", "x e", "b")),
            *(node("Add", "a b", "stateN"), node("Mul", "stateN two", "y")),
        ],
        [info("x", "N", width), info("state", "N", width)],
        [info("y", "N", width), info("stateN", "N", width)],
        {"d": np.float32([0.75]), "e": np.float32([0.25]), "two": np.float32([2])},
    )


def two_states(units: int = 16, width: int = 8) -> onnx.ModelProto:
    """An RNN cell and a moving average of what it gives."""
    return model(
        [
            *(node("MatMul", "x wx", "a"), node("MatMul", "h0 wh", "b"), node("Add", "a b", "c")),
            *(node("Tanh", "c", "hn"), node("Mul", "mem_in d", "m"), node("Mul", "hn e", "n")),
            *(node("Add", "m n", "mem_out"), node("MatMul", "mem_out wo", "y")),
        ],
        [info("x", "N", width), info("h0", "N", units), info("mem_in", "N", units)],
        [info("y", "N", 4), info("hn", "N", units), info("mem_out", "N", units)],
        {"wx": weights(9, width, units), "wh": weights(10, units, units, 0.5)}
        | {"wo": weights(11, units, 4), "d": np.float32([0.75]), "e": np.float32([0.25])},
    )


STREAMS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "moving average": moving_average,
    "two states": two_states,
}
"""Models with an input x, and state."""
