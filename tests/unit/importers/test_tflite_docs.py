"""The table of operators in docs/tflite.md is that of the code."""

from __future__ import annotations

import re

import pytest
from places import REPOSITORY

from edgec.importers.tflite.facts import exactness, named
from edgec.importers.tflite.registry import supported_operators

PAGE = REPOSITORY / "docs" / "tflite.md"


def operator_table() -> str:
    rows = [f"| {op} | {text} | {exactness(op).value} |" for op, text in supported_operators()]
    head = "| operator | what is supported | whose codes it gives in an integer file |"
    return "\n".join([head, "|---|---|---|", *rows])


def test_only_operators_that_are_imported_are_called_exact():
    assert not named()


def test_the_table_of_operators(request: pytest.FixtureRequest):
    text = PAGE.read_text("utf-8")
    pattern = re.compile(r"(<!-- operators: begin [^\n]*-->\n)(.*?)(<!-- operators: end -->)", re.S)
    updated = pattern.sub(lambda found: f"{found[1]}\n{operator_table()}\n\n{found[3]}", text)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(updated, "utf-8")
    assert text == updated, "the table is out of date: pytest --update-golden"
