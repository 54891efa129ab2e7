"""Tables of numbers in `.csv` files: rows of one length, the first of which may name columns."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.limits import MAX_SAMPLE_BYTES

_CHARACTERS = 64
"""Most characters that a number takes, with its comma."""
_MORE = 4096
"""Characters that a line may have beyond those of its numbers: names of columns."""
_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
_NUMBER = re.compile(
    r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf)\s*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table that are read.

    Attributes:
        kept: numbers of those whose numbers are samples.
        label: number of the one that holds classes; None: there is none.
    """

    kept: tuple[int, ...]
    label: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Numbers of a file.

    Attributes:
        x: float64 [N, columns that are kept]; "nan" and "inf" are what they say.
        labels: [N], int64 if they are whole numbers, else float64; None: no column holds any.
        is_whole: no number of x is written with a point or an exponent.
    """

    x: Array
    labels: Array | None
    is_whole: bool


def read_table(path: Path, most: int, columns: Callable[[tuple[str, ...], int], Columns]) -> Table:
    """The numbers of a file.

    Args:
        path: the file.
        most: columns that it may have; much longer lines are refused before they are read whole.
        columns: told the names of the first row, none where that holds numbers, and the number of
            columns; says which of them are read, or refuses the file.

    Raises:
        ConfigError: the file cannot be read or holds no row, a row has another length, a text is
            no number, or there are too many; what `columns` raises.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(_lines(stream, most * _CHARACTERS + _MORE))
            return _found(rows, columns)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"not a readable .csv file ({str(error)[:200]})") from error


def whole(numbers: Array) -> Array | None:
    """The numbers as int64; None if one of them is no whole number of 53 bits."""
    with np.errstate(invalid="ignore"):
        is_whole = np.all((numbers == np.rint(numbers)) & (np.abs(numbers) < 2.0**53))
    return numbers.astype(np.int64) if is_whole else None


def _found(lines: Iterator[list[str]], columns: Callable[[tuple[str, ...], int], Columns]) -> Table:
    rows = ((number, row) for number, row in enumerate(lines, start=1) if row)
    first = next(rows, None)
    if first is None:
        raise ConfigError("holds no samples")
    is_named = not all(map(_is_number, first[1]))
    names = tuple(name.strip() for name in first[1]) if is_named else ()
    body = _Body(columns(names, len(first[1])), len(first[1]))
    if not is_named:
        body.add(*first)
    for number, row in rows:
        body.add(number, row)
    return body.table()


class _Body:
    """Numbers of the rows that were read."""

    def __init__(self, columns: Columns, width: int) -> None:
        self._columns, self._width = columns, width
        self._numbers, self._labels = array("d"), array("d")
        self._is_whole = True

    def add(self, line: int, row: list[str]) -> None:
        """Append a row.

        Raises:
            ConfigError: it has another length, holds what is no number, or is one too many.
        """
        if len(row) != self._width:
            raise ConfigError(f"line {line} has {len(row)} columns, the first {self._width}")
        kept = [row[place] for place in self._columns.kept]
        label = [] if self._columns.label is None else [row[self._columns.label]]
        for text in (*kept, *label):
            if not _is_number(text):
                raise ConfigError(f"line {line}: {text[:40]!r} is no number")
        self._is_whole = self._is_whole and all(_WHOLE.fullmatch(text) for text in kept)
        self._numbers.extend(map(float, kept))
        self._labels.extend(map(float, label))
        if len(self._numbers) * self._numbers.itemsize > MAX_SAMPLE_BYTES:
            raise ConfigError(
                f"its first {line:,} lines take {MAX_SAMPLE_BYTES >> 20:,} MB of memory",
                hint="give fewer; some hundred samples calibrate",
            )

    def table(self) -> Table:
        """All numbers.

        Raises:
            ConfigError: there are none.
        """
        numbers = np.asarray(self._numbers)
        if not len(numbers):
            raise ConfigError("holds no samples")
        labels = np.asarray(self._labels)
        classes = whole(labels)
        found = None if self._columns.label is None else labels if classes is None else classes
        return Table(numbers.reshape(-1, len(self._columns.kept)), found, self._is_whole)


def _is_number(text: str) -> bool:
    """A number of a reasonable length; also "nan" and "inf", which are refused as what they are."""
    return len(text) <= _CHARACTERS and _NUMBER.fullmatch(text) is not None


def _lines(stream: IO[str], limit: int) -> Iterator[str]:
    """Lines of at most `limit` characters: a longer one is refused before it is read whole."""
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise ConfigError(
                f"line {number} is longer than {limit:,} characters",
                hint="a line for each sample, with as many numbers as it has",
            )
        yield line
