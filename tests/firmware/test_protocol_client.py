"""The client against the real program on the host board, over clean and disturbed lines."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from toy_firmware import build_toy_firmware, toy_input, toy_steps

from edgec.base.calls import Call
from edgec.base.dtypes import DType
from edgec.base.errors import SimulationError
from edgec.sim.link import ByteStream, RequestError
from edgec.sim.ports import PortTensor
from edgec.sim.protocol import FirmwareClient
from edgec.target.board import load_board
from edgec.toolchain.live_process import StreamingProcess, open_stream
from edgec.workflow.traced import _Firmware


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy_firmware(tmp_path_factory.mktemp("toy_host"), load_board("host"))


@pytest.fixture
def stream(program: Path) -> Iterator[StreamingProcess]:
    with open_stream([program]) as running:
        yield running


class DisturbedLine:
    """Passes bytes on, but damages some: deterministic, by a seeded generator."""

    def __init__(self, inner: ByteStream, seed: int, flip: float, drop: float) -> None:
        self._inner = inner
        self._random = np.random.default_rng(seed)
        self._flip = flip
        self._drop = drop
        self.damaged = 0

    def _disturb(self, data: bytes) -> bytes:
        result = bytearray()
        for byte in data:
            chance = self._random.random()
            if chance < self._drop:
                self.damaged += 1
            elif chance < self._drop + self._flip:
                self.damaged += 1
                result.append(byte ^ (1 << int(self._random.integers(8))))
            else:
                result.append(byte)
        return bytes(result)

    def write(self, data: bytes) -> None:
        self._inner.write(self._disturb(data))

    def read(self, timeout_s: float) -> bytes:
        while True:
            data = self._inner.read(timeout_s)
            disturbed = self._disturb(data)
            if disturbed or not data:
                return disturbed


class ScriptedLine:
    """Answers each request with the next of some fixed texts, and pings rightly."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self._pending = b""

    def write(self, data: bytes) -> None:
        words = data.decode().split()
        if "ping" in words:
            self._pending += self._reply(f"ping={words[-1]}\n")
        elif self._answers:
            self._pending += self._reply(self._answers.pop(0))

    @staticmethod
    def _reply(body: str) -> bytes:
        return f"{body}ok {zlib.crc32(body.encode()):08x}\n".encode()

    def read(self, timeout_s: float) -> bytes:
        data, self._pending = self._pending, b""
        return data


def test_info(stream: StreamingProcess) -> None:
    info = FirmwareClient(stream).info()
    assert (info.board, info.model, info.digest) == ("host", "toy", "0123456789abcdef")
    assert (info.models, info.steps, info.arena_bytes, info.line_bytes) == (7, 2, 2048, 320)
    assert info.inputs == (PortTensor(600, DType.INT8, -128),)
    assert info.outputs == (PortTensor(600, DType.INT8, 3),)


def test_run(stream: StreamingProcess) -> None:
    client = FirmwareClient(stream)
    for seed in range(3):
        x = toy_input(seed)
        run = client.run([x.reshape(2, 300)])
        assert run.outputs[0].dtype == np.int8
        assert np.array_equal(run.outputs[0], toy_steps(x)[-1])
        assert run.cycles is not None
        assert run.steps == ()


def test_trace_and_bench(stream: StreamingProcess) -> None:
    client = FirmwareClient(stream)
    x = toy_input()
    run = client.trace([x])
    assert [step.crc for step in run.steps] == [zlib.crc32(y.tobytes()) for y in toy_steps(x)]
    assert [step.size_bytes for step in run.steps] == [600, 600]
    assert run.cycles is None
    assert np.array_equal(run.outputs[0], toy_steps(x)[-1])
    bench = client.bench([x])
    assert [step.crc for step in bench.steps] == [None, None]
    assert all(step.cycles is not None for step in bench.steps)
    assert [client.dump([x], step) for step in range(2)] == [y.tobytes() for y in toy_steps(x)]
    with pytest.raises(RequestError, match="no such step"):
        client.dump([x], 2)


def test_a_tracer_does_without_a_request_that_is_refused_and_not_without_the_line(
    stream: StreamingProcess,
) -> None:
    x = toy_input()
    line = DisturbedLine(stream, seed=0, flip=0.0, drop=0.0)
    tracer = _Firmware(FirmwareClient(line, reply_timeout_s=0.2), counts=False)
    assert tracer.dump([x], Call(1)) == toy_steps(x)[1].tobytes()
    assert tracer.dump([x], Call(2)) is None  # as earlier firmware answers: with an error
    line._drop = 1.0
    with pytest.raises(SimulationError):
        tracer.dump([x], Call(1))


def test_several_models_inputs_outputs(stream: StreamingProcess) -> None:
    client = FirmwareClient(stream)
    client.select(1)
    a = np.arange(-4, 4, dtype=np.int8)
    b = np.full(4, -100, np.int8)
    reverse, total = client.run([a, b]).outputs
    assert np.array_equal(reverse, a[::-1])
    assert total.dtype == np.int32
    assert total.tolist() == [-404]
    client.select(0)
    assert client.info().model == "toy"
    with pytest.raises(RequestError, match="no such model"):
        client.select(7)


def test_width_of_activations(stream: StreamingProcess) -> None:
    client = FirmwareClient(stream)
    assert not client.info().runtime_bits
    with pytest.raises(RequestError, match="fixed widths"):
        client.set_activation_bits(4)
    client.select(1)
    assert client.info().runtime_bits
    assert [client.set_activation_bits(bits) for bits in (-3, 2, 8)] == [1, 2, 6]


@pytest.mark.parametrize(
    "inputs",
    [
        [],
        [np.zeros(599, np.int8)],
        [np.zeros(601, np.int8)],
        [np.zeros(600, np.uint8)],
        [np.zeros(150, np.float32)],
        [np.zeros(600, np.int8), np.zeros(1, np.int8)],
    ],
)
def test_wrong_inputs(stream: StreamingProcess, inputs: list[np.ndarray]) -> None:
    with pytest.raises(SimulationError, match="toy: .*expected"):
        FirmwareClient(stream).run(inputs)


def test_failing_run(stream: StreamingProcess) -> None:
    client = FirmwareClient(stream)
    client.select(3)
    with pytest.raises(RequestError, match="status=3, run failed"):
        client.run([])


def test_endless_run(stream: StreamingProcess) -> None:
    client = FirmwareClient(stream, reply_timeout_s=0.1, run_timeout_s=0.2)
    client.select(6)
    with pytest.raises(SimulationError, match="request 'run' failed: no answer in time"):
        client.run([])
    with pytest.raises(SimulationError, match="does not answer"):
        FirmwareClient(stream, reply_timeout_s=0.05)


def test_crash_ends_the_program(stream: StreamingProcess) -> None:
    client = FirmwareClient(stream)
    client.select(2)
    with pytest.raises(SimulationError, match="ended unexpectedly"):
        client.run([])


def test_starts_in_the_middle_of_garbage(stream: StreamingProcess) -> None:
    stream.write(b"\xff\x00 write 0 0 00\nread 0\n" + b"z" * 400)
    assert FirmwareClient(stream).info().model == "toy"


@pytest.mark.parametrize("seed", range(6))
def test_disturbed_line(stream: StreamingProcess, seed: int) -> None:
    line = DisturbedLine(stream, seed, flip=0.0003, drop=0.0)
    client = FirmwareClient(line, reply_timeout_s=0.1, run_timeout_s=2.0)
    x = toy_input(seed)
    for _ in range(3):
        assert np.array_equal(client.run([x]).outputs[0], toy_steps(x)[-1])
    assert line.damaged > 0


@pytest.mark.parametrize("seed", range(4))
def test_line_that_loses_bytes(stream: StreamingProcess, seed: int) -> None:
    line = DisturbedLine(stream, seed, flip=0.0, drop=0.0003)
    client = FirmwareClient(line, reply_timeout_s=0.1, run_timeout_s=2.0)
    x = toy_input(seed)
    for _ in range(2):
        run = client.trace([x])
        assert np.array_equal(run.outputs[0], toy_steps(x)[-1])
        assert [step.crc for step in run.steps] == [zlib.crc32(y.tobytes()) for y in toy_steps(x)]
    assert line.damaged > 0


def test_hopeless_line(stream: StreamingProcess) -> None:
    line = DisturbedLine(stream, 0, flip=0.3, drop=0.1)
    with pytest.raises(SimulationError, match="does not answer"):
        FirmwareClient(line, reply_timeout_s=0.05)


def test_silent_line() -> None:
    class Silence:
        def write(self, data: bytes) -> None:
            pass

        def read(self, timeout_s: float) -> bytes:
            return b""

    with pytest.raises(SimulationError, match="the firmware does not answer"):
        FirmwareClient(Silence())


def test_line_without_end() -> None:
    class Chatter:
        def write(self, data: bytes) -> None:
            pass

        def read(self, timeout_s: float) -> bytes:
            return b"y" * 5000

    with pytest.raises(SimulationError, match="does not answer"):
        FirmwareClient(Chatter())


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("protocol=2\n", "speaks protocol 2, this edgec 1"),
        ("protocol=one\n", "unexpected: protocol=one"),
        ("", "unexpected: protocol="),
        ("protocol=1\n", "unexpected: line="),
        ("protocol=1\nline=79\n", "unexpected: line=79"),
        (
            "protocol=1\nline=320\nimage_runs=7\nimage_passes=2\n",
            "unexpected: image_runs=7 image_passes=2",
        ),
        ("protocol=1\nline=320\n", "unexpected: edgec is missing"),
        ("protocol=1\nline=320\nedgec=1\nboard=b\nclock_hz=-\n", "unexpected: clock_hz=-"),
    ],
)
def test_unknown_firmware(answer: str, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        FirmwareClient(ScriptedLine(answer)).info()


_INFO = (
    "protocol=1\nedgec=1\nboard=b\nclock_hz=1\nline=320\nstack=0\nmodels=1\nmodel=m\ndigest=d\n"
    "arena=8\nsteps=0\n"
)


@pytest.mark.parametrize(
    ("tensor", "answers", "message"),
    [
        ("output=0 bytes=1 dtype=float32x zero_point=0\n", [], "unexpected: output=0"),
        ("output=0 bytes=1 dtype=int8 zero_point=x\n", [], "unexpected: output=0"),
        ("output=0 dtype=int8 zero_point=0\n", [], "unexpected: bytes="),
        ("output=0 bytes=3 dtype=int32 zero_point=0\n", [], "unexpected: output=0"),
        ("output=0 bytes=-4 dtype=int8 zero_point=0\n", [], "unexpected: bytes=-4"),
        ("output=0 bytes=4294967296 dtype=int8 zero_point=0\n", [], "unexpected: bytes=4294967296"),
        ("output=0 bytes=4 dtype=int8 zero_point=2147483648\n", [], "unexpected: output=0"),
        (
            "output=0 bytes=2 dtype=int8 zero_point=0\n",
            ["cycles=1\nstack=0\n", "data=00\n"],
            "output 0: 1 bytes came instead of 2",
        ),
        (
            "output=0 bytes=1 dtype=int8 zero_point=0\n",
            ["cycles=1\nstack=0\n", "data=zz\n"],
            "unexpected: data=zz",
        ),
        ("", ["cycles=1\n"], "unexpected: stack="),
        ("", ["stack=1\n"], "unexpected: cycles="),
    ],
)
def test_unknown_replies(tensor: str, answers: list[str], message: str) -> None:
    client = FirmwareClient(ScriptedLine(_INFO + tensor, *answers))
    with pytest.raises(SimulationError, match=message):
        client.run([])


def test_fault_message_is_shown() -> None:
    fault = (
        "\nfault: HardFault, access to nowhere\npc=00000108 lr=00000001\nsp=20000000\nhalted\nmore"
    )
    client = FirmwareClient(ScriptedLine(fault), locate=lambda address: f"function at {address:#x}")
    with pytest.raises(SimulationError) as caught:
        client.info()
    assert str(caught.value) == (
        "the firmware stopped at a fault:\n  fault: HardFault, access to nowhere\n"
        "  pc=00000108 lr=00000001\n  sp=20000000\n  halted\n  at function at 0x108"
    )
