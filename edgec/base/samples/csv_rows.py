"""`.csv`: one sample a line, its numbers separated by commas; a column "y" holds labels."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.samples.request import Found, InputSpec, Request, check_size, listing_of

_LABEL = "y"
_CHARACTERS = 64
"""Most characters that a number takes, with its comma."""
_MORE = 4096
"""Characters that a line may have beyond those of its numbers: names of columns."""
_NUMBER = re.compile(
    r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf)\s*", re.IGNORECASE
)


def read(path: Path, request: Request) -> Found:
    """The rows of the file as "x", and the column "y" as labels.

    The first line may hold names of columns; without names there are no labels.

    Raises:
        ConfigError: the file cannot be read, a row has too few or too many numbers, a text is no
            number, or the model has several inputs.
    """
    spec = request.single
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(_lines(stream, (spec.elements + 1) * _CHARACTERS + _MORE))
            return _found(rows, spec)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"not a readable .csv file ({str(error)[:200]})") from error


def _found(rows: Iterator[list[str]], spec: InputSpec) -> Found:
    first = next(rows, None)
    if first is None:
        raise ConfigError("holds no samples")
    names = None if all(map(_is_number, first)) else [name.strip() for name in first]
    label = names.index(_LABEL) if names is not None and _LABEL in names else None
    table = _Table(spec, label, len(first))
    if names is None:
        table.add(first, 1)
    for number, row in enumerate(rows, start=2):
        if row:
            table.add(row, number)
    x = table.samples()
    listing = listing_of({"x": x.shape})
    why = "no column of the first line is named 'y'"
    if label is None:
        return Found({"x": x}, listing, why)
    return Found({"x": x, _LABEL: table.classes()}, f"{listing}, y [{len(x)}]")


class _Table:
    """Numbers of rows that were read."""

    def __init__(self, spec: InputSpec, label: int | None, columns: int) -> None:
        """Refuse a number of columns that no sample of the input has."""
        self._spec, self._label, self._columns = spec, label, columns
        self._features = columns - (label is not None)
        self._numbers = array("d")
        self._labels = array("d")
        fits = self._features == spec.elements or (
            spec.length_axis is not None and 1 <= self._features <= spec.elements
        )
        if not fits:
            raise ConfigError(
                f"has {self._features} columns of numbers; a sample of the model's input "
                f"{list(spec.shape)} has {spec.elements}",
                hint="one sample a line, in the order of the axes; labels in a column named y",
            )

    def add(self, row: list[str], line: int) -> None:
        """Append a row."""
        if len(row) != self._columns:
            raise ConfigError(f"line {line} has {len(row)} columns, the first {self._columns}")
        for text in row:
            if not _is_number(text):
                raise ConfigError(f"line {line}: {text[:40]!r} is no number")
        values = [float(text) for text in row]
        if self._label is not None:
            self._labels.append(values.pop(self._label))
        self._numbers.extend(values)
        check_size(len(self._numbers) // self._features, self._spec, self._numbers.itemsize)

    def samples(self) -> Array:
        """Samples [N, ...]; whole numbers as int64, others as float64."""
        numbers = np.frombuffer(self._numbers, np.float64)
        whole = _whole(numbers)
        flat = (numbers if whole is None else whole).reshape(-1, self._features)
        is_whole = self._features == self._spec.elements
        return flat.reshape(-1, *self._spec.sample) if is_whole else flat

    def classes(self) -> Array:
        """Labels [N]; int64 if they are whole numbers."""
        numbers = np.frombuffer(self._labels, np.float64)
        whole = _whole(numbers)
        return numbers if whole is None else whole


def _is_number(text: str) -> bool:
    """A number of a reasonable length; also "nan" and "inf", which are refused as what they are."""
    return len(text) <= _CHARACTERS and _NUMBER.fullmatch(text) is not None


def _whole(numbers: Array) -> Array | None:
    """The numbers as int64; None if one of them is no whole number of 53 bits."""
    with np.errstate(invalid="ignore"):
        is_whole = np.all((numbers == np.rint(numbers)) & (np.abs(numbers) < 2.0**53))
    return numbers.astype(np.int64) if is_whole else None


def _lines(stream: IO[str], limit: int) -> Iterator[str]:
    """Lines of at most `limit` characters: a longer one is refused before it is read whole."""
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise ConfigError(
                f"line {number} is longer than {limit:,} characters",
                hint="one sample a line, with as many numbers as the model's input has",
            )
        yield line
