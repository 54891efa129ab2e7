"""Cycles of hot loops by edgec's core models, beside those of llvm-mca.

    python benchmarks/mca.py                             # all cores
    python benchmarks/mca.py m4 m7 --networks resnet8-qdq --loops 5
    python benchmarks/mca.py --llvm-mca llvm-mca-19      # another version
    python benchmarks/mca.py a53 a76 --networks resnet8 dscnn --precision int16

Networks are built for a board of each core and traced.  A loop is a block of code that its own
branch leads back to; the hottest one of each kernel is priced by edgec's model of the core and by
llvm-mca, whose models other people wrote (`llvm/lib/Target/ARM` and `AArch64`).  Where both differ,
the table says by what: see docs/simulator-cores.md.  Of Cortex-A cores edgec has no model:
instructions stand beside the cycles of llvm-mca.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from data_folder import add_data_option, chosen_data_folder
from profile_networks import ALL, DEFAULT, OPTIONS, model_of

from edgec.base.options import CompileOptions, Precision
from edgec.commands.compile import compile_model
from edgec.profile.inputs import profile_input
from edgec.report.model import Report
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.sim.trace_linux import trace_program
from edgec.target.board import Board, load_board
from edgec.timing.core import core_model
from edgec.timing.decode import Instruction, decode_block
from edgec.timing.decode_kinds import LOADS
from edgec.timing.decode_linux import disassembled
from edgec.timing.types import Segment

BOARDS = {
    "m3": "nucleo_f207zg",
    "m4": "nucleo_l4r5zi",
    "m7": "nucleo_h7a3zi_q",
    "m33": "nucleo_u575zi_q",
    "a53": "raspberry_pi_3",
    "a72": "raspberry_pi_4",
    "a76": "raspberry_pi_5",
}
"""A board of each core of which llvm-mca has a model."""
VERSIONS = ("llvm-mca", *(f"llvm-mca-{version}" for version in range(22, 13, -1)))
FAR = 0.1
"""The largest difference that needs no reason."""
_FEW, _MANY = 100, 1100
"""Turns of a loop; the first ones are not like the others."""
_LOOP = "loop"


@dataclass(frozen=True, slots=True)
class Block:
    """A loop of a kernel.

    Attributes:
        function: C function that it is in.
        turns: how often its branch leads back to it.
        lines: assembler text, without addresses.
        instructions: facts for a cycle model; empty: of a core without one.
    """

    function: str
    turns: int
    lines: tuple[str, ...]
    instructions: tuple[Instruction, ...] = ()

    @property
    def weight(self) -> int:
        """Executed instructions."""
        return self.turns * len(self.lines)


@dataclass(frozen=True, slots=True)
class Row:
    """Cycles of a turn of a loop.

    Attributes:
        block: the loop.
        other: by llvm-mca.
        own: by edgec's model; 0: it has none.
        branch: of `own`, what the branch back takes beyond an instruction.
        loads: of `own`, first cycles of loads that stand after something else (Cortex-M3 and M4).
        words: of `own`, what loads and stores of several words take beyond an instruction.
    """

    block: Block
    other: float
    own: int = 0
    branch: int = 0
    loads: int = 0
    words: int = 0

    @property
    def difference(self) -> float:
        """By how much `own` is more, relative to `other`."""
        return self.own / self.other - 1

    @property
    def rest(self) -> float:
        """The same without what branches, first loads and several words take."""
        return (self.own - self.branch - self.loads - self.words) / self.other - 1


def blocks_of(network: str, board: Board, options: CompileOptions = OPTIONS) -> Iterator[Block]:
    """The loops of a network's kernels."""
    path, samples = model_of(network)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "built"
        compile_model(path, board, calibration=samples, out=folder, options=options)
        report = Report.read(folder)
        inputs = profile_input(report, None, None).arrays
        elf = folder / "firmware.elf"
        if board.linux is not None:
            traced = trace_program(elf, board, inputs, calls=report.calls)
            for start, size, turns in _loops(traced.segments):
                code, kind = traced.program.read(start, size), traced.program.kind(start)
                lines = [" ".join(words) for words in disassembled(code, start, kind)]
                yield Block(traced.program.function(start), turns, _relative(lines))
            return
        image = load_image(elf, board)
        run = trace_inference(elf, board, inputs, calls=report.calls)
        for start, size, turns in _loops(run.trace.segments):
            found = decode_block(image.read(start, size), start)
            lines = tuple(each.text for each in found)
            function = image.locate(start).partition("(")[2].partition("+")[0]
            yield Block(function, turns, _relative(lines), found)


def _loops(segments: Sequence[Segment]) -> list[tuple[int, int, int]]:
    """Address, size and turns of each block that leads back to itself."""
    turns: dict[tuple[int, int], int] = {}
    for segment in segments:
        for edge, count in segment.edges.items():
            if edge.start == edge.next_start:
                key = (edge.start, edge.size_bytes)
                turns[key] = turns.get(key, 0) + count
    return [(*key, count) for key, count in sorted(turns.items())]


def _relative(lines: Sequence[str]) -> tuple[str, ...]:
    """The branch at the end goes to a label: there is no code around it."""
    branch = lines[-1].split("#")[0] if "#" in lines[-1] else lines[-1]
    return (*lines[:-1], f"{branch}{_LOOP}")


def hottest(blocks: Sequence[Block], count: int) -> list[Block]:
    """The hottest loop of each kernel, of `count` kernels."""
    kernels: dict[str, Block] = {}
    for block in sorted(blocks, key=lambda each: -each.weight):
        kernels.setdefault(_kernel(block.function), block)
    return list(kernels.values())[:count]


def _kernel(function: str) -> str:
    """The name of a function without its number and what compilers add."""
    words = function.partition(".")[0].split("_")
    return "_".join(word for word in words if not word.isdigit())


def row_of(block: Block, board: Board, program: str) -> Row | None:
    """What a turn takes by both models; None: llvm-mca does not support one of its instructions."""
    other = _by_mca(block, board, program)
    if other is None:
        return None
    if not block.instructions:
        return Row(block, other)
    model, first = core_model(board.core, board.fpu), block.instructions[0]
    own = model.cost(block.instructions, True, first)
    straight = model.cost(block.instructions[:-1], False) + 1
    loads = _first_loads(block.instructions) if board.core.value in _LOADS_OF_TWO else 0
    several = (each for each in block.instructions if each.words > 1)
    words = sum(model.cost([each], False) - 1 for each in several)
    return Row(block, other, own, max(own - straight, 0), loads, words)


_LOADS_OF_TWO = ("cortex-m3", "cortex-m4")


def _first_loads(instructions: Sequence[Instruction]) -> int:
    """Loads of one word or less after something that is no load."""
    kinds = [each.kind in LOADS and each.words <= 1 for each in instructions]
    return sum(now and not before for before, now in zip([False, *kinds], kinds, strict=False))


def _by_mca(block: Block, board: Board, program: str) -> float | None:
    """Cycles of a turn by llvm-mca; None: it does not support one of the instructions (IT).

    Raises:
        SystemExit: it fails in another way.
    """
    aarch64 = board.core.is_aarch64
    triple = "aarch64-linux-gnu" if aarch64 else "thumbv7em-none-eabihf"
    text = "\n".join([".text", *([] if aarch64 else [".thumb", ".syntax unified"]), f"{_LOOP}:"])
    text += "\n" + "\n".join(block.lines) + "\n"
    cycles = {}
    for turns in (_FEW, _MANY):
        command = [program, f"-mtriple={triple}", f"-mcpu={board.core.value}"]
        done = subprocess.run(
            [*command, f"-iterations={turns}"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        found = [line for line in done.stdout.splitlines() if line.startswith("Total Cycles:")]
        if "unsupported instruction" in done.stderr:
            return None
        if done.returncode or not found:
            raise SystemExit(f"{program} fails for {block.function}:\n{done.stderr[:1000]}")
        cycles[turns] = int(found[0].split()[-1])
    return (cycles[_MANY] - cycles[_FEW]) / (_MANY - _FEW)


def table_of(core: str, rows: Sequence[Row]) -> str:
    """Markdown."""
    if not rows[0].block.instructions:
        lines = [f"| {core}: loop of | instructions | llvm-mca, cycles | instructions a cycle |"]
        lines.append("|---|---:|---:|---:|")
        lines += [
            f"| `{_kernel(row.block.function)}` | {len(row.block.lines)} | {row.other:.1f} "
            f"| {len(row.block.lines) / row.other:.2f} |"
            for row in rows
        ]
        return "\n".join(lines)
    lines = [
        f"| {core}: loop of | instructions | edgec, cycles | branch | loads | words "
        "| llvm-mca, cycles | difference | without these |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| `{_kernel(row.block.function)}` | {len(row.block.lines)} | {row.own} | {row.branch} "
        f"| {row.loads} | {row.words} | {row.other:.1f} | {row.difference:+.0%} | {row.rest:+.0%} |"
        for row in rows
    ]
    far = [row for row in rows if abs(row.rest) > FAR]
    lines.append(f"\n{len(far)} of {len(rows)} differ by more than {FAR:.0%} without these.")
    return "\n".join(lines)


def found_program(asked: str | None) -> str:
    """The path of llvm-mca.

    Raises:
        SystemExit: it is not installed.
    """
    names = VERSIONS if asked is None else (asked,)
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        what = asked or "llvm-mca"
        raise SystemExit(f"{what} is not installed; on Debian and Ubuntu: apt install llvm")
    return found


def main() -> None:
    """Print a Markdown table of each core."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs="*", default=list(BOARDS), help=f"of {', '.join(BOARDS)}")
    parser.add_argument("--networks", nargs="+", choices=ALL, default=DEFAULT)
    parser.add_argument(
        "--precision", type=Precision, default=Precision.INT8, help="of activations: int8, int16"
    )
    parser.add_argument("--loops", type=int, default=20, help="kernels at most")
    parser.add_argument("--llvm-mca", help="its name or path")
    parser.add_argument("--show", action="store_true", help="print the code of the loops, too")
    add_data_option(parser)
    arguments = parser.parse_args()
    program = found_program(arguments.llvm_mca)
    chosen_data_folder(arguments)
    options = replace(OPTIONS, quant=replace(OPTIONS.quant, precision=arguments.precision))
    for core in arguments.cores:
        board = load_board(BOARDS[core])
        blocks = [each for name in arguments.networks for each in blocks_of(name, board, options)]
        found = [row_of(each, board, program) for each in hottest(blocks, arguments.loops)]
        rows = [row for row in found if row is not None]
        if not rows:
            raise SystemExit(f"{program} supports no loop of a {board.core.value}")
        print(f"\n{table_of(core, rows)}", flush=True)
        if len(rows) < len(found):
            print(
                f"{len(found) - len(rows)} more have instructions that llvm-mca does not support."
            )
        for row in rows if arguments.show else ():
            print(f"\n{row.block.function}, {row.block.turns:,} turns:")
            print("\n".join(f"    {line}" for line in row.block.lines))


if __name__ == "__main__":
    main()
