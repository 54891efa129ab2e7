"""Table of the ways to let layers run in turns of a few rows."""

from __future__ import annotations

from edgec.report.model import RowsReport
from edgec.report.tables import Table, table


def rows_table(found: RowsReport) -> Table:
    """The smallest arena first, the fastest way last; the chosen one is marked."""
    fastest = found.front[-1]
    patched, grouped = (
        any(getattr(each, name) > 1 for each in found.front) for name in ("patches", "groups")
    )
    lines = []
    for number, each in enumerate(found.front):
        low, high = each.rows
        rows = "all" if not each.layers else f"{low}" if low == high else f"{low} to {high}"
        more = each.cycles / fastest.cycles - 1 if each.cycles and fastest.cycles else None
        factor = f"{each.macs / fastest.macs:.2f}" if fastest.macs else ""
        lines.append(
            (
                "this build" if number == found.chosen else "",
                f"{each.arena_bytes:,}",
                "" if more is None else f"{more:+.1%}",
                each.layers,
                each.chains,
                rows,
                *((each.patches if each.patches > 1 else "", factor) if patched else ()),
                *((each.groups if each.groups > 1 else "",) if grouped else ()),
            )
        )
    columns = ["", ">arena bytes", ">estimated time", ">layers in turns", ">loops", ">rows"]
    columns += [">patches", ">MACs"] if patched else []
    columns += [">groups"] if grouped else []
    note = "--rows always takes the first line, never the last"
    if found.input_rows:
        note = "the last line has the whole image in memory"
    if patched:
        note += "; patches compute some columns again, MACs as a multiple of the last line"
    if grouped:
        note += "; groups of channels compute nothing again"
    note = f"arena without copies of weights; {note}"
    return table("Layers in turns of a few rows", columns, lines, note=note)
