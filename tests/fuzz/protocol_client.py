"""The client of the serial protocol against firmware that answers almost rightly.

The replies are those of `protocol_reference`, with numbers, words and lines changed and their CRC
made right again, so that the client has to notice by itself.
"""

from __future__ import annotations

import random
import zlib

import numpy as np

from edgec.base.errors import SimulationError
from edgec.sim.protocol import FirmwareClient

from .campaign import Case, Outcome
from .protocol_reference import CYCLES, TOYS, Reference

_VALUES = (
    *("", "0", "1", "-1", "2", "3", "255", "599", "601", "4294967295", "4294967296", "x", "="),
    *("int8", "int16", "int32", "float32", "9" * 5000, "00", "zz", "1.5", "inf", "\ufffd", " "),
)


class AlmostRight:
    """A byte stream to firmware that changes some of its replies."""

    def __init__(self, random: random.Random, rate: float) -> None:
        self._random = random
        self._rate = rate
        self._reference = Reference()
        self._pending = b""
        self.lines = 0
        self.log: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Serve requests; pings always rightly, so that both sides come together again."""
        self.log.append(data)
        for reply in self._reference.receive(data):
            self.lines += 1
            body = [line.replace(CYCLES, "cycles=5") for line in reply[:-1]]
            if self._random.random() < self._rate and b"ping" not in data:
                body = self._changed(body)
            text = "".join(f"{line}\n" for line in body)
            end = reply[-1]
            if end == "ok":
                end = f"ok {zlib.crc32(text.encode('utf-8', 'replace')):08x}"
            self._pending += f"{text}{end}\n".encode("utf-8", "replace")

    def read(self, timeout_s: float) -> bytes:
        """All replies so far."""
        data, self._pending = self._pending, b""
        self.log.append(data)
        return data

    def _changed(self, body: list[str]) -> list[str]:
        chosen = self._random
        if not body:
            return [chosen.choice(("data=00", "stack=1", "cycles=", "step=0", "ok", "?"))]
        at = chosen.randrange(len(body))
        match chosen.randrange(5):
            case 0:
                return body[:at] + body[at + 1 :]
            case 1:
                return [*body, body[at]]
            case 2:
                words = body[at].split(" ")
                word = chosen.randrange(len(words))
                words[word] = words[word].partition("=")[0] + "=" + chosen.choice(_VALUES)
                return [*body[:at], " ".join(words), *body[at + 1 :]]
            case 3:
                place = chosen.randrange(len(body[at]) + 1)
                text = body[at][:place] + chosen.choice("\0\x7f =-9z\u00e9") + body[at][place:]
                return [*body[:at], text, *body[at + 1 :]]
            case _:
                chosen.shuffle(body)
                return body


def try_client(case: Case) -> Outcome:
    """Talk to such firmware until `case.units` lines are served."""
    generator = case.random()
    left = case.units
    while left > 0:
        stream = AlmostRight(generator, generator.choice((0.0, 0.1, 0.5)))
        try:
            _talk(stream, generator)
        except SimulationError as error:
            if not str(error):
                raise
        except BaseException:
            (case.folder / "stream.bin").write_bytes(b"".join(stream.log)[-65536:])
            raise
        left -= max(stream.lines, 1)
    return Outcome("client took or refused every reply")


def _talk(stream: AlmostRight, random: random.Random) -> None:
    client = FirmwareClient(stream, reply_timeout_s=0.01, run_timeout_s=0.01)
    for _ in range(3):
        index = random.choice((0, 1, 2))
        client.select(index)
        if TOYS[index].has_bits:
            client.set_activation_bits(random.randint(-1, 9))
        if TOYS[index].max_length:
            client.set_length(random.randint(1, TOYS[index].max_length))
        info = client.info()
        if sum(tensor.size_bytes for tensor in info.inputs) > 1 << 16:
            raise SimulationError("nobody would write that much")
        inputs = [np.zeros(tensor.size_bytes, np.int8) for tensor in info.inputs]
        random.choice((client.run, client.trace, client.bench))(inputs)
