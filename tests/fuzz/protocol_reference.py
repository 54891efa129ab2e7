"""The serial protocol a second time, in Python: what the firmware has to answer to any bytes.

Written from the text of firmware/app/console/protocol.h and its tests, for the models of
tests/firmware/fixtures/toy_model.c.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from edgec.base.version import __version__

LINE_BYTES = 320
FRAME_BYTES = 1024
ARENA_BYTES = 2048
_WRONG = "wrong arguments, see help"
CYCLES = "cycles=*"
"""Stands for a number of cycles, which nobody can foretell."""
_HELP = (
    "help ",
    "info ",
    "model N: select model",
    "bits N: width of activations",
    "ping WORD",
    "length N: tokens of a run",
    "write INPUT START HEX",
    "frame INPUT START COUNT, and bytes",
    "run ",
    "read OUTPUT [START COUNT]",
    "trace = run + CRC-32 of steps",
    "dump STEP: = run + its bytes",
    "bench = run + cycles of steps",
)


@dataclass(frozen=True)
class Tensor:
    """Where a tensor lies in the arena; `row` bytes of it belong to each token."""

    offset: int
    size: int
    dtype: str
    zero_point: int
    row: int = 0


Steps = list[tuple[int, int]]
"""Offset and size of what each step wrote."""


@dataclass(frozen=True)
class Toy:
    """One model; `run` computes in the arena, or returns a status that is not 0."""

    name: str
    digest: str
    run: Callable[[bytearray, int], Steps | int]
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    steps: int = 0
    has_bits: bool = False
    max_length: int = 0
    refusal: str = ""


def _toy(arena: bytearray, _length: int) -> Steps:
    arena[8:608] = bytes(-(byte + 1) & 255 for byte in arena[8:608])
    return [(8, 600), (8, 600)]


def _pair(arena: bytearray, _length: int) -> Steps:
    total = sum(struct.unpack("12b", arena[:12]))
    arena[16:20] = struct.pack("<i", total)
    arena[24:32] = arena[:8][::-1]
    return [(16, 4), (24, 8)]


def _length(arena: bytearray, length: int) -> Steps:
    arena[16 : 16 + 2 * length] = arena[: 2 * length][::-1]
    arena[32] = length
    return [(16, 2 * length)]


def _fails(_arena: bytearray, _length: int) -> int:
    return 3


_BB = "00000000000000bb"
TOYS = (
    Toy(
        *("toy", "0123456789abcdef", _toy),
        inputs=(Tensor(8, 600, "int8", -128),),
        outputs=(Tensor(8, 600, "int8", 3),),
        steps=2,
    ),
    Toy(
        *("toy_pair", "00000000000000aa", _pair),
        inputs=(Tensor(0, 8, "int8", 0), Tensor(8, 4, "int8", 5)),
        outputs=(Tensor(24, 8, "int8", 0), Tensor(16, 4, "int32", 0)),
        steps=2,
        has_bits=True,
    ),
    Toy(
        *("toy_length", "00000000000000cc", _length),
        inputs=(Tensor(0, 10, "int8", 0, 2),),
        outputs=(Tensor(16, 10, "int8", 0, 2), Tensor(32, 1, "int8", 0)),
        steps=1,
        max_length=5,
    ),
    Toy("toy_failing", _BB, _fails),
    Toy("toy_wide", _BB, _fails, refusal="model has too many inputs"),
    Toy("toy_greedy", _BB, _fails, refusal="model refuses the arena"),
)
"""All that end: two others of the C file crash and run forever."""

BANNER = f"edgec {__version__} on host, type help"


@dataclass
class Reference:
    """The state of the conversation; `receive` takes bytes and returns the replies."""

    model: Toy = TOYS[0]
    arena: bytearray = field(default_factory=lambda: bytearray(ARENA_BYTES))
    written: list[int] = field(default_factory=lambda: [0] * 16)
    missing: int = 0
    has_outputs: bool = False
    line: bytearray = field(default_factory=bytearray)
    is_long: bool = False
    is_binary: bool = False
    frame_left: int = 0
    frame: bytearray = field(default_factory=bytearray)
    frame_place: tuple[int, int, int] = (0, 0, 0)
    frame_error: str = ""

    def receive(self, data: bytes) -> list[list[str]]:
        """The reply to each line that ends in the data, the last line of it without its CRC."""
        replies = []
        for byte in data:
            if self.frame_left:
                self.frame.append(byte)
                self.frame_left -= 1
                if not self.frame_left:
                    error = self._end_frame()
                    replies.append([f"error: {error}" if error else "ok"])
            elif byte in b"\r\n":
                if self.line or self.is_long or self.is_binary:
                    reply = self._reply()
                    replies += [] if self.frame_left else [reply]
                self.line.clear()
                self.is_long = self.is_binary = False
            elif byte in b"\b\x7f":
                del self.line[-1:]
            elif not 32 <= byte <= 126:
                self.is_binary = True
            elif len(self.line) == LINE_BYTES:
                self.is_long = True
            else:
                self.line.append(byte)
        return replies

    def _reply(self) -> list[str]:
        lines: list[str] = []
        error = self._serve_line(lines)
        return [*lines, f"error: {error}" if error else "ok"]

    def _serve_line(self, lines: list[str]) -> str:
        if self.is_long:
            return "line is too long"
        if self.is_binary:
            return "line is not text"
        text = checked(self.line.decode("ascii"))
        if text is None:
            return "line fails its checksum"
        name, rest = next_word(text)
        serve = getattr(self, f"_serve_{name}", None) if name else None
        return serve(rest, lines) if serve else "line is unknown, see help"

    def _size(self, tensor: Tensor) -> int:
        return tensor.size - self.missing * tensor.row

    def _forget(self) -> None:
        self.written = [0] * 16
        self.has_outputs = False

    def _serve_help(self, _rest: str, lines: list[str]) -> str:
        lines += _HELP
        return ""

    def _serve_info(self, _rest: str, lines: list[str]) -> str:
        toy = self.model
        lines += ["protocol=1", f"edgec={__version__}", "board=host", "clock_hz=10000000"]
        lines += [
            f"line={LINE_BYTES}",
            f"frame={FRAME_BYTES}",
            "stack=0",
            f"models={len(TOYS)}",
            f"model={toy.name}",
        ]
        lines += [f"digest={toy.digest}", f"arena={ARENA_BYTES}", f"steps={toy.steps}"]
        lines += ["runtime_bits=1"] if toy.has_bits else []
        lines += [f"max_length={toy.max_length}"] if toy.max_length else []
        for kind, tensors in (("input", toy.inputs), ("output", toy.outputs)):
            for index, each in enumerate(tensors):
                kept = f"dtype={each.dtype} zero_point={each.zero_point}"
                lines.append(f"{kind}={index} bytes={self._size(each)} {kept}")
        return ""

    def _serve_model(self, rest: str, _lines: list[str]) -> str:
        index, _ = take_uint(rest)
        if index is None:
            return _WRONG
        if index >= len(TOYS):
            return "no such model"
        if not TOYS[index].refusal:
            self.model, self.missing = TOYS[index], 0
            self._forget()
        return TOYS[index].refusal

    def _serve_bits(self, rest: str, lines: list[str]) -> str:
        bits, _ = take_uint(rest)
        if bits is None:
            return _WRONG
        if not self.model.has_bits:
            return "model has fixed widths"
        lines.append(f"bits={min(max(bits, 1), 6)}")
        return ""

    def _serve_length(self, rest: str, _lines: list[str]) -> str:
        length, _ = take_uint(rest)
        if length is None:
            return _WRONG
        if not 1 <= length <= self.model.max_length:
            return "no such length"
        self.missing = self.model.max_length - length
        self._forget()
        return ""

    def _serve_ping(self, rest: str, lines: list[str]) -> str:
        lines.append(f"ping={next_word(rest)[0] or ''}")
        return ""

    def _serve_write(self, rest: str, _lines: list[str]) -> str:
        index, rest = take_uint(rest)
        start, rest = take_uint(rest) if index is not None else (None, rest)
        data = decoded(next_word(rest)[0]) if start is not None else None
        if index is None or start is None or data is None:
            return _WRONG
        error = self._misplaced(index, start, len(data))
        if error:
            return error
        at = self.model.inputs[index].offset + start
        self.arena[at : at + len(data)] = data
        self.written[index] = max(self.written[index], start + len(data))
        return ""

    def _misplaced(self, index: int, start: int, count: int) -> str:
        """Why bytes cannot be written to an input; empty if they can."""
        if index >= len(self.model.inputs):
            return "no such input"
        if start + count > self._size(self.model.inputs[index]):
            return "data beyond the input"
        if start > self.written[index]:
            return "gap before the data"
        self.has_outputs = False
        return ""

    def _serve_frame(self, rest: str, _lines: list[str]) -> str:
        index, rest = take_uint(rest)
        start, rest = take_uint(rest) if index is not None else (None, rest)
        count, rest = take_uint(rest) if start is not None else (None, rest)
        if index is None or start is None or count is None or count > FRAME_BYTES:
            return _WRONG
        if not self.line.startswith(b"*"):
            return "a frame needs a checksum"
        self.frame_error = self._misplaced(index, start, count)
        if not self.frame_error:
            self.frame_place = (index, start, self.written[index])
            self.written[index] = start
        self.frame.clear()
        self.frame_left = count + 4
        return ""

    def _end_frame(self) -> str:
        if self.frame_error:
            return self.frame_error
        index, start, written = self.frame_place
        data, crc = self.frame[:-4], self.frame[-4:]
        at = self.model.inputs[index].offset + start
        self.arena[at : at + len(data)] = data
        if zlib.crc32(data) != int.from_bytes(crc):
            return "line fails its checksum"
        self.written[index] = max(written, start + len(data))
        return ""

    def _run(self, lines: list[str]) -> Steps | str:
        for index, tensor in enumerate(self.model.inputs):
            if self.written[index] != self._size(tensor):
                lines.append(f"incomplete_input={index}")
                return "write all inputs before a run"
        self._forget()
        before = bytes(self.arena)
        done = self.model.run(self.arena, self.model.max_length - self.missing)
        if isinstance(done, int):
            lines.append(f"status={done}")
            return "run failed"
        self.has_outputs = True
        self._first = before
        return done

    def _serve_run(self, _rest: str, lines: list[str]) -> str:
        done = self._run(lines)
        if isinstance(done, str):
            return done
        lines += [CYCLES, "stack=0"]
        return ""

    def _serve_bench(self, _rest: str, lines: list[str]) -> str:
        done = self._run(lines)
        if isinstance(done, str):
            return done
        lines += [f"step={n} bytes={size} {CYCLES}" for n, (_, size) in enumerate(done)]
        lines.append("stack=0")
        return ""

    def _serve_trace(self, _rest: str, lines: list[str]) -> str:
        done = self._run(lines)
        if isinstance(done, str):
            return done
        for number, (offset, size) in enumerate(done):
            crc = zlib.crc32(self._written_by(number, offset, size))
            lines.append(f"step={number} bytes={size} crc={crc:08x}")
        lines.append("stack=0")
        return ""

    def _serve_dump(self, rest: str, lines: list[str]) -> str:
        wanted, _ = take_uint(rest)
        if wanted is None:
            return _WRONG
        if wanted >= self.model.steps:
            return "no such step"
        done = self._run(lines)
        if isinstance(done, str):
            return done
        lines += data_lines(self._written_by(wanted, *done[wanted]))
        lines.append("stack=0")
        return ""

    def _written_by(self, number: int, offset: int, size: int) -> bytes:
        if self.model is TOYS[0] and number == 0:  # the second step is in place
            return bytes((byte + 1) & 255 for byte in self._first[offset : offset + size])
        return bytes(self.arena[offset : offset + size])

    def _serve_read(self, rest: str, lines: list[str]) -> str:
        index, rest = take_uint(rest)
        if index is None:
            return _WRONG
        if index >= len(self.model.outputs):
            return "no such output"
        if not self.has_outputs:
            return "run first"
        tensor = self.model.outputs[index]
        start, count = 0, self._size(tensor)
        if rest:
            first, rest = take_uint(rest)
            second, _ = take_uint(rest) if first is not None else (None, rest)
            if first is None or second is None:
                return _WRONG
            start, count = first, second
        if start + count > self._size(tensor):
            return "data beyond the output"
        data = self.arena[tensor.offset + start : tensor.offset + start + count]
        lines += data_lines(data)
        return ""


def data_lines(data: bytes | bytearray) -> list[str]:
    """Bytes in hexadecimal digits, 64 on a line."""
    return [f"data={data[at : at + 64].hex()}" for at in range(0, len(data), 64)]


def checked(line: str) -> str | None:
    """What a line asks, without its checksum; None if it has one that is wrong."""
    if not line.startswith("*"):
        return line
    crc = decoded(line[1:9])
    if len(line) < 10 or crc is None or line[9] != " ":
        return None
    return line[10:] if zlib.crc32(line[10:].encode()) == int.from_bytes(crc) else None


def next_word(rest: str) -> tuple[str | None, str]:
    """The next word, if there is one, and what follows the one space after it."""
    word, _, after = rest.lstrip(" ").partition(" ")
    return (word, after) if word else (None, rest)


def take_uint(rest: str) -> tuple[int | None, str]:
    """The next word as a number of 32 bits, None if it is none, and what follows."""
    word, rest = next_word(rest)
    if word is None or not set(word) <= set("0123456789") or int(word) >= 2**32:
        return None, rest
    return int(word), rest


def decoded(word: str | None) -> bytes | None:
    """Bytes in hexadecimal digits; None if they are none."""
    if word is None or len(word) % 2 or not set(word) <= set("0123456789abcdefABCDEF"):
        return None
    return bytes.fromhex(word)
