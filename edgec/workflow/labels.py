"""Names of classes that the user gives, held against the outputs of a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from edgec.base.errors import ConfigError
from edgec.base.label_file import read_labels
from edgec.workflow.integer import RealModel

_MOST_CHARACTERS = 200
"""Longest label: a C compiler need not take literals beyond 4095 bytes."""


def with_labels(model: RealModel, path: Path | None) -> RealModel:
    """A model with the labels of a file in place of those that its own file has.

    Args:
        model: the model.
        path: the file; None: the model's own labels stay.

    Raises:
        ConfigError: the file cannot be read, or its labels fit no output.
    """
    if path is None:
        return model
    labels = read_labels(path)
    check_labels(labels, str(path))
    imported, about = model.imported, model.about
    values = [imported.values[name] for name in imported.outputs]
    shapes = [(value.shape, value.dtype.value) for value in values]
    output = imported.outputs[labelled_output(shapes, labels, path)]
    return replace(model, about=replace(about, labels={output: labels}))


def check_labels(labels: Sequence[str], where: str) -> None:
    """Refuse labels that are no strings of C.

    Raises:
        ConfigError: one is too long, or holds a zero byte.
    """
    for number, label in enumerate(labels, 1):
        if not is_label(label):
            reason = "holds a zero byte" if "\0" in label else f"is longer than {_MOST_CHARACTERS}"
            raise ConfigError(
                f"label {number} {reason}", where=where, hint="give another list with --labels"
            )


def is_label(text: str) -> bool:
    """Whether a text can be the name of a class in C."""
    return len(text) <= _MOST_CHARACTERS and "\0" not in text


def fits_labels(shape: Sequence[int], dtype: str, count: int) -> bool:
    """Whether an output has an element for each of `count` classes, or is the number of one.

    Args:
        shape: axes of the output.
        dtype: "int32" where the elements are numbers of classes.
        count: how many classes have names.
    """
    elements = math.prod(shape)
    return elements == count or (elements == 1 and dtype == "int32")


def labelled_output(
    outputs: Sequence[tuple[Sequence[int], str]], labels: Sequence[str], path: Path
) -> int:
    """The position of the first output that labels fit.

    Args:
        outputs: shape and type of each, the type being "int32" where it is the number of a class,
            which any count of labels fits.
        labels: they.
        path: where they are from.

    Raises:
        ConfigError: there is none.
    """
    for number, (shape, dtype) in enumerate(outputs):
        if fits_labels(shape, dtype, len(labels)):
            return number
    sizes = [math.prod(shape) for shape, _ in outputs]
    raise ConfigError(
        f"{len(labels)} labels, but the model's outputs have this many elements: "
        f"{', '.join(map(str, sizes))}",
        where=str(path),
        hint="give a label for each element of one output, one a line",
    )
