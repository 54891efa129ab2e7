"""Tables for terminals of any width: nothing in a table is ever cut.

A table chooses its layout when it is printed, by the width that there is (one that has a narrower
one beside it chooses the widest of them that fits the first layout, if any does):

1. one line a row, long texts wrapped inside their cells;
2. a few lines a row, its columns spread over them and the header in the same places;
3. in narrow terminals each figure after the name of its column, like `cycles 1,234`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from edgec.base.names import printable
from edgec.report.console import is_verbose, shortened

_TEXT_WIDTH = 24
"""Texts wrap at words in columns no narrower than this."""
_END_WIDTH = 16
"""A column of texts whose ends are shown takes this many characters at least."""
_WORD_WIDTH = 44
"""A single word stays in one piece up to this width."""
_MOST_LINES = 3
"""More lines a row than this are harder to read than figures after their names."""
_BORDER = 4
"""Left and right border of a table, with one space each."""
_BETWEEN = 3
"""Width of the space between two columns of a bordered table."""
_GAP = "  "
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: its header.
        number: right-aligned and never wrapped.
        cells: its texts, from top to bottom.
        ends: where texts beside each other would be wrapped, their ends are shown instead.
    """

    name: str
    number: bool
    cells: tuple[str, ...]
    ends: bool = False

    @property
    def natural(self) -> int:
        """Characters that the column takes if nothing is wrapped."""
        return max(cell_len(text) for text in (self.name, *self.cells))

    @property
    def least(self) -> int:
        """Characters below which the column is not squeezed where all are beside each other."""
        header = _wrapped_width(self.name)
        if self.number:
            return max(header, *(cell_len(text) for text in self.cells), 0)
        if self.ends:
            return max(header, min(self.natural, _END_WIDTH))
        return max(header, *(_wrapped_width(text) for text in self.cells), 0)


@dataclass(frozen=True, slots=True)
class Table:
    """A table that fits the width at which it is printed.

    Attributes:
        title: stands above.
        columns: from left to right.
        narrower: takes its place where its rows do not fit a line, but those of `narrower` do.
        note: stands below.
    """

    title: str
    columns: tuple[Column, ...]
    narrower: Table | None = None
    note: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self.fitting(options.max_width)
        if found.title:
            yield Text(found.title, style="italic", no_wrap=False, overflow="fold")
        yield found.arranged(options.max_width)
        if found.note:
            yield Text(found.note, style="dim", no_wrap=False, overflow="fold")

    def fitting(self, width: int) -> Table:
        """This table or a narrower one, the first whose rows fit a line; where none do, this."""
        found = self
        while _beside(found.columns, width) is None and found.narrower is not None:
            found = found.narrower
        return self if _beside(found.columns, width) is None else found

    def arranged(self, width: int) -> RichTable:
        """The table in the layout that suits a terminal of `width` characters."""
        widths = _beside(self.columns, width)
        if widths is not None:
            return self._one_line(widths)
        inner = max(width - _BORDER, 1)
        lines = _spread(self.columns, inner)
        if len(lines) <= _MOST_LINES:
            return self._blocks(_in_lines(lines), inner)
        return self._blocks(_labelled(self.columns, inner), inner, header=False)

    def _one_line(self, widths: Sequence[int]) -> RichTable:
        named = any(column.name for column in self.columns)
        result = RichTable(header_style="bold", show_header=named)
        for column, width in zip(self.columns, widths, strict=True):
            result.add_column(
                Text(column.name),
                justify="right" if column.number else "left",
                overflow="fold",
                width=width,
            )
        cells = (
            [_end(text, width) for text in column.cells] if column.ends else column.cells
            for column, width in zip(self.columns, widths, strict=True)
        )
        for row in zip(*cells, strict=True):
            result.add_row(*map(Text, row))
        return result

    def _blocks(self, blocks: Iterator[str], width: int, *, header: bool = True) -> RichTable:
        """One cell a row; `blocks` are the header, if there is one, and the rows."""
        result = RichTable(header_style="bold", show_header=header, show_lines=True)
        result.add_column(Text(next(blocks)) if header else "", width=width, no_wrap=True)
        for block in blocks:
            result.add_row(Text(block))
        return result


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    narrower: Table | None = None,
    note: str = "",
    optional: Sequence[str] = (),
) -> Table:
    """A table; columns whose header starts with ">" are right-aligned numbers.

    Of texts below a header that starts with "…" the ends are shown where they are too long.

    Args:
        title: stands above.
        columns: a header each.
        rows: a cell for each column; the last ones may be left out, and None shows as nothing.
        narrower: a table with less in it for terminals in which rows would take several lines.
        note: stands below.
        optional: headers of columns that are left out, the first one first, until rows fit a line;
            not with `-v`.
    """
    left = [name for name in columns if name not in optional[:1]]
    if optional and narrower is None and not is_verbose():
        keep = [number for number, name in enumerate(columns) if name in left]
        fewer = [[row[number] if number < len(row) else "" for number in keep] for row in rows]
        narrower = table(title, left, fewer, note=note, optional=optional[1:])
    texts = [[_cell(cell) for cell in row] + [""] * (len(columns) - len(row)) for row in rows]
    cells = zip(*texts, strict=True) if texts else ((),) * len(columns)
    return Table(
        printable(title),
        tuple(
            Column(printable(name.lstrip(">…")), name[:1] == ">", tuple(column), name[:1] == "…")
            for name, column in zip(columns, cells, strict=True)
        ),
        narrower,
        note,
    )


def _cell(value: object) -> str:
    return "" if value is None else printable(shortened(str(value)))


def _end(text: str, width: int) -> str:
    """As much of the end of a text as fits."""
    if cell_len(text) <= width:
        return text
    start = next(i for i in range(len(text)) if cell_len(text[i:]) < width)
    return f"…{text[start:]}"


def _wrapped_width(text: str) -> int:
    """Characters that a text needs if it may be wrapped."""
    longest = max((cell_len(word) for word in text.split()), default=0)
    return min(cell_len(text), max(_TEXT_WIDTH, min(longest, _WORD_WIDTH)))


def _beside(columns: Sequence[Column], width: int) -> list[int] | None:
    """Widths of columns beside each other; None where the terminal is too narrow for that."""
    widths = [column.least for column in columns]
    left = width - sum(widths) - _BORDER - _BETWEEN * (len(columns) - 1)
    if left < 0:
        return None
    for index, column in enumerate(columns):
        more = min(left, column.natural - widths[index])
        widths[index] += more
        left -= more
    return widths


@dataclass(frozen=True, slots=True)
class _Place:
    """A column and the characters that it has in its line."""

    column: Column
    width: int


def _spread(columns: Sequence[Column], width: int) -> list[list[_Place]]:
    """Columns on as few lines as hold them, in order; lines but the first are indented."""
    lines: list[list[_Place]] = [[]]
    left = width
    for column in columns:
        needed = max(min(column.least, width - len(_INDENT)), 1)
        if lines[-1] and needed + len(_GAP) > left:
            lines.append([])
            left = width - len(_INDENT)
        left -= needed + (len(_GAP) if lines[-1] else 0)
        lines[-1].append(_Place(column, needed))
    return [_widened(line, width - (len(_INDENT) if n else 0)) for n, line in enumerate(lines)]


def _widened(line: Sequence[_Place], width: int) -> list[_Place]:
    """The line with what is left of its width given to columns that would use it."""
    left = width - sum(place.width for place in line) - len(_GAP) * (len(line) - 1)
    found = []
    for place in line:
        more = max(min(left, place.column.natural - place.width), 0)
        found.append(_Place(place.column, place.width + more))
        left -= more
    return found


def _in_lines(lines: Sequence[Sequence[_Place]]) -> Iterator[str]:
    """The header and the rows, each as a block of lines."""
    yield "\n".join(_line([place.column.name for place in line], line, n) for n, line in _n(lines))
    for row in range(len(lines[0][0].column.cells)):
        yield "\n".join(
            _line([place.column.cells[row] for place in line], line, n) for n, line in _n(lines)
        )


def _n(lines: Sequence[Sequence[_Place]]) -> Iterator[tuple[int, Sequence[_Place]]]:
    return iter(enumerate(lines))


def _line(texts: Sequence[str], places: Sequence[_Place], number: int) -> str:
    """Cells side by side, wrapped inside their places."""
    wrapped = [_wrap(text, place.width) for text, place in zip(texts, places, strict=True)]
    indent = _INDENT if number else ""
    return "\n".join(
        indent
        + _GAP.join(
            _fitted(cell[row] if row < len(cell) else "", place)
            for cell, place in zip(wrapped, places, strict=True)
        ).rstrip()
        for row in range(max(map(len, wrapped)))
    )


def _fitted(text: str, place: _Place) -> str:
    if place.column.number:
        return " " * (place.width - cell_len(text)) + text
    return set_cell_size(text, place.width)


def _labelled(columns: Sequence[Column], width: int) -> Iterator[str]:
    """Each row as the figures that it has, after the names of their columns."""
    for row in zip(*(column.cells for column in columns), strict=True):
        figures = [
            f"{column.name} {text.strip()}".strip()
            for column, text in zip(columns, row, strict=True)
            if text.strip()
        ]
        yield "\n".join(_flow(figures, width))


def _flow(figures: Sequence[str], width: int) -> Iterator[str]:
    """Figures one after the other, as many on a line as fit; lines but the first are indented."""
    line, indent = "", ""
    for figure in (*figures, ""):
        if figure and (not line or cell_len(indent + line + _GAP + figure) <= width):
            line = f"{line}{_GAP}{figure}" if line else figure
            continue
        for part in _wrap(line, max(width - len(_INDENT), 1)):
            yield indent + part
            indent = _INDENT
        line = figure


def _wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters: broken at spaces, and in words that are longer."""
    lines = Text(text).wrap(_MEASURING, width, overflow="fold")
    return [line.plain.rstrip() for line in lines] or [""]


_MEASURING = Console(file=None, width=80)
