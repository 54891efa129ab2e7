"""The value of the last turn in place of the tensor of all turns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import assert_executed, imported, random_feeds, run
from loop_models import info, model, node, open_info
from recurrent_models import recurrent

from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES


def taken(direction: str, index: int, op: str = "GRU") -> onnx.ModelProto:
    """One step of all that a recurrent operator gives."""
    proto = recurrent(op, steps=6, direction=direction, outputs=["y"])
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array(index), "index"))
    proto.graph.node.append(node("Gather", "y index", "z", axis=0))
    del proto.graph.output[:]
    proto.graph.output.append(open_info("z"))
    return proto


def stacks(graph: Graph) -> int:
    return sum(isinstance(each.attrs, ops.TurnStack) for each in graph.nodes)


@pytest.mark.parametrize("op", ["GRU", "LSTM", "RNN"])
@pytest.mark.parametrize(
    ("direction", "index", "kept"),
    [
        ("forward", -1, 0),
        ("reverse", 0, 0),
        ("forward", 0, 1),
        ("forward", 4, 1),
        ("reverse", -1, 1),
        ("bidirectional", -1, 2),
    ],
)
def test_only_the_last_turn_stays(op, direction, index, kept, tmp_path: Path) -> None:
    proto = taken(direction, index, op)
    graph = imported(proto, tmp_path)
    passed = run_passes(graph, REAL_PASSES).graph
    assert (stacks(graph), stacks(passed)) == (2 if direction == "bidirectional" else 1, kept)
    feeds = random_feeds(graph, seed=2)
    wanted = [part.reshape(passed.shape("z")) for part in run(proto, feeds)]
    assert_executed(passed, feeds, wanted)


def test_all_turns_stay_where_something_else_reads_them(tmp_path: Path) -> None:
    proto = taken("forward", -1)
    proto.graph.output.append(open_info("y"))
    passed = run_passes(imported(proto, tmp_path), REAL_PASSES).graph
    assert stacks(passed) == 1
    assert sum(isinstance(each.attrs, ops.TurnLast) for each in passed.nodes) == 1


def test_an_axis_that_is_not_that_of_the_turns(tmp_path: Path) -> None:
    proto = model(
        [
            node("Slice", "x first end axes", "z"),
            node("Relu", "z", "y"),
        ],
        [info("x", 1, 6, 3)],
        [open_info("y")],
        {"first": np.array([5]), "end": np.array([6]), "axes": np.array([1])},
    )
    graph = imported(proto, tmp_path)
    assert [n.op for n in run_passes(graph, REAL_PASSES).graph.nodes] == [n.op for n in graph.nodes]
