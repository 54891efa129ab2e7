"""A small network over photographs, for tests of layers that run in turns of a few rows."""

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from edgec.base.options import CompileOptions
from edgec.commands.compile import CompileResult, compile_model
from edgec.target.board import Board

SIDE = 32
COUNT = 4


def photographs(count=COUNT):
    return np.random.default_rng(5).normal(0, 1, (count, 3, SIDE, SIDE)).astype(np.float32)


def write_network(folder: Path, *, last: int = 0) -> Path:
    """A convolution of stride 2, a block that widens sixfold and adds, and a pool.

    Args:
        folder: for the file.
        last: channels of one more convolution of single pixels before the pool; 0: there is none.
    """
    rng, nodes, weights = np.random.default_rng(4), [], []

    def layer(x, y, inputs, outputs, size, **attributes):
        depth = inputs // attributes.get("group", 1)
        shape = (outputs, depth, size, size)
        array = rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape).astype(np.float32)
        weights.append(numpy_helper.from_array(array, f"w_{y}"))
        weights.append(numpy_helper.from_array(np.full(outputs, 0.2, np.float32), f"b_{y}"))
        pads = [size // 2] * 4
        inputs = [x, f"w_{y}", f"b_{y}"]
        nodes.append(helper.make_node("Conv", inputs, [f"{y}_sum"], pads=pads, **attributes))
        nodes.append(helper.make_node("Relu", [f"{y}_sum"], [y]))

    layer("x", "a", 3, 8, 3, strides=[2, 2])
    layer("a", "b", 8, 48, 1)
    layer("b", "c", 48, 48, 3, group=48)
    layer("c", "d", 48, 8, 1)
    nodes.append(helper.make_node("Add", ["a", "d"], ["e"]))
    layer("e", "f", 8, 16, 3, strides=[2, 2])
    if last:
        layer("f", "h", 16, last, 1)
    nodes.append(helper.make_node("GlobalAveragePool", ["h" if last else "f"], ["g"]))
    nodes.append(helper.make_node("Flatten", ["g"], ["y"]))
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, SIDE, SIDE])
    found = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, last or 16])
    graph = helper.make_graph(nodes, "photographs", [given], [found], weights)
    path = folder / "photographs.onnx"
    opsets = [helper.make_opsetid("", 13)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def built(
    network: Path, folder: Path, board: Board | str = "nucleo_f446re", **options: object
) -> CompileResult:
    """The network on a board, with options of the compilation."""
    calibration = {"x": photographs()}
    return compile_model(
        network, board, calibration=calibration, out=folder, options=CompileOptions(**options)
    )
