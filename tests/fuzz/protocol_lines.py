"""Requests of the serial protocol, mostly sensible ones, and what noise and malice make of them."""

from __future__ import annotations

import random
import zlib

from .protocol_reference import LINE_BYTES, TOYS, Toy, decoded

_NUMBERS = (
    *("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "63", "64", "65", "599", "600"),
    *("601", "2147483647", "2147483648", "4294967295", "4294967296", "99999999999999999999"),
    *("-1", "+1", "007", "0x10", "1.0", "", " ", "x", "\u00e9", "1e3"),
)
_WORDS = ("help", "info", "model", "bits", "ping", "length", "write", "run", "read", "trace")
_NAMES = (*_WORDS, "frame", "bench", "dump", "INFO", "inf", "infos", "*", "ok", "error:", "fault")
_ENDS = ("\n", "\r", "\r\n", "\n\n", "\r\r\n")


def conversation(random: random.Random, count: int) -> list[bytes]:
    """About `count` pieces, each a line with its end, or a damaged one."""
    pieces: list[bytes] = []
    while len(pieces) < count:
        index = random.randrange(len(TOYS))
        lines = [f"model {index}", *_use(random, TOYS[index])]
        pieces += [_piece(random, line) for line in lines]
    return pieces[:count]


def _use(random: random.Random, toy: Toy) -> list[str]:
    """What a client does with a model, in order, with some of it left out or done twice."""
    lines = ["info"]
    length = random.randint(1, toy.max_length) if toy.max_length else 0
    lines += [f"length {length}"] if length and random.random() < 0.7 else []
    lines += [f"bits {random.randint(0, 9)}"] if toy.has_bits else []
    for index, tensor in enumerate(toy.inputs):
        size = tensor.size - (toy.max_length - length) * tensor.row
        at = 0
        while at < size:
            some = min(random.choice((1, 2, 7, 64, 140)) if size < 100 else 140, size - at)
            form = random.choice(("write", "write", "frame"))
            lines.append(f"{form} {index} {at} {random.randbytes(some).hex()}")
            at += some
    lines.append(random.choice(("run", "trace", "bench", "dump 0", "dump 1")))
    for index, tensor in enumerate(toy.outputs):
        part = f" {random.randint(0, tensor.size)} {random.randint(0, tensor.size)}"
        lines.append(f"read {index}{random.choice(('', part))}")
    lines.append(f"ping {random.randrange(1000)}")
    for _ in range(random.choice((0, 0, 0, 1, 2))):
        at = random.randrange(len(lines))
        lines[at : at + 1] = random.choice(([], [lines[at]] * 2, [_invented(random)]))
    return lines


def _invented(random: random.Random) -> str:
    words = [random.choice(_NAMES), *random.choices(_NUMBERS, k=random.randint(0, 4))]
    return random.choice((" ", "  ", "\t")).join(words)


def _piece(random: random.Random, line: str) -> bytes:
    """A line as it is sent: usually as it should be, sometimes changed, sometimes damaged."""
    if line.startswith("frame ") and len(line.split(" ")) == 4:
        return _frame(random, line)
    if random.random() < 0.15:
        line = _changed(random, line)
    if random.random() < 0.3:
        line = f"*{zlib.crc32(line.encode()):08x} {line}"
    data = line.encode("utf-8") + random.choice(_ENDS).encode()
    if random.random() < 0.1:
        data = _damaged(random, data)
    return data


def _frame(random: random.Random, line: str) -> bytes:
    """A request with the bytes that follow it, sometimes too few, too many or others."""
    *words, digits = line.split(" ")
    data = decoded(digits) or b""
    request = f"{' '.join(words)} {len(data)}"
    sent = data + zlib.crc32(data).to_bytes(4)
    if random.random() < 0.2:
        sent = _damaged(random, sent)
    return f"*{zlib.crc32(request.encode()):08x} {request}\n".encode() + sent


def _changed(random: random.Random, line: str) -> str:
    """Another line of the same form: a number, a word or the order of words."""
    words = line.split(" ")
    at = random.randrange(len(words))
    match random.randrange(6):
        case 0:
            words[at] = random.choice(_NUMBERS)
        case 1:
            words[at] = random.choice(_NAMES)
        case 2:
            words.insert(at, random.choice(_NUMBERS))
        case 3:
            del words[at]
        case 4:
            random.shuffle(words)
        case 5:
            words[at] = words[at][: random.randint(0, len(words[at]))] + random.choice("0aFg ")
    return " ".join(words)


def _damaged(random: random.Random, data: bytes) -> bytes:
    """What a line makes of bytes: lost, doubled, flipped, erased, far too many."""
    at = random.randrange(len(data))
    match random.randrange(7):
        case 0:
            return data[:at] + data[at + 1 :]
        case 1:
            return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]
        case 2:
            return data[:at] + random.randbytes(random.randint(1, 4)) + data[at:]
        case 3:
            return data[:at] + random.choice((b"\b", b"\x7f")) * random.randint(1, 5) + data[at:]
        case 4:
            length = LINE_BYTES + random.choice((-len(data), -1, 0, 1, 2, 1000))
            return data[:at] + b"0" * max(length - at, 0) + data[at:]
        case 5:
            return data[:at]
        case _:
            return data + data[at:]
