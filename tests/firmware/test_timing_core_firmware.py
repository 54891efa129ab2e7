"""Every instruction of real firmware has a cycle model, on one board of each core."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from edgec.cli.app import run_app
from edgec.target.board import load_board
from edgec.timing.core import core_model
from edgec.timing.core_model import CoreModel
from edgec.timing.decode import Branch, Instruction, decode_block
from edgec.timing.decode_kinds import Kind

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BOARDS = (
    "microbit",
    "nucleo_g0b1re",
    "nucleo_f207zg",
    "nucleo_f446re",
    "nucleo_h7a3zi_q",
    "nucleo_u575zi_q",
)


def firmware(board: str, folder: Path) -> Path:
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    calibration = EXAMPLES / "digits_calibration.npz"
    options = ["--board", board, "--calibration", str(calibration), "--out", str(folder)]
    model = EXAMPLES / "digits_resnet.onnx"
    assert run_app(["compile", str(model), *options, "--no-verify"]) == 0
    return folder / "firmware.elf"


def code_spans(elf: Path) -> list[tuple[int, bytes]]:
    """Thumb code of .text without the literals between it, by the mapping symbols $t and $d."""
    with elf.open("rb") as file:
        image = ELFFile(file)
        text = image.get_section_by_name(".text")
        base, data = text["sh_addr"], text.data()
        marks = sorted(
            {
                (symbol["st_value"], symbol.name[:2])
                for symbol in image.get_section_by_name(".symtab").iter_symbols()
                if symbol.name[:2] in ("$t", "$d") and base <= symbol["st_value"] < base + len(data)
            }
        )
    ends = [address for address, _ in marks[1:]] + [base + len(data)]
    return [
        (start, data[start - base : end - base])
        for (start, mark), end in zip(marks, ends, strict=True)
        if mark == "$t"
    ]


def blocks(spans: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The spans cut behind every branch."""
    found = []
    for start, code in spans:
        begin = start
        for instruction in decode_block(code, start):
            end = instruction.address + instruction.size_bytes
            if instruction.branch is not Branch.NONE:
                found.append((begin, code[begin - start : end - start]))
                begin = end
        if begin < start + len(code):
            found.append((begin, code[begin - start :]))
    return found


def price_all(model: CoreModel, decoded: list[tuple[Instruction, ...]]) -> None:
    """Every block both ways; exceptions (BKPT, UDF) of fault handlers apart."""
    for block in decoded:
        if all(instruction.kind is not Kind.TRAP for instruction in block):
            assert model.cost(block, True) > 0
            assert model.cost(block, False) >= 0


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", BOARDS)
def test_every_instruction_is_priced(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    model = core_model(board.core, board.fpu)
    cut = blocks(code_spans(firmware(name, tmp_path / "out")))
    assert len(cut) > 300
    price_all(model, [decode_block(code, start) for start, code in cut])
