"""Pictures of the documents show what a build, a command and the published tables say today."""

from __future__ import annotations

import html
import importlib.util
import json
import re
from pathlib import Path

import pytest
from bad_input_support import edgec
from browser import NEEDS_CHROMIUM, measured
from documents import DOCS, DOCUMENTS
from places import REPOSITORY

SCRIPT = REPOSITORY / "tools" / "pictures.py"
SPECIFICATION = importlib.util.spec_from_file_location("pictures", SCRIPT)
assert SPECIFICATION is not None
assert SPECIFICATION.loader is not None
pictures = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(pictures)

ASSETS = DOCS / "assets"
STALE = "the picture is out of date: make pictures"


def words_of(picture: Path) -> str:
    """All text of an SVG, its lines one after another."""
    text = re.sub(r"<(style|title)\b.*?</\1>", "", picture.read_text("utf-8"), flags=re.S)
    return html.unescape(re.sub(r"\s*<[^>]*>\s*", " ", text)).replace("\N{NO-BREAK SPACE}", " ")


def test_the_overview_has_the_figures_of_a_build(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that no compiler changes; flash, RAM and time are those of the terminal."""
    monkeypatch.chdir(REPOSITORY)
    command = [word for word in pictures.COMPILE if word != "build/digits"]
    done = edgec(capsys, *command, str(tmp_path / "out"), "--no-build")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    shown = words_of(ASSETS / "overview.svg")
    lines = [line for _, card in pictures.cards(report) for line in card]
    lines.append(f"all {len(report['layers'])} layers")
    assert len(lines) == 10
    assert [line for line in lines if line not in shown] == [], STALE


def test_terminal_and_overview_show_the_same_build() -> None:
    terminal, overview = words_of(ASSETS / "compile.svg"), words_of(ASSETS / "overview.svg")
    assert " ".join(pictures.COMPILE[:4]) in re.sub(r"\s+", " ", terminal)
    for pattern in (r"flash ([\d.]+ KB)", r"RAM ([\d.]+ KB)", r"([\d.]+ ms a run)"):
        (figure,) = re.findall(pattern, overview)
        assert figure in terminal, STALE


def test_the_front_of_compressions_is_that_of_the_table() -> None:
    rows = pictures.table("compressed", DOCS / "few-bits.md")
    assert {network for network, *_ in rows} == {"ResNet-8", "ResNet-10", "binary"}
    assert (ASSETS / "few-bits.svg").read_text("utf-8") == pictures.front(rows), STALE


def test_the_benchmark_is_that_of_the_tables() -> None:
    rows = pictures.table("published")
    assert (ASSETS / "benchmark.svg").read_text("utf-8") == pictures.benchmark(rows), STALE
    text = (DOCS / "benchmarks-speed.md").read_text("utf-8")
    names = ("resnet8-qdq", "dscnn-qdq", "vww-qdq", "autoencoder")
    details = [re.findall(rf"^\| {name} \| (\d\.\d\d) \(", text, re.M) for name in names]
    assert details == [[figure] for _, figure, *_ in rows]


def test_pictures_are_used_small_and_fetch_nothing() -> None:
    texts = "".join(path.read_text("utf-8") for path in DOCUMENTS)
    found = [path for path in ASSETS.iterdir() if path.suffix in (".svg", ".png")]
    for path in found:
        assert path.name == "favicon.svg" or f"assets/{path.name})" in texts, path.name
        assert path.stat().st_size <= pictures.PAGE_BYTES
        if path.suffix == ".svg":
            fetched = re.search(r"(?:href=|url\(|src=)[\"']?https?:", path.read_text("utf-8"))
            assert fetched is None, path.name


FITS = """
const of = names => [...document.querySelectorAll(names)].map(e => e.getBoundingClientRect());
const boxes = of("rect.card, rect.paper"), texts = of("text");
const holds = (box, x, y) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
const outside = texts.filter(t => !boxes.every(
    box => !holds(box, t.left, t.top) || holds(box, t.right + 4, t.bottom))).length;
const over = texts.filter((a, i) => texts.some((b, j) => i < j && a.left < b.right
    && b.left < a.right && a.top + 4 < b.bottom && b.top + 4 < a.bottom)).length;
document.title = JSON.stringify({texts: texts.length, outside, over});
"""


@NEEDS_CHROMIUM
@pytest.mark.parametrize("name", ["overview", "benchmark"])
def test_labels_fit_and_do_not_overlap(tmp_path: Path, name: str) -> None:
    page = tmp_path / "picture.html"
    svg = (ASSETS / f"{name}.svg").read_text("utf-8")
    page.write_text(f"<!doctype html><title></title><body>{svg}</body>", "utf-8")
    found = measured(page, tmp_path, FITS, 1000)
    assert found["texts"] > 10
    assert found["outside"] == 0
    assert found["over"] == 0
