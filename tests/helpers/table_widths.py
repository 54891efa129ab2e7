"""Checks of what a table shows in a terminal of some width."""

from __future__ import annotations

import io
import re

from rich.cells import cell_len
from rich.console import Console

from edgec.report.tables import Table

_LONGEST_PIECE = 8
"""Words longer than this may be folded where a terminal is narrow."""


def check_table(table: Table, width: int) -> None:
    """No line beyond the width, nothing cut, each header and each cell there.

    Of a table with narrower ones that is said of the one that is shown; of columns that show ends,
    that these are there.
    """
    table = table.fitting(width)
    stream = io.StringIO()
    Console(file=stream, width=width, soft_wrap=True, highlight=False).print(table)
    text = stream.getvalue()
    assert "…" not in text or any(column.ends for column in table.columns)
    for line in text.splitlines():
        assert cell_len(line) <= width, f"{width}: {line}"
    whole = re.sub(r"[\s┃│]", "", text)
    for column in table.columns:
        if not any(cell.strip() for cell in column.cells):
            continue
        if column.ends:
            ends = [re.sub(r"\s", "", cell)[-_LONGEST_PIECE:] for cell in column.cells]
            assert all(end in whole for end in ends), f"{width}: {ends}\n{text}"
            continue
        for cell in (column.name, *column.cells):
            for word in cell.split():
                pieces = [word] if len(word) <= _LONGEST_PIECE else [word[:3], word[-3:]]
                for piece in pieces:
                    assert piece in whole, f"{width}: {piece!r} of {cell!r} is not in\n{text}"
        shown = sum(whole.count(character) for character in "0123456789")
        assert shown >= sum(c.isdigit() for cell in column.cells for c in cell)
