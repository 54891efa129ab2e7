"""`.csv`: one sample a line, its numbers separated by commas; a column "y" holds labels."""

from __future__ import annotations

from pathlib import Path

from edgec.base.errors import ConfigError
from edgec.base.samples.csv_table import Columns, read_table, whole
from edgec.base.samples.request import Found, InputSpec, Request, check_size, listing_of

_LABEL = "y"
_ITEM_BYTES = 8


def read(path: Path, request: Request) -> Found:
    """The rows of the file as "x", and the column "y" as labels.

    The first line may hold names of columns; without names there are no labels.

    Raises:
        ConfigError: the file cannot be read, a row has too few or too many numbers, a text is no
            number, or the model has several inputs.
    """
    spec = request.single
    table = read_table(path, spec.elements + 1, lambda names, width: _columns(names, width, spec))
    check_size(len(table.x), spec, _ITEM_BYTES)
    numbers = whole(table.x)
    flat = table.x if numbers is None else numbers
    x = flat.reshape(-1, *spec.sample) if flat.shape[1] == spec.elements else flat
    listing = listing_of({"x": x.shape})
    if table.labels is None:
        return Found({"x": x}, listing, "no column of the first line is named 'y'")
    return Found({"x": x, _LABEL: table.labels}, f"{listing}, y [{len(x)}]")


def _columns(names: tuple[str, ...], width: int, spec: InputSpec) -> Columns:
    """All columns, that of the labels apart.

    Raises:
        ConfigError: no sample of the input has as many numbers.
    """
    label = names.index(_LABEL) if _LABEL in names else None
    kept = tuple(place for place in range(width) if place != label)
    is_shorter = spec.length_axis is not None and 1 <= len(kept) <= spec.elements
    if len(kept) != spec.elements and not is_shorter:
        raise ConfigError(
            f"has {len(kept)} columns of numbers; a sample of the model's input "
            f"{list(spec.shape)} has {spec.elements}",
            hint="one sample a line, in the order of the axes; labels in a column named y",
        )
    return Columns(kept, label)
