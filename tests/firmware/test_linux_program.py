"""Programs for boards with Linux: in qemu-user, counted in Unicorn, and what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from toy_firmware import build_toy_firmware, toy_board, toy_input, toy_steps

from edgec.base.errors import ConfigError, SimulationError
from edgec.sim.emulator import EmulatedFirmware
from edgec.sim.linux_program import load_program
from edgec.sim.protocol import FirmwareClient
from edgec.sim.trace_linux import TracedProgram, trace_program
from edgec.target.board import load_board
from edgec.timing.types import CodeKind
from edgec.toolchain import process
from edgec.toolchain.live_process import StreamingProcess

NAMES = ("raspberry_pi_3", "raspberry_pi_2")
TOYS = ("toy", "toy_pair", "toy_crash")
Build = Callable[[str], Path]
_LOGGED = re.compile(r"^Trace .*\[[0-9a-f]+/([0-9a-f]+)/")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`firmware.elf` for a board, built once."""
    built: dict[str, Path] = {}

    def build_once(name: str) -> Path:
        if name not in built:
            folder = tmp_path_factory.mktemp(name)
            built[name] = build_toy_firmware(folder, toy_board(name), TOYS)
        return built[name]

    return build_once


# ---- qemu-user


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", NAMES)
def test_firmware_answers_in_qemu(build: Build, name: str) -> None:
    with EmulatedFirmware(build(name), toy_board(name)) as firmware:
        info = firmware.info()
        assert (info.board, info.models) == (name, len(TOYS))
        run = firmware.run([toy_input()], trace=True)
        assert np.array_equal(run.outputs[0], toy_steps(toy_input())[1])
        assert run.cycles is None
        assert run.stack_bytes == 0  # the operating system's


@pytest.mark.parametrize("name", NAMES)
def test_a_crash_is_an_error(build: Build, name: str) -> None:
    with EmulatedFirmware(build(name), toy_board(name)) as firmware:
        firmware.client.select(TOYS.index("toy_crash"))
        with pytest.raises(SimulationError, match="ended unexpectedly"):
            firmware.run([])


@pytest.mark.parametrize("name", NAMES)
def test_missing_qemu_says_how_to_install_it(
    build: Build, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    elf = build(name)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ConfigError) as caught, EmulatedFirmware(elf, load_board(name)):
        pass
    assert caught.value.hint == "apt-get install qemu-user"


# ---- counting


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_the_same_natively_in_python_and_again(build: Build, name: str) -> None:
    pytest.importorskip("unicorn")
    runs = [
        trace_program(build(name), load_board(name), [toy_input()], native=native)
        for native in (True, False, True)
    ]
    assert len({repr((run.segments, run.outside)) for run in runs}) == 1
    assert [run.arena_touched_bytes for run in runs] == [600, 600, 600]
    for run in runs:
        assert run.digest == "0123456789abcdef"
        assert len(run.segments) == 2
        assert np.array_equal(run.outputs[0], toy_steps(toy_input())[1])


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_qemu(build: Build, name: str, tmp_path: Path) -> None:
    """QEMU runs the whole program, one instruction at a time, and logs where it is."""
    pytest.importorskip("unicorn")
    board = toy_board(name)
    log = tmp_path / "qemu.log"
    program = shutil.which("qemu-aarch64" if board.core.is_aarch64 else "qemu-arm")
    assert program is not None
    usage = subprocess.run([program, "-help"], capture_output=True, text=True, check=False).stdout
    single = "-one-insn-per-tb" if "-one-insn-per-tb" in usage else "-singlestep"  # since 8.1
    options = ["-cpu", board.emulator.cpu, single, "-d", "exec,nochain", "-D", str(log)]
    # Not confined: it writes its log.
    with process.start([program, *options, build(name)], stderr=subprocess.STDOUT) as child:
        stream = StreamingProcess(child, Path(program).name)
        FirmwareClient(stream, run_timeout_s=60).trace([toy_input()])
    run = trace_program(build(name), board, [toy_input()])
    start, size = run.program.symbol("toy_run")
    steps: Counter[int] = Counter()
    for line in log.read_text().splitlines():
        found = _LOGGED.match(line)
        if found and 0 <= int(found[1], 16) - (start & ~1) < size:
            steps[int(found[1], 16)] += 1
    assert steps.total() > 1200
    assert executions(run, sorted(steps)) == steps


def executions(run: TracedProgram, addresses: list[int]) -> Counter[int]:
    """How often each of these instructions ran, from the blocks that hold it."""
    found: Counter[int] = Counter()
    for segment in (*run.segments, run.outside):
        for edge, times in segment.edges.items():
            for address in addresses:
                if edge.start <= address < edge.start + edge.size_bytes:
                    found[address] += times
    return found


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", NAMES)
def test_a_crash_while_counting_names_the_function(build: Build, name: str) -> None:
    pytest.importorskip("unicorn")
    board = toy_board(name)
    elf = build_toy_firmware(build(name).parent / "crash", board, ("toy_crash",))
    with pytest.raises(SimulationError, match="crash"):
        trace_program(elf, board, [])


@pytest.mark.parametrize("name", NAMES)
def test_wrong_inputs_are_refused(build: Build, name: str) -> None:
    pytest.importorskip("unicorn")
    with pytest.raises(SimulationError, match="not the model's"):
        trace_program(build(name), load_board(name), [toy_input()[:5]])


def test_an_endless_run_is_ended(tmp_path: Path) -> None:
    pytest.importorskip("unicorn")
    board = toy_board("raspberry_pi_3")
    elf = build_toy_firmware(tmp_path, board, ("toy_endless",))
    with pytest.raises(SimulationError, match="longer than 0.1 s"):
        trace_program(elf, board, [], limit_s=0.1)


# ---- programs


def test_instruction_sets_and_names_are_known(build: Build) -> None:
    for name, kind in (("raspberry_pi_3", CodeKind.A64), ("raspberry_pi_2", CodeKind.T32)):
        program = load_program(build(name), load_board(name))
        address, _ = program.symbol("toy_run")
        assert program.kind(address) is kind
        assert program.function(address & ~1) == "toy_run"
        assert program.resolvers  # the C library's memcpy
    assert {program.kind(resolver.slot) for resolver in program.resolvers} <= set(CodeKind)


def refusal(elf: Path, name: str) -> str:
    with pytest.raises(SimulationError) as caught, EmulatedFirmware(elf, toy_board(name)):
        pass
    return str(caught.value)


def test_programs_for_others_are_refused(build: Build, tmp_path: Path) -> None:
    pi_2, pi_3 = build("raspberry_pi_2"), build("raspberry_pi_3")
    assert "is for EM_ARM, which the cortex-a53 cannot run" in refusal(pi_2, "raspberry_pi_3")
    assert "is for EM_AARCH64, which the cortex-a7 cannot run" in refusal(pi_3, "raspberry_pi_2")
    assert "cannot read the firmware" in refusal(tmp_path / "none.elf", "raspberry_pi_3")
    (tmp_path / "text.elf").write_text("hello")
    assert "not a firmware ELF" in refusal(tmp_path / "text.elf", "raspberry_pi_3")


def test_a_shared_program_and_one_without_symbols_are_refused(build: Build, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    compiler = "aarch64-linux-gnu-gcc"
    elf = build("raspberry_pi_3")  # skips without the compiler
    argv = [compiler, "-pie", tmp_path / "main.c", "-o", tmp_path / "pie.elf"]
    subprocess.run(argv, check=True)
    assert "no static program" in refusal(tmp_path / "pie.elf", "raspberry_pi_3")
    stripped = tmp_path / "stripped.elf"
    subprocess.run(["aarch64-linux-gnu-strip", elf, "-o", stripped], check=True)
    with pytest.raises(SimulationError, match="no symbol 'app_models'"):
        trace_program(stripped, load_board("raspberry_pi_3"), [toy_input()])


def test_damaged_programs_end_in_one_error(build: Build, tmp_path: Path) -> None:
    good = build("raspberry_pi_3").read_bytes()
    random = np.random.default_rng(1)
    path = tmp_path / "damaged.elf"
    board = load_board("raspberry_pi_3")
    for trial in range(30):
        data = bytearray(good)
        if trial % 2:
            del data[int(random.integers(len(data))) :]
        else:
            for _ in range(8):
                data[int(random.integers(100))] = int(random.integers(256))
        path.write_bytes(bytes(data))
        try:
            load_program(path, board)
        except SimulationError as error:
            assert str(error)
