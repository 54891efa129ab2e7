"""The answer of a build: six lines, in words, from its report alone."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from profile_samples import sample_report
from rich.console import Console

from edgec.report.answer import answer_lines, bar, print_answer, rate_words, size_words, time_words
from edgec.report.model import (
    CheckReport,
    DecisionsReport,
    EstimateReport,
    QdqFileReport,
    Report,
    RowsPoint,
    RowsReport,
    SpeedReport,
    TensorGap,
)
from edgec.target.board import load_board


def built(**changes: object) -> Report:
    report = sample_report("a", "b")
    memory = replace(
        report.memory,
        flash_bytes=32_812,
        ram_bytes=100_000,
        flash_limit_bytes=512 << 10,
        ram_limit_bytes=128 << 10,
    )
    checks = (CheckReport("host", 3, 2), CheckReport("emulator", 1, 2))
    given = {"memory": memory, "checks": checks, "speed": SpeedReport(263_436, True), **changes}
    return replace(report, **given)  # type: ignore[arg-type]


def lines(report: Report) -> dict[str, str]:
    return dict(answer_lines(report, Path("build/x")))


def expected(decibels: float, *, few: bool = False) -> EstimateReport:
    return EstimateReport(decibels, None, None, 64, few)


def test_six_lines_end_what_is_printed() -> None:
    out = io.StringIO()
    report = built(estimate=expected(37.3), warnings=("a", "b"), notes=("never shown",))
    console = Console(file=out, width=80, soft_wrap=True, color_system=None)
    print_answer(report, Path("build/x"), console, following=("edgec", "run", "a b"))
    printed = out.getvalue().splitlines()
    labels = [line.split(":")[0] for line in printed[-6:]]
    assert labels == ["fits", "speed", "accuracy", "checked", "written", "next"]
    assert printed[-1] == "next:     edgec run 'a b'"
    assert max(map(len, printed)) <= 80
    assert printed[1:3] == ["warning: a", "warning: b"]
    assert "never shown" not in out.getvalue()


def test_a_bar_shows_a_little_and_all() -> None:
    assert bar(1, 1000) == "█░░░░░░░░░"
    assert bar(1000, 1000) == "█" * 10
    assert "32.0 KB of 512 KB" in lines(built())["fits"]


WHOLE = RowsPoint(82_200, 1000, 0, 0, (0, 0), 100)
"""Layers as a whole, beside which others stand."""


@pytest.mark.parametrize(
    ("point", "rows", "words"),
    [
        (RowsPoint(1, 1, 9, 2, (1, 2), 100), {}, "9 layers a few rows at a time, else 80.3 KB"),
        (
            RowsPoint(1, 1, 9, 8, (1, 1), 126, 6),
            {},
            "time in 6 patches, 26% more multiplications, else 80.3 KB arena",
        ),
        (
            RowsPoint(1, 1, 9, 8, (1, 1), 126, 6, 4),
            {"input_rows": 2, "input_passes": 6},
            "the image comes 2 rows a run, 6 times in 6 patches, 26% more multiplications, "
            "a layer in 4 groups of channels",
        ),
        (RowsPoint(1, 1, 0, 0, (0, 0), 100, 1, 4), {}, "; a layer in 4 groups of channels, else"),
    ],
)
def test_turns_patches_and_groups_are_named(
    point: RowsPoint, rows: dict[str, int], words: str
) -> None:
    report = built(rows=RowsReport(0, (point, WHOLE), **rows))
    assert words in lines(report)["fits"]
    assert ";" not in lines(built(rows=RowsReport(1, (point, WHOLE))))["fits"]


def test_without_limits_and_without_firmware() -> None:
    bare = sample_report("a")
    on_host = replace(bare, board=load_board("host"))
    assert "no limit here" in lines(on_host)["fits"]
    memory = replace(bare.memory, flash_limit_bytes=512 << 10, ram_limit_bytes=128 << 10)
    assert "firmware not built" in lines(replace(bare, memory=memory))["fits"]


@pytest.mark.parametrize(
    ("decibels", "word"), [(37.3, "as good as float"), (25, "slightly worse"), (12, "poor")]
)
def test_noise_in_words(decibels: float, word: str) -> None:
    text = lines(built(estimate=expected(decibels)))["accuracy"]
    assert word in text
    assert f"{decibels:.1f} dB" in text
    assert "112% noise" in lines(built(estimate=expected(-1.0)))["accuracy"]


def test_the_worse_of_decisions_and_noise_counts() -> None:
    decisions = DecisionsReport(80, 100, classes=True)
    text = lines(built(estimate=expected(40), decisions=decisions))["accuracy"]
    assert "poor" in text
    assert "80 of 100" in text
    other = DecisionsReport(80, 100, classes=False)  # an image has a largest pixel, too
    assert "as good as float" in lines(built(estimate=expected(40), decisions=other))["accuracy"]


@pytest.mark.parametrize(
    ("source", "word"), [("synthetic", "unknown"), ("none", "as the file"), ("user", "unknown")]
)
def test_accuracy_that_nobody_measured(source: str, word: str) -> None:
    report = built()
    report = replace(report, calibration=replace(report.calibration, source=source))
    assert word in lines(report)["accuracy"]


@pytest.mark.parametrize(
    ("rounding", "text"),
    [
        ("edgec", "as the file: 17.50% of outputs differ, by at most 14 steps of the last digit"),
        ("tflm", "as TFLM: beside exact arithmetic 17.50% of outputs differ, by at most 14 steps"),
    ],
)
def test_a_quantized_file_is_as_exact_as_its_rounding(rounding: str, text: str) -> None:
    report = built()
    found = QdqFileReport(8, 0.175, TensorGap("y", 0.175, 14), None, rounding=rounding)
    report = replace(report, calibration=replace(report.calibration, source="none"), qdq_file=found)
    told = lines(report)["accuracy"].replace("[green]", "").replace("[/]", "")
    assert text in told


def test_a_check_that_was_not_done_says_why() -> None:
    checks = (CheckReport("host", 3, 2), CheckReport("emulator", 0, 0, skipped="no [emulator]"))
    text = lines(built(checks=checks))["checked"]
    assert "on this computer" in text
    assert r"not in the emulator: no \[emulator]" in text
    assert "--no-verify" in lines(built(checks=()))["checked"]


def test_speed_is_called_what_it_is() -> None:
    assert "about 1.46 ms a run, 680 a second (estimate)" in lines(built())["speed"]
    assert "more than 1.46 ms" in lines(built(speed=SpeedReport(263_436, False)))["speed"]
    assert "no estimate" in lines(built(speed=None))["speed"]


def test_units() -> None:
    assert [size_words(n) for n in (640, 6844, 524_288, 8 << 20)] == [
        *("640 bytes", "6.7 KB", "512 KB", "8 MB")
    ]
    assert [time_words(s) for s in (29.5e-6, 1.463e-3, 12.34e-3, 1.5)] == [
        *("29.5 µs", "1.46 ms", "12.3 ms", "1.50 s")
    ]
    assert [rate_words(s) for s in (1.463e-3, 0.0538, 2)] == [
        "680 a second",
        "19 a second",
        "30 a minute",
    ]
