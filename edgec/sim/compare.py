"""Compares what ran (host trace, emulator CRCs, outputs) with the oracle, step by step.

Only equality passes.  A difference is reported at the first step that has one: later steps differ
because of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import SimulationError
from edgec.lower.program import Program, ProgramTensor, Step
from edgec.sim.protocol import FirmwareStep

_HINT = "this is a bug of edgec; please report it with the model"


def compare_trace(
    program: Program, oracle: Mapping[str, Array], trace: Sequence[bytes], where: str = "host"
) -> None:
    """Check every step's output tensor.

    Args:
        program: what ran.
        oracle: all tensors by name, from `interp.run_graph` on the same input.
        trace: bytes of each step's output, from `HostModel.trace`.
        where: what ran it, for the message.

    Raises:
        SimulationError: the first step that differs, with the first element that does.
    """
    _check_count(program, len(trace), where)
    for index, (step, found) in enumerate(zip(program.steps, trace, strict=True)):
        _check_tensor(oracle[step.output.name], found, step.output, _layer(index, step, where))


def compare_crcs(
    program: Program,
    oracle: Mapping[str, Array],
    steps: Sequence[FirmwareStep],
    where: str = "emulator",
) -> None:
    """Check the size and CRC-32 of every step's output tensor.

    Args:
        program: what ran.
        oracle: all tensors by name, from `interp.run_graph` on the same input.
        steps: from a trace of the firmware.
        where: what ran it, for the message.

    Raises:
        SimulationError: the first step that differs.
    """
    _check_count(program, len(steps), where)
    for index, (step, found) in enumerate(zip(program.steps, steps, strict=True)):
        layer = _layer(index, step, where)
        expected = _bytes_of(oracle[step.output.name])
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
        _check_tensor(oracle[port.tensor.name], _bytes_of(found), port.tensor, layer)


def _check_count(program: Program, count: int, where: str) -> None:
    if count != len(program.steps):
        raise SimulationError(
            f"{count} steps ran, the program has {len(program.steps)}", where=where, hint=_HINT
        )


def _check_tensor(expected: Array, found: bytes, tensor: ProgramTensor, layer: str) -> None:
    if len(found) != tensor.size_bytes:
        raise _wrong_size(len(found), tensor.size_bytes, layer)
    codes = np.frombuffer(found, tensor.dtype.numpy.newbyteorder("<")).reshape(tensor.shape)
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


def _layer(index: int, step: Step, where: str) -> str:
    return f"{where}, step {index} ({step.node}, writes {step.output.name})"


def _bytes_of(codes: Array) -> bytes:
    return codes.astype(codes.dtype.newbyteorder("<")).tobytes()
