"""Table of the ways to let layers run in turns of a few rows."""

from __future__ import annotations

from edgec.report.model import RowsReport
from edgec.report.tables import Table, table


def rows_table(found: RowsReport) -> Table:
    """The smallest arena first, the fastest way last; the chosen one is marked."""
    fastest = found.front[-1].cycles
    lines = []
    for number, each in enumerate(found.front):
        low, high = each.rows
        rows = "all" if not each.layers else f"{low}" if low == high else f"{low} to {high}"
        more = each.cycles / fastest - 1 if each.cycles is not None and fastest else None
        lines.append(
            (
                "this build" if number == found.chosen else "",
                f"{each.arena_bytes:,}",
                "" if more is None else f"{more:+.1%}",
                each.layers,
                each.chains,
                rows,
            )
        )
    columns = ("", ">arena bytes", ">estimated time", ">layers in turns", ">loops", ">rows")
    note = "arena without copies of weights; --rows always takes the first line, never the last"
    if found.input_rows:
        note = "arena without copies of weights; the last line has the whole image in memory"
    return table("Layers in turns of a few rows", columns, lines, note=note)
