"""Tables at every width: nothing is cut, nothing is wider than the terminal, no header is lost."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console
from table_widths import check_table

from edgec.report.tables import Table, table

WIDTHS = (20, 40, 60, 80, 120, 160)
NAME = "/model/layers.0/self_attn/q_proj/MatMul"
LAYERS = table(
    "[model] on a board whose title is longer than many a terminal is wide",
    (">", "layer", "operator", "output", ">MACs", ">weights B", "kernel", ">SQNR dB"),
    [
        (0, NAME, "QMatMul Requant31", "1x32x32x16", "4,194,304", "3,456", "dense_4x2_dsp", None),
        (1, "x" * 100, "QGemm", "1x10", "640", "", "gemm", "33.2"),
    ],
)
BUILDS = table(
    "Builds side by side",
    ("", ">build/digits-resnet-nucleo", ">build/digits-vit-nucleo", ">b"),
    [("flash bytes", "1,234,567", "2,222 (-99.8%)", "3"), ("cycles", "1", "2 (+100.0%)", "-")],
)
PROSE = table("", ("what", "to install"), [("compiler", "run this command " * 8)])
WIDE = table("漢字", ("名", ">数"), [("漢字" * 30, "1"), ("\x1b[31m[red]\n", "2")])
EMPTY = table("none", ("a", ">b"), [])


def shown(found: Table, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, soft_wrap=True, highlight=False).print(found)
    return stream.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("found", [LAYERS, BUILDS, PROSE, WIDE, EMPTY])
def test_nothing_is_lost(found: Table, width: int) -> None:
    check_table(found, width)


def test_layout_follows_the_width() -> None:
    lines = [len(shown(LAYERS, width).splitlines()) for width in (40, 80, 300)]
    assert lines == sorted(lines, reverse=True)
    assert NAME in shown(LAYERS, 60)
    header = shown(LAYERS, 80).splitlines()
    assert not any("layer" in line and "SQNR dB" in line for line in header)  # two lines a row
    assert any("layer" in line and "SQNR dB" in line for line in shown(LAYERS, 300).splitlines())
    assert "SQNR dB 33.2" in shown(LAYERS, 40)  # figures after their names


def test_a_narrower_table_takes_the_place_of_rows_of_several_lines() -> None:
    rows = [("a/long/name/of/a/layer/at/its/end", "Conv", 1), ("漢" * 20 + "b", "Gemm", 22)]
    least = table("", ("…layer", ">n"), [(a, n) for a, _, n in rows], note="without operators")
    found = table("", ("layer", "operator", ">n"), rows, narrower=least)
    for width in (26, 30, 40):
        text = shown(found, width)
        lines = text.splitlines()
        assert len(lines) == 7  # one a row
        assert max(map(cell_len, lines)) <= width
        assert "without operators" in text
        assert "…" in text
        assert all(end in text for end in ("at/its/end", "漢b"))
    whole = shown(found, 80)
    assert "without operators" not in whole
    assert all(name in whole for name, _, _ in rows)
    # Where not even that fits, nothing is left out.
    assert all(word in shown(found, 16) for word in ("operator", "Gemm", "Conv"))


def test_a_label_stands_with_each_figure_of_narrow_comparisons() -> None:
    text = shown(BUILDS, 30)
    assert "flash bytes" in text
    assert "b 3" in text


def test_controls_and_markup_are_text() -> None:
    assert "\\x1b[31m[red]\\n" in shown(WIDE, 80)


def test_cells_of_megabytes_keep_their_end() -> None:
    text = shown(table("", ("name",), [("a" * 1_000_000 + "end",)]), 80)
    assert len(text) < 2000
    assert "end" in text


def test_cells_at_the_end_of_a_row_may_be_left_out() -> None:
    found = table("", ("layer", ">cycles", ">measured"), [("a", "1", "2"), ("between layers", "3")])
    assert found.columns[2].cells == ("2", "")
    check_table(found, 40)


def test_columns_are_left_out_before_a_row_takes_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (">", "layer", "kernel", ">MACs", ">cycles")
    rows = [(0, "a" * 30, "dense_4x2_s8_dsp", "4,194,304", "1,234,567")]
    found = table("t", columns, rows, optional=("kernel", ">MACs"))
    headers = {width: [c.name for c in found.fitting(width).columns] for width in (120, 80, 60)}
    assert headers[120] == ["", "layer", "kernel", "MACs", "cycles"]
    assert headers[60] == ["", "layer", "cycles"]
    assert "├" not in shown(found, 60)
    monkeypatch.setattr("edgec.report.tables.is_verbose", lambda: True)
    whole = table("t", columns, rows, optional=("kernel", ">MACs"))
    assert len(whole.fitting(60).columns) == len(columns)
