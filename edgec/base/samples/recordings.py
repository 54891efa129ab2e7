"""`.csv` recordings of sensors: a line for each time, with a number for each axis.

The first line may hold names of columns.  A column of times (`time`, `timestamp`, `seconds`, `ms`,
`t`) is left out.  A column more than there are axes, named "y" or "label", holds the class of each
line: a recording is cut where it changes.
Whole numbers are samples of 16 bits, others numbers of the front end's full scale.  A recording
becomes samples one after the other; what is left at its end is not used.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN
from edgec.base.limits import MAX_SAMPLE_BYTES
from edgec.base.samples.folder import Folder
from edgec.base.samples.request import Found, InputSpec, Request, SensorForm, check_size

SUFFIXES = frozenset({".csv"})
_TIMES = frozenset({"time", "timestamp", "seconds", "ms", "t"})
_LABELS = ("label", "y")
_ITEM_BYTES = 8
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.IGNORECASE)
_LOUDEST = 1.5
"""Numbers beyond this many full scales are of another unit."""


@dataclass(frozen=True, slots=True, eq=False)
class _Recording:
    """The numbers that a file holds.

    Attributes:
        path: the file.
        x: float64 [L, axes].
        labels: class of each line, int64 [L]; None: the file has none.
    """

    path: Path
    x: Array
    labels: Array | None

    @property
    def is_whole(self) -> bool:
        """Whether all are whole numbers: samples of 16 bits."""
        return bool(np.all(self.x == np.rint(self.x)))

    def parts(self) -> list[tuple[Array, int | None]]:
        """The stretches of one class, with that class."""
        if self.labels is None:
            return [(self.x, None)]
        cuts = [0, *(np.flatnonzero(np.diff(self.labels)) + 1), len(self.x)]
        return [(self.x[a:b], int(self.labels[a])) for a, b in pairwise(cuts)]


def read(path: Path, request: Request) -> Found:
    """The windows of one recording as "x", and their classes as "y" where there is such a column.

    Raises:
        ConfigError: see `read_folder`.
    """
    return read_folder(Folder(path, (path,)), request)


def read_folder(folder: Folder, request: Request) -> Found:
    """The windows of all recordings as "x", their classes as "y".

    Raises:
        ConfigError: the model takes no recordings of a sensor, a file cannot be read, has other
            columns than the axes, or fewer lines than a result takes; numbers beyond the full
            scale; too many recordings.
    """
    spec = request.single
    if spec.sensor is None:
        raise ConfigError(
            "a folder of .csv files holds recordings of a sensor, which this model does not take",
            hint="compile it with --front-end sensor, or give one file, a sample a line",
        )
    found = [_recording(path, spec.sensor) for path in folder.files]
    is_whole = all(each.is_whole for each in found)
    windows: list[Array] = []
    classes: list[int | None] = []
    for number, each in enumerate(found):
        _check_range(each, spec.sensor, is_whole=is_whole)
        own = folder.labels[number] if folder.classes else None
        before = len(windows)
        for part, label in each.parts():
            cut = _windows(part, spec)
            windows += list(cut)
            classes += [own if own is not None else label] * len(cut)
        if len(windows) == before:
            lines = spec.elements // spec.sensor.axes
            raise ConfigError(
                f"has {len(each.x)} lines, and a result takes {lines} of one class",
                where=str(each.path),
                hint="record for longer, or take a shorter window",
            )
    check_size(len(windows), spec, _ITEM_BYTES)
    x = np.stack(windows)
    arrays = {"x": x.astype(np.int16) if is_whole else x}
    if None not in classes:
        arrays["y"] = np.array([each for each in classes if each is not None], np.int64)
        return Found(arrays, folder.listing)
    return Found(arrays, folder.listing, folder.why_no_labels + " and no column is named 'label'")


def read_codes(path: Path, form: SensorForm) -> Array:
    """A whole recording as a front end takes it, int16 [lines * axes].

    Raises:
        ConfigError: see `read_folder`.
    """
    found = _recording(path, form)
    _check_range(found, form, is_whole=found.is_whole)
    flat = found.x.reshape(-1)
    if not found.is_whole:
        flat = np.rint(flat * (-INT16_MIN / form.full_scale))
    return np.clip(flat, INT16_MIN, INT16_MAX).astype(np.int16)


def _windows(part: Array, spec: InputSpec) -> Array:
    """Samples of the model, one after the other: [N, elements]."""
    flat = part.reshape(-1)
    count = len(flat) // spec.elements
    return flat[: count * spec.elements].reshape(count, spec.elements)


def _recording(path: Path, form: SensorForm) -> _Recording:
    where = str(path)
    if path.stat().st_size > MAX_SAMPLE_BYTES:
        raise ConfigError("is too large", where=where, hint="give shorter recordings")
    try:
        rows = [row for row in csv.reader(path.read_text("utf-8-sig").splitlines()) if row]
    except (csv.Error, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"not a readable .csv file ({str(error)[:200]})", where=where) from error
    if not rows:
        raise ConfigError("holds no samples", where=where)
    is_named = not all(_NUMBER.fullmatch(text) for text in rows[0])
    names = [name.strip().lower() for name in rows[0]] if is_named else [""] * len(rows[0])
    columns = [place for place, name in enumerate(names) if name not in _TIMES]
    label = next((names.index(name) for name in _LABELS if name in names), None)
    if len(columns) == form.axes or label is None:
        label = None  # "y" is an axis
    else:
        columns.remove(label)
    if len(columns) != form.axes:
        raise ConfigError(
            f"has {len(columns)} columns of samples, and the front end has {form.axes} axes",
            where=where,
            hint="a line for each time, a number for each axis; name a column of times 'time'",
        )
    body = rows[1:] if is_named else rows
    numbers = np.empty((len(body), len(names)))
    for at, row in enumerate(body):
        line = at + 1 + is_named
        if len(row) != len(names):
            what = f"line {line} has {len(row)} columns, the first {len(names)}"
            raise ConfigError(what, where=where)
        for place, text in enumerate(row):
            if names[place] not in _TIMES and not _NUMBER.fullmatch(text):
                raise ConfigError(f"line {line}: {text[:40]!r} is no number", where=where)
        numbers[at] = [
            0.0 if name in _TIMES else float(t) for t, name in zip(row, names, strict=True)
        ]
    if not len(body):
        raise ConfigError("holds no samples", where=where)
    labels = None if label is None else numbers[:, label]
    if labels is not None and not np.all(labels == np.rint(labels)):
        raise ConfigError(f"column {names[label or 0]} holds no whole numbers", where=where)
    kept = None if labels is None else labels.astype(np.int64)
    return _Recording(path, numbers[:, columns], kept)


def _check_range(found: _Recording, form: SensorForm, *, is_whole: bool) -> None:
    """Refuse numbers that are no samples."""
    most = float(np.abs(found.x).max())
    if is_whole and (found.x.max() > INT16_MAX or found.x.min() < INT16_MIN):
        raise ConfigError(
            f"holds {most:g}, and samples are whole numbers of 16 bits",
            where=str(found.path),
            hint="divide them, or give numbers with a fraction, of the front end's full scale",
        )
    if not is_whole and most > _LOUDEST * form.full_scale:
        raise ConfigError(
            f"holds numbers of up to {most:.6g}, and the full scale is {form.full_scale:g}",
            where=str(found.path),
            hint=f"add full-scale={most:.3g} to the front end, or give whole numbers of 16 bits",
        )
