"""`docs/board-gallery.md` and its pictures, made of the files of boards."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from documents import DOCS

from edgec.cli.boards import memory_size
from edgec.commands.boards import checked_by
from edgec.target.board import Board, list_boards
from edgec.target.cores import Fpu

PAGE = DOCS / "board-gallery.md"
PICTURES = DOCS / "assets" / "boards"
_GENERATED = re.compile(r"(<!-- gallery: begin [^\n]*-->\n).*(?=<!-- gallery: end -->)", re.S)
_TOOLS = {
    "openocd": "OpenOCD",
    "st-flash": "st-flash",
    "pyocd": "pyOCD",
    "picotool": "picotool",
    "bossac": "bossac",
    "teensy_loader_cli": "teensy_loader_cli",
}
_LEAST, _MOST = 14, 31
"""Powers of two of the bytes at both ends of a bar: 16 KB and 2 GB."""
_LONGEST = 168.0
_COLOURS = {"microcontroller": "#1d6b4c", "linux": "#8a2f4b", "qemu": "#4a4f8c"}


def boards() -> list[Board]:
    """Those that one can hold in the hand, and images for QEMU, by vendor and name."""
    found = [board for board in list_boards() if not board.is_host]
    return sorted(found, key=lambda board: (board.vendor.lower(), board.title.lower()))


def files() -> Mapping[Path, str]:
    """The page with its cards made anew, and all pictures."""
    text = PAGE.read_text("utf-8")
    body = "\n".join(_cards())
    page = _GENERATED.sub(lambda found: f"{found[1]}\n{body}\n", text)
    return {PAGE: page} | {PICTURES / f"{each.name}.svg": picture(each) for each in boards()}


def _cards() -> Iterator[str]:
    vendor = ""
    for board in boards():
        if board.vendor != vendor:
            vendor = board.vendor
            yield f"## {vendor}\n"
        yield f"### {board.title}\n"
        yield f"![{_words(board)}](assets/boards/{board.name}.svg)\n"
        for label, text in _facts(board):
            yield f"* {label}: {text}"
        yield ""


def _facts(board: Board) -> Iterator[tuple[str, str]]:
    names = [f"`--board {board.name}`", *(f"`{alias}`" for alias in board.aliases)]
    yield "**Name**", " or ".join(names)
    flash, ram = memory_size(board.flash_bytes), memory_size(board.ram_bytes)
    sizes = ", ".join(filter(None, (f"{flash} of flash" if flash else "", f"{ram} of RAM")))
    yield "**Chip**", f"{board.mcu}, {_core(board)} at {_megahertz(board)}, {sizes}"
    yield "**Get a build onto it**", _upload(board)
    if board.console is not None and board.emulator.kind != "qemu":
        yield "**Serial line**", f"{board.console.uart}, {board.console.baud:,} baud"
    if board.energy is not None:
        nanojoules = board.energy.nanojoules(board.clock_hz)
        yield "**Energy**", f"about {nanojoules:.2g} nJ a cycle ({board.energy.words})"
    yield "**Checked**", checked_by(board)


def _upload(board: Board) -> str:
    if board.linux is not None:
        return "copy the program and start it ([boards with Linux](linux-boards.md))"
    if not board.upload.tools:
        return "it runs in QEMU, `--on emulator`; no upload program is known"
    tools = [_TOOLS[tool] for tool in board.upload.tools]
    ways = f"`edgec flash DIR`, by {' or '.join(tools)}"
    if board.upload.drive_image:
        ways += f", or drag `firmware.{board.upload.drive_image}` onto its USB drive"
    return ways


def _core(board: Board) -> str:
    name = board.core.value.replace("cortex-", "Cortex-").replace("plus", "+")
    kind, _, number = name.partition("-")
    abilities = [*(["FPU"] if board.fpu is not Fpu.NONE else []), *(["DSP"] if board.dsp else [])]
    abilities += ["NEON"] if board.core.facts.has_neon else []
    return f"{kind}-{number.upper()}" + (f" with {' and '.join(abilities)}" if abilities else "")


def _megahertz(board: Board) -> str:
    return f"{board.clock_hz / 1e6:g} MHz"


def _words(board: Board) -> str:
    """What the picture shows, for people who do not see it."""
    flash, ram = memory_size(board.flash_bytes), memory_size(board.ram_bytes)
    sizes = ", ".join(filter(None, (f"flash {flash}" if flash else "", f"RAM {ram}")))
    return f"{board.title}: {_core(board)} at {_megahertz(board)}, {sizes}"


def _kind(board: Board) -> str:
    if board.linux is not None:
        return "linux"
    return "microcontroller" if board.upload.tools else "qemu"


def picture(board: Board) -> str:
    """A drawing of a board: its core, its clock, and bars of its memories, each doubling alike."""
    core = board.core.value.removeprefix("cortex-").upper().replace("PLUS", "+")
    sizes = (("flash", board.flash_bytes), ("RAM", board.ram_bytes))
    bars = [(name, size) for name, size in sizes if size]
    drawn = "".join(_bar(name, size, 62 + 40 * row) for row, (name, size) in enumerate(bars))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 160" width="380" height="160" role="img" \
font-family="system-ui, 'DejaVu Sans', sans-serif">
<title>{html.escape(_words(board))}</title>
<rect x="1" y="1" width="378" height="158" rx="12" fill="{_COLOURS[_kind(board)]}"/>
<path d="M28 14H352M28 146H352" stroke="#f3d27a" stroke-width="6" stroke-linecap="round" \
stroke-dasharray="0 14"/>
<rect x="2" y="60" width="26" height="40" rx="3" fill="#c9ced6"/>
<rect x="52" y="36" width="88" height="88" rx="6" fill="#14181f"/>
<circle cx="62" cy="46" r="3" fill="#8d95a3"/>
<g fill="#c9ced6" font-size="12" text-anchor="middle">
<text x="96" y="72">Cortex</text>
<text x="96" y="92" fill="#ffffff" font-size="20" font-weight="700">{core}</text>
<text x="96" y="111">{_megahertz(board)}</text>
</g>
<text x="168" y="46" fill="#ffffff" font-size="12">{html.escape(board.mcu)}</text>
{drawn}</svg>
"""


def _bar(name: str, size: int, top: int) -> str:
    share = (math.log2(size) - _LEAST) / (_MOST - _LEAST)
    length = _LONGEST * min(max(share, 0.03), 1.0)
    return (
        f'<text x="168" y="{top + 8}" fill="#ffffff" font-size="12">{name}</text>'
        f'<text x="336" y="{top + 8}" fill="#ffffff" font-size="12" text-anchor="end">'
        f"{memory_size(size)}</text>"
        f'<rect x="168" y="{top + 13}" width="{_LONGEST:.0f}" height="9" rx="4" fill="#ffffff" '
        f'fill-opacity="0.22"/><rect x="168" y="{top + 13}" width="{length:.1f}" height="9" rx="4" '
        f'fill="#ffffff"/>\n'
    )
