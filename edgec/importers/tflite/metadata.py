"""The metadata of a .tflite file: what its author says of inputs and outputs.

Source: metadata_schema.fbs of tflite-support, whose fields are named by number here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from edgec.base.description import AttachedFile, Description
from edgec.base.names import shown
from edgec.base.samples.normalize import Normalize
from edgec.importers.common.files import read_file
from edgec.importers.tflite.attached import Entry, attached_files, attached_text
from edgec.importers.tflite.file import FileModel, FileTensor
from edgec.importers.tflite.flatbuffer import Table
from edgec.importers.tflite.load import load_bytes

IDENTIFIER = b"M001"
_LONGEST_TEXT = 2000
_NORMALIZATION, _AXIS_LABELS, _VALUE_LABELS = 1, 2, 3


@dataclass
class _Found:
    """What is known so far.

    Attributes:
        data: the whole file.
        files: what it carries along.
    """

    data: bytes
    files: Mapping[str, Entry]
    normalize: dict[str, Normalize] = field(default_factory=dict)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def describe(path: Path) -> Description:
    """What the metadata of a file say; damaged ones are a problem of theirs, not of the model.

    Raises:
        ImportModelError: the file itself is no sound model.
    """
    data = read_file(path)
    return described(load_bytes(data, str(path)), data)


def described(model: FileModel, data: bytes) -> Description:
    """What the metadata of a loaded file say.

    Args:
        model: the records of the file.
        data: the whole file.
    """
    try:
        files = attached_files(data)
    except ValueError as error:
        return Description(problems=(f"the attached files cannot be read: {error}",))
    found = _Found(data, files)
    title = version = text = author = licence = ""
    try:
        if model.metadata:
            root = Table.root(model.metadata, IDENTIFIER)
            _read_tensors(root, model, found)
            title, text, version, author, licence = (
                root.text(number)[:_LONGEST_TEXT] for number in (0, 1, 2, 4, 5)
            )
    except ValueError as error:
        found.problems.append(f"the metadata cannot be read: {error}")
    return Description(
        *(title, version, text, author, licence),
        normalize=found.normalize,
        labels=found.labels,
        files=tuple(AttachedFile(name, entry.size) for name, entry in files.items()),
        problems=tuple(found.problems),
    )


def _read_tensors(root: Table, model: FileModel, found: _Found) -> None:
    graphs = root.tables(3)
    if graphs:
        for table, number in _pairs(graphs[0].tables(2), model.inputs, "inputs", found):
            _input(table, model.tensors[number], found)
        for table, number in _pairs(graphs[0].tables(3), model.outputs, "outputs", found):
            _output(table, model.tensors[number], found)


def _pairs(
    tables: Sequence[Table], numbers: Sequence[int], what: str, found: _Found
) -> list[tuple[Table, int]]:
    """What is said of each tensor beside the tensor; nothing where it is said of others."""
    if tables and len(tables) != len(numbers):
        found.problems.append(
            f"the metadata describe {len(tables)} {what}, the network has {len(numbers)}"
        )
        return []
    return list(zip(tables, numbers, strict=False))


def _input(table: Table, tensor: FileTensor, found: _Found) -> None:
    for unit in table.tables(4):
        options = unit.table(1)
        if unit.number(0, "B") == _NORMALIZATION and options is not None:
            _normalization(options.floats(0), options.floats(1), tensor, found)


def _normalization(
    mean: tuple[float, ...], std: tuple[float, ...], tensor: FileTensor, found: _Found
) -> None:
    """(v - mean) / std, but for uint8 inputs, whose codes are pixels."""
    if tensor.type == "UINT8":
        return
    channels = tensor.shape[-1] if tensor.shape else 1
    given = (mean or (0.0,), std or (1.0,))
    fits = all(len(numbers) in (1, channels) for numbers in given)
    if not fits or 0 in given[1] or not all(map(math.isfinite, (*given[0], *given[1]))):
        found.problems.append(
            f"the normalization of {shown(tensor.name)} is impossible and not used"
        )
        return
    found.normalize[tensor.name] = Normalize(1.0, *given)


def _output(table: Table, tensor: FileTensor, found: _Found) -> None:
    for file in table.tables(6):
        kind = file.number(2)
        if kind in (_AXIS_LABELS, _VALUE_LABELS) and tensor.name not in found.labels:
            _labels(file.text(0), kind, tensor, found)


def _labels(name: str, kind: int, tensor: FileTensor, found: _Found) -> None:
    try:
        lines = attached_text(found.data, found.files, name).splitlines()
    except ValueError as error:
        found.problems.append(f"the labels {shown(name)} cannot be read: {error}")
        return
    labels = tuple(shown(line.strip()) for line in lines)
    wanted = math.prod(tensor.shape) if kind == _AXIS_LABELS else len(labels)
    if len(labels) != wanted:
        found.problems.append(
            f"{shown(name)} holds {len(labels)} labels, {shown(tensor.name)} has {wanted} "
            "elements: they are not used"
        )
        return
    found.labels[tensor.name] = labels
