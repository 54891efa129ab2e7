"""`profile`: trace the firmware of a build folder and add up what its blocks cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, InternalError
from edgec.base.samples import Samples
from edgec.profile.energy import energy_of
from edgec.profile.inputs import profile_input
from edgec.profile.pricing import PricedSegment, Pricer, floor_of
from edgec.profile.types import (
    SCHEMA,
    CoreModelFacts,
    Counts,
    FunctionProfile,
    LayerProfile,
    Profile,
)
from edgec.report.model import LayerReport, Report
from edgec.sim.emulator_image import load_image
from edgec.sim.trace import trace_inference
from edgec.timing.core import core_model
from edgec.timing.core_model import CoreModel
from edgec.timing.types import MemoryMode, Trace
from edgec.workflow.session import check_width, firmware_program


def profile(
    folder: Path | str,
    input: Samples | Mapping[str, Array] | None = None,
    memory: MemoryMode | str = MemoryMode.FLASH,
    bits: int | None = None,
    length: int | None = None,
) -> Profile:
    """Profile one inference of a build folder's firmware.

    Args:
        folder: written by `edgec compile`.
        input: samples on disk or [N, ...] by input name, of which the first is run; None: a
            pseudo-random input that is always the same.
        memory: "flash": as the board runs it; "sram": code and weights in RAM; "ideal": no waiting.
        bits: width of activations, of a build with --runtime-bits; None: as compiled.
        length: tokens of the run, of a build with --max-length; None: those of `input`, or the
            longest run.

    Raises:
        ConfigError: no firmware in the folder, an unknown memory, samples that do not fit, a length
            that no run has, or widths that are fixed.
        SimulationError: the firmware could not be run.
    """
    folder = Path(folder)
    mode = _mode(memory)
    report = Report.read(folder)
    board = report.board
    check_width(report, bits, folder)
    if board.is_hosted:
        what = "the host" if board.is_host else f"{board.name}, a board with Linux"
        raise ConfigError(
            f"was built for {what}, which has no cycle model",
            where=str(folder),
            hint="compile it for a microcontroller: edgec boards",
        )
    elf = firmware_program(folder, report)
    if length is not None:
        report.at_length(length)
    given = profile_input(report, input, length)
    if given.length is not None:
        report = report.at_length(given.length)
    model = core_model(board.core, board.fpu)
    pricer = Pricer(load_image(elf, board), model)
    run = trace_inference(
        *(elf, board, given.arrays, mode),
        bits=bits,
        length=given.length,
        calls=report.calls,
        pace=pricer.pace,
        earlier=given.earlier,
    )
    if run.info.digest != report.digest[: len(run.info.digest)]:
        raise ConfigError(
            "report and firmware are of different models",
            where=str(folder),
            hint="compile it again",
        )
    return _summary(report, run.trace, pricer, model, mode, given.words)


def _mode(memory: MemoryMode | str) -> MemoryMode:
    try:
        return MemoryMode(memory)
    except ValueError:
        names = ", ".join(mode.value for mode in MemoryMode)
        raise ConfigError(f"unknown memory {memory!r}", hint=f"--memory takes {names}") from None


def _summary(
    report: Report,
    trace: Trace,
    pricer: Pricer,
    model: CoreModel,
    mode: MemoryMode,
    words: str,
) -> Profile:
    board = report.board
    if board.memory is None or len(trace.segments) != len(report.layers):
        raise InternalError(f"{len(trace.segments)} segments for {len(report.layers)} layers")
    parts = [pricer.price(segment) for segment in trace.segments]
    outside = pricer.price(trace.outside)
    total = sum((part.total for part in parts), outside.total)
    return Profile(
        schema=SCHEMA,
        model_name=report.model,
        digest=report.digest,
        board=board.name,
        board_title=board.title,
        core=board.core.value,
        clock_hz=board.clock_hz,
        memory=mode.value,
        input=words,
        layers=tuple(_layer(layer, part) for layer, part in zip(report.layers, parts, strict=True)),
        outside=outside.total,
        functions=_functions([*parts, outside]),
        total=total,
        macs=report.macs,
        stack_bytes=trace.stack_bytes or None,
        stack_limit_bytes=board.memory.stack_bytes,
        arena_bytes=report.memory.arena_bytes,
        arena_touched_bytes=trace.arena.high - trace.arena.low,
        energy=energy_of(board, total.cycles),
        model=CoreModelFacts(model.name, model.known_error, tuple(model.sources)),
        floor=floor_of(board),
        ram_weights=_ram_weights(report),
    )


def _ram_weights(report: Report) -> str:
    """Weights in RAM, in words."""
    found = report.placement
    if found is None or not found.weights:
        return ""
    return f"{found.ram_bytes:,} of {report.memory.weight_bytes:,} bytes of weights in " + (
        " and ".join(found.regions)
    )


def _layer(layer: LayerReport, part: PricedSegment) -> LayerProfile:
    return LayerProfile(
        name=layer.name,
        op=layer.op,
        sources=layer.sources,
        output_shape=layer.output_shape,
        kernel=layer.kernel,
        macs=layer.macs,
        moved_bytes=layer.turns * (layer.weight_bytes + layer.input_bytes + layer.output_bytes),
        counts=part.total,
        functions=_functions([part]),
    )


def _functions(parts: list[PricedSegment]) -> tuple[FunctionProfile, ...]:
    """Functions of several segments, most cycles first."""
    sums: dict[str, Counts] = {}
    for part in parts:
        for name, counts in part.functions.items():
            sums[name] = sums.get(name, Counts()) + counts
    ordered = sorted(sums.items(), key=lambda item: (-item[1].cycles, item[0]))
    return tuple(FunctionProfile(name, counts) for name, counts in ordered)
