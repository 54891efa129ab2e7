"""Replies of the firmware: what it is, what a run found, and how their lines are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from edgec.base.dtypes import DType
from edgec.base.errors import SimulationError
from edgec.sim.ports import PortTensor

PROTOCOL_VERSION = 1
REQUEST_OVERHEAD = 40
"""Characters of a `write` request beside the data: checksum, words, numbers."""


@dataclass(frozen=True, slots=True)
class FirmwareInfo:
    """Answer of the firmware to `info`: its board, its limits and its selected model.

    Attributes:
        edgec: version of edgec that made it.
        board: board it was built for.
        clock_hz: core clock, the unit of cycle counts.
        line_bytes: longest request it takes.
        frame_bytes: most bytes that it takes after a request, as they are; 0: text alone.
        stack_bytes: most stack used since start; 0 where it is not measured.
        models: number of models; see `FirmwareClient.select`.
        model: C name of the selected model.
        digest: first 16 hexadecimal digits of the model's SHA-256.
        arena_bytes: working memory of the model.
        state_bytes: memory that it keeps from run to run; 0: none.
        image_runs: runs that take a sample together, each the next rows of an image.
        image_passes: how often they take all rows.
        steps: number of steps of a run.
        runtime_bits: the width of its activations can be lowered.
        max_length: its longest run; 0 where all runs have one length.
        inputs, outputs: its tensors, as long as `FirmwareClient.set_length` has made them; the
            inputs those of all runs of a sample.
    """

    edgec: str
    board: str
    clock_hz: int
    line_bytes: int
    frame_bytes: int
    stack_bytes: int
    models: int
    model: str
    digest: str
    arena_bytes: int
    state_bytes: int
    steps: int
    runtime_bits: bool
    max_length: int
    inputs: tuple[PortTensor, ...]
    outputs: tuple[PortTensor, ...]
    image_runs: int = 1
    image_passes: int = 1

    @property
    def image_parts(self) -> int:
        """Parts of an image, one for each run that takes it once."""
        return self.image_runs // self.image_passes

    @property
    def keeps(self) -> bool:
        """Whether a run depends on those before it."""
        return self.state_bytes > 0 or self.image_runs > 1


@dataclass(frozen=True, slots=True)
class FirmwareStep:
    """One call of a step of a traced or benchmarked run.

    Attributes:
        number: number of the step, the same for all turns of a loop.
        size_bytes: size of the step's output tensor.
        crc: CRC-32 (zlib's) of the output tensor; None in a benchmark.
        cycles: cycles of the step; None in a trace.
    """

    number: int
    size_bytes: int
    crc: int | None
    cycles: int | None


def parse_info(lines: Sequence[str]) -> FirmwareInfo:
    """The answer to `info`.

    Raises:
        SimulationError: one of another protocol, or none that this client understands.
    """
    tensors = ("input=", "output=")
    fields = fields_of(line for line in lines if not line.startswith(tensors))
    version = number_of(fields, "protocol")
    if version != PROTOCOL_VERSION:
        raise SimulationError(
            f"the firmware speaks protocol {version}, this edgec {PROTOCOL_VERSION}",
            hint="build the firmware again",
        )
    if number_of(fields, "line") < 2 * REQUEST_OVERHEAD:
        raise _unexpected(f"line={fields['line']}")
    image_runs, image_passes = (
        max(number_of(fields, name), 1) if name in fields else 1
        for name in ("image_runs", "image_passes")
    )
    if image_runs % image_passes:
        raise _unexpected(f"image_runs={image_runs} image_passes={image_passes}")
    parts = image_runs // image_passes
    inputs = (_parse_tensor(line) for line in lines if line.startswith("input="))
    try:
        return FirmwareInfo(
            edgec=fields["edgec"],
            board=fields["board"],
            clock_hz=number_of(fields, "clock_hz"),
            line_bytes=number_of(fields, "line"),
            frame_bytes=number_of(fields, "frame") if "frame" in fields else 0,
            stack_bytes=number_of(fields, "stack"),
            models=number_of(fields, "models"),
            model=fields["model"],
            digest=fields["digest"],
            arena_bytes=number_of(fields, "arena"),
            state_bytes=number_of(fields, "state") if "state" in fields else 0,
            steps=number_of(fields, "steps"),
            runtime_bits=fields.get("runtime_bits") == "1",
            max_length=number_of(fields, "max_length") if "max_length" in fields else 0,
            inputs=tuple(replace(t, size_bytes=parts * t.size_bytes) for t in inputs),
            outputs=tuple(_parse_tensor(line) for line in lines if line.startswith("output=")),
            image_runs=image_runs,
            image_passes=image_passes,
        )
    except KeyError as error:
        raise _unexpected(f"{error.args[0]} is missing") from error


def _parse_tensor(line: str) -> PortTensor:
    fields = fields_of(line.split())
    try:
        dtype = DType(fields.get("dtype", ""))
        zero_point = int(fields.get("zero_point", ""))
    except ValueError as error:
        raise _unexpected(line) from error
    size = number_of(fields, "bytes")
    if size % dtype.numpy.itemsize or not -(2**31) <= zero_point < 2**31:
        raise _unexpected(line)
    return PortTensor(size, dtype, zero_point)


def data_of(lines: Iterable[str]) -> bytes:
    """The bytes of lines `data=HEX`."""
    found = list(lines)
    try:
        return b"".join(bytes.fromhex(line.removeprefix("data=")) for line in found)
    except ValueError as error:
        raise _unexpected("\n".join(found)) from error


def parse_step(line: str) -> FirmwareStep:
    """A line on a call of a step."""
    fields = fields_of(line.split())
    return FirmwareStep(
        number=number_of(fields, "step"),
        size_bytes=number_of(fields, "bytes"),
        crc=number_of(fields, "crc", base=16) if "crc" in fields else None,
        cycles=number_of(fields, "cycles") if "cycles" in fields else None,
    )


def fields_of(items: Iterable[str]) -> dict[str, str]:
    """`key=value` items as a dictionary."""
    pairs = (item.partition("=") for item in items)
    return {key: value for key, _, value in pairs}


def number_of(fields: Mapping[str, str], key: str, base: int = 10) -> int:
    """A number of the firmware's replies, all of which are unsigned and of 32 bits."""
    try:
        number = int(fields[key], base)
    except (KeyError, ValueError) as error:
        raise _unexpected(f"{key}={fields.get(key, '')}") from error
    if not 0 <= number < 2**32:
        raise _unexpected(f"{key}={fields[key]}")
    return number


def _unexpected(text: str) -> SimulationError:
    return SimulationError(
        f"the firmware sent something unexpected: {text[:200]}",
        hint="build the firmware with this version of edgec",
    )
