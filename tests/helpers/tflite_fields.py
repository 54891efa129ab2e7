"""Damage to a TensorFlow Lite file field by field: absent, exchanged, other numbers and lengths."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tflite_damage import NUMBERS

_BELOW: Mapping[str, Mapping[int, str]] = {
    "Model": {1: "OperatorCode", 2: "SubGraph", 4: "Buffer", 6: "Metadata", 7: "SignatureDef"},
    "SubGraph": {0: "Tensor", 3: "Operator"},
    "Tensor": {4: "Quantization", 6: "Sparsity"},
    "Operator": {4: "Options", 11: "Options2"},
    "Sparsity": {2: "Dimension"},
    "SignatureDef": {0: "TensorMap", 1: "TensorMap"},
}
"""Tables, or vectors of tables, in the fields of a table.  Source: TensorFlow 2.18, schema.fbs."""
_VECTORS = frozenset(
    (name, field)
    for name, fields in (("Model", (1, 2, 4, 6, 7)), ("SubGraph", (0, 3)), ("Sparsity", (2,)))
    for field in fields
) | {("SignatureDef", 0), ("SignatureDef", 1)}


@dataclass(frozen=True, slots=True)
class Field:
    """A field that a table holds.

    Attributes:
        entry: place of its entry (uint16) in the table's directory.
        place: place of the number or offset itself.
    """

    entry: int
    place: int


def fields_of(data: bytes) -> list[Field]:
    """Every field of every table that a sound file holds."""
    return [field for _, table in _tables(data, "Model", _target(data, 0)) for field in table]


def damaged_fields(rng: random.Random, data: bytes) -> bytes:
    """A sound file of which one to three fields lie."""
    found, fields = bytearray(data), fields_of(data)
    for _ in range(rng.randint(1, 3)):
        rng.choice(_DAMAGES)(rng, found, rng.choice(fields), fields)
    return bytes(found)


def _absent(rng: random.Random, data: bytearray, field: Field, fields: list[Field]) -> None:
    del rng, fields
    struct.pack_into("<H", data, field.entry, 0)


def _exchanged(rng: random.Random, data: bytearray, field: Field, fields: list[Field]) -> None:
    """The field lies where another one does, or beyond the table."""
    other = struct.unpack_from("<H", data, rng.choice(fields).entry)[0]
    struct.pack_into("<H", data, field.entry, rng.choice((other, other, 1, 4, 0xFFFF)))


def _number(rng: random.Random, data: bytearray, field: Field, fields: list[Field]) -> None:
    """Another number: of one byte, of four as a whole or a real one."""
    del fields
    kind = rng.randrange(3)
    if kind == 0:
        data[field.place] = rng.choice((0, 1, 2, 9, 17, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    elif field.place + 4 <= len(data) and kind == 1:
        struct.pack_into("<i", data, field.place, rng.choice(NUMBERS))
    elif field.place + 4 <= len(data):
        real = rng.choice((0.0, -1.0, 1e-40, 3e38, float("inf"), float("nan")))
        struct.pack_into("<f", data, field.place, real)


def _inside(rng: random.Random, data: bytearray, field: Field, fields: list[Field]) -> None:
    """What the field points to, if it does: another length, another element."""
    del fields
    target = field.place + int.from_bytes(data[field.place : field.place + 4], "little")
    place = target + 4 * rng.choice((0, 0, 0, 1, 2, 3))
    if place + 4 <= len(data):
        struct.pack_into("<i", data, place, rng.choice(NUMBERS))


def _shared(rng: random.Random, data: bytearray, field: Field, fields: list[Field]) -> None:
    """The field points to what another one points to, such as a table of another kind."""
    other = rng.choice(fields).place
    target = other + int.from_bytes(data[other : other + 4], "little")
    if field.place + 4 <= len(data):
        struct.pack_into("<I", data, field.place, (target - field.place) % 2**32)


_DAMAGES: tuple[Callable[[random.Random, bytearray, Field, list[Field]], None], ...] = (
    *(_absent, _exchanged, _number, _number, _inside, _inside, _shared),
)


def _target(data: bytes, place: int) -> int:
    return place + int(struct.unpack_from("<I", data, place)[0])


def _tables(data: bytes, kind: str, place: int) -> Iterator[tuple[str, list[Field]]]:
    """A table and those below it, each by its kind with its fields."""
    directory = place - struct.unpack_from("<i", data, place)[0]
    count = (struct.unpack_from("<H", data, directory)[0] - 4) // 2
    entries = [directory + 4 + 2 * number for number in range(count)]
    distances = [struct.unpack_from("<H", data, entry)[0] for entry in entries]
    held = zip(entries, distances, strict=True)
    yield kind, [Field(entry, place + far) for entry, far in held if far]
    for number, below in _BELOW.get(kind, {}).items():
        if number >= count or not distances[number]:
            continue
        start = _target(data, place + distances[number])
        if (kind, number) not in _VECTORS:
            yield from _tables(data, below, start)
            continue
        for index in range(struct.unpack_from("<I", data, start)[0]):
            yield from _tables(data, below, _target(data, start + 4 + 4 * index))
