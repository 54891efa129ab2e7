"""docs/limits.md is the table of `edgec.base.limits`."""

from __future__ import annotations

from pathlib import Path

from edgec.base.limits import LIMITS, Limit

DOCUMENT = Path(__file__).parents[3] / "docs" / "limits.md"


def test_the_document_has_every_limit():
    rows = [line for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("| ")]
    assert rows[1:] == [f"| {limit.what} | {limit.text} |" for limit in LIMITS]


def test_sizes_in_words():
    assert Limit("x", 512 << 20, "bytes").text == "512 MiB"
    assert Limit("x", 1000, "bytes").text == "1,000 bytes"
    assert Limit("x", 1 << 23, "elements").text == "8,388,608 elements"
