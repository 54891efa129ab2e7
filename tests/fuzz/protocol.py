"""The serial protocol: the firmware's C code against a reference, and the client against firmware.

A case sends thousands of lines to one process of the firmware's program, built for this computer
with sanitizers, and compares every reply with `protocol_reference`.  Every fifth case talks to the
client instead (`protocol_client`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from edgec.target.board import load_board
from tests.firmware.toy_firmware import ARENA_BYTES as _ARENA_BYTES
from tests.firmware.toy_firmware import compile_project, emit_toy_project

from .campaign import Campaign, Case, Outcome
from .protocol_client import try_client
from .protocol_lines import conversation
from .protocol_reference import ARENA_BYTES, BANNER, CYCLES, TOYS, Reference

_FLAGS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_PROGRAM = "firmware.elf"
_SHRINKING_RUNS = 300
_CYCLES = re.compile(r"cycles=\d+")

assert ARENA_BYTES == _ARENA_BYTES


def prepare(folder: Path) -> None:
    """Build the firmware's program."""
    board = load_board("host")
    project = emit_toy_project(folder, board, tuple(toy.name for toy in TOYS))
    shutil.copy(Path(__file__).with_name("buffered_port.c"), project / "src/port/host/host.c")
    compile_project(project, board, folder / _PROGRAM, _FLAGS)


def run(case: Case) -> Outcome:
    """One conversation of `case.units` lines."""
    if case.number % 5 == 4:
        return try_client(case)
    pieces = conversation(case.random(), case.units)
    program = case.shared / _PROGRAM
    finding = wrong_reply(program, pieces)
    if not finding:
        return Outcome("firmware answered rightly")
    pieces = shrunk(pieces, lambda some: bool(wrong_reply(program, some)))
    (case.folder / "lines.bin").write_bytes(b"".join(pieces))
    return Outcome("firmware answered wrongly", wrong_reply(program, pieces) or finding)


def wrong_reply(program: Path, pieces: list[bytes]) -> str:
    """What is wrong with the program's replies to some bytes; empty if nothing is."""
    data = b"".join(pieces) + b"\n"
    done = subprocess.run([program], input=data, capture_output=True, timeout=60, check=False)
    if done.returncode:
        errors = done.stderr.decode(errors="replace")
        return f"the program ended with {done.returncode}\n{errors[-4000:]}"
    lines = iter(done.stdout.decode("ascii", "replace").split("\r\n"))
    if next(lines) != BANNER:
        return "another greeting"
    for number, wanted in enumerate(Reference().receive(data)):
        found = _reply(lines, len(wanted))
        if found != wanted:
            return f"reply {number}:\n  wanted {wanted}\n  found  {found}"
    rest = [*lines]
    return "" if rest == [""] else f"more than was asked for: {rest[:3]}"


def _reply(lines: Iterator[str], count: int) -> list[str]:
    """The next lines, with the closing CRC checked and cycles made comparable."""
    found = [line for _, line in zip(range(count), lines, strict=False)]
    body = "".join(f"{line}\n" for line in found[:-1])
    if found and found[-1] == f"ok {zlib.crc32(body.encode()):08x}":
        found[-1] = "ok"
    return [_CYCLES.sub(CYCLES, line) for line in found]


def shrunk(pieces: list[bytes], fails: Callable[[list[bytes]], bool]) -> list[bytes]:
    """Fewer pieces that still fail."""
    size, runs = len(pieces) // 2, 0
    while size and runs < _SHRINKING_RUNS:
        at = 0
        while at < len(pieces) and runs < _SHRINKING_RUNS:
            fewer = pieces[:at] + pieces[at + size :]
            runs += 1
            if fails(fewer):
                pieces = fewer
            else:
                at += size
        size //= 2
    return pieces


CAMPAIGN = Campaign(
    "the serial protocol: firmware and client",
    run,
    nightly=10_000_000,
    prepare=prepare,
    units_per_case=20_000,
    seconds=120,
    memory_bytes=1 << 46,  # the address sanitizer reserves terabytes that it never touches
)
