"""Frames of the serial protocol: bytes as they are, damaged ones, firmware that has none."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from toy_firmware import build_toy_firmware, toy_input, toy_steps

from edgec.sim.link import ByteStream
from edgec.sim.protocol import FirmwareClient
from edgec.target.board import load_board
from edgec.toolchain.live_process import StreamingProcess, open_stream

_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy_frames")
    return build_toy_firmware(folder, load_board("host"), flags=_SANITIZERS)


@pytest.fixture
def stream(program: Path) -> Iterator[StreamingProcess]:
    with open_stream([program]) as running:
        yield running


class Line:
    """Counts what passes, and damages chosen writes: one of `damaged` loses its last bytes."""

    def __init__(self, inner: ByteStream, damaged: tuple[int, ...] = (), lost: int = 0) -> None:
        self._inner = inner
        self._damaged = damaged
        self._lost = lost
        self.frames = 0
        self.passed = 0

    def write(self, data: bytes) -> None:
        if b" frame " in data:
            self.frames += 1
            if self.frames in self._damaged:
                data = data[: -self._lost] if self._lost else data[:-20] + bytes(20)
        self.passed += len(data)
        self._inner.write(data)

    def read(self, timeout_s: float) -> bytes:
        data = self._inner.read(timeout_s)
        self.passed += len(data)
        return data


class OldFirmware(Line):
    """Firmware that says nothing of frames."""

    def write(self, data: bytes) -> None:
        assert b" frame " not in data
        super().write(data)

    def read(self, timeout_s: float) -> bytes:
        data = super().read(timeout_s)
        while b"protocol=" in data and not re.search(rb"\r\nok \w{8}\r\n$", data):
            data += super().read(timeout_s)  # the pipe may give a reply in pieces
        if b"frame=1024\r\n" not in data:
            return data
        text = data.replace(b"frame=1024\r\n", b"").replace(b"\r", b"")
        body, _, _ = text.rpartition(b"ok ")
        return body + f"ok {zlib.crc32(body):08x}\n".encode()


def test_a_frame_is_little_more_than_its_bytes(stream: StreamingProcess) -> None:
    """600 bytes take 600 characters and some for the request and its reply; in digits over 1300."""
    line = Line(stream)
    client = FirmwareClient(line)
    client.info()
    before = line.passed
    client._write(0, toy_input().tobytes(), client.info())
    said = line.passed - before - _info_length(line, client)
    assert line.frames == 1
    assert 600 < said < 660


def _info_length(line: Line, client: FirmwareClient) -> int:
    before = line.passed
    client.info()
    return line.passed - before


@pytest.mark.parametrize("lost", [0, 1, 3, 4, 5, 300, 603])
def test_a_damaged_frame_is_sent_as_lines(stream: StreamingProcess, lost: int) -> None:
    line = Line(stream, damaged=(1, 2), lost=lost)
    client = FirmwareClient(line, reply_timeout_s=0.3)
    x = toy_input()
    for _ in range(3):
        assert np.array_equal(client.run([x]).outputs[0], toy_steps(x)[-1])
    assert line.frames == 3


def test_old_firmware_gets_lines(stream: StreamingProcess) -> None:
    x = toy_input(3)
    client = FirmwareClient(OldFirmware(stream))
    assert client.info().frame_bytes == 0
    assert np.array_equal(client.run([x]).outputs[0], toy_steps(x)[-1])


def test_a_program_that_ended_within_a_frame(stream: StreamingProcess) -> None:
    """The next one gets an answer: line feeds stand for the bytes that never came."""
    request = b"frame 0 0 600"
    stream.write(b"*%08x %s\n" % (zlib.crc32(request), request) + b"abc")
    x = toy_input(4)
    client = FirmwareClient(stream, reply_timeout_s=0.3)
    assert np.array_equal(client.run([x]).outputs[0], toy_steps(x)[-1])


def asked(stream: StreamingProcess, request: bytes, data: bytes) -> bytes:
    """The last line of the reply to a request that bytes follow."""
    stream.write(b"*%08x %s\n" % (zlib.crc32(request), request) + data)
    return last_line(stream)


def last_line(stream: StreamingProcess) -> bytes:
    received = b""
    while not received.endswith(b"\r\n") or not received.split(b"\r\n")[-2].startswith(
        (b"ok ", b"error: ")
    ):
        received += stream.read(5.0)
    return received.split(b"\r\n")[-2]


def test_refusals(stream: StreamingProcess) -> None:
    good = bytes(8) + zlib.crc32(bytes(8)).to_bytes(4)
    assert asked(stream, b"model 1", b"") == b"ok 00000000"
    assert asked(stream, b"frame 0 0 8", good) == b"ok 00000000"
    assert asked(stream, b"frame 1 0 8", good) == b"error: data beyond the input"
    assert asked(stream, b"frame 2 0 8", good) == b"error: no such input"
    assert asked(stream, b"frame 1 1 2", b"ab\0\0\0\0") == b"error: gap before the data"
    assert asked(stream, b"frame 0 0 1025", b"") == b"error: wrong arguments, see help"
    assert asked(stream, b"frame 0 4", b"") == b"error: wrong arguments, see help"
    assert asked(stream, b"frame 0 4 4", good[4:-1] + b"\xff") == b"error: line fails its checksum"
    assert asked(stream, b"run", b"") == b"error: write all inputs before a run"  # half of it
    stream.write(b"frame 0 0 8\n")
    assert last_line(stream) == b"error: a frame needs a checksum"
