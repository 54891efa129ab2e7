"""One inference of a firmware, block by block: what the cycle models price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, SimulationError
from edgec.sim.emulator_image import load_image
from edgec.sim.protocol import FirmwareClient
from edgec.sim.replies import FirmwareInfo
from edgec.sim.trace_plan import TracePlan, make_plan
from edgec.sim.trace_records import Tracer, TraceRecords
from edgec.target.board import Board
from edgec.timing.memory import BlockPace, count_instructions, flash_timing
from edgec.timing.types import ArenaUse, MemoryMode, Trace


@dataclass(frozen=True, slots=True, eq=False)
class TracedRun:
    """A trace and what the firmware said.

    Attributes:
        trace: the counts.
        outputs: one flat array per model output.
        info: the firmware's own description.
    """

    trace: Trace
    outputs: tuple[Array, ...]
    info: FirmwareInfo


def trace_inference(
    elf: Path,
    board: Board,
    inputs: Sequence[Array],
    memory: MemoryMode = MemoryMode.FLASH,
    *,
    bits: int | None = None,
    length: int | None = None,
    calls: Sequence[int] | None = None,
    pace: BlockPace = count_instructions,
    native: bool | None = None,
    limit_s: float = 600.0,
    earlier: Sequence[Sequence[Array]] = (),
) -> TracedRun:
    """Start the firmware in Unicorn, run its first model once and count.

    Runs through the firmware's own protocol with a step hook set, on any board whose port has
    peripheral models, so also on those that QEMU emulates otherwise.  The same firmware and inputs
    give the same counts, natively or not.

    Args:
        elf: the board's firmware.
        board: the board it was built for.
        inputs: int8, one array per model input, in the model's order.
        memory: FLASH simulates wait states and caches; the others have no stalls.
        bits: width of activations to set before the run; None: the width as compiled.
        length: tokens of the run, which the inputs have; None: the longest.
        calls: the number of the step of each call, in order; None: each step is called once.
        pace: cycles of a block without waiting, for how far a prefetch gets meanwhile.
        native: count in compiled C; None: if a compiler for this computer is installed.
        limit_s: longest run.
        earlier: inputs of runs before it, which are not counted.

    Raises:
        ConfigError: Unicorn is not installed.
        BuildError: `native` is True and there is no compiler.
        SimulationError: not firmware of this edgec, wrong inputs, a fault, or out of time.
    """
    image = load_image(elf, board)
    plan = make_plan(elf, image, flash_timing(board, memory), pace)
    try:
        from edgec.sim.trace_native import make_tracer  # noqa: PLC0415  (optional extra)
        from edgec.sim.unicorn_machine import UnicornMachine  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "unicorn":
            raise
        raise ConfigError(
            "a profile needs Unicorn, which is not installed", hint="pip install unicorn capstone"
        ) from error
    tracer = make_tracer(plan, limit_s, native=native)
    machine = UnicornMachine(image, board)
    client = FirmwareClient(machine, run_timeout_s=limit_s, locate=image.locate)
    info = client.info()
    if bits is not None:
        client.set_activation_bits(bits)
    if length is not None:
        client.set_length(length)
    for each in earlier:
        client.run(each)
    machine.watch(tracer)  # not earlier: the start-up code clears the arena
    run = client.bench(inputs)
    steps = range(info.steps) if calls is None else calls
    trace = _trace(plan, tracer, run.stack_bytes, info, steps)
    return TracedRun(trace, run.outputs, info)


def _trace(
    plan: TracePlan, tracer: Tracer, stack_bytes: int, info: FirmwareInfo, calls: Sequence[int]
) -> Trace:
    records = tracer.records()
    if not records.finished or records.segments != len(calls):
        raise SimulationError(
            f"the run was not seen whole: {records.segments} of {len(calls)} steps",
            where=info.model,
            hint="build the firmware again: edgec compile",
        )
    return Trace(
        segments=records.steps(calls),
        outside=records.outside,
        stack_bytes=stack_bytes,
        arena=_arena_use(plan, records, info),
        timing=plan.timing,
    )


def _arena_use(plan: TracePlan, records: TraceRecords, info: FirmwareInfo) -> ArenaUse:
    origin, _ = plan.arena
    low, high = records.written
    base = origin if high else 0
    return ArenaUse(origin, info.arena_bytes, low - base, high - base)
