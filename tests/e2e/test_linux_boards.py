"""Boards with Linux: networks of all kinds built, run in qemu-user, counted; what is refused."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from dynamic_onnx import ids, write_bert
from pooled_models import small_network, write_pooled

from edgec.base.errors import BuildError, ConfigError
from edgec.base.options import CompileOptions, MaxLength, PoolKernelOptions
from edgec.cli.app import run_app
from edgec.commands.bundle import bundle_models
from edgec.commands.compile import CompileResult, compile_model
from edgec.interp import run_graph, run_graph_batch
from edgec.ir.weight_pool_graph import limited_bits
from edgec.profile import count_instructions, profile
from edgec.profile.compare import compare
from edgec.profile.inputs import profile_input
from edgec.sim.host import runs_natively
from edgec.sim.trace_linux import trace_program
from edgec.target.board import load_board
from edgec.toolchain.cc import WARNING_FLAGS
from edgec.workflow.checks import shorter_run
from edgec.workflow.session import open_session

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CALIBRATION = EXAMPLES / "digits_calibration.npz"
NAMES = ("raspberry_pi_3", "raspberry_pi_2")
"""One of each instruction set."""
MODELS = ("digits_mlp", "digits_vit", "small")


def need(name: str) -> None:
    """Skip where the board's compiler or emulator is not installed."""
    for program in (f"{load_board(name).core.gcc_prefix}gcc", "qemu-aarch64", "qemu-arm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def options(model: str) -> CompileOptions:
    """Of the pooled network, kernels whose work depends on the width of activations."""
    if model != "small":
        return CompileOptions()
    return CompileOptions(pool=PoolKernelOptions.parse("6", None, True, ["direct"], None))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory):
    """A model compiled for a board, once."""
    found: dict[tuple[str, str], CompileResult] = {}

    def compile_once(model: str, name: str) -> CompileResult:
        need(name)
        if (model, name) not in found:
            folder = tmp_path_factory.mktemp(f"{model}-{name}")
            path = EXAMPLES / f"{model}.onnx"
            samples = dict(np.load(CALIBRATION))
            if model == "small":
                path = write_pooled(small_network(), folder / "small.onnx")
                noise = np.random.default_rng(4).normal(size=(8, 8, 8, 3))
                samples = {"x": noise.astype(np.float32)}
            found[model, name] = compile_model(
                path, name, calibration=samples, out=folder / "out", options=options(model)
            )
        return found[model, name]

    return compile_once


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", MODELS)
def test_every_tensor_is_the_oracles(compiled, model: str, name: str):
    """`compile` compared them in the program under QEMU."""
    result = compiled(model, name)
    checks = {check.what: check for check in result.report.checks}
    assert set(checks) == {"host", "emulator"}
    assert bool(checks["host"].skipped) != runs_natively(load_board(name))
    found = checks["emulator"]
    assert (found.skipped, found.stack_bytes) == ("", None)
    assert found.steps == len(result.program.steps)
    assert found.samples == 3 or runs_natively(load_board(name))
    memory = result.report.memory
    assert (memory.flash_bytes, memory.ram_bytes, memory.stack_bytes) == (None, None, None)
    assert memory.arena_bytes > 0 and memory.weight_bytes > 0


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", MODELS)
def test_counts_are_exact_and_complete(compiled, model: str, name: str):
    result = compiled(model, name)
    found = count_instructions(result.folder)
    assert found == count_instructions(result.folder)
    total = sum((layer.counts for layer in found.layers), found.outside)
    assert total == found.total
    assert total == sum((part.counts for part in found.functions[1:]), found.functions[0].counts)
    assert len(found.layers) == len(result.program.steps)
    assert all(layer.counts.instructions > 0 for layer in found.layers)
    assert 0 < total.loads + total.stores < total.instructions
    assert found.macs == sum(layer.macs for layer in found.layers) > 0
    assert 0 < found.arena_touched_bytes <= found.arena_bytes


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", MODELS)
def test_counted_run_computes_what_the_oracle_does(compiled, model: str, name: str):
    result = compiled(model, name)
    given = profile_input(result.report, None).arrays
    graph = result.model.integer
    inputs = {n: x.reshape(graph.shape(n)) for n, x in zip(graph.inputs, given, strict=True)}
    oracle = run_graph(graph, inputs)
    run = trace_program(result.folder / "firmware.elf", load_board(name), given)
    for output, found in zip(graph.outputs, run.outputs, strict=True):
        assert np.array_equal(oracle[output].reshape(-1), found)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", NAMES)
def test_fewer_bits_are_fewer_instructions(compiled, name: str):
    result = compiled("small", name)
    folder = result.folder
    counts = [count_instructions(folder, bits=bits).total.instructions for bits in (6, 3, 1)]
    assert counts[0] > counts[1] > counts[2]
    codes = np.random.default_rng(0).normal(size=(2, 8, 8, 3)).astype(np.float32)
    (output,) = open_session(folder, "emulator", 3).run({"x": codes}).values()
    graph = limited_bits(result.model.integer, 3)
    (oracle,) = run_graph_batch(graph, {"x": graph.quant("x").quantize(codes)}).values()
    (name_of,) = graph.outputs
    assert np.array_equal(output, graph.quant(name_of).dequantize(oracle))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", NAMES)
def test_shorter_runs_are_counted_and_computed(name: str, tmp_path: Path):
    need(name)
    longest = 12
    result = compile_model(
        write_bert(tmp_path / "bert.onnx"),
        name,
        calibration={"ids": ids(32, longest)},
        out=tmp_path / "out",
        options=CompileOptions(max_length=MaxLength(longest)),
    )
    emulator = next(check for check in result.report.checks if check.what == "emulator")
    assert emulator.lengths == (1, 6, 12)
    counts = [count_instructions(result.folder, length=n) for n in (12, 7, 1)]
    assert counts[0].layers == count_instructions(result.folder).layers
    totals = [found.total.instructions for found in counts]
    assert totals[0] > totals[1] > totals[2]
    sample = {"ids": ids(1, 7).astype(np.int32)}
    graph, sample = shorter_run(result.model.integer, sample, 7)
    oracle = run_graph(graph, sample)
    elf = result.folder / "firmware.elf"
    run = trace_program(elf, load_board(name), list(sample.values()), length=7)
    for output, found in zip(graph.outputs, run.outputs, strict=True):
        assert np.array_equal(oracle[output].reshape(-1), found)
    with pytest.raises(ConfigError, match="no length"):
        count_instructions(result.folder, length=13)


@pytest.mark.parametrize("name", NAMES)
def test_profile_command(compiled, name: str, capsys: pytest.CaptureFixture[str]):
    folder = compiled("digits_mlp", name).folder
    assert run_app(["profile", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "executed instructions" in text and "cycles" not in text
    assert run_app(["profile", str(folder), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["unit"] == "instructions"
    assert data["instructions"] == count_instructions(folder).total.instructions
    assert data["layers"][0]["instructions_per_mac"] > 0
    assert not [key for key in (*data, *data["layers"][0]) if "cycle" in key or "time" in key]
    for option in (["--html", "x.html"], ["--memory", "ideal"], ["--measured", "log.txt"]):
        assert run_app(["profile", str(folder), *option]) == ConfigError.exit_code
        assert "show cycles" in capsys.readouterr().err


def test_no_cycles_are_made_up(compiled):
    result = compiled("digits_mlp", "raspberry_pi_3")
    with pytest.raises(ConfigError, match="a board with Linux, which has no cycle model"):
        profile(result.folder)
    (figures,) = compare([result.folder])
    assert (figures.cycles, figures.time_ms) == (None, None)
    assert figures.instructions == count_instructions(result.folder).total.instructions
    assert "no cycles: there is no model of the cortex-a53" in figures.notes
    pooled = compiled("small", "raspberry_pi_3").report.pooled
    assert pooled and all(layer.cycles is None for layer in pooled)


def test_what_this_computer_cannot_run_says_so(compiled, capsys: pytest.CaptureFixture[str]):
    result = compiled("digits_mlp", "raspberry_pi_3")
    if runs_natively(load_board("raspberry_pi_3")):
        pytest.skip("this computer has NEON")
    (host,) = (check for check in result.report.checks if check.what == "host")
    assert host.skipped == "its kernels need a processor with NEON"
    data = str(EXAMPLES / "digits_test.npz")
    command = ["evaluate", str(result.folder), "--data", data, "--limit", "20"]
    assert run_app(command) == ConfigError.exit_code
    assert "--on emulator" in capsys.readouterr().err
    assert run_app([*command, "--on", "emulator", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["agreement"] > 0.9


def test_budgets_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    command = ["compile", str(EXAMPLES / "digits_mlp.onnx"), "--board", "rpi_3", "--budget", "ms=1"]
    assert run_app([*command, "--out", str(tmp_path / "out")]) == ConfigError.exit_code
    assert "a board with Linux has no sizes or cycles" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_missing_compiler_says_how_to_install_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("PATH", "/nonexistent")
    command = ["compile", str(EXAMPLES / "digits_mlp.onnx"), "--board", name]
    assert run_app([*command, "--out", str(tmp_path / "out")]) == BuildError.exit_code
    prefix = load_board(name).core.gcc_prefix
    message = capsys.readouterr().err
    assert f"the compiler {prefix}gcc is not on PATH" in message
    assert f"apt-get install gcc-{prefix.rstrip('-')}" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", MODELS)
def test_library_compiles_without_a_warning(compiled, model: str, name: str, compiler: str):
    library = compiled(model, name).folder / "library"
    board = load_board(name)
    prefix = board.core.gcc_prefix
    argv = [f"{prefix}gcc"]
    if compiler == "clang":
        if shutil.which("clang") is None:
            pytest.skip("clang is not installed")
        argv = ["clang", f"--target={prefix.rstrip('-')}"]
    argv += [*board.gcc_flags, "-std=c11", "-O2", *WARNING_FLAGS, f"-I{library / 'include'}"]
    for source in sorted((library / "src").glob("*.c")):
        done = subprocess.run(
            [*argv, "-c", source, "-o", "/dev/null"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [NAMES[0], pytest.param(NAMES[1], marks=pytest.mark.slow)])
def test_program_is_the_same_wherever_it_was_built(compiled, name: str, tmp_path: Path):
    first = compiled("digits_mlp", name)
    out = tmp_path / "much" / "longer" / "way"
    again = compile_model(
        EXAMPLES / "digits_mlp.onnx", name, calibration=str(CALIBRATION), out=out,
        options=CompileOptions(verify=False),
    )  # fmt: skip
    elf = (first.folder / "firmware.elf").read_bytes()
    assert (again.folder / "firmware.elf").read_bytes() == elf
    assert str(tmp_path).encode() not in elf


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_two_models_in_one_program(compiled, name: str, tmp_path: Path):
    folders = [compiled(model, name).folder for model in ("digits_mlp", "digits_vit")]
    found = bundle_models(folders, tmp_path / "out")
    assert [model.checked for model in found.models] == [True, True]
    assert (tmp_path / "out" / "firmware.elf").is_file()
