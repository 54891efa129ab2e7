"""`count_instructions`: what one inference on a board with Linux executes, layer by layer.

There is no cycle model of Cortex-A cores here: caches, speculation and the operating system make
time a matter of measuring.  Instructions are exact and repeatable.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, InternalError
from edgec.base.samples import Samples
from edgec.profile.inputs import profile_input
from edgec.report.model import LayerReport, Report
from edgec.sim.linux_program import LinuxProgram
from edgec.sim.trace_linux import TracedProgram, trace_program
from edgec.timing.types import Segment
from edgec.workflow.session import check_width, firmware_program

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """Instructions that a part of a run executed.

    Attributes:
        instructions: all instructions; a conditional one counts whether or not it has an effect.
        simd: those that use the SIMD registers, loads and stores included.
        loads, stores: those that read or write memory, however many registers.
    """

    instructions: int = 0
    simd: int = 0
    loads: int = 0
    stores: int = 0

    def __add__(self, other: InstructionCounts) -> InstructionCounts:
        return InstructionCounts(
            self.instructions + other.instructions,
            self.simd + other.simd,
            self.loads + other.loads,
            self.stores + other.stores,
        )


@dataclass(frozen=True, slots=True)
class FunctionInstructions:
    """A C function's share, without the functions that it calls."""

    name: str
    counts: InstructionCounts


@dataclass(frozen=True, slots=True)
class LayerInstructions:
    """One step of the program.

    Attributes:
        name: edgec's name for its output, untrusted.
        sources: ONNX nodes it stands for, untrusted.
        macs: multiply-accumulates.
        functions: what ran in it, most instructions first.
    """

    name: str
    op: str
    sources: tuple[str, ...]
    output_shape: tuple[int, ...]
    kernel: str
    macs: int
    counts: InstructionCounts
    functions: tuple[FunctionInstructions, ...]

    @property
    def title(self) -> str:
        """The first ONNX node that the layer stands for."""
        return next(iter(self.sources), self.name)


@dataclass(frozen=True, slots=True)
class InstructionProfile:
    """One inference on one board with Linux.

    Attributes:
        digest: digest of the program, as in `report.json`.
        board: its name.
        board_title: its name in words.
        core: the processor core.
        input: what was run, in words.
        layers: in order of execution.
        outside: after the last layer; in the total, in no layer.
        functions: the functions of the whole run, most instructions first.
        total: all layers and `outside`.
        macs: multiply-accumulates.
        arena_bytes: size of the arena.
        arena_touched_bytes: from the first to the last byte that inputs and run wrote.
    """

    schema: int
    model_name: str
    digest: str
    board: str
    board_title: str
    core: str
    input: str
    layers: tuple[LayerInstructions, ...]
    outside: InstructionCounts
    functions: tuple[FunctionInstructions, ...]
    total: InstructionCounts
    macs: int
    arena_bytes: int
    arena_touched_bytes: int

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; totals and the counts of layers are flat."""
        data = dataclasses.asdict(self)
        total = data.pop("total")
        data["layers"] = [_flat(layer) for layer in self.layers]
        data["functions"] = [_flat(function) for function in self.functions]
        per_mac = self.total.instructions / self.macs if self.macs else None
        return {"unit": "instructions", **data, **total, "instructions_per_mac": per_mac}


def _flat(part: LayerInstructions | FunctionInstructions) -> dict[str, Any]:
    data = dataclasses.asdict(part)
    data.update(data.pop("counts"))
    if isinstance(part, LayerInstructions):
        per_mac = part.counts.instructions / part.macs if part.macs else None
        data["instructions_per_mac"] = per_mac
        data["functions"] = [_flat(function) for function in part.functions]
    return data


def count_instructions(
    folder: Path | str,
    input: Samples | Mapping[str, Array] | None = None,
    bits: int | None = None,
    length: int | None = None,
) -> InstructionProfile:
    """Count the instructions of one inference of a build folder's program.

    Args:
        folder: written by `edgec compile` for a board with Linux.
        input: .npz file or samples [N, ...] by input name, of which the first is run; None: a
            pseudo-random input that is always the same.
        bits: width of activations, of a build with --runtime-bits; None: as compiled.
        length: tokens of the run, of a build with --max-length; None: those of `input`, or the
            longest run.

    Raises:
        ConfigError: no program in the folder, a board without Linux, samples that do not fit, a
            length that no run has, or widths that are fixed.
        SimulationError: the program could not be run.
    """
    folder = Path(folder)
    report = Report.read(folder)
    if report.board.linux is None:
        raise ConfigError("was not built for a board with Linux", where=str(folder))
    check_width(report, bits, folder)
    if length is not None:
        report.at_length(length)
    given = profile_input(report, input, length)
    if given.length is not None:
        report = report.at_length(given.length)
    elf = firmware_program(folder, report)
    run = trace_program(
        *(elf, report.board, given.arrays),
        bits=bits,
        length=given.length,
        calls=report.calls,
        earlier=given.earlier,
    )
    if run.digest != report.digest[: len(run.digest)]:
        raise ConfigError(
            "report and firmware are of different models",
            where=str(folder),
            hint="compile it again",
        )
    return _summary(report, run, given.words)


def _summary(report: Report, run: TracedProgram, words: str) -> InstructionProfile:
    if len(run.segments) != len(report.layers):
        raise InternalError(f"{len(run.segments)} segments for {len(report.layers)} layers")
    counter = InstructionCounter(run.program)
    parts = [counter.functions(segment) for segment in run.segments]
    outside = counter.functions(run.outside)
    every = _merged([*parts, outside])
    return InstructionProfile(
        schema=SCHEMA,
        model_name=report.model,
        digest=report.digest,
        board=report.board.name,
        board_title=report.board.title,
        core=report.board.core.value,
        input=words,
        layers=tuple(_layer(*pair) for pair in zip(report.layers, parts, strict=True)),
        outside=_sum(outside),
        functions=_ordered(every),
        total=_sum(every),
        macs=report.macs,
        arena_bytes=report.memory.arena_bytes,
        arena_touched_bytes=run.arena_touched_bytes,
    )


def _layer(layer: LayerReport, part: Mapping[str, InstructionCounts]) -> LayerInstructions:
    return LayerInstructions(
        name=layer.name,
        op=layer.op,
        sources=layer.sources,
        output_shape=layer.output_shape,
        kernel=layer.kernel,
        macs=layer.macs,
        counts=_sum(part),
        functions=_ordered(part),
    )


class InstructionCounter:
    """Adds up blocks of one program; decodes each once.

    Args:
        program: the program that was traced.

    Raises:
        ConfigError: capstone is not installed.
    """

    def __init__(self, program: LinuxProgram) -> None:
        try:
            from edgec.timing.decode_linux import count_kinds  # noqa: PLC0415  (optional extra)
        except ModuleNotFoundError as error:
            if error.name != "capstone":
                raise
            raise ConfigError(
                "a profile needs capstone, which is not installed",
                hint="pip install unicorn capstone",
            ) from error
        self._program = program
        self._count_kinds = count_kinds
        self._blocks: dict[tuple[int, int], InstructionCounts] = {}

    def total(self, segment: Segment) -> InstructionCounts:
        """Counts of a part of a run."""
        return _sum(self.functions(segment))

    def functions(self, segment: Segment) -> dict[str, InstructionCounts]:
        """Counts of a part of a run, by C function."""
        found: dict[str, InstructionCounts] = {}
        for edge, executions in segment.edges.items():
            name = self._program.function(edge.start)
            block = self._block(edge.start, edge.size_bytes)
            counts = InstructionCounts(*(executions * n for n in dataclasses.astuple(block)))
            found[name] = found.get(name, InstructionCounts()) + counts
        return found

    def _block(self, address: int, size_bytes: int) -> InstructionCounts:
        key = (address, size_bytes)
        if key not in self._blocks:
            code = self._program.read(address, size_bytes)
            kinds = self._count_kinds(code, address, self._program.kind(address))
            self._blocks[key] = InstructionCounts(
                kinds.instructions, kinds.simd, kinds.loads, kinds.stores
            )
        return self._blocks[key]


def _merged(parts: Sequence[Mapping[str, InstructionCounts]]) -> dict[str, InstructionCounts]:
    sums: dict[str, InstructionCounts] = {}
    for part in parts:
        for name, counts in part.items():
            sums[name] = sums.get(name, InstructionCounts()) + counts
    return sums


def _sum(part: Mapping[str, InstructionCounts]) -> InstructionCounts:
    return sum(part.values(), InstructionCounts())


def _ordered(part: Mapping[str, InstructionCounts]) -> tuple[FunctionInstructions, ...]:
    ordered = sorted(part.items(), key=lambda item: (-item[1].instructions, item[0]))
    return tuple(FunctionInstructions(name, counts) for name, counts in ordered)
