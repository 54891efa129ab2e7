"""`.csv` recordings of sensors: a line for each time, with a number for each axis.

The first line may hold names of columns.  A column of times (`time`, `timestamp`, `seconds`, `ms`,
`t`) is left out.  A column "label" holds the class of each line, and so does "y" where there is one
column more than axes and none is named "x" or "z": a recording is cut where the class changes.
Whole numbers, written without a point, are samples of 16 bits, others numbers of the front end's
full scale.  A recording becomes samples one after the other; what is left at its end is not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN, round_half_up, saturate
from edgec.base.samples.checks import check_sensor
from edgec.base.samples.csv_table import Columns, read_table
from edgec.base.samples.folder import Folder
from edgec.base.samples.request import Found, InputSpec, Request, SensorForm, check_size

SUFFIXES = frozenset({".csv"})
_TIMES = frozenset({"time", "timestamp", "seconds", "ms", "t"})
_LABEL, _LABEL_OR_AXIS = "label", "y"
_OTHER_AXES = frozenset({"x", "z"})
_ITEM_BYTES = 2


class OtherColumnsError(ConfigError):
    """A table whose columns are not those of a recording."""


@dataclass(frozen=True, slots=True, eq=False)
class _Recording:
    """The samples that a file holds.

    Attributes:
        codes: int16 [L, axes].
        labels: class of each line, int64 [L]; None: the file has none.
        is_whole: its numbers are samples of 16 bits themselves.
    """

    codes: Array
    labels: Array | None
    is_whole: bool

    def parts(self) -> list[tuple[Array, int | None]]:
        """The stretches of one class, with that class."""
        if self.labels is None:
            return [(self.codes, None)]
        cuts = [0, *(np.flatnonzero(np.diff(self.labels)) + 1), len(self.codes)]
        return [(self.codes[a:b], int(self.labels[a])) for a, b in pairwise(cuts)]


def read(path: Path, request: Request) -> Found:
    """The windows of one recording as "x", and their classes as "y" where there is such a column.

    Raises:
        ConfigError: see `read_folder`.
    """
    return read_folder(Folder(path, (path,)), request)


def read_folder(folder: Folder, request: Request) -> Found:
    """The windows of all recordings as "x", int16 [N, samples], their classes as "y".

    Args:
        folder: the files.
        request: its input takes recordings of a sensor.

    Raises:
        OtherColumnsError: a file has other columns than the axes.
        ConfigError: a file cannot be read or has fewer lines than a result takes; numbers beyond
            the full scale, whole numbers in some files and others in others; too many recordings.
    """
    spec = request.single
    assert spec.sensor is not None
    windows: list[Array] = []
    classes: list[int | None] = []
    first: _Recording | None = None
    for number, path in enumerate(folder.files):
        each = _recording(path, spec.sensor)
        first = first or each
        if each.is_whole != first.is_whole:
            raise ConfigError(
                f"holds {_kind(each)}, and {folder.files[0].name} {_kind(first)}",
                where=str(path),
                hint="write numbers of the full scale with a point (1.0), samples of 16 bits "
                "without one",
            )
        own = folder.labels[number] if folder.classes else None
        before = len(windows)
        for part, label in each.parts():
            cut = _windows(part, spec)
            windows += list(cut)
            classes += [own if own is not None else label] * len(cut)
        if len(windows) == before:
            lines = spec.elements // spec.sensor.axes
            raise ConfigError(
                f"has {len(each.codes)} lines, and a result takes {lines} of one class",
                where=str(path),
                hint="record for longer, or take a shorter window",
            )
        check_size(len(windows), spec, _ITEM_BYTES)
    arrays = {"x": np.stack(windows)}
    if None not in classes:
        arrays["y"] = np.array([each for each in classes if each is not None], np.int64)
        return Found(arrays, folder.listing)
    return Found(arrays, folder.listing, folder.why_no_labels + " and no column is named 'label'")


def read_codes(path: Path, form: SensorForm) -> Array:
    """A whole recording as a front end takes it, int16 [lines * axes].

    Raises:
        ConfigError: see `read_folder`.
    """
    return _recording(path, form).codes.reshape(-1)


def _kind(found: _Recording) -> str:
    return "whole numbers" if found.is_whole else "numbers with a point"


def _windows(part: Array, spec: InputSpec) -> Array:
    """Samples of the model, one after the other: [N, elements]."""
    flat = part.reshape(-1)
    count = len(flat) // spec.elements
    return flat[: count * spec.elements].reshape(count, spec.elements)


def _recording(path: Path, form: SensorForm) -> _Recording:
    where = str(path)
    try:
        found = read_table(
            path,
            form.axes + len(_TIMES) + 1,
            lambda names, width: _columns([name.lower() for name in names], width, form),
        )
    except ConfigError as error:
        raise type(error)(error.what, where=where, hint=error.hint) from error
    if found.labels is not None and found.labels.dtype.kind != "i":
        hint = "number the classes from 0"
        raise ConfigError("its labels are no whole numbers", where=where, hint=hint)
    check_sensor(found.x, form, where, is_whole=found.is_whole)
    unit = 1.0 if found.is_whole else form.full_scale / -INT16_MIN
    codes = saturate(round_half_up(found.x / unit), INT16_MIN, INT16_MAX)
    return _Recording(codes.astype(np.int16), found.labels, found.is_whole)


def _columns(names: list[str], width: int, form: SensorForm) -> Columns:
    """The columns of the axes, and that of the classes.

    Raises:
        OtherColumnsError: there are more or fewer than the axes.
    """
    times = {place for place, name in enumerate(names) if name in _TIMES}
    axes = [place for place in range(width) if place not in times]
    label = None
    if _LABEL in names:
        label = names.index(_LABEL)
    elif _LABEL_OR_AXIS in names and not _OTHER_AXES & set(names) and len(axes) == form.axes + 1:
        label = names.index(_LABEL_OR_AXIS)
    if label is not None:
        axes.remove(label)
    if len(axes) != form.axes:
        raise OtherColumnsError(
            f"has {len(axes)} columns of samples, and the front end has {form.axes} axes",
            hint="a line for each time, a number for each axis; name a column of times 'time'",
        )
    return Columns(tuple(axes), label)
