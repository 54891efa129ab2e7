"""Assembles the micro-benchmarks, runs them in Unicorn and prices what ran.

Nothing of `edgec.sim` takes part: a block hook of a dozen lines counts the edges.
"""

from __future__ import annotations

import shutil
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from edgec.timing.core_model import CoreModel
from edgec.timing.decode import Instruction, decode_block
from edgec.timing.decode_kinds import Kind
from edgec.timing.types import NO_BLOCK, Edge
from edgec.toolchain import process

SOURCES = Path(__file__).parent / "microbench"
CODE = 0x0800_0000
RAM = 0x2000_0000
STOP = 0x1000_0000
PAGE = 0x1_0000
POINTERS = {"R0": RAM + 0x100, "R5": RAM + 0x200, "R6": RAM + 0x300}
NUMBERS = {"R1": 1, "R2": 2, "R3": 3, "R4": 4, "R8": 8, "SP": RAM + PAGE, "LR": STOP | 1}


@dataclass(frozen=True)
class Program:
    """One assembled file: all of its code and where its functions are."""

    code: bytes
    functions: dict[str, int]
    cpu_model: str

    def block(self, start: int, size_bytes: int) -> tuple[Instruction, ...]:
        return decode_block(self.code[start - CODE : start - CODE + size_bytes], start)


def assemble(source: str, flags: tuple[str, ...], cpu_model: str, folder: Path) -> Program:
    """Assemble and link a file of `microbench/`; skips without compiler or Unicorn."""
    pytest.importorskip("unicorn")
    compiler = shutil.which("arm-none-eabi-gcc")
    if compiler is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    elf = folder / "microbench.elf"
    options = ["-mthumb", "-nostdlib", f"-I{SOURCES}", "-Wa,--fatal-warnings"]
    link = [f"-Wl,-Ttext={CODE:#x},-e0", "-o", elf]
    argv = [compiler, *flags, *options, *link, SOURCES / source]
    done = process.run(argv, timeout_s=60)
    assert done.returncode == 0, done.stderr
    with elf.open("rb") as file:
        image = ELFFile(file)
        symbols = image.get_section_by_name(".symtab").iter_symbols()
        functions = {
            symbol.name: symbol["st_value"] & ~1
            for symbol in symbols
            if symbol["st_info"]["bind"] == "STB_GLOBAL"
        }
        return Program(image.get_section_by_name(".text").data(), functions, cpu_model)


def run(program: Program, function: str) -> Counter[Edge]:
    """Run one function to its return; how often each way out of each block was taken."""
    import unicorn
    from unicorn import arm_const, unicorn_const

    uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    uc.ctl_set_cpu_model(getattr(arm_const, f"UC_CPU_ARM_{program.cpu_model}"))
    for origin in (CODE, RAM, STOP):
        uc.mem_map(origin, PAGE)
    uc.mem_write(CODE, program.code)
    for pointer in POINTERS.values():
        uc.mem_write(pointer, struct.pack("<4I", *[pointer] * 4))
    for name, value in {**POINTERS, **NUMBERS}.items():
        uc.reg_write(getattr(arm_const, f"UC_ARM_REG_{name}"), value)
    edges: Counter[Edge] = Counter()
    last: list[tuple[int, int]] = []

    def on_block(_uc: object, start: int, size_bytes: int, _data: object) -> None:
        if last:
            edges[Edge(*last.pop(), start)] += 1
        last.append((start, size_bytes))

    uc.hook_add(unicorn_const.UC_HOOK_BLOCK, on_block)
    uc.emu_start(program.functions[function] | 1, STOP, count=100_000)
    if last and last[0][0] != STOP:
        edges[Edge(*last.pop(), NO_BLOCK)] += 1
    return edges


def price(program: Program, edges: Counter[Edge], model: CoreModel) -> int:
    """Cycles of a run, divides (100 by 7: a quotient of 4 bits) included."""
    total = 0
    sizes = {edge.start: edge.size_bytes for edge in edges}
    for edge, count in edges.items():
        block = program.block(edge.start, edge.size_bytes)
        size = sizes.get(edge.next_start)
        target = program.block(edge.next_start, size)[0] if size else None
        cycles = model.cost(block, not edge.falls_through, target)
        divides = sum(instruction.kind is Kind.DIVIDE for instruction in block)
        total += count * (cycles + divides * model.divide_cycles(4))
    return total
