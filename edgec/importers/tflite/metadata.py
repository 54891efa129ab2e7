"""The metadata of a .tflite file: what its author says of inputs and outputs.

Source: metadata_schema.fbs of tflite-support, whose fields are named by number here.

Files that a .tflite file carries along: a zip archive after the flatbuffer.

Nothing of it is written to disk, and names are names, never paths.  The archive is read here and
not by `zipfile` since it comes from a stranger: how many entries there are and how large one
becomes is known and limited before anything is read.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from edgec.base.description import AttachedFile, Description
from edgec.base.names import shown
from edgec.base.samples.normalize import Normalize
from edgec.importers.common.boundary import read_file
from edgec.importers.tflite.flatbuffer import Table
from edgec.importers.tflite.load import load_bytes
from edgec.importers.tflite.load_tensor import FileModel, FileTensor

MAX_FILES = 256
"""Most files in an archive."""
MAX_FILE_BYTES = 1 << 20
"""Most bytes of a file that is read."""
_MAX_NAME = 255
_END, _LONGEST_COMMENT = struct.Struct("<L4H2LH"), 0xFFFF
_ENTRY = struct.Struct("<L6H3L5H2L")
_LOCAL = struct.Struct("<L5H3L2H")
_ENTRY_MAGIC, _LOCAL_MAGIC = (int.from_bytes(mark, "little") for mark in (b"PK\1\2", b"PK\3\4"))
_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in the archive, as the archive's directory describes it.

    Attributes:
        size: bytes of the file.
        packed: bytes that it takes in the archive.
        place: where it begins there, its header first.
        method: how it is compressed.
        check: CRC-32 of the file.
    """

    size: int
    packed: int
    place: int
    method: int
    check: int


def attached_files(data: bytes) -> dict[str, Entry]:
    """The files by name; empty where a model carries none.

    Raises:
        ValueError: the archive is damaged or too large.
    """
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - _END.size - _LONGEST_COMMENT))
    # The mark may as well stand in weights; that of an archive is the end of the file.
    if end < 0 or end + _END.size > len(data):
        return {}
    *_, count, size, offset, comment = _unpacked(_END, data, end)
    if end + _END.size + comment != len(data):
        return {}
    if count > MAX_FILES:
        raise ValueError(f"it holds {count} files, edgec takes {MAX_FILES}")
    # The directory ends where its end is announced; offsets may count from the start of the
    # archive as well as from that of the file.
    place = end - size
    found: dict[str, Entry] = {}
    for _ in range(count):
        name, entry, length = _entry(data, place, place_of_archive=end - size - offset)
        found[name] = entry
        place += length
    return found


def _entry(data: bytes, place: int, place_of_archive: int) -> tuple[str, Entry, int]:
    """A file's name and entry, and how long its record in the directory is."""
    fields = _unpacked(_ENTRY, data, place)
    magic, _, _, flags, method, _, _, check, packed, size = fields[:10]
    name_bytes, more, comment = fields[10:13]
    if magic != _ENTRY_MAGIC or flags & _ENCRYPTED or name_bytes > _MAX_NAME:
        raise ValueError("its directory is damaged")
    start = place + _ENTRY.size
    name = data[start : start + name_bytes].decode("utf-8", "replace")
    entry = Entry(size, packed, fields[-1] + place_of_archive, method, check)
    return name, entry, _ENTRY.size + name_bytes + more + comment


def attached_text(data: bytes, files: Mapping[str, Entry], name: str) -> str:
    """The text of a file.

    Raises:
        ValueError: there is no such file, or it is damaged, too large or no text.
    """
    entry = files.get(name)
    if entry is None:
        raise ValueError("it is not there")
    if max(entry.size, entry.packed) > MAX_FILE_BYTES:
        raise ValueError(f"it is larger than {MAX_FILE_BYTES} bytes")
    header = _unpacked(_LOCAL, data, entry.place)
    start = entry.place + _LOCAL.size + header[-2] + header[-1]
    found = _unpacked_file(data[start : start + entry.packed], entry)
    if header[0] != _LOCAL_MAGIC or len(found) != entry.size or zlib.crc32(found) != entry.check:
        raise ValueError("it is damaged")
    return found.decode("utf-8-sig")


def _unpacked_file(packed: bytes, entry: Entry) -> bytes:
    if entry.method == _STORED:
        return packed
    if entry.method != _DEFLATED:
        raise ValueError("it is compressed by an unusual method")
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, entry.size + 1)
    except zlib.error as error:
        raise ValueError("it is damaged") from error


def _unpacked(form: struct.Struct, data: bytes, place: int) -> tuple[int, ...]:
    if not 0 <= place <= len(data) - form.size:
        raise ValueError("an offset points outside of it")
    return form.unpack_from(data, place)


IDENTIFIER = b"M001"
_LONGEST_TEXT = 2000
_NORMALIZATION, _AXIS_LABELS, _VALUE_LABELS = 1, 2, 3


@dataclass
class _Found:
    """Metadata collected so far.

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
    """Description from a file's metadata; damaged metadata are noted and do not stop the import.

    Raises:
        ImportModelError: the file itself is no sound model.
    """
    data = read_file(path)
    return described(load_bytes(data, str(path)), data)


def described(model: FileModel, data: bytes) -> Description:
    """Description from the metadata of a loaded file.

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
    """Pairs of a tensor's metadata and its number; none where the counts differ."""
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
