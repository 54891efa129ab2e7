"""Pictures of the documents, made from a real build, real commands and the published tables.

`make pictures` writes them to `docs/assets/`:

* `overview.svg`: a model on its way to a board, with the figures of a build.
* `compile.svg`: a terminal after `edgec compile`, by Rich's export.
* `benchmark.svg`: cycles per multiply-accumulate beside published stacks, from the first table
  of `docs/benchmarks.md`.
* `few-bits.svg`: accuracy over flash of two networks by every compression, from the table of
  `docs/few-bits.md`.
* `page-*.png`: pages of `--html`, drawn by Chromium.

An SVG draws its own paper, and changes its colours where the reader's system is dark: it can be
read on GitHub and in the site, light or dark.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "docs" / "assets"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
FEW_BITS = ROOT / "docs" / "few-bits.md"
MODEL = "examples/digits_resnet.onnx"
COMPILE = (
    *("compile", MODEL, "--board", "nucleo"),
    *("--calibration", "examples/digits_calibration.npz", "--out", "build/digits"),
)
"""The example of the README, run in a folder that has the examples."""
TABS = (
    ("summary", "report", 800),
    ("accuracy", "accuracy", 1120),
    ("profile", "profile", 900),
    ("memory", "memory", 760),
)
"""Tabs of the page of a build, their pictures, and their heights in pixels."""
PAGE_BYTES = 120_000
"""The most that a picture of a page may take."""

_STYLES = ("edgec", "good", "closed")
"""Colours of networks, one after another."""
STYLE = """<style>
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 16px; }
text { fill: #1f2328; }
.paper { fill: #ffffff; }
.card { fill: #f3f5fb; stroke: #c4cbe0; }
.title { font-weight: 600; font-size: 18px; }
.grey { fill: #57606a; }
.line { stroke: #57606a; stroke-width: 2; fill: none; }
.good { fill: #1a7f37; }
.edgec { fill: #3f51b5; }
.closed { fill: #9aa4c6; }
.open { fill: #cdd2e3; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.paper { fill: #161b22; }
.card { fill: #212836; stroke: #3d4659; }
.grey { fill: #9da7b3; }
.line { stroke: #9da7b3; }
.good { fill: #56d364; }
.edgec { fill: #8c9eff; }
.closed { fill: #5c6a94; }
.open { fill: #3b4668; }
}
</style>"""


def text(x: float, y: float, words: str, style: str = "") -> str:
    """One line of text that begins at x and stands on y."""
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{html.escape(words)}</text>'


def drawing(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """An SVG of this size with its paper; the title is read out by screen readers."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{html.escape(title)}">'
    )
    paper = f'<rect class="paper" width="{width}" height="{height}" rx="10"/>'
    return "\n".join([head, f"<title>{html.escape(title)}</title>", STYLE, paper, *parts, "</svg>"])


def cards(report: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Titles and lines of the stations of a model, with the figures of its build.

    Args:
        report: `report.json` of the build; one without firmware has no figures of flash and RAM.
    """
    memory, estimate = report["memory"], report["estimate"]
    board = report["board"]
    if memory["flash_bytes"] is None:
        firmware = []
    else:
        milliseconds = 1000 * report["speed"]["cycles"] / board["clock_hz"]
        firmware = [
            f"flash {memory['flash_bytes'] / 1024:.1f} KB",
            f"RAM {memory['ram_bytes'] / 1024:.1f} KB",
            f"{milliseconds:.2f} ms a run (estimate)",
        ]
    return [
        (
            "Model",
            [
                f"{report['model']}.onnx",
                f"{report['parameters']:,} float weights",
                f"{report['macs_in_file']:,} MACs",
            ],
        ),
        (
            "Integers",
            [
                "int8, int16 on demand",
                f"{memory['weight_bytes']:,} bytes",
                f"{estimate['output_db']:.1f} dB: as good as float",
            ],
        ),
        (
            "C",
            ["no heap, no float", "no interpreter", f"arena {memory['arena_bytes']:,} bytes"],
        ),
        (board["title"].replace("ST Nucleo-64", "Nucleo"), firmware),
    ]


def overview(report: Mapping[str, Any]) -> str:
    """A model on its way to the board: SVG."""
    width, card, gap, top = 1040, 224, 32, 24
    parts = []
    for number, (title, lines) in enumerate(cards(report)):
        x = 24 + number * (card + gap)
        parts.append(f'<rect class="card" x="{x}" y="{top}" width="{card}" height="136" rx="8"/>')
        parts.append(text(x + 16, top + 32, title, "title"))
        parts += [text(x + 16, top + 62 + 26 * row, line) for row, line in enumerate(lines)]
        if number:
            y = top + 68
            parts.append(f'<path class="line" d="M{x - gap + 5} {y}H{x - 6}m-8 -7l8 7l-8 7"/>')
    layers = f"✓ all {len(report['layers'])} layers equal the numpy reference"
    where = "bit for bit, on the host and in the emulator"
    left, right = 24 + card + gap + card / 2, 24 + 3 * (card + gap) + card / 2
    y = top + 136
    parts.append(f'<path class="line" d="M{left} {y + 8}v18H{right}v-18"/>')
    parts.append(text((left + right) / 2, y + 54, f"{layers}, {where}", "good middle"))
    return drawing(width, 236, "From a model file over integers and C to a board", parts)


def terminal(words: Sequence[str], output: str, title: str) -> str:
    """A terminal that shows a command and what it printed, with its colours: SVG."""
    console = Console(
        record=True, width=92, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    lines = [" ".join(words[:4]), *(" ".join(words[at : at + 2]) for at in range(4, len(words), 2))]
    command = Text.assemble(("$ ", "bold green"), "edgec " + " \\\n        ".join(lines))
    console.print(command)
    console.print(Text.from_ansi(output))
    svg = console.export_svg(title=title, unique_id=title.replace(" ", "-"))
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)  # fonts of a network


def table(name: str, page: Path = BENCHMARKS) -> list[list[str]]:
    """The cells of the table between `<!-- NAME: begin -->` and its end, without its head."""
    found = re.search(
        rf"<!-- {name}: begin -->(.*?)<!-- {name}: end -->", page.read_text("utf-8"), re.S
    )
    assert found is not None, name
    rows = [line for line in found[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows[2:]]


def benchmark(rows: Sequence[Sequence[str]]) -> str:
    """Bars of cycles per multiply-accumulate: SVG.

    Args:
        rows: network, then the figures of edgec, of the best closed and the best open stack.
    """
    width, left, scale, bar = 1040, 250, 140, 20
    names = ("edgec (estimate)", "best closed stack (measured)", "best open stack (measured)")
    parts = [text(24, 40, "Cycles per multiply-accumulate on a Cortex-M4: less is faster", "title")]
    x = left
    for style, name in zip(("edgec", "closed", "open"), names, strict=True):
        parts.append(f'<rect class="{style}" x="{x}" y="58" width="16" height="16" rx="3"/>')
        parts.append(text(x + 24, 72, name, "grey"))
        x += 60 + 8 * len(name)
    y = 100
    for name, *figures in rows:
        parts.append(text(left - 16, y + 1.5 * bar + 8, name, "end"))
        for style, figure in zip(("edgec", "closed", "open"), figures, strict=True):
            length = scale * float(figure)
            size = f'width="{length:g}" height="{bar - 2}"'
            parts.append(f'<rect class="{style}" x="{left}" y="{y}" {size} rx="3"/>')
            parts.append(text(left + length + 8, y + 15, figure))
            y += bar
        y += 18
    return drawing(
        width, y + 8, "Cycles per multiply-accumulate of edgec and of published stacks", parts
    )


def front(rows: Sequence[Sequence[str]]) -> str:
    """Accuracy over flash: a point for each network and compression, SVG.

    Args:
        rows: network, compression, accuracy in percent, bytes of flash; more is not drawn.
    """
    points = [
        (network, way, float(share.rstrip(" %")), int(flash.replace(",", "")) / 1024)
        for network, way, share, flash, *_ in rows
    ]
    width, height, left, top, low = 1040, 560, 70, 84, 500
    first = math.floor(math.log2(min(kib for *_, kib in points) / 25))
    last = math.ceil(math.log2(max(kib for *_, kib in points) / 25))
    least = math.floor(min(share for _, _, share, _ in points) / 5) * 5

    def x(kib: float) -> float:
        share = (math.log2(kib / 25) - first) / (last - first)
        return round(left + share * (width - left - 60), 1)

    def y(share: float) -> float:
        return round(low - (share - least) / (95 - least) * (low - top), 1)

    parts = [
        text(
            24,
            40,
            "Images told right (%) over flash of the firmware (KB, each step doubles)",
            "title",
        )
    ]
    styles = dict(zip(dict.fromkeys(network for network, *_ in points), _STYLES, strict=False))
    for number, (network, style) in enumerate(styles.items()):
        at = left + 200 * number
        parts.append(f'<circle class="{style}" cx="{at}" cy="64" r="7"/>')
        parts.append(text(at + 14, 70, network, "grey"))
    parts.append(f'<path class="line" d="M{left} {top}V{low}H{width - 30}"/>')
    parts += [
        text(left - 10, y(share) + 5, f"{share}", "grey end") for share in range(least, 96, 5)
    ]
    ticks = [round(25 * 2.0**power) for power in range(first, last + 1)]
    parts += [text(x(kib), low + 24, f"{kib}", "grey middle") for kib in ticks]
    for network, _, share, kib in points:
        parts.append(f'<circle class="{styles[network]}" cx="{x(kib)}" cy="{y(share)}" r="6"/>')
    taken: list[tuple[float, float, float]] = []
    for _, way, share, kib in sorted(points, key=lambda point: -point[2]):
        at, base = x(kib) + 11, y(share) + 5
        end = at + 8 * len(way)
        # A name that would cover another one goes below it.
        while any(
            at < right and left_ < end and abs(base - line) < 17 for left_, right, line in taken
        ):
            base += 3
        taken.append((at, end, base))
        parts.append(text(at, round(base, 1), way))
    return drawing(
        width, height, "Accuracy over flash of ResNet-8 and ResNet-10, compressed", parts
    )


def edgec(words: Sequence[str], folder: Path) -> str:
    """Standard output of a command, with its colours; it ends the program if it fails."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "90", "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "edgec", *words]
    done = subprocess.run(
        argv, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def page(address: str, target: Path, height: int, folder: Path) -> None:
    """Draw the top of a page, 1,100 pixels wide, as a PNG of few colours."""
    from PIL import Image  # noqa: PLC0415 (the test of the drawings does without)

    shot = folder / "page.png"
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    argv = ["chromium", *options, f"--user-data-dir={folder / 'browser'}"]
    argv += [f"--window-size=1100,{height}", f"--screenshot={shot}", address]
    subprocess.run(argv, check=True, capture_output=True)
    with Image.open(shot) as image:
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(target, optimize=True)
    size = target.stat().st_size
    assert size <= PAGE_BYTES, f"{target.name} takes {size} bytes"


def compared(build: str, data: str, folder: Path) -> list[str]:
    """Folders of the build and of two of its variants, all evaluated."""
    variants = {"digits-size": ("--optimize", "size"), "digits-int16": ("--precision", "int16")}
    folders = [build]
    for name, options in variants.items():
        words = [word for word in COMPILE if word not in ("--out", build)]
        folders.append(f"build/{name}")
        edgec([*words, *options, "--no-verify", "--out", folders[-1]], folder)
    for each in folders:
        edgec(["evaluate", each, "--data", data], folder)
    return folders


def main() -> None:
    """Write all pictures, or those that need no browser."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--no-pages", action="store_true", help="leave out the pages")
    is_without_pages = parser.parse_args().no_pages
    (ASSETS / "benchmark.svg").write_text(benchmark(table("published")), "utf-8")
    drawn = front(table("compressed", FEW_BITS))
    (ASSETS / "few-bits.svg").write_text(drawn, "utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        build, data = "build/digits", "examples/digits_test.npz"
        edgec([*COMPILE, "--html", "compile.html"], folder)
        output = edgec(COMPILE, folder)
        (ASSETS / "compile.svg").write_text(terminal(COMPILE, output, "edgec compile"), "utf-8")
        report = json.loads((folder / build / "report.json").read_text("utf-8"))
        (ASSETS / "overview.svg").write_text(overview(report), "utf-8")
        if is_without_pages:
            return
        edgec(["report", build, "--data", data, "--html", "report.html"], folder)
        others = compared(build, data, folder)
        edgec(["compare", *others, "--html", "compare.html"], folder)
        shown = (folder / "report.html").as_uri()
        for tab, picture, height in TABS:
            page(f"{shown}#tab-{tab}", ASSETS / f"page-{picture}.png", height, folder)
        page((folder / "compare.html").as_uri(), ASSETS / "page-compare.png", 900, folder)


if __name__ == "__main__":
    main()
