"""Figures of builds: tolerances, what counts as worse, and the file that is committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgec.base.errors import ConfigError
from edgec.report.figure_changes import Tolerance, changes
from edgec.report.figures import KINDS, FigureFile, Figures
from edgec.report.figures_markdown import figures_markdown

BEFORE = Figures(flash_bytes=10_000, ram_bytes=4_000, cycles=50_000, accuracy=0.98, sqnr_db=40.0)


def states(after: Figures, tolerance: str | None = None) -> dict[str, str]:
    found = changes(BEFORE, after, Tolerance.parse(tolerance))
    return {each.kind.name: each.state for each in found}


def test_nothing_changed() -> None:
    assert set(states(BEFORE).values()) == {"same"}


@pytest.mark.parametrize(
    ("after", "tolerance", "state"),
    [
        ({"flash_bytes": 10_100}, None, "within"),
        ({"flash_bytes": 10_101}, None, "worse"),
        ({"flash_bytes": 9_999}, None, "better"),
        ({"flash_bytes": 10_001}, "flash=0", "worse"),
        ({"flash_bytes": 12_048}, "flash=2K", "within"),
        ({"flash_bytes": 12_049}, "flash=2K", "worse"),
        ({"cycles": 51_250}, "cycles=2.5%", "within"),
        ({"cycles": 51_251}, "cycles=2.5%", "worse"),
        ({"accuracy": 0.975}, None, "within"),
        ({"accuracy": 0.9749}, None, "worse"),
        ({"accuracy": 0.99}, None, "better"),
        ({"sqnr_db": 39.5}, None, "within"),
        ({"sqnr_db": 39.4}, None, "worse"),
        ({"sqnr_db": 37.0}, "ram=1,db=3", "within"),
        ({"accuracy": None}, None, "missing"),
        ({"macs": 7}, None, "new"),
    ],
)
def test_a_change(after: dict[str, float], tolerance: str | None, state: str) -> None:
    values = {kind.name: getattr(BEFORE, kind.name) for kind in KINDS}
    found = states(Figures(**{**values, **after}), tolerance)
    (name,) = after
    assert found.pop(name) == state
    assert set(found.values()) == {"same"}


@pytest.mark.parametrize(
    "text",
    ["", "flash", "flash=", "flash=-1", "heap=1%", "flash=1%,flash=2%", "db=1%", "accuracy=x"],
)
def test_tolerances_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Tolerance.parse(text)
    assert raised.value.where == "--tolerance"
    assert raised.value.hint


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "edgec.lock.json"
    written = FigureFile.of("net", "nucleo_f446re", 540, BEFORE)
    written.write(path)
    assert FigureFile.read(path) == written
    assert "arena_bytes" not in path.read_text()  # what is not known is left out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"schema": 1', '"schema": 2'),
        ('"schema": 1', '"schema": "1"'),
        ("10000", "-1"),
        ("10000", "1.5"),
        ("0.98", "NaN"),
        ("0.98", "1.5"),
        ('"samples"', '"sampels"'),
        ("{", "["),
        ("{", "[" * 100_000),
    ],
)
def test_damaged_files(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "edgec.lock.json"
    FigureFile.of("net", "host", 1, BEFORE).write(path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ConfigError, match="figures") as raised:
        FigureFile.read(path)
    assert "--update" in raised.value.hint


def test_markdown_has_a_row_for_each_figure_and_escapes_names() -> None:
    after = Figures(flash_bytes=20_000, ram_bytes=4_000)
    rows = changes(BEFORE, after, Tolerance.parse(None))
    file = FigureFile.of("a|b<script>", "nucleo_f446re", 0, after)
    lines = figures_markdown(file, rows).splitlines()
    assert lines[0] == r"### a\|b\<script\> on nucleo_f446re: 4 worse than allowed"
    assert lines[4] == "| flash B | 10,000 | 20,000 | +10,000 (+100.0%) | 1% | **worse** |"
    assert lines[5] == "| RAM B | 4,000 | 4,000 | 0 | 1% | same |"
    assert "| accuracy | 98.00% |  |  | 0.5 points | **missing** |" in lines
    assert all(line.count("|") == 7 for line in lines[2:])
