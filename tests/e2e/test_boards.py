"""Every board: an example network the whole way, and the largest public network that it holds."""

import re
import shutil
from pathlib import Path

import pytest
from data_folder import needed_data_folder
from public_data import TASKS

from edgec.base.errors import MemoryPlanError
from edgec.commands.compile import CompileResult, compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.sim.host import runs_natively
from edgec.target.board import Board, list_boards

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
CALIBRATION = str(EXAMPLES / "digits_calibration.npz")
BOARDS = list_boards()
LADDER = ("resnet8", "dscnn", "autoencoder")
"""Public networks, the largest first."""
TOO_SMALL = {"nucleo_f103rb": ("resnet8",), "microbit": ("resnet8",)}
"""What a board cannot hold; all others hold ResNet-8."""


def _by_port() -> list[object]:
    """Each board; those whose port and compiler an earlier one has, too, are slow."""
    seen: set[tuple[str, str]] = set()
    params = []
    for board in BOARDS:
        kind = (board.port, board.core.gcc_prefix)
        marks = [pytest.mark.slow] if kind in seen else []
        params.append(pytest.param(board, id=board.name, marks=marks))
        seen.add(kind)
    return params


@pytest.fixture(params=_by_port())
def board(request: pytest.FixtureRequest) -> Board:
    """Each board; skips where its compiler or emulator is not installed."""
    found: Board = request.param
    if shutil.which(f"{found.core.gcc_prefix}gcc") is None:
        pytest.skip(f"the compiler for {found.name} is not installed")
    if found.emulator.kind == "qemu" and shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm is not installed")
    if found.emulator.kind == "qemu-user" and shutil.which("qemu-aarch64") is None:
        pytest.skip("qemu-user is not installed")
    if found.emulator.kind == "unicorn":
        pytest.importorskip("unicorn")
    return found


def check_result(result: CompileResult, board: Board) -> None:
    """Built, inside the board's memory, and every tensor equal on host and emulator."""
    checks = {check.what: check for check in result.report.checks}
    assert set(checks) == ({"host"} if board.is_host else {"host", "emulator"})
    if not runs_natively(board):
        assert checks.pop("host").skipped
    for check in checks.values():
        assert not check.skipped
        assert check.samples > 0
        assert check.steps == len(result.program.steps)
    memory = result.report.memory
    assert memory.arena_bytes <= memory.arena_disjoint_bytes * 1.05
    assert (result.folder / "firmware.elf").is_file()
    if not board.is_hosted:
        assert memory.flash_bytes is not None and memory.flash_limit_bytes is not None
        assert memory.ram_bytes is not None and memory.ram_limit_bytes is not None
        assert memory.weight_bytes < memory.flash_bytes <= memory.flash_limit_bytes
        assert memory.arena_bytes < memory.ram_bytes <= memory.ram_limit_bytes
        assert (result.folder / "firmware.bin").stat().st_size == memory.flash_bytes
        assert memory.stack_bytes is not None and memory.variable_bytes is not None
        assert memory.weight_bytes + (memory.code_bytes or 0) == memory.flash_bytes
        parts = (memory.arena_bytes, memory.stack_bytes, memory.variable_bytes)
        assert min(parts) > 0
        assert sum(parts) + (memory.ram_weight_bytes or 0) == memory.ram_bytes


@pytest.mark.few_cases(2)
def test_example_network(board: Board, tmp_path: Path):
    """The digits ResNet fits every board."""
    model = EXAMPLES / "digits_resnet.onnx"
    result = compile_model(model, board, calibration=CALIBRATION, out=tmp_path / "out")
    check_result(result, board)


@pytest.mark.slow
@pytest.mark.data
def test_largest_public_network(board: Board, tmp_path: Path):
    """ResNet-8, or the first smaller network that fits; what does not fit is explained."""
    refused = []
    for name in LADDER:
        try:
            result = compiled(name, board, tmp_path / name)
        except MemoryPlanError as error:
            check_refusal(error, board)
            assert not (tmp_path / name).exists()
            refused.append(name)
            continue
        check_result(result, board)
        break
    assert tuple(refused) == TOO_SMALL.get(board.name, ())


def compiled(name: str, board: Board, out: Path) -> CompileResult:
    """A public network, calibrated with its data."""
    data = needed_data_folder()
    path = data / "models" / TASKS[name].model
    (input_name,) = FloatModel(path).input_names
    samples = {input_name: TASKS[name].data(data, "calibration").x[:50]}
    return compile_model(path, board, calibration=samples, out=out)


def check_refusal(error: MemoryPlanError, board: Board) -> None:
    """By how much, the five largest tensors, what would help."""
    assert error.where == board.name
    first, second, *tensors = error.what.splitlines()
    found = re.fullmatch(
        r"does not fit: (RAM|flash) is short of ([\d,]+) bytes \(the board has ([\d,]+) for it\)",
        first,
    )
    assert found is not None
    assert int(found[2].replace(",", "")) > 0
    limit = int(found[3].replace(",", ""))
    assert 0 < limit <= max(board.ram_bytes or 0, board.flash_bytes or 0)
    assert second == "largest tensors:"
    sizes = [int(line.split()[0].replace(",", "")) for line in tensors]
    assert len(sizes) == 5
    assert sizes == sorted(sizes, reverse=True)
    assert "boards that can hold it: " in error.hint
    assert "nucleo_f446re" in error.hint
    assert board.name not in error.hint
