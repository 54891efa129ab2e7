"""Client of the firmware: what it holds, runs on real inputs, traces, benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import SimulationError
from edgec.sim.link import MOST_FRAME_BYTES, ByteStream, Link, RequestError
from edgec.sim.ports import PortTensor
from edgec.sim.replies import (
    REQUEST_OVERHEAD,
    FirmwareInfo,
    FirmwareStep,
    data_of,
    fields_of,
    number_of,
    parse_info,
    parse_step,
)

_REPLAYS = 8
"""Number of times that a stream is begun anew before the line is given up."""
_READ_BYTES = 256
"""Bytes of an output per request: little to repeat when the line was disturbed."""


@dataclass(frozen=True, slots=True, eq=False)
class FirmwareRun:
    """Results of one run.

    Attributes:
        outputs: one flat, read-only int8 or int32 array per model output.
        cycles: cycles of the whole run; None when it was traced or benchmarked, or where
            cycles mean nothing (emulation).
        stack_bytes: most stack used since start; 0 where it is not measured.
        steps: one entry per call of a step of a trace or benchmark; empty for a plain run.
        ready: False where the outputs mean nothing yet, early in a stream; then they are zeros.
    """

    outputs: tuple[Array, ...]
    cycles: int | None
    stack_bytes: int
    steps: tuple[FirmwareStep, ...] = ()
    ready: bool = True


class FirmwareClient:
    """Drives firmware over a byte stream.

    Runs of a model with a state are the steps of one stream, which `reset` ends.  Where a run has
    to be repeated, after noise on the line or for `dump`, all steps before it are repeated first.
    The runs that take the parts of an image are such a stream, too.

    Args:
        stream: connection to the firmware.
        reply_timeout_s: longest wait for the answer to a small request.
        run_timeout_s: longest wait for a run of the model.
        locate: puts a code address into words, for fault messages.

    Raises:
        SimulationError: the firmware does not answer.
    """

    def __init__(
        self,
        stream: ByteStream,
        *,
        reply_timeout_s: float = 10.0,
        run_timeout_s: float = 300.0,
        locate: Callable[[int], str] | None = None,
    ) -> None:
        self._link = Link(stream, reply_timeout_s, locate)
        self._run_timeout_s = run_timeout_s
        self._info: FirmwareInfo | None = None
        self._stream: list[list[bytes]] = []
        self._kept: int | None = None
        self._link.synchronise()

    def info(self) -> FirmwareInfo:
        """Ask the firmware for its board, its limits and its selected model.

        Raises:
            SimulationError: no answer, or one that this client does not understand.
        """
        self._info = parse_info(self._link.request("info"))
        return self._info

    def select(self, index: int) -> None:
        """Make another model of the firmware the one that runs.

        Raises:
            RequestError: there is no such model.
            SimulationError: no answer.
        """
        self._link.request(f"model {index:d}")
        self._info = None
        self._stream.clear()

    def reset(self) -> None:
        """Begin a new stream; a model without a state has nothing to begin.

        Raises:
            SimulationError: no answer.
        """
        if (self._info or self.info()).keeps:
            self._link.request("reset")
        self._stream.clear()

    def keep(self, runs: int) -> None:
        """Repeat at most some runs of a stream after noise: as many as its state depends on."""
        self._kept = runs

    def heard(self, timeout_s: float) -> tuple[int, tuple[int, ...]] | None:
        """The next result that the firmware gives by itself: its number, and its codes.

        Returns:
            None where none came in time, or a damaged one.

        Raises:
            SimulationError: a fault, or the firmware is gone.
        """
        line = self._link.heard(timeout_s)
        try:
            number, *codes = map(int, (line or "").split())
        except ValueError:
            return None
        return number, tuple(codes)

    def set_activation_bits(self, bits: int) -> int:
        """Let layers with pooled weights see at most `bits` bits of each activation.

        Returns:
            The width in force: `bits`, or the nearest that the model has.

        Raises:
            RequestError: the widths of the model are fixed.
            SimulationError: no answer.
        """
        return number_of(fields_of(self._link.request(f"bits {max(bits, 0):d}")), "bits")

    def set_length(self, length: int) -> None:
        """Let the next runs have `length` tokens; inputs and outputs then are as long.

        Raises:
            RequestError: the model has no such length.
            SimulationError: no answer.
        """
        self._link.request(f"length {max(length, 0):d}")
        self._info = None

    def run(self, inputs: Sequence[Array]) -> FirmwareRun:
        """Run the model once on int8 inputs, in the model's order; any shape of the right size.

        Raises:
            SimulationError: wrong inputs, no answer, or a fault.
        """
        return self._run(inputs, "run")

    def trace(self, inputs: Sequence[Array]) -> FirmwareRun:
        """Like `run`, with the CRC-32 of every step's output tensor."""
        return self._run(inputs, "trace")

    def bench(self, inputs: Sequence[Array]) -> FirmwareRun:
        """Like `run`, with the cycles of every step."""
        return self._run(inputs, "bench")

    def dump(self, inputs: Sequence[Array], step: int) -> bytes:
        """Run the model once; the bytes of the output tensor of a step, of all its calls in order.

        A model with a state repeats the last step of its stream.

        Args:
            inputs: see `run`; those of the last run, of a model with a state.
            step: number of the step.

        Raises:
            RequestError: there is no such step.
            SimulationError: wrong inputs, no answer, a fault, or firmware of an edgec that could
                not do this yet.
        """
        info = self._info or self.info()
        if self._stream and info.state_bytes:
            self._replay(self._stream[:-1])
        reply = self._request_run(inputs, f"dump {step:d}")
        return data_of(line for line in reply if line.startswith("data="))

    def _request_run(self, inputs: Sequence[Array], command: str) -> tuple[str, ...]:
        """The lines of the reply; of an image that comes by rows, those of all its runs."""
        info = self._info or self.info()
        payloads = _payloads(inputs, info)
        if info.image_runs == 1:
            return self._request_part(payloads, command, info)
        self.reset()
        lines: list[str] = []
        for run in range(info.image_runs):
            sizes = [len(data) // info.image_parts for data in payloads]
            at = run % info.image_parts
            pairs = zip(payloads, sizes, strict=True)
            part = [data[at * size : (at + 1) * size] for data, size in pairs]
            lines += self._request_part(part, command, info)
        return tuple(lines)

    def _request_part(
        self, payloads: list[bytes], command: str, info: FirmwareInfo
    ) -> tuple[str, ...]:
        before = list(self._stream)
        repeated = False

        def write_inputs() -> None:
            nonlocal repeated
            if repeated and info.keeps:
                self._replay(before)
            repeated = True
            self._write_all(payloads, info)

        # A run uses its inputs up, so a repetition starts with them.
        reply = self._link.request(command, timeout_s=self._run_timeout_s, prepare=write_inputs)
        if info.keeps:
            self._stream.append(payloads)
            if self._kept is not None:
                del self._stream[: max(len(self._stream) - self._kept, 0)]
        return reply

    def _replay(self, stream: Sequence[list[bytes]]) -> None:
        """Bring the state to where it was after some steps of a stream."""
        info = self._info or self.info()
        for attempt in range(_REPLAYS):
            try:
                self._link.request("reset")
                for payloads in stream:
                    self._write_all(payloads, info)
                    self._link.request("run", timeout_s=self._run_timeout_s)
                break
            except RequestError:
                # The reply to a run was lost: asked again, it misses its inputs.
                if attempt == _REPLAYS - 1:
                    raise
        self._stream = list(stream)

    def _write_all(self, payloads: Sequence[bytes], info: FirmwareInfo) -> None:
        for index, payload in enumerate(payloads):
            self._write(index, payload, info)

    def _run(self, inputs: Sequence[Array], command: str) -> FirmwareRun:
        reply = self._request_run(inputs, command)
        info = self._info or self.info()
        facts = [line for line in reply if not line.startswith("step=")]
        fields = fields_of(facts)
        steps = tuple(parse_step(line) for line in reply if line.startswith("step="))
        cycles = [number_of(fields_of([line]), "cycles") for line in facts if line[:7] == "cycles="]
        ready = sum(line == "ready=0" for line in facts) < info.image_runs
        return FirmwareRun(
            outputs=tuple(
                self._read(index, tensor) if ready else _nothing(tensor)
                for index, tensor in enumerate(info.outputs)
            ),
            cycles=None if command != "run" else sum(cycles) or number_of(fields, "cycles"),
            stack_bytes=number_of(fields, "stack"),
            steps=steps,
            ready=ready,
        )

    def _write(self, index: int, payload: bytes, info: FirmwareInfo) -> None:
        """By frames; a damaged one as lines, which are short and repeated, as for old firmware."""
        frame = min(info.frame_bytes, MOST_FRAME_BYTES)
        for start in range(0, len(payload), frame or len(payload)):
            data = payload[start : start + frame] if frame else payload
            request = f"frame {index} {start} {len(data)}"
            if not frame or not self._link.send_frame(request, data):
                self._write_lines(index, start, data, info.line_bytes)

    def _write_lines(self, index: int, start: int, data: bytes, line_bytes: int) -> None:
        chunk = (line_bytes - REQUEST_OVERHEAD) // 2
        for at in range(0, len(data), chunk):
            self._link.request(f"write {index} {start + at} {data[at : at + chunk].hex()}")

    def _read(self, index: int, tensor: PortTensor) -> Array:
        data = b"".join(
            self._read_part(index, start, min(_READ_BYTES, tensor.size_bytes - start))
            for start in range(0, tensor.size_bytes, _READ_BYTES)
        )
        return frozen(np.frombuffer(data, tensor.dtype.numpy.newbyteorder("<")), tensor.dtype.value)

    def _read_part(self, index: int, start: int, count: int) -> bytes:
        data = data_of(self._link.request(f"read {index} {start} {count}"))
        if len(data) != count:
            raise SimulationError(f"output {index}: {len(data)} bytes came instead of {count}")
        return data


def _nothing(tensor: PortTensor) -> Array:
    """Zeros in place of an output that means nothing."""
    return frozen(np.zeros(tensor.size_bytes // tensor.dtype.size_bytes, tensor.dtype.numpy))


def _payloads(inputs: Sequence[Array], info: FirmwareInfo) -> list[bytes]:
    """The bytes of every input, checked against what the firmware expects."""
    if len(inputs) != len(info.inputs):
        raise SimulationError(
            f"{len(inputs)} inputs given, {len(info.inputs)} expected", where=info.model
        )
    payloads = []
    for index, (array, tensor) in enumerate(zip(inputs, info.inputs, strict=True)):
        if array.dtype != tensor.dtype.numpy or array.nbytes != tensor.size_bytes:
            raise SimulationError(
                f"input {index} is {array.dtype} {list(array.shape)}, "
                f"expected {tensor.dtype.value} of {tensor.size_bytes} bytes",
                where=info.model,
            )
        payloads.append(array.astype(array.dtype.newbyteorder("<")).tobytes())
    return payloads
