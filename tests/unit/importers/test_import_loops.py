"""Scan, Loop and If in ONNX files: what they compute, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from loop_models import (
    BOOL,
    FLOAT,
    INT32,
    INT64,
    LOOPS,
    Array,
    body,
    cell,
    counted,
    cumulative_sum,
    info,
    model,
    node,
    open_info,
)
from onnx import helper
from onnx.reference import ReferenceEvaluator

from edgec.base.errors import ImportModelError, UnsupportedModelError
from edgec.base.limits import MAX_LOOP_DEPTH, MAX_TURNS
from edgec.base.options import StatePairs
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.executor import Executor
from edgec.floatrun.float_model import FloatModel
from edgec.importers.onnx.importer import import_model
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES


def imported(proto: onnx.ModelProto, folder: Path) -> Graph:
    path = folder / "model.onnx"
    onnx.save(proto, path)
    graph = import_model(path)
    verify(graph, Stage.REAL)
    return graph


def inputs_of(proto: onnx.ModelProto, count: int = 3) -> dict[str, Array]:
    (given,) = proto.graph.input
    shape = [d.dim_value for d in given.type.tensor_type.shape.dim][1:]
    return {"x": np.random.default_rng(3).normal(size=(count, *shape)).astype(np.float32)}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_computes_what_onnxruntime_says(name, tmp_path):
    proto = LOOPS[name]()
    data = inputs_of(proto)
    graph = imported(proto, tmp_path)
    wanted = FloatModel(proto).run(data)
    found = Executor(graph, graph.outputs).run(data)
    for output in graph.outputs:
        ours = found[output].reshape(wanted[output].shape)
        np.testing.assert_allclose(ours, wanted[output], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LOOPS)
def test_passes_and_export_keep_what_a_loop_computes(name, tmp_path):
    proto = LOOPS[name]()
    data = inputs_of(proto)
    graph = run_passes(imported(proto, tmp_path), REAL_PASSES).graph
    wanted = FloatModel(proto).run(data)
    found = FloatModel(export_real(graph, model_layout=True)).run(data)
    for output, array in wanted.items():
        np.testing.assert_allclose(found[output], array, rtol=1e-4, atol=1e-5)


def test_what_reads_no_carried_value_is_no_cycle(tmp_path):
    """Weights and parts of inputs are constants and slices; one loop holds all of the body."""
    graph = imported(cell(), tmp_path)
    kinds = [type(node.attrs) for node in graph.nodes]
    assert kinds.count(ops.Carry) == kinds.count(ops.Update) == kinds.count(ops.TurnSlice) == 1
    assert graph.scopes.nodes["scan"] is None or len(graph.nodes) > 1
    assert len({scope for scope in graph.scopes.nodes.values() if scope}) == 1


def refusal(proto: onnx.ModelProto, folder: Path) -> str:
    with pytest.raises(UnsupportedModelError) as caught:
        imported(proto, folder)
    (problem,) = caught.value.nodes
    return f"{problem.name} ({problem.op}): {problem.reason}"


def loop_of(nodes, more=(), outputs=(), stored=None, inputs="count - zero"):
    inner = body(
        nodes,
        [info("i", kind=INT64), info("go", kind=BOOL), info("s", 1, 3), *more],
        [info("go2", kind=BOOL), info("s2", 1, 3), *outputs],
    )
    return model(
        [node("Loop", inputs, "last", body=inner, name="loop")],
        [info("x", 1, 6, 3)],
        [open_info("last")],
        {"count": np.asarray(4), "zero": np.zeros((1, 3), np.float32), **(stored or {})},
    )


ADD_FIRST = [node("ReduceMax", "x", "m", axes=[1], keepdims=0), node("Add", "s m", "s2")]
GO = node("Identity", "go", "go2")


@pytest.mark.parametrize(
    ("proto", "message"),
    [
        (counted(turns=0), "loop (Loop): it has no turns"),
        (counted(turns=MAX_TURNS + 1), "loop (Loop): it has 1,000,001 turns; the limit is"),
        (loop_of([*ADD_FIRST, GO], inputs="- - zero"), "it has more than 20,000 turns"),
        (
            loop_of(
                [
                    *ADD_FIRST,
                    *(node("ReduceSum", "s2", "all", keepdims=0), node("Less", "all most", "go2")),
                ],
                inputs="- - zero",
                stored={"most": np.float32(9)},
            ),
            "the data decide how many turns it has",
        ),
        (
            loop_of([node("ReduceMax", "x", "s2", axes=[1, 2], keepdims=0), GO]),
            "what it carries is float32 [1, 3] before a turn and float32 [1] after it",
        ),
        (
            loop_of(
                [*ADD_FIRST, GO], inputs="count - whole", stored={"whole": np.zeros((1, 3), int)}
            ),
            "it carries whole numbers that the data decide",
        ),
        (
            loop_of(
                [*ADD_FIRST, node("Gather", "s i", "lost", axis=1), GO], outputs=[info("lost", 1)]
            ),
            "a turn reads outside of the tensor",
        ),
    ],
)
def test_a_loop_that_is_refused_says_why(proto, message, tmp_path):
    assert message in refusal(proto, tmp_path)


def test_a_branch_that_the_number_of_the_turn_chooses_is_refused(tmp_path):
    branches = {
        "then_branch": body([node("Neg", "s", "a")], [], [open_info("a")]),
        "else_branch": body([node("Relu", "s", "b")], [], [open_info("b")]),
    }
    nodes = [*ADD_FIRST[:1], node("Less", "i one", "which"), node("If", "which", "c", **branches)]
    proto = loop_of([*nodes, node("Add", "c m", "s2"), GO], stored={"one": np.asarray(1)})
    assert "differs from turn to turn" in refusal(proto, tmp_path)


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_a_loop_counts_by_the_operators_of_its_version(opset, tmp_path):
    """The axes of ReduceMax are an attribute before opset 18."""
    at = {"axes": [0]} if opset < 18 else {}
    last = node("ReduceMax", "step" if at else "step at", "most", keepdims=0, **at)
    inner = body(
        [
            *(node("Gather", "x first", "x_t", axis=1), node("Add", "s x_t", "s2"), last),
            *(node("Add", "step one", "step2"), node("Less", "most two", "go2")),
        ],
        [
            *(info("i", kind=INT64), info("go", kind=BOOL)),
            *(info("step", 1, kind=INT32), info("s", 1, 3)),
        ],
        [info("go2", kind=BOOL), info("step2", 1, kind=INT32), info("s2", 1, 3)],
        {"one": np.ones(1, np.int32), "two": np.asarray(2, np.int32)}
        | {"first": np.asarray(0), "at": np.asarray([0])},
    )
    proto = model(
        [node("Loop", "- true start zero", "n last", body=inner, name="loop")],
        [info("x", 1, 6, 3)],
        [open_info("last")],
        {"true": np.asarray(True), "start": np.zeros(1, np.int32)}
        | {"zero": np.zeros((1, 3), np.float32)},
        opset,
    )
    data = inputs_of(proto, 1)
    found = Executor(imported(proto, tmp_path), ("last",)).run(data)["last"]
    np.testing.assert_allclose(found.reshape(1, 3), 3 * data["x"][:, 0], rtol=1e-5)


def test_numbers_of_many_elements_are_refused_before_they_are_kept(tmp_path):
    nodes = [
        node("ConstantOfShape", "huge", "big"),
        *(node("ReduceMax", "big", "most", keepdims=0), node("Less", "most i_f", "go2")),
        *(node("Cast", "i", "i_f", to=FLOAT), *ADD_FIRST),
    ]
    nodes.sort(key=lambda each: each.op_type != "Cast")
    proto = loop_of(nodes, inputs="- - zero", stored={"huge": np.asarray([3_000_000_000])})
    assert "the data decide" in refusal(proto, tmp_path)
    outer = [node("Mul", "n row", "n2"), node("Identity", "go", "go2"), *ADD_FIRST]
    inner = body(
        outer,
        [
            *(info("i", kind=INT64), info("go", kind=BOOL)),
            *(info("n", 1000, 1000, kind=INT64), info("s", 1, 3)),
        ],
        [info("go2", kind=BOOL), info("n2", 1000, 1000, kind=INT64), info("s2", 1, 3)],
    )
    big = model(
        [node("Loop", "count - n0 zero", "n3 last", body=inner, name="loop")],
        [info("x", 1, 6, 3)],
        [open_info("last")],
        {"n0": np.ones((1000, 1000), np.int64), "row": np.ones((1, 1000), np.int64)}
        | {"count": np.asarray(9), "zero": np.zeros((1, 3), np.float32)},
    )
    assert "whole numbers" in refusal(big, tmp_path)


def test_a_part_of_what_the_turn_computes_is_refused(tmp_path):
    nodes = [*ADD_FIRST, node("Gather", "s2 i", "lost", axis=1), GO]
    proto = loop_of(nodes, outputs=[info("lost", 1)], stored={"count": np.asarray(3)})
    assert "by the number of the turn" in refusal(proto, tmp_path)


def test_positions_that_do_not_move_on_evenly_are_refused(tmp_path):
    nodes = [
        *(node("Mul", "i i", "square"), node("Gather", "x square", "x_t", axis=1)),
        *(node("Add", "s x_t", "s2"), GO),
    ]
    proto = loop_of(nodes, stored={"count": np.asarray(3)})
    assert "do not move on evenly" in refusal(proto, tmp_path)


def test_inputs_of_different_lengths_are_refused(tmp_path):
    inner = body([node("Add", "a b", "y")], [info("a", 1, 3), info("b", 1, 3)], [info("y", 1, 3)])
    scan = node("Scan", "x z", "ys", body=inner, name="scan", num_scan_inputs=2)
    scan.attribute.append(helper.make_attribute("scan_input_axes", [1, 1]))
    proto = model([scan], [info("x", 1, 4, 3), info("z", 1, 5, 3)], [open_info("ys")])
    assert "its inputs are scanned in 4 and 5 turns" in refusal(proto, tmp_path)


def test_a_condition_of_the_data_is_refused(tmp_path):
    branch = body([node("Relu", "x", "a")], [], [open_info("a")])
    proto = model(
        [
            *(node("ReduceMax", "x", "m", keepdims=0), node("Greater", "m zero", "which")),
            node("If", "which", "y", name="if", then_branch=branch, else_branch=branch),
        ],
        [info("x", 1, 4)],
        [open_info("y")],
        {"zero": np.float32(0)},
    )
    assert "condition is computed at run time" in refusal(proto, tmp_path)


def test_nodes_in_bodies_are_named(tmp_path):
    inner = body(
        [node("Relu", "x_t", "r"), node("Det", "x_t", "y", name="inside")],
        [info("x_t", 3, 3)],
        [info("y")],
    )
    scan = node("Scan", "x", "ys", body=inner, name="scan", num_scan_inputs=1)
    proto = model([scan], [info("x", 1, 3, 3)], [open_info("ys")])
    assert "inside (Det)" in refusal(proto, tmp_path)


def deep(levels: int) -> onnx.ModelProto:
    """Loops within one another, each of one turn."""
    inner = [node("Add", "s0 row", "t0")]
    for level in range(1, levels + 1):
        before = level - 1
        graph = body(
            [*inner, node("Identity", f"go{before}", f"on{before}")],
            [
                info(f"i{before}", kind=INT64),
                info(f"go{before}", kind=BOOL),
                info(f"s{before}", 1, 3),
            ],
            [info(f"on{before}", kind=BOOL), info(f"t{before}", 1, 3)],
        )
        name = f"s{level}" if level < levels else "zero"
        inner = [node("Loop", f"count - {name}", f"t{level}", body=graph, name=f"loop{level}")]
    first = node("ReduceMax", "x", "row", axes=[1], keepdims=0)
    stored = {"count": np.asarray(2), "zero": np.zeros((1, 3), np.float32)}
    return model([first, *inner], [info("x", 1, 6, 3)], [open_info(f"t{levels}")], stored)


def test_loops_within_one_another_are_bounded(tmp_path):
    graph = imported(deep(3), tmp_path)
    data = inputs_of(deep(3))
    found = Executor(graph, graph.outputs).run(data)["t3"].reshape(3, 3)
    np.testing.assert_allclose(found, 8 * data["x"].max(axis=1), rtol=1e-6)
    with pytest.raises(ImportModelError, match=f"more than {MAX_LOOP_DEPTH} bodies"):
        imported(deep(MAX_LOOP_DEPTH + 1), tmp_path)


def test_a_body_that_reads_what_nothing_computes_is_damaged(tmp_path):
    proto = cumulative_sum()
    (scan,) = proto.graph.node
    graph = next(a.g for a in scan.attribute if a.name == "body")
    graph.node[0].input[0] = "nothing"
    with pytest.raises(ImportModelError, match="nothing computes the tensor 'nothing'"):
        imported(proto, tmp_path)


def test_scan_of_opset_8_has_a_batch(tmp_path):
    inner = body(
        [node("Add", "s x_t", "s2"), node("Identity", "s2", "y")],
        [info("s", 2), info("x_t", 2)],
        [info("s2", 2), info("y", 2)],
    )
    scan = node("Scan", "- zero x", "last ys", body=inner, name="scan", num_scan_inputs=1)
    zero = np.zeros((1, 2), np.float32)
    proto = model(
        [scan], [info("x", 1, 3, 2)], [open_info("last"), open_info("ys")], {"zero": zero}, 8
    )
    graph = imported(proto, tmp_path)
    data = inputs_of(proto)
    found = Executor(graph, graph.outputs).run(data)
    sums = np.cumsum(data["x"], axis=1)
    np.testing.assert_allclose(found["ys"].reshape(sums.shape), sums, rtol=1e-6)
    np.testing.assert_allclose(found["last"].reshape(3, 2), sums[:, -1], rtol=1e-6)


def caused(past: bool) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A causal convolution whose last inputs come from the run before."""
    proto = model(
        [node("CausalConvWithState", "x w b past" if past else "x w b", "y present", name="conv")],
        [info("x", 1, 3, 6), *([info("past", 1, 3, 2)] if past else [])],
        [open_info("y"), open_info("present")],
        {"w": np.random.default_rng(0).normal(size=(3, 1, 3)).astype(np.float32)}
        | {"b": np.float32([1, 2, 3])},
        27,
    )
    rng = np.random.default_rng(1)
    shapes = {"x": (1, 3, 6), **({"past": (1, 3, 2)} if past else {})}
    return proto, {k: rng.normal(size=s).astype(np.float32) for k, s in shapes.items()}


@pytest.mark.parametrize("past", [False, True])
def test_a_convolution_with_state_is_what_onnx_defines(past, tmp_path):
    proto, data = caused(past)
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    graph = import_model(path, state=StatePairs(automatic=False))
    verify(graph, Stage.REAL)
    found = Executor(graph, graph.outputs).run(data)
    wanted = ReferenceEvaluator(proto).run(None, data)
    for output, array in zip(graph.outputs, wanted, strict=True):
        np.testing.assert_allclose(found[output].reshape(array.shape), array, rtol=1e-5, atol=1e-6)


def test_the_state_of_a_convolution_is_kept_from_run_to_run(tmp_path):
    """A stream in two parts gives what it gives in one."""
    proto, data = caused(True)
    graph = imported(proto, tmp_path)
    assert (graph.inputs, graph.state) == (("x",), ("past",))
    whole = np.concatenate([data["x"], 2 * data["x"]])
    wanted = ReferenceEvaluator(proto).run(
        None,
        {"x": np.concatenate([*whole], axis=-1)[None], "past": np.zeros((1, 3, 2), np.float32)},
    )[0]
    found = Executor(graph, ["y"]).run({"x": whole})["y"].reshape(2, 3, 6)
    np.testing.assert_allclose(
        np.concatenate([*found], axis=-1)[None], wanted, rtol=1e-5, atol=1e-6
    )
