"""Sizes of functions of C for a board, and what each needs of others: `code_sections`.

Each function and table has a section of its own (`-ffunction-sections`), and its relocations name
what it calls and reads, so that a section with all that it needs is what a linker takes for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from edgec.base.errors import BuildError
from edgec.base.work_folder import temporary_folder
from edgec.target.board import Board
from edgec.toolchain import process
from edgec.toolchain.cc import build_failed

_FLAGS = ("-std=c11", "-ffunction-sections", "-fdata-sections", "-fno-common")
_TIMEOUT_S = 300.0
_ALIGNMENT = 4


def code_sections(
    source: str, include: Path, board: Board, level: str
) -> dict[str, Mapping[str, int]]:
    """Bytes of each function of a C source together with what it needs of the source.

    Args:
        source: C of functions that no other one calls, each with another name.
        include: folder of its headers.
        board: says which compiler and which core.
        level: the compiler's option, "-O2" or "-Os".

    Returns:
        By name of each function the sections that it needs, its own among them, with their bytes.

    Raises:
        BuildError: no compiler, or it reports errors.
    """
    with temporary_folder() as scratch:
        text, target = scratch / "functions.c", scratch / "functions.o"
        text.write_text(source, "utf-8")
        program = f"{board.core.gcc_prefix}gcc"
        argv: list[str | Path]
        argv = [program, *board.gcc_flags, *_FLAGS, level, f"-I{include}", "-c", text, "-o", target]
        environment = process.clean_environment(process.temporary_variables(scratch))
        done = process.run(argv, timeout_s=_TIMEOUT_S, environment=environment)
        if done.returncode != 0:
            raise build_failed("the C compiler failed", done, program)
        return _read(target)


def _read(path: Path) -> dict[str, Mapping[str, int]]:
    with path.open("rb") as stream:
        file = ELFFile(stream)
        sizes: dict[int, int] = {}
        names: dict[int, str] = {}
        needs: dict[int, set[int]] = {}
        functions: dict[str, int] = {}
        symbols = file.get_section_by_name(".symtab")
        if not isinstance(symbols, SymbolTableSection):
            raise BuildError("an object file has no symbols", where=str(path))
        homes = [symbol["st_shndx"] for symbol in symbols.iter_symbols()]
        for number, section in enumerate(file.iter_sections()):
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
                sizes[number] = -(-int(section["sh_size"]) // _ALIGNMENT) * _ALIGNMENT
                names[number] = str(section.name)
            if isinstance(section, RelocationSection):
                found = {homes[each["r_info_sym"]] for each in section.iter_relocations()}
                needs[int(section["sh_info"])] = {each for each in found if isinstance(each, int)}
        for symbol in symbols.iter_symbols():
            if symbol["st_info"]["type"] == "STT_FUNC":
                functions[str(symbol.name)] = symbol["st_shndx"]
    return {
        name: {names[each]: sizes[each] for each in _closure(home, needs) if each in sizes}
        for name, home in functions.items()
    }


def _closure(first: int, needs: Mapping[int, set[int]]) -> list[int]:
    """A section and all that it needs, directly or not."""
    found, left = {first}, [first]
    while left:
        more = needs.get(left.pop(), set()) - found
        found |= more
        left += more
    return sorted(found)
