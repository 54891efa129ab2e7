"""Metadata and attached files of TensorFlow Lite files, as tflite-support writes them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

import flatbuffers

AXIS_LABELS, VALUE_LABELS = 2, 3


def table(b: flatbuffers.Builder, fields: Mapping[int, tuple[str, int]]) -> int:
    """A table; each field has the kind of its entry ("offset", "int8", "uint8") and the entry."""
    b.StartObject(max(fields, default=-1) + 1)
    for number, (kind, entry) in fields.items():
        if kind == "offset":
            b.PrependUOffsetTRelativeSlot(number, entry, 0)
        else:
            {"int8": b.PrependInt8Slot, "uint8": b.PrependUint8Slot}[kind](number, entry, 0)
    return int(b.EndObject())


def offsets(b: flatbuffers.Builder, entries: Sequence[int]) -> tuple[str, int]:
    b.StartVector(4, len(entries), 4)
    for entry in reversed(entries):
        b.PrependUOffsetTRelative(entry)
    return "offset", int(b.EndVector())


def floats(b: flatbuffers.Builder, numbers: Sequence[float]) -> tuple[str, int]:
    b.StartVector(4, len(numbers), 4)
    for number in reversed(numbers):
        b.PrependFloat32(number)
    return "offset", int(b.EndVector())


def text(b: flatbuffers.Builder, words: str) -> tuple[str, int]:
    return "offset", int(b.CreateString(words))


def metadata(
    mean: Sequence[float] = (127.5,),
    std: Sequence[float] = (127.5,),
    labels: str = "labels.txt",
    kind: int = AXIS_LABELS,
    inputs: int = 1,
    title: str = "A network",
) -> bytes:
    """Metadata of a network whose inputs are images and whose output has labels."""
    b = flatbuffers.Builder(256)
    options = ("offset", table(b, {0: floats(b, mean), 1: floats(b, std)}))
    unit = table(b, {0: ("uint8", 1), 1: options})
    taken = [table(b, {0: text(b, "image"), 4: offsets(b, [unit])}) for _ in range(inputs)]
    file = table(b, {0: text(b, labels), 2: ("int8", kind)})
    given = table(b, {0: text(b, "class"), 6: offsets(b, [file])})
    graph = table(b, {2: offsets(b, taken), 3: offsets(b, [given])})
    words = {0: text(b, title), 2: text(b, "v1"), 4: text(b, "somebody"), 5: text(b, "MIT")}
    b.Finish(table(b, {**words, 3: offsets(b, [graph])}), b"M001")
    return bytes(b.Output())


def with_files(
    data: bytes, files: Mapping[str, str | bytes], method: int = zipfile.ZIP_STORED
) -> bytes:
    """A model with an archive at its end; its offsets count from the start of the model."""
    stream = io.BytesIO(data)
    with zipfile.ZipFile(stream, "a", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()
