"""One inference of a Linux program, block by block: what an instruction count adds up."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, SimulationError
from edgec.base.options import MAX_ACTIVATION_BITS
from edgec.sim.linux_program import LinuxProgram, load_program
from edgec.sim.native import STATUS_NAMES, NativeContext, NativeModel, NativeTensor, layout
from edgec.sim.trace_plan import TracePlan
from edgec.target.board import Board
from edgec.timing.memory import count_instructions
from edgec.timing.types import FlashTiming, Segment

if TYPE_CHECKING:
    from edgec.sim.linux_machine import LinuxMachine
    from edgec.sim.trace_records import Tracer

_DIGEST_LENGTH = 16
_FILLS = (0xAA, 0x55)
"""Bytes with no bit in common: a byte that keeps both was not written."""
_NOT_YET = STATUS_NAMES.index("EDGEC_NOT_YET")
_DTYPES = (np.int8, np.int32, np.int16)
"""Element types by their values in `edgec_dtype_t`."""


@dataclass(frozen=True, slots=True, eq=False)
class TracedProgram:
    """Blocks that one inference executed, by step.

    Attributes:
        program: the program, for names and instructions.
        segments: one per step, without the caller's step hook.
        outside: what ran after the last step.
        outputs: one flat array per model output.
        digest: 16 hexadecimal digits of the model.
        arena_touched_bytes: from the first to the last byte of the arena that inputs and run wrote.
    """

    program: LinuxProgram
    segments: tuple[Segment, ...]
    outside: Segment
    outputs: tuple[Array, ...]
    digest: str
    arena_touched_bytes: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    """`edgec_tensor_t` without its zero point, as it is in a run."""

    offset: int
    size_bytes: int
    dtype: int


@dataclass(frozen=True, slots=True)
class _Model:
    """`edgec_model_t` for runs of one length; functions with their Thumb bit, 0: none.

    Attributes:
        run: the function, and what it takes after the context.
        reset: begins a stream, of a model with a state.
        image_runs: runs that take the inputs together.
    """

    digest: str
    num_steps: int
    inputs: tuple[_Tensor, ...]
    outputs: tuple[_Tensor, ...]
    init: int
    run: tuple[int, ...]
    set_activation_bits: int
    reset: int
    image_runs: int


def trace_program(
    elf: Path,
    board: Board,
    inputs: Sequence[Array],
    *,
    bits: int | None = None,
    length: int | None = None,
    calls: Sequence[int] | None = None,
    native: bool | None = None,
    limit_s: float = 600.0,
    earlier: Sequence[Sequence[Array]] = (),
) -> TracedProgram:
    """Load a Linux program into Unicorn, run its first model once and count.

    The model's own functions are called, as the program's main function calls them; start-up code,
    console and operating system have no part.  The same program and inputs give the same counts.

    Args:
        elf: the program.
        board: the board with Linux that it was built for.
        inputs: one array per model input.
        bits: width of activations to set before the run; None: as compiled.
        length: tokens of the run, which the inputs have; None: the longest.
        calls: the number of the step of each call, in order; None: each step is called once.
        native: count in compiled C; None: if a compiler for this computer is installed.
        limit_s: longest run.
        earlier: inputs of runs before it, which are not counted.

    Raises:
        ConfigError: Unicorn is not installed.
        BuildError: `native` is True and there is no compiler.
        SimulationError: not a program of this edgec, wrong inputs, a fault, or out of time.
    """
    program = load_program(elf, board)
    machine = _machine(program, board)
    model = _read_model(machine, machine.read_pointer(program.symbol("app_models")[0]), length)
    _prepare(machine, model, program, inputs, bits)
    for each in earlier:
        _run(machine, model, program, each)
    plan = _plan(program, model, machine.hook)
    from edgec.sim.trace_native import make_tracer  # noqa: PLC0415  (optional extra)

    tracer = make_tracer(plan, limit_s, native=native)
    _run(machine, model, program, inputs, tracer)
    outputs = _outputs(machine, model, program.symbol("app_arena")[0])
    records = tracer.records()
    steps = range(model.num_steps) if calls is None else calls
    if not records.finished or records.segments != len(steps):
        raise SimulationError(
            f"the run was not seen whole: {records.segments} of {len(steps)} steps",
            where=str(elf),
        )
    return TracedProgram(
        program=program,
        segments=records.steps(steps),
        outside=records.outside,
        outputs=outputs,
        digest=model.digest,
        arena_touched_bytes=_touched(machine, model, program, inputs, bits),
    )


def _machine(program: LinuxProgram, board: Board) -> LinuxMachine:
    try:
        from edgec.sim.linux_machine import LinuxMachine  # noqa: PLC0415  (optional extra)
    except ModuleNotFoundError as error:
        if error.name != "unicorn":
            raise
        raise ConfigError(
            "a profile needs Unicorn, which is not installed", hint="pip install unicorn capstone"
        ) from error
    return LinuxMachine(program, board)


def _prepare(
    machine: LinuxMachine,
    model: _Model,
    program: LinuxProgram,
    inputs: Sequence[Array],
    bits: int | None,
) -> None:
    """Make an `edgec_context_t` in the scratch memory and write the inputs."""
    arena, arena_bytes = program.symbol("app_arena")
    if not model.reset:
        _check(machine.call(model.init, machine.scratch, arena, arena_bytes), "init")
    machine.write_pointers(machine.scratch, arena, machine.hook, 0)
    if model.reset:
        # Its init has more arguments than registers: the context is written as init would.
        at = layout(NativeContext, machine.pointer_bytes)["state"]
        machine.write_pointers(machine.scratch + at, program.symbol("app_state")[0])
        _check(machine.call(model.reset, machine.scratch), "reset")
        bits = MAX_ACTIVATION_BITS if bits is None else bits
    if bits is not None and model.set_activation_bits:
        machine.call(model.set_activation_bits, machine.scratch, bits)
    sizes = [model.image_runs * tensor.size_bytes for tensor in model.inputs]
    if [array.nbytes for array in inputs] != sizes:
        raise SimulationError("the inputs are not the model's")


def _run(
    machine: LinuxMachine,
    model: _Model,
    program: LinuxProgram,
    inputs: Sequence[Array],
    tracer: Tracer | None = None,
) -> None:
    """All runs of a sample."""
    arena, _ = program.symbol("app_arena")
    run, *arguments = model.run
    for number in range(model.image_runs):
        for array, tensor in zip(inputs, model.inputs, strict=True):
            start = number * tensor.size_bytes
            part = array.tobytes()[start : start + tensor.size_bytes]
            machine.write(arena + tensor.offset, part)
        status = machine.call(run, machine.scratch, *arguments, tracer=tracer)
        if status & 0xFFFF_FFFF != _NOT_YET:
            _check(status, "run")


def _plan(program: LinuxProgram, model: _Model, hook: int) -> TracePlan:
    return TracePlan(
        image=program,
        run_entry=model.run[0] & ~1,
        hook_entry=hook,
        # Unicorn 2.1.4 loses contents of NEON registers where writes are watched (`_touched`).
        arena=(0, 0),
        divides=(),
        timing=FlashTiming(0, 0, 0, 4, False, None, None),  # no waiting
        pace=count_instructions,
        is_aarch64=program.is_aarch64,
        runs=model.image_runs,
    )


def _read_model(machine: LinuxMachine, address: int, length: int | None) -> _Model:
    """`edgec_model_t` of edgec/edgec.h, as the compiler lays it out for the core."""
    fields = layout(NativeModel, machine.pointer_bytes)

    def word(name: str) -> int:
        return int.from_bytes(machine.read(address + fields[name], 4), "little")

    def pointer(name: str) -> int:
        return machine.read_pointer(address + fields[name])

    longest = word("max_length")
    length = longest if length is None else length
    if length > longest:
        raise SimulationError(f"no run can have the length {length}")
    less = longest - length
    run = (pointer("run_length"), length) if longest else (pointer("run"),)
    digest = machine.read(pointer("digest"), _DIGEST_LENGTH)
    return _Model(
        digest=digest.decode("ascii", errors="replace"),
        num_steps=word("num_steps"),
        inputs=_tensors(machine, pointer("inputs"), word("num_inputs"), less),
        outputs=_tensors(machine, pointer("outputs"), word("num_outputs"), less),
        init=pointer("init"),
        run=run,
        set_activation_bits=pointer("set_activation_bits"),
        reset=pointer("reset") if word("state_bytes") else 0,
        image_runs=max(word("image_runs"), 1),
    )


def _tensors(machine: LinuxMachine, address: int, count: int, less: int) -> tuple[_Tensor, ...]:
    """Tensors of a run that has `less` tokens fewer than the longest."""
    size = ctypes.sizeof(NativeTensor)  # words alone, so equal on every core
    data = machine.read(address, count * size)
    tensors = (NativeTensor.from_buffer_copy(data, index * size) for index in range(count))
    return tuple(
        _Tensor(each.offset, each.bytes - less * each.row_bytes, each.dtype) for each in tensors
    )


def _check(status: int, function: str) -> None:
    if status & 0xFFFF_FFFF:
        raise SimulationError(f"the model's {function} function returned {status:#x}")


def _outputs(machine: LinuxMachine, model: _Model, arena: int) -> tuple[Array, ...]:
    return tuple(
        np.frombuffer(machine.read(arena + tensor.offset, tensor.size_bytes), _DTYPES[tensor.dtype])
        for tensor in model.outputs
    )


def _touched(
    machine: LinuxMachine,
    model: _Model,
    program: LinuxProgram,
    inputs: Sequence[Array],
    bits: int | None,
) -> int:
    """Bytes from the first to the last of the arena that inputs and run write.

    Two runs start with the arena filled with different bytes; what both leave was not written.
    """
    arena, size = program.symbol("app_arena")
    written = np.zeros(size, bool)
    for fill in _FILLS:
        machine.write(arena, bytes([fill]) * size)
        _prepare(machine, model, program, inputs, bits)
        _run(machine, model, program, inputs)
        written |= np.frombuffer(machine.read(arena, size), np.uint8) != fill
    for tensor in model.inputs:
        written[tensor.offset : tensor.offset + tensor.size_bytes] = True
    places = np.flatnonzero(written)
    return int(places[-1] - places[0]) + 1 if places.size else 0
