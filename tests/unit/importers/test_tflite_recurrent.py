"""Recurrent operators of .tflite files: codes of TensorFlow Lite Micro from run to run, and C."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tflite
from emulated import emulated_models, need_emulator
from parity import compiled
from tflite_damage import mutated
from tflite_models import T, const, write_tflite
from tflite_oracle import needs_litert
from tflite_recurrent import GATES, Lstm, Svdf
from tflite_same import imported
from tflm_oracle import Micro, laid_out, needs_tflm

from edgec.base.dtypes import Array
from edgec.base.errors import EdgecError, QuantizationError, UnsupportedModelError
from edgec.base.options import CompileOptions, StatePairs
from edgec.base.rounding import Rounding
from edgec.floatrun.executor import Executor
from edgec.importers.formats import import_model, inspect_model
from edgec.interp import run_graph, run_stream, state_after
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.sim.compare import compare_crcs, compare_outputs, compare_trace
from edgec.sim.host import HostModel
from edgec.toolchain.cc import WARNING_FLAGS
from edgec.workflow.integer import integer_model
from edgec.workflow.rounding import rounding_of

FINE = {"kind": "int16", "x": (2.0**-15, 0), "hidden": (2.0**-15, 0)}
CASES = {
    "plain": Lstm(),
    "one step": Lstm(steps=1),
    "clip": Lstm(clip=0.3013, gain=1.5),
    "coarse cell": Lstm(cell_power=-9, gain=3.0, steps=9),
    "fine cell": Lstm(cell_power=-13, gain=2.0),
    "left shifts": Lstm(x=(0.9, 0), gain=2.0),
    "small factors": Lstm(x=(0.001, 5), hidden=(1 / 256, -128), gain=0.2),
    "deep": Lstm(features=37, units=19, gain=0.3),
    "int16": Lstm(**FINE),
    "int16, clip": Lstm(**FINE, clip=0.25, gain=2.0),
    "int16, one step": Lstm(**FINE, steps=1, features=33, units=17),
    "svdf": Svdf(),
    "svdf, rank 1": Svdf(rank=1, steps=9, features=33),
    "svdf, one step": Svdf(steps=1),
    "svdf, ends of int16": Svdf(rank=1, steps=1, scales=(0.3, 0.0001, 0.02), gain=1.5),
    "svdf of int8": Svdf(memory="int8", scales=(0.03, 0.05, 0.05), zero=9),
}
IN_C = {
    **CASES,
    "svdf, no bias": Svdf(biased=False),
    "svdf, long sums": Svdf(scales=(0.3, 0.00001, 0.0008), gain=1.5),
}
"""TensorFlow Lite Micro reads a bias of SVDF that is not there, and lets sums leave 32 bits."""
BOARDS = ("nucleo_g0b1re", "nucleo_l4r5zi", "raspberry_pi_zero_2")
"""Cortex-M0+, M4 and A53."""


def graph_of(case: Lstm | Svdf, folder: Path) -> Graph:
    return integer_model(case.write(folder / "m.tflite"), None, CompileOptions()).integer


def stream(case: Lstm | Svdf, runs: int = 7) -> list[dict[str, Array]]:
    """Codes of runs, some at the ends of their range."""
    rng, limits = np.random.default_rng(4), np.iinfo(case.kind)
    found = [rng.integers(limits.min, limits.max + 1, case.shape) for _ in range(runs - 2)]
    ends = [np.full(case.shape, limit) for limit in (limits.min, limits.max)]
    return [{"x": codes.astype(case.kind)} for codes in (*found, *ends)]


@needs_tflm
@pytest.mark.parametrize("name", CASES)
def test_codes_of_all_runs_are_those_of_tensorflow_lite_micro(name: str, tmp_path: Path):
    """The state goes on from run to run in both."""
    case = CASES[name]
    graph, micro = graph_of(case, tmp_path), Micro(tmp_path / "m.tflite")
    samples = stream(case)
    codes = [{"x": laid_out(graph, "x", sample["x"])} for sample in samples]
    changed = False
    for sample, found in zip(samples, run_stream(graph, codes), strict=True):
        wanted = micro.run(sample)["y"]
        changed |= bool(np.ptp(wanted))
        assert np.array_equal(found["y"].ravel(), wanted.ravel())
    assert changed
    assert rounding_of(graph).endswith("every tensor")


@pytest.mark.parametrize("name", ["plain", "int16"])
def test_functions_of_a_gate_are_one_loop(name: str, tmp_path: Path):
    """The sum that saturates and its function; nothing else of the gate's elements is stored."""
    graph = graph_of(CASES[name], tmp_path)
    chains = [node.attrs for node in graph.nodes if isinstance(node.attrs, qops.QChain)]
    gates = [each for each in chains if isinstance(each.links[0].attrs, qops.QAdd)]
    assert len(gates) == len(GATES)
    assert not [node for node in graph.nodes if isinstance(node.attrs, qops.QAdd)]


def test_steps_that_come_first_are_no_batch(tmp_path: Path):
    graph = import_model(Lstm(time_major=True).write(tmp_path / "m.tflite"))
    assert graph.shape("x") == (1, 4, 1, 5)


@needs_tflm
def test_steps_first_and_a_batch(tmp_path: Path):
    case = Lstm(time_major=True, batch=2)
    path = case.write(tmp_path / "m.tflite")
    options = CompileOptions(shapes={"x": case.shape})
    graph, micro = integer_model(path, None, options).integer, Micro(path)
    samples = stream(case)
    codes = [{"x": laid_out(graph, "x", sample["x"])} for sample in samples]
    for sample, found in zip(samples, run_stream(graph, codes), strict=True):
        wanted = micro.run(sample)["y"]
        layout = graph.output_layouts.get("y", (0, 1, 2))
        assert np.array_equal(found["y"].ravel(), wanted.transpose(layout).ravel())


def oracle_of(graph: Graph, case: Lstm | Svdf) -> list[tuple[list[Array], dict[str, Array]]]:
    """Inputs of the runs of a stream, and every tensor of each by the definitions."""
    state: dict[str, Array] = {}
    found = []
    for sample in stream(case):
        codes = {"x": laid_out(graph, "x", sample["x"])}
        tensors = run_graph(graph, codes, state)
        state = state_after(graph, tensors)
        found.append(([codes["x"]], tensors))
    return found


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("name", IN_C)
def test_every_tensor_in_c(name: str, tmp_path: Path):
    graph = graph_of(IN_C[name], tmp_path)
    program = compiled(graph, tmp_path / "library")
    flags = ("-O1", *WARNING_FLAGS, "-fsanitize=undefined", "-fno-sanitize-recover=all")
    own = HostModel(tmp_path / "library", tmp_path / "build", flags=flags).stream()
    for inputs, oracle in oracle_of(graph, IN_C[name]):
        compare_trace(program, oracle, own.trace(inputs))


@pytest.mark.parametrize("board", BOARDS)
def test_every_tensor_in_firmware(board: str, tmp_path: Path):
    """All networks in one firmware; with the kernels of the core."""
    need_emulator(board)
    names = ("plain", "left shifts", "deep", "int16", "svdf", "svdf of int8")
    graphs = {name: graph_of(CASES[name], tmp_path) for name in names}
    made = {name.replace(" ", "_").replace(",", ""): name for name in names}
    programs = {
        each: compiled(graphs[name].replace(name=each), tmp_path / each, board=board)
        for each, name in made.items()
    }
    models = [(tmp_path / each, program) for each, program in programs.items()]
    with emulated_models(board, models, tmp_path / "project") as firmware:
        for index, (each, program) in enumerate(programs.items()):
            firmware.client.select(index)
            for inputs, oracle in oracle_of(graphs[made[each]], CASES[made[each]]):
                run = firmware.run(inputs, trace=True)
                compare_crcs(program, oracle, run.steps, f"{board}, {each}")
                compare_outputs(program, oracle, run.outputs, f"{board}, {each}")


def test_layers_of_a_step_have_the_kernels_of_one_row(tmp_path: Path):
    """They read int8 and give int16 by two roundings."""
    graph = graph_of(CASES["deep"], tmp_path)
    for board, family in (("nucleo_l4r5zi", "dense_1x4_dsp"), ("pico", "dense_1x4_s8_m0")):
        program = compiled(graph, tmp_path / board, board=board)
        families = [kernel.spec.family for kernel in program.kernels]
        assert family in families and "gemm" not in families


@needs_litert
@pytest.mark.parametrize(
    "case",
    [
        Lstm(kind="float32"),
        Lstm(kind="float32", steps=1, clip=0.2),
        Lstm(kind="float32", time_major=True, batch=3),
        Svdf(kind="float32"),
        Svdf(kind="float32", steps=1, activation=tflite.ActivationFunctionType.RELU),
    ],
)
def test_float_files_keep_their_state_as_the_interpreter_does(case: Lstm | Svdf, tmp_path: Path):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    path = case.write(tmp_path / "m.tflite")
    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(str(path), experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    graph = import_model(path, {"x": case.shape} if case.shape[0] > 1 else {})
    assert graph.rounding is Rounding.EDGEC
    x = np.random.default_rng(1).normal(size=(4, *case.shape)).astype(np.float32)
    found = Executor(graph, graph.outputs).run({"x": x})["y"]
    place = interpreter.get_output_details()[0]["index"]
    for sample, own in zip(x, found, strict=True):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
        interpreter.invoke()
        np.testing.assert_allclose(own, interpreter.get_tensor(place), rtol=1e-4, atol=1e-5)


def test_weights_in_codes_beside_float_activations_are_real_numbers(tmp_path: Path):
    case, coded = Lstm(kind="float32"), Lstm().parts("x", "y", "")[0]
    changes = {name: coded[name] for name in coded if name[:2] in ("w_", "r_")}
    plain = {
        n: const((t.data * np.float32(t.scale[0])).astype(np.float32)) for n, t in changes.items()
    }
    graphs = [
        imported(case.write(tmp_path / f"{n}.tflite", **each))
        for n, each in enumerate((changes, plain))
    ]
    x = np.random.default_rng(1).normal(size=(2, *case.shape)).astype(np.float32)
    first, second = (Executor(g, g.outputs).run({"x": x})["y"] for g in graphs)
    assert np.array_equal(first, second)


def test_a_reset_begins_anew(tmp_path: Path):
    graph = graph_of(Lstm(), tmp_path)
    sample = {"x": stream(Lstm())[0]["x"].reshape(graph.shape("x"))}
    first, second = (each["y"] for each in run_stream(graph, [sample, sample]))
    (again,) = (each["y"] for each in run_stream(graph, [sample]))
    assert np.array_equal(first, again) and not np.array_equal(first, second)


def test_inspect_counts_products(tmp_path: Path):
    summary = inspect_model(Lstm().write(tmp_path / "m.tflite"))
    assert summary.macs == 4 * 4 * 6 * (5 + 6)
    assert summary.supported
    assert "int8 weights: 8 per tensor" in summary.facts[0].replace("0 per channel and ", "")


VECTOR = const(np.ones(6, np.int16), [0.01])
SIX = {"scale": [1 / 128], "zero": [3]}


@pytest.mark.parametrize(
    ("case", "changes", "match"),
    [
        (Lstm(more={9: VECTOR}), {}, "peepholes"),
        (Lstm(more={16: const(np.ones((6, 6), np.int8), [0.1])}), {}, "projects its hidden state"),
        (Lstm(more={20: VECTOR}), {}, "normalizes its gates"),
        (Lstm(without=(1, 5, 12)), {}, "CIFG"),
        (Lstm(without=(18,)), {}, "input 18, is absent"),
        (Lstm(without=(6,)), {}, "input 6 is absent"),
        (Lstm(activation=tflite.ActivationFunctionType.RELU), {}, "is not tanh"),
        (Lstm(diagonal=True), {}, "diagonals"),
        (Lstm(clip=-1.0), {}, "clip of its cell"),
        (Lstm(clip=float("nan")), {}, "clip of its cell"),
        (Lstm(), {"w_cell": const(np.ones((6, 4), np.int8), [0.1])}, r"a weight is \[6, 4\]"),
        (Lstm(), {"w_cell": const(np.ones((6, 5), np.int8), [0.1], [3])}, "int8 codes of one"),
        (Lstm(), {"w_cell": const(np.ones((6, 5), np.float32))}, "int8 codes of one"),
        (Lstm(), {"b_cell": const(np.ones(5, np.int32), [0.1])}, r"a bias is \[5\]"),
        (Lstm(), {"h": T((1, 7), None, "int8", **SIX, variable=True)}, r"state is \[1, 7\]"),
        (Lstm(), {"h": const(np.zeros((1, 6), np.int8), [0.1])}, "no variable tensor"),
        (Lstm(), {"h": T((1, 6), None, "int32", variable=True)}, "without a scale"),
        (Lstm(), {"h": T((1, 6), variable=True)}, "codes in part"),
        (
            Lstm(),
            {"c": T((1, 6), None, "int16", [0.0011], [0], variable=True)},
            "steps of a power of 2",
        ),
        (Lstm(), {"c": T((1, 6), None, "int8", [0.5], [0], variable=True)}, "no int16 codes"),
        (Lstm(), {"y": T((1, 4, 6), None, "int8", [0.5], [0])}, "different codes"),
        (Lstm(), {"x": T((1, 20), None, "int8", [0.5], [0])}, r"its input is \[1, 20\]"),
        (
            Lstm(kind="float32"),
            {"w_cell": const(np.full((6, 5), np.nan, np.float32))},
            "no finite numbers",
        ),
    ],
)
def test_other_cells_are_refused_by_what_they_are(
    case: Lstm, changes: dict[str, T], match: str, tmp_path: Path
):
    path = case.write(tmp_path / "m.tflite", **changes)
    with pytest.raises(UnsupportedModelError, match=match):
        import_model(path)
    assert not inspect_model(path).supported


@pytest.mark.parametrize(
    ("case", "changes", "match"),
    [
        (Svdf(rank=3), {"feature": const(np.ones((8, 7), np.int8), [0.1])}, "do not fit"),
        (Svdf(), {"time": const(np.ones((6, 5), np.int16), [0.1])}, "do not fit"),
        (Svdf(), {"time": const(np.ones((8, 5), np.int8), [0.1])}, "a memory of int8 or int16"),
        (Svdf(), {"feature": const(np.ones((8, 7), np.int8), [0.1], [3])}, "others than 0"),
        (Svdf(), {"bias": const(np.ones(4, np.int64), [0.1])}, "its bias is int64"),
        (Svdf(), {"y": T((1, 4))}, "codes in part"),
        (Svdf(), {"memory": T((1, 40), variable=True)}, "codes in part"),
        (Svdf(), {"memory": T((1, 39), None, "int16", [0.1], [0], variable=True)}, "its state is"),
        (Svdf(kind="float32"), {"bias": const(np.ones(3, np.float32))}, "its bias is float32"),
        (
            Svdf(kind="float32"),
            {"time": const(np.full((8, 5), np.inf, np.float32))},
            "no finite numbers",
        ),
    ],
)
def test_svdf_that_is_none_is_refused(
    case: Svdf, changes: dict[str, T], match: str, tmp_path: Path
):
    path = case.write(tmp_path / "m.tflite", **changes)
    with pytest.raises(UnsupportedModelError, match=match):
        import_model(path)


def test_svdf_whose_sums_would_be_shifted_to_the_left_is_refused(tmp_path: Path):
    path = Svdf(scales=(0.03, 30.0, 1e-9)).write(tmp_path / "m.tflite")
    with pytest.raises(QuantizationError, match="y: a product with weights of int16"):
        integer_model(path, None, CompileOptions())


def test_a_state_of_two_operators_is_refused(tmp_path: Path):
    tensors, first = Lstm().parts("x", "y", "")
    other, second = Lstm(features=6, x=(1 / 128, 3)).parts("y", "z", "two_")
    inputs = [name if name != "two_h" else "h" for name in second.inputs]
    del other["two_h"]
    x = T((1, 4, 5), None, "int8", [0.02], [-7])
    path = write_tflite(
        tmp_path / "m.tflite",
        {"x": x, **tensors, **other},
        [first, replace(second, inputs=inputs)],
        outputs=["z"],
    )
    with pytest.raises(UnsupportedModelError, match="that of another operator"):
        import_model(path)


@needs_tflm
def test_two_layers_with_states_of_their_own(tmp_path: Path):
    tensors, first = Lstm().parts("x", "y", "")
    other, second = Lstm(features=6, x=(1 / 128, 3), seed=2).parts("y", "z", "two_")
    x = T((1, 4, 5), None, "int8", [0.02], [-7])
    tensors = {"x": x, **tensors, **other}
    path = write_tflite(tmp_path / "m.tflite", tensors, [first, second], outputs=["z"])
    graph, micro = integer_model(path, None, CompileOptions()).integer, Micro(path)
    samples = stream(Lstm())
    codes = [{"x": laid_out(graph, "x", sample["x"])} for sample in samples]
    for sample, found in zip(samples, run_stream(graph, codes), strict=True):
        assert np.array_equal(found["z"].ravel(), micro.run(sample)["z"].ravel())


@needs_tflm
@pytest.mark.parametrize("case", [Lstm(), Lstm(steps=1), Lstm(**FINE)])
def test_each_run_may_begin_anew(case: Lstm, tmp_path: Path):
    """As an interpreter that is made for each sample."""
    path = case.write(tmp_path / "m.tflite")
    options = CompileOptions(state=StatePairs.parse(["none"]))
    graph = integer_model(path, None, options).integer
    assert not graph.has_state
    for sample in stream(case):
        found = run_graph(graph, {"x": laid_out(graph, "x", sample["x"])})["y"]
        assert np.array_equal(found.ravel(), Micro(path).run(sample)["y"].ravel())
    program = compiled(graph, tmp_path / "library")
    model = HostModel(tmp_path / "library", tmp_path / "build")
    for inputs, _ in oracle_of(graph, case):
        compare_trace(program, run_graph(graph, {"x": inputs[0]}), model.trace(inputs))


def test_svdf_has_its_memory(tmp_path: Path):
    path = Svdf().write(tmp_path / "m.tflite")
    with pytest.raises(UnsupportedModelError, match="nothing without its memory"):
        import_model(path, state=StatePairs.parse(["none"]))


@pytest.mark.parametrize("name", ["plain", "int16", "svdf", "svdf of int8"])
def test_mutants_end_in_one_clear_error(name: str, tmp_path: Path):
    path, rng = CASES[name].write(tmp_path / "m.tflite"), random.Random(name)
    data, read = path.read_bytes(), 0
    for _ in range(60):
        path.write_bytes(mutated(rng, data))
        try:
            integer_model(path, None, CompileOptions())
            read += 1
        except EdgecError as error:
            assert error.exit_code in (2, 3, 4), error
    assert read < 60
