"""Compares what ran (host trace, emulator CRCs, outputs) with the oracle, call by call.

Only equality passes.  A difference is reported at the first call of a step that has one: later
calls differ because of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from edgec.base.calls import Call
from edgec.base.dtypes import Array
from edgec.base.errors import SimulationError
from edgec.ir.rows import ROWS
from edgec.lower.program import Program, Step
from edgec.sim.replies import FirmwareStep

_T = TypeVar("_T")
_HINT = "this is a bug of edgec; please report it with the model"


def compare_trace(
    program: Program, oracle: Mapping[str, Array], trace: Sequence[bytes], where: str = "host"
) -> None:
    """Check the output tensor of every call of a step.

    Args:
        program: what ran.
        oracle: all tensors by name, from `interp.run_graph` on the same input.
        trace: bytes of the output of each call, from `HostModel.trace`.
        where: what ran it, for the message.

    Raises:
        SimulationError: the first call that differs, with the first element that does.
    """
    for call, found in _calls(program, trace, where):
        step = program.steps[call.step]
        expected = value_of(program, oracle, call)
        _check_tensor(expected, found, _layer(call, step, where))


def compare_crcs(
    program: Program,
    oracle: Mapping[str, Array],
    steps: Sequence[FirmwareStep],
    where: str = "emulator",
) -> None:
    """Check the size and CRC-32 of the output tensor of every call of a step.

    Args:
        program: what ran.
        oracle: all tensors by name, from `interp.run_graph` on the same input.
        steps: the calls, from a trace of the firmware.
        where: what ran it, for the message.

    Raises:
        SimulationError: the first call that differs.
    """
    for call, found in _calls(program, steps, where):
        layer = _layer(call, program.steps[call.step], where)
        expected = _bytes_of(value_of(program, oracle, call))
        if found.size_bytes != len(expected):
            raise _wrong_size(found.size_bytes, len(expected), layer)
        crc = zlib.crc32(expected)
        if found.crc != crc:
            shown = "nothing" if found.crc is None else f"{found.crc:08x}"
            raise SimulationError(
                f"the CRC of its {len(expected)} bytes is {shown}, expected {crc:08x}",
                where=layer,
                hint=_HINT,
            )


def compare_outputs(
    program: Program, oracle: Mapping[str, Array], outputs: Sequence[Array], where: str
) -> None:
    """Check the model's outputs for one sample.

    Args:
        program: what ran.
        oracle: all tensors by name, from `interp.run_graph` on the same input.
        outputs: one array per model output, any shape.
        where: what ran it, for the message.

    Raises:
        SimulationError: the first output that differs, with the first element that does.
    """
    for index, (port, found) in enumerate(zip(program.outputs, outputs, strict=True)):
        layer = f"{where}, output {index} ({port.tensor.name})"
        _check_tensor(oracle[port.tensor.name], _bytes_of(found), layer)


def value_of(program: Program, oracle: Mapping[str, Array], call: Call) -> Array:
    """The codes that a call of a step writes; none where later calls complete them.

    Args:
        program: the program of the step.
        oracle: all tensors by name, from `interp.run_graph`.
        call: the step, in certain turns.
    """
    step = program.steps[call.step]
    turns = program.loops_around(call.step)[-1].count if step.written is not None else 0
    tensor = step.outputs[call.output]
    codes = channels_of(oracle[tensor.name], tensor.shape, step.first_channel)
    return codes_of_call(codes, tensor.shape, call, turns)


def channels_of(codes: Array, shape: Sequence[int], first: int | None) -> Array:
    """The channels of a tensor that a step computes.

    Args:
        codes: the whole tensor.
        shape: shape of the step's output.
        first: the first of its channels; None: all.
    """
    return codes if first is None else codes[..., first : first + shape[-1]]


def codes_of_call(codes: Array, shape: Sequence[int], call: Call, turns: int) -> Array:
    """The part of the tensors of a run that a call writes; nothing where later calls complete it.

    Args:
        codes: the tensor; of a value of loops, with an axis for the turns of each of them.
        shape: shape of the tensor in one turn.
        call: the step, in certain turns.
        turns: number of turns of the loop whose values the step collects in one tensor; 0: it does
            not, each call writes the whole tensor.
    """
    if call.first_row is not None:
        rows = codes[:, call.first_row : call.first_row + shape[ROWS]]
        return np.asarray(rows if call.columns is None else rows[:, :, slice(*call.columns)])
    if turns:
        whole = np.asarray(codes[call.turns[:-1]])
        return whole if call.turns[-1] == turns - 1 else whole.reshape(-1)[:0]
    # A carried value before its first turn belongs to the loop already.
    levels = codes.ndim - len(shape)
    return np.asarray(codes[(call.turns + (0,) * levels)[:levels]])


def _calls(program: Program, found: Sequence[_T], where: str) -> Iterator[tuple[Call, _T]]:
    """Each call, and what is known of it."""
    calls = tuple(program.calls())
    if len(found) != len(calls):
        raise SimulationError(
            f"{len(found)} outputs of steps were written, the program has {len(calls)}",
            where=where,
            hint=_HINT,
        )
    return zip(calls, found, strict=True)


def _check_tensor(expected: Array, found: bytes, layer: str) -> None:
    if len(found) != expected.nbytes:
        raise _wrong_size(len(found), expected.nbytes, layer)
    codes = np.frombuffer(found, expected.dtype.newbyteorder("<")).reshape(expected.shape)
    wrong = np.argwhere(codes != expected)
    if len(wrong) == 0:
        return
    at = tuple(int(position) for position in wrong[0])
    raise SimulationError(
        f"{len(wrong)} of {codes.size} elements differ from the reference; the first, at "
        f"{list(at)}, is {codes[at]} instead of {expected[at]}",
        where=layer,
        hint=_HINT,
    )


def _wrong_size(found: int, expected: int, layer: str) -> SimulationError:
    return SimulationError(
        f"its output has {found} bytes, expected {expected}", where=layer, hint=_HINT
    )


def _layer(call: Call, step: Step, where: str) -> str:
    turn = "".join(f", turn {turn}" for turn in call.turns)
    return f"{where}, step {call.step}{turn} ({step.node}, writes {step.outputs[call.output].name})"


def _bytes_of(codes: Array) -> bytes:
    return codes.astype(codes.dtype.newbyteorder("<")).tobytes()
