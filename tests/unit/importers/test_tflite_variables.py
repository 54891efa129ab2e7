"""Variables and rings of .tflite files: the codes of TensorFlow Lite Micro from run to run."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from emulated import emulated_models, need_emulator
from flatbuffers import flexbuffers
from parity import compiled
from tflite_damage import mutated
from tflite_models import Net, Op, T, const, write_tflite
from tflite_oracle import needs_litert
from tflite_variables import RESOURCE, File, handle_of
from tflm_oracle import check_exact, compare, needs_tflm

from edgec.base.dtypes import Array
from edgec.base.errors import EdgecError, ImportModelError, UnsupportedModelError
from edgec.base.options import CompileOptions, StatePairs
from edgec.floatrun.executor import Executor
from edgec.importers.formats import import_model, inspect_model
from edgec.interp import run_graph, run_stream, state_after
from edgec.ir.graph import Graph
from edgec.sim.compare import compare_crcs, compare_outputs, compare_trace
from edgec.sim.host import HostModel
from edgec.toolchain.cc import WARNING_FLAGS
from edgec.workflow.integer import integer_model
from edgec.workflow.rounding import rounding_of

RNG = np.random.default_rng(8)
START = RNG.integers(-128, 128, (1, 2, 1, 4)).astype(np.int8)
WEIGHTS = const(RNG.integers(-127, 128, (6, 3, 1, 4)).astype(np.int8), [0.01])
BIAS = const(RNG.integers(-500, 500, 6).astype(np.int32), [0.0005])


def window(file: File, rows: str, y: str = "y") -> None:
    """A convolution over all rows."""
    file.tensors |= {"w": WEIGHTS, "b": BIAS}
    options = {"Padding": 1, "StrideH": 1, "StrideW": 1}
    op = Op("CONV_2D", [rows, "w", "b"], [y], "Conv2DOptions", options)
    file.add(op, (1, 1, 1, 6))


def ring(*, begins: bool = True) -> File:
    file = File()
    file.handle("h", "past")
    file.ring("h", "x", 2, "rows")
    window(file, "rows")
    if begins:
        file.begin({"past": START})
    return file


def zero_point() -> File:
    return ring(begins=False)


def read_after_assign() -> File:
    file = File()
    file.handle("h")
    file.read("h", "old")
    file.sum("old", "x", "new")
    file.assign("h", "new")
    file.read("h", "again")
    file.sum("again", "old", "y")
    return file


def assigned_before_it_is_read() -> File:
    file = File()
    file.handle("h")
    file.sum("x", "x", "new")
    file.assign("h", "new")
    file.read("h", "again")
    file.sum("again", "x", "y")
    return file


def several_assigns() -> File:
    file = read_after_assign()
    file.sum("y", "x", "last")
    file.assign("h", "last")
    file.assign("h", "y")
    return file


def exchange() -> File:
    """Two variables change places in each run."""
    file = File()
    file.handle("a")
    file.handle("b")
    file.read("a", "u")
    file.read("b", "v")
    file.assign("a", "v")
    file.assign("b", "u")
    file.sum("u", "x", "y")
    first = np.arange(4, dtype=np.int8).reshape(1, 1, 1, 4)
    file.begin({"a": first, "b": -7 * first})
    return file


def two_handles() -> File:
    """Both are of one variable; a third is not."""
    file = File()
    file.handle("a", "one", "box")
    file.handle("b", "one", "box")
    file.handle("c", "two", "box")
    file.read("a", "old")
    file.sum("old", "x", "new")
    file.assign("b", "new")
    file.read("c", "third")
    file.assign("c", "x")
    file.sum("new", "third", "y")
    return file


def never_assigned() -> File:
    """What is never assigned in a run is a constant."""
    file = File()
    file.handle("h")
    file.read("h", "fixed")
    file.sum("fixed", "x", "y")
    file.begin({"h": np.array([3, -4, 5, 127], np.int8).reshape(1, 1, 1, 4)})
    return file


def assigned_as_it_was() -> File:
    file = never_assigned()
    file.assign("h", "fixed")
    return file


def assigned_a_constant() -> File:
    file = never_assigned()
    file.tensors["c"] = file.like((1, 1, 1, 4), np.array([1, 2, 3, 4], np.int8).reshape(1, 1, 1, 4))
    file.assign("h", "c")
    return file


def wide() -> File:
    file = File("int16")
    file.handle("h")
    file.ring("h", "x", 3, "rows")
    axes = const(np.array([1], np.int32))
    file.tensors["axes"] = axes
    file.add(Op("MEAN", ["rows", "axes"], ["y"], "ReducerOptions", {"KeepDims": True}))
    return file


def an_output_is_state() -> File:
    file = File()
    file.handle("h")
    file.read("h", "old")
    file.sum("old", "x", "y")
    file.assign("h", "y")
    return file


def delay() -> File:
    """The output is what came three runs before."""
    file = File()
    file.handle("h")
    file.ring("h", "x", 3, "rows")
    for name, numbers in (("first", [0] * 4), ("size", [1, 1, 1, 4])):
        file.tensors[name] = const(np.array(numbers, np.int32))
    file.add(Op("SLICE", ["rows", "first", "size"], ["y"]))
    return file


def two_rings() -> File:
    """The row of the second is computed from the first; its rows are more than one a run."""
    file = File(shape=(1, 2, 1, 4))
    file.handle("h", "first")
    file.handle("g", "second")
    file.ring("h", "x", 1, "rows")
    file.tensors |= {"w": WEIGHTS, "b": BIAS}
    options = {"Padding": 1, "StrideH": 1, "StrideW": 1}
    file.add(Op("CONV_2D", ["rows", "w", "b"], ["row"], "Conv2DOptions", options), (1, 1, 1, 6))
    file.ring("g", "row", 5, "more")
    file.tensors["axes"] = const(np.array([1], np.int32))
    mean = Op("MEAN", ["more", "axes"], ["y"], "ReducerOptions", {"KeepDims": True})
    file.add(mean, (1, 1, 1, 6))
    return file


def circular(rows: int = 3, turns: int | None = 1, replaced: T | None = None) -> File:
    file = File()
    options = b"" if turns is None else bytes(flexbuffers.Dumps({"cycles_max": turns}))
    # "CUSTOM CIRCULAR_BUFFER" in the table of handlers.
    op = Op("CUSTOM", ["x"], ["rows"], custom="CIRCULAR_BUFFER", custom_options=options)
    file.add(op)
    scale, zero = [0.05], [-9]
    file.tensors["rows"] = T((1, rows, 1, 4), None, "int8", scale, zero, variable=True)
    file.tensors["rows"] = replaced or file.tensors["rows"]
    if rows == 3:
        window(file, "rows")
        return file
    file.tensors["axes"] = const(np.array([1], np.int32))
    file.add(Op("MEAN", ["rows", "axes"], ["y"], "ReducerOptions", {"KeepDims": True}))
    return file


CASES: dict[str, Callable[[], File]] = {
    "ring": ring,
    "zero point": zero_point,
    "read after assign": read_after_assign,
    "assigned before it is read": assigned_before_it_is_read,
    "several assigns": several_assigns,
    "exchange": exchange,
    "two handles": two_handles,
    "never assigned": never_assigned,
    "assigned as it was": assigned_as_it_was,
    "assigned a constant": assigned_a_constant,
    "int16": wide,
    "an output is state": an_output_is_state,
    "delay": delay,
    "two rings": two_rings,
    "circular": circular,
    "circular of one row": lambda: circular(1),
    "circular that runs by its size": lambda: circular(5, None),
}


def graph_of(name: str, folder: Path) -> Graph:
    path = CASES[name]().write(folder / "m.tflite")
    return integer_model(path, None, CompileOptions()).integer


def stream(graph: Graph, runs: int = 9) -> list[dict[str, Array]]:
    rng, dtype = np.random.default_rng(4), graph.dtype("x").numpy
    limits = np.iinfo(dtype)
    shape = graph.shape("x")
    return [
        {"x": rng.integers(limits.min, limits.max + 1, shape).astype(dtype)} for _ in range(runs)
    ]


@needs_tflm
@pytest.mark.parametrize("name", CASES)
def test_codes_of_all_runs_are_those_of_tensorflow_lite_micro(name: str, tmp_path: Path):
    """Every tensor in every run, before and after the passes; of int16 codes after them."""
    graph = graph_of(name, tmp_path)
    shape = CASES[name]().shape
    samples = [{"x": sample["x"].reshape(shape)} for sample in stream(graph)]
    if name == "int16":
        found = compare(tmp_path / "m.tflite", graph, samples)
    else:
        found = check_exact(tmp_path / "m.tflite", samples)
    assert found.elements > 0 and not found.different
    assert rounding_of(graph).endswith("every tensor")


def oracle_of(graph: Graph) -> list[tuple[list[Array], dict[str, Array]]]:
    """Inputs of the runs of a stream, and every tensor of each by the definitions."""
    state: dict[str, Array] = {}
    found = []
    for sample in stream(graph):
        tensors = run_graph(graph, sample, state)
        state = state_after(graph, tensors)
        found.append(([sample["x"]], tensors))
    return found


@pytest.mark.few_cases(5)
@pytest.mark.parametrize("name", CASES)
def test_every_tensor_in_c(name: str, tmp_path: Path):
    graph = graph_of(name, tmp_path)
    program = compiled(graph, tmp_path / "library")
    flags = ("-O1", *WARNING_FLAGS, "-fsanitize=undefined", "-fno-sanitize-recover=all")
    model = HostModel(tmp_path / "library", tmp_path / "build", flags=flags)
    if not program.state_bytes:
        assert name in ("never assigned", "assigned before it is read", "circular of one row")
        return
    own = model.stream()
    for inputs, oracle in oracle_of(graph):
        compare_trace(program, oracle, own.trace(inputs))


@pytest.mark.parametrize("board", ["nucleo_g0b1re", "nucleo_l4r5zi", "raspberry_pi_zero_2"])
def test_every_tensor_in_firmware(board: str, tmp_path: Path):
    """All networks in one firmware; with the kernels of the core."""
    need_emulator(board)
    names = ("ring", "two rings", "exchange", "several assigns", "delay", "circular")
    graphs = {name.replace(" ", "_"): graph_of(name, tmp_path) for name in names}
    programs = {
        name: compiled(graph.replace(name=name), tmp_path / name, board=board)
        for name, graph in graphs.items()
    }
    models = [(tmp_path / name, program) for name, program in programs.items()]
    with emulated_models(board, models, tmp_path / "project") as firmware:
        for index, (name, program) in enumerate(programs.items()):
            firmware.client.select(index)
            for inputs, oracle in oracle_of(graphs[name]):
                run = firmware.run(inputs, trace=True)
                compare_crcs(program, oracle, run.steps, f"{board}, {name}")
                compare_outputs(program, oracle, run.outputs, f"{board}, {name}")


@needs_litert
@pytest.mark.parametrize("begins", [True, False])
def test_float_files_keep_variables_as_the_interpreter_does(begins: bool, tmp_path: Path):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    file = File("float32", (1, 2, 1, 4))
    file.handle("h")
    file.ring("h", "x", 3, "rows")
    file.tensors["axes"] = const(np.array([1], np.int32))
    file.add(
        Op("MEAN", ["rows", "axes"], ["y"], "ReducerOptions", {"KeepDims": True}), (1, 1, 1, 4)
    )
    start = np.arange(12, dtype=np.float32).reshape(1, 3, 1, 4)
    file.begin({"h": start if begins else 0 * start})
    path = file.write(tmp_path / "m.tflite")
    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(str(path), experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    graph = import_model(path)
    x = np.random.default_rng(1).normal(size=(5, *file.shape)).astype(np.float32)
    found = Executor(graph, graph.outputs).run({"x": x})["y"]
    for sample, own in zip(x, found, strict=True):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
        interpreter.invoke()
        place = interpreter.get_output_details()[0]["index"]
        np.testing.assert_allclose(own, interpreter.get_tensor(place), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["ring", "zero point", "exchange", "circular"])
def test_without_state_each_run_is_the_first(name: str, tmp_path: Path):
    kept = graph_of(name, tmp_path)
    options = CompileOptions(state=StatePairs(automatic=False))
    alone = integer_model(tmp_path / "m.tflite", None, options).integer
    assert not alone.updates
    for sample in stream(kept, 3):
        (first,) = run_stream(kept, [sample])
        assert np.array_equal(run_graph(alone, sample)["y"], first["y"])


def test_what_is_kept_is_told(tmp_path: Path):
    graph = import_model(ring().write(tmp_path / "m.tflite"))
    assert any("kept from run to run: past" in text for text in graph.metadata.values())
    summary = inspect_model(tmp_path / "m.tflite")
    assert summary.supported


def bad_shape() -> File:
    file = File()
    file.handle("h")
    file.read("h", "old", (1, 1, 1, 5))
    file.assign("h", "x")
    file.sum("x", "x", "y")
    return file


def bad_scale() -> File:
    file = an_output_is_state()
    file.tensors["old"] = T(file.shape, None, "int8", [0.06], [-9])
    return file


def bad_start() -> File:
    file = an_output_is_state()
    file.begin({"h": START})
    return file


def bad_numbers() -> File:
    file = File()
    file.handle("h")
    file.tensors["n"] = const(np.array([1], np.int32))
    file.assign("h", "n")
    file.sum("x", "x", "y")
    return file


def read_numbers(kind: str) -> File:
    file = File()
    file.handle("h")
    file.read("h", "n")
    file.tensors["n"] = T((1, 1, 1, 4), None, kind)
    file.sum("x", "x", "y")
    return file


def handle_as_a_tensor() -> File:
    file = File()
    file.handle("h")
    file.sum("h", "x", "y")
    return file


def no_handle() -> File:
    file = File()
    file.read("x", "old")
    file.sum("old", "x", "y")
    return file


def begun_late() -> File:
    file = an_output_is_state()
    file.begin({"h": START[:, :1]})
    file.operators.append(file.operators.pop(0))
    return file


def begun_by_computing() -> File:
    file = an_output_is_state()
    one = file.like((1, 1, 1, 4), START[:, :1])
    tensors = {"h": RESOURCE, "c": one, "d": file.like(file.shape)}
    relu = Op("RELU", ["c"], ["d"])
    file.bodies.append(
        Net(tensors, [handle_of("h", "h"), relu, Op("ASSIGN_VARIABLE", ["h", "d"], [])])
    )
    options = {"InitSubgraphIndex": 1}
    file.operators.insert(0, Op("CALL_ONCE", [], [], "CallOnceOptions", options))
    return file


REFUSED: dict[str, tuple[Callable[[], File], str]] = {
    "shape": (bad_shape, r"holds int8 \[1, 1, 1, 4\] .*, and int8 \[1, 1, 1, 5\]"),
    "scale": (bad_scale, "h holds int8 .* of scale 0.05, .* of scale 0.06"),
    "shape of the start": (bad_start, r"holds int8 \[1, 2, 1, 4\]"),
    "assigned numbers": (bad_numbers, "the variable h holds int32 numbers without a scale"),
    "read numbers": (lambda: read_numbers("int32"), "holds int32 numbers without a scale"),
    "texts": (lambda: read_numbers("string"), "activations of type STRING"),
    "a handle as a tensor": (handle_as_a_tensor, "reads a variable itself"),
    "no handle": (no_handle, "its input 0 is no variable"),
    "begun late": (begun_late, "after another operator has read or assigned it"),
    "begun by computing": (begun_by_computing, r"computes \(RELU\)"),
    "runs left out": (lambda: circular(3, 2), "runs once in 2 runs"),
    "runs left out by its size": (lambda: circular(3, None), "runs once in 2 runs"),
    "a ring of another width": (
        lambda: circular(replaced=T((1, 3, 1, 5), None, "int8", [0.05], [-9], variable=True)),
        "its ring",
    ),
    "a ring of another scale": (
        lambda: circular(replaced=T((1, 3, 1, 4), None, "int8", [0.06], [-9], variable=True)),
        "one meaning",
    ),
    "a ring that forgets": (
        lambda: circular(replaced=T((1, 3, 1, 4), None, "int8", [0.05], [-9])),
        "no variable tensor",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_kept_is_refused_by_its_reason(name: str, tmp_path: Path):
    make, match = REFUSED[name]
    path = make().write(tmp_path / "m.tflite")
    with pytest.raises(UnsupportedModelError, match=match):
        import_model(path)
    assert not inspect_model(path).supported


CALLS = {
    "not there": (
        Op("CALL_ONCE", [], [], "CallOnceOptions", {"InitSubgraphIndex": 2}),
        "network 2",
    ),
    "itself": (
        Op("CALL_ONCE", [], [], "CallOnceOptions", {"InitSubgraphIndex": 0}),
        "network 0",
    ),
    "not said": (Op("CALL_ONCE", [], []), "which network it calls"),
}


@pytest.mark.parametrize("name", CALLS)
def test_networks_that_are_not_there(name: str, tmp_path: Path):
    op, match = CALLS[name]
    tensors = {"x": T((1, 4)), "y": T((1, 4))}
    path = write_tflite(tmp_path / "m.tflite", tensors, [op, Op("RELU", ["x"], ["y"])])
    with pytest.raises(ImportModelError, match=match):
        import_model(path)


def test_networks_that_call_one_another_are_refused(tmp_path: Path):
    def calling(number: int) -> Op:
        return Op("CALL_ONCE", [], [], "CallOnceOptions", {"InitSubgraphIndex": number})

    tensors = {"x": T((1, 4)), "y": T((1, 4))}
    bodies = [Net({}, [calling(2)]), Net({}, [calling(1)])]
    operators = [calling(1), Op("RELU", ["x"], ["y"])]
    path = write_tflite(tmp_path / "m.tflite", tensors, operators, bodies=bodies)
    with pytest.raises(ImportModelError, match="network 1 calls itself"):
        import_model(path)


@pytest.mark.parametrize("name", ["ring", "exchange", "circular"])
def test_mutants_end_in_one_clear_error(name: str, tmp_path: Path):
    path, rng = CASES[name]().write(tmp_path / "m.tflite"), random.Random(name)
    data, read = path.read_bytes(), 0
    for _ in range(80):
        path.write_bytes(mutated(rng, data))
        try:
            integer_model(path, None, CompileOptions())
            read += 1
        except EdgecError as error:
            assert error.exit_code in (2, 3, 4), error
    assert read < 80
