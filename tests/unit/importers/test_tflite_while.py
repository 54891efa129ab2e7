"""WHILE of .tflite files: recurrent networks as Keras writes them, beside LiteRT."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from parity import check_host
from tflite_damage import mutated
from tflite_models import Net, Op, T, const, tflite_bytes
from tflite_oracle import needs_litert
from tflite_same import assert_same, executed, imported
from tflite_while import Rolled, number
from tflm_oracle import Micro, laid_out, needs_tflm

from edgec.base.dtypes import Array
from edgec.base.errors import EdgecError, UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.floatrun.executor import Executor
from edgec.importers.formats import import_model, inspect_model
from edgec.interp import run_graph
from edgec.ir import ops
from edgec.workflow.integer import integer_model

CASES = {
    "gru": Rolled(),
    "lstm": Rolled("lstm"),
    "sum": Rolled("sum"),
    "slice": Rolled("lstm", read="slice"),
    "last": Rolled(every=False),
    "backwards": Rolled(backwards=True),
    "one condition": Rolled(limit=False),
    "one step": Rolled(steps=1),
    "filled": Rolled(filled=True),
}


def sample(case: Rolled) -> dict[str, Array]:
    shape = (1, case.steps, case.features)
    return {"x": np.random.default_rng(1).normal(size=shape).astype(np.float32)}


@needs_litert
@pytest.mark.parametrize("name", CASES)
def test_a_rolled_layer_is_what_the_interpreter_computes(name: str, tmp_path: Path):
    case = CASES[name]
    graph = assert_same(case.write(tmp_path / "m.tflite"), sample(case))
    loops = {node.attrs.border.loop.count for node in graph.nodes if node.attrs.border}
    assert loops == {case.steps}
    if case.steps > 1:
        assert any(isinstance(node.attrs, ops.TurnSlice) for node in graph.nodes)


@needs_tflm
@pytest.mark.parametrize(
    "case", [Rolled("sum", kind="int8"), Rolled("sum", kind="int8", every=False)]
)
def test_codes_are_those_of_tensorflow_lite_micro(case: Rolled, tmp_path: Path):
    path = case.write(tmp_path / "m.tflite")
    graph = integer_model(path, None, CompileOptions()).integer
    micro, rng = Micro(path), np.random.default_rng(1)
    for _ in range(4):
        x = rng.integers(-128, 128, (1, case.steps, case.features)).astype(np.int8)
        found = run_graph(graph, {"x": laid_out(graph, "x", x)})["y"]
        assert np.array_equal(found.ravel(), micro.run({"x": x})["y"].ravel())


@pytest.mark.parametrize("every", [True, False])
def test_both_ways_to_write_a_list_are_one(every: bool, tmp_path: Path):
    """LiteRT cannot run the older one with fixed sizes."""
    case = Rolled("lstm", every=every)
    first = imported(case.write(tmp_path / "a.tflite"))
    second = imported(replace(case, listed="concat").write(tmp_path / "b.tflite"))
    found = [executed(graph, sample(case))["y"] for graph in (first, second)]
    assert np.array_equal(*found)


@pytest.mark.parametrize("name", ["gru", "lstm"])
def test_integers_in_c(name: str, tmp_path: Path):
    """Close to the float network on other sequences, and every tensor of every turn the same."""
    case, rng = CASES[name], np.random.default_rng(2)
    x = rng.normal(size=(48, case.steps, case.features)).astype(np.float32)
    np.savez(tmp_path / "c.npz", x=x[:32])
    path = case.write(tmp_path / "m.tflite")
    graph = integer_model(path, tmp_path / "c.npz", CompileOptions()).integer
    program = check_host(graph, tmp_path / "library")
    assert [loop.count for loop in program.loops] == [case.steps]
    wanted = Executor(real := imported(path), real.outputs).run({"x": x[32:, np.newaxis]})["y"]
    into, out = (graph.values[n].quant for n in ("x", "y"))
    assert into is not None and out is not None
    codes = [into.quantize(each.reshape(graph.shape("x"))) for each in x[32:]]
    found = np.stack([out.dequantize(run_graph(graph, {"x": each})["y"]) for each in codes])
    error = np.square(found.ravel() - wanted.ravel()).mean()
    assert 10 * np.log10(np.square(wanted).mean() / error) > 28


def loop_of(
    body: list[Op],
    outputs: list[str],
    *,
    cond: tuple[list[Op], str] | None = None,
    carried: Mapping[str, T] | None = None,
    more: Mapping[str, T] | None = None,
    twice: bool = False,
) -> bytes:
    """A loop of three turns that carries the number of the turn, n, and x [1, 4]."""
    given = {"n": number(0), "x": T((1, 4)), **(carried or {})}
    inside = {
        **{name: replace(t, data=None) for name, t in given.items()},
        **{f"{name}'": replace(t, data=None) for name, t in given.items()},
        "one": number(1), "most": number(3), "goes": T((), None, "bool"),
        **(more or {}),
    }  # fmt: skip
    ops_, goes = cond or ([Op("LESS", ["n", "most"], ["goes"])], "goes")
    step = Op("ADD", ["n", "one"], ["n'"])
    nets = [Net(inside, ops_, [*given], [goes]), Net(inside, [step, *body], [*given], outputs)]
    main = {**given, "y": T((1, 4))}
    options, whole, last = {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2}, [], ""
    for _ in range(2 if twice else 1):
        names = [f"{name}'{last}" for name in given]
        inputs = [f"x'{last[1:]}" if last and name == "x" else name for name in given]
        whole.append(Op("WHILE", inputs, names, "WhileOptions", options))
        main |= {n: replace(t, data=None) for n, t in zip(names, given.values(), strict=True)}
        last += "'"
    whole.append(Op("RELU", [f"x{last}"], ["y"]))
    return tflite_bytes(main, whole, bodies=nets)


DOUBLE = [Op("ADD", ["x", "x"], ["x'"])]
ALWAYS = [Op("LESS_EQUAL", ["n", "n"], ["goes"])]
EQUAL = Op("GREATER", ["total", "bound"], ["goes"])
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "by data": (
        lambda: loop_of(
            DOUBLE,
            ["n'", "x'"],
            cond=([Op("REDUCE_MAX", ["x", "axes"], ["total"]), EQUAL], "goes"),
            more={
                "axes": const(np.array([0, 1], np.int32)),
                "total": T(()),
                "bound": const(np.float32(0)),
            },
        ),
        "the data decide how many turns it has",
    ),
    "numbers by data": (
        lambda: loop_of(
            [*DOUBLE, Op("ARG_MAX", ["x", "one"], ["k'"], "ArgMaxOptions", {"OutputType": 2})],
            ["n'", "x'", "k'"],
            carried={"k": const(np.zeros(1, np.int32))},
        ),
        "carries whole numbers that the data decide",
    ),
    "for ever": (
        lambda: loop_of(
            DOUBLE, ["n'", "x'"], cond=([Op("LESS_EQUAL", ["n", "n"], ["goes"])], "goes")
        ),
        "more than 20,000 turns",
    ),
    "no turn": (
        lambda: loop_of(DOUBLE, ["n'", "x'"], carried={}, more={"most": number(0)}),
        "it has no turns",
    ),
    "another shape": (
        lambda: loop_of(
            [Op("CONCATENATION", ["x", "x"], ["x'"], "ConcatenationOptions", {"Axis": 1})],
            ["n'", "x'"],
        ),
        r"\[1, 4\] before a turn and \[1, 8\] after it",
    ),
    "too few outputs": (lambda: loop_of(DOUBLE, ["n'"]), "other inputs and outputs"),
    "an operator of nobody": (
        lambda: loop_of([Op("MATRIX_DIAG", ["x"], ["x'"])], ["n'", "x'"]),
        "no such operator",
    ),
    "a variable": (
        lambda: loop_of(
            [
                Op("VAR_HANDLE", [], ["h"], "VarHandleOptions", {"SharedName": "h"}),
                Op("READ_VARIABLE", ["h"], ["v"]),
                Op("ADD", ["x", "v"], ["x'"]),
            ],
            ["n'", "x'"],
            more={"h": T((), None, "resource"), "v": T((1, 4))},
        ),
        "a variable in a loop",
    ),
    "a network of two loops": (
        lambda: loop_of(DOUBLE, ["n'", "x'"], twice=True),
        "another operator calls its network",
    ),
    "computing with the number": (
        lambda: loop_of([Op("TILE", ["x", "n"], ["x'"])], ["n'", "x'"]),
        "the number of the turn",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_loops_that_the_data_decide_are_refused_by_name(name: str, tmp_path: Path):
    make, match = REFUSED[name]
    (tmp_path / "m.tflite").write_bytes(make())
    with pytest.raises(UnsupportedModelError, match=match):
        import_model(tmp_path / "m.tflite")
    assert not inspect_model(tmp_path / "m.tflite").supported


@pytest.mark.parametrize("name", ["gru", "slice"])
def test_mutants_end_in_one_clear_error(name: str, tmp_path: Path):
    path, rng = CASES[name].write(tmp_path / "m.tflite"), random.Random(name)
    data, read = path.read_bytes(), 0
    for _ in range(80):
        path.write_bytes(mutated(rng, data))
        try:
            import_model(path)
            read += 1
        except EdgecError as error:
            assert error.exit_code in (2, 3, 4), error
    assert read < 80
