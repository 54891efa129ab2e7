"""The object code of a transformer: 32-bit integers only, on every core."""

import re
from pathlib import Path

import pytest
from disassembly import reachable
from parity import compiled
from random_transformer import OPERATORS, operators
from variable_nets import NETS, integer_graph

from edgec.codegen.cnames import library_names
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.ir import Graph
from edgec.target.board import load_board
from edgec.toolchain import process
from edgec.toolchain.platformio import build

CORES = {
    "m0plus": "nucleo_g0b1re",
    "m3": "nucleo_f207zg",
    "m4": "nucleo_l4r5zi",
    "m7": "nucleo_h7a3zi_q",
    "m33": "nucleo_u575zi_q",
}
_LONG = re.compile(r"^([us]mull|[us]mlal|umaal|smlald|smlsld|smmul|smmla|smmls)")
_FLOAT = re.compile(r"^v[a-z]")
_WIDE_CALLS = re.compile(
    r"^(__aeabi_l|__aeabi_ul|__aeabi_[fd]|__aeabi_i2|__aeabi_ui2|__(mul|div|udiv|mod|umod)di3)"
)


_EACH_CORE = ["m4", *(pytest.param(c, marks=pytest.mark.slow) for c in CORES if c != "m4")]


@pytest.mark.parametrize("core", _EACH_CORE)
def test_nothing_longer_than_32_bits_is_executed(core: str, tmp_path: Path) -> None:
    check_executed(operators(5, list(OPERATORS), 2), core, tmp_path)


@pytest.mark.parametrize("core", _EACH_CORE)
def test_nor_in_runs_of_any_length(core: str, tmp_path: Path) -> None:
    check_executed(integer_graph(NETS["vit"]), core, tmp_path)


def check_executed(graph: Graph, core: str, folder: Path) -> None:
    """The functions that a model's run reaches have neither long nor float instructions."""
    if process.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    program = compiled(graph, folder / "library", board=CORES[core])
    names = library_names(program.name)
    model = FirmwareModel(
        folder / "library",
        names.name,
        names.header,
        names.symbol,
        program.arena_bytes,
        len(program.inputs),
    )
    board = load_board(CORES[core])
    emit_project([model], board, folder / "project")
    elf = build(folder / "project", board).elf
    found = reachable(elf, f"{names.prefix}_run")
    assert f"{names.prefix}_run" in found
    assert not [name for name in found if _WIDE_CALLS.match(name)]
    instructions = [(name, text) for name, lines in found.items() for text in lines]
    assert not [pair for pair in instructions if _LONG.match(pair[1]) or _FLOAT.match(pair[1])]
