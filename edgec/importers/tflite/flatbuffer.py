"""Tables of a flatbuffer whose schema no package brings, read with every offset checked.

A table begins with the distance back to its directory, which holds the place of each field by the
field's number; strings, vectors and tables are reached by offsets.  Any of these may point
anywhere, so each read is held against the data, and a budget bounds how much is read in all: many
offsets may lead to one long text.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

MAX_READS = 1 << 16
"""Most fields that are read of one buffer."""
MAX_BYTES = 1 << 20
"""Most bytes of texts and numbers that are read of one buffer."""


class Reader:
    """Numbers at places of a buffer.

    Attributes:
        data: the buffer.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._reads = MAX_READS
        self._bytes = MAX_BYTES

    def number(self, code: str, place: int) -> int:
        """The whole number at a place, by the code that `struct` has for its type.

        Raises:
            ValueError: the place lies outside the buffer, or the budget is spent.
        """
        self._reads -= 1
        form = struct.Struct(f"<{code}")
        if self._reads < 0:
            raise ValueError("it holds too much")
        if not 0 <= place <= len(self.data) - form.size:
            raise ValueError("an offset points outside of it")
        return int(form.unpack_from(self.data, place)[0])

    def target(self, place: int) -> int:
        """Place that the offset at a place points to."""
        return place + self.number("I", place)

    def block(self, place: int, count: int) -> bytes:
        """`count` bytes from a place on.

        Raises:
            ValueError: they are not all there, or the budget is spent.
        """
        self._bytes -= count
        if self._bytes < 0:
            raise ValueError("it holds too much")
        if not 0 <= place <= len(self.data) - count:
            raise ValueError("a length reaches beyond its end")
        return self.data[place : place + count]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; fields are named by their number in the schema.

    Attributes:
        reader: reads the buffer that holds it.
        place: where it begins.
    """

    reader: Reader
    place: int

    @classmethod
    def root(cls, data: bytes, identifier: bytes) -> Table:
        """The table that a buffer is about.

        Raises:
            ValueError: the buffer is of another kind, or damaged.
        """
        if data[4:8] != identifier:
            raise ValueError("it is of an unknown kind")
        reader = Reader(data)
        return cls(reader, reader.target(0))

    def number(self, field: int, code: str = "b") -> int:
        """A field that is a number; 0 where it is absent."""
        place = self._field(field)
        return self.reader.number(code, place) if place else 0

    def text(self, field: int) -> str:
        """A field that is a text; "" where it is absent."""
        place = self._field(field)
        if not place:
            return ""
        start = self.reader.target(place)
        data = self.reader.block(start + 4, self.reader.number("I", start))
        return data.decode("utf-8", "replace")

    def floats(self, field: int) -> tuple[float, ...]:
        """A field that is a vector of float32 numbers; empty where it is absent."""
        place = self._field(field)
        if not place:
            return ()
        start = self.reader.target(place)
        data = self.reader.block(start + 4, 4 * self.reader.number("I", start))
        return tuple(float(number) for number in np.frombuffer(data, "<f4"))

    def table(self, field: int) -> Table | None:
        """A field that is a table."""
        place = self._field(field)
        return Table(self.reader, self.reader.target(place)) if place else None

    def tables(self, field: int) -> tuple[Table, ...]:
        """A field that is a vector of tables; empty where it is absent."""
        place = self._field(field)
        if not place:
            return ()
        start = self.reader.target(place)
        self.reader.block(start + 4, 4 * (count := self.reader.number("I", start)))
        places = (start + 4 + 4 * index for index in range(count))
        return tuple(Table(self.reader, self.reader.target(each)) for each in places)

    def _field(self, number: int) -> int:
        """Place of a field; 0 where it is absent."""
        directory = self.place - self.reader.number("i", self.place)
        entry = 4 + 2 * number
        if entry + 2 > self.reader.number("H", directory):
            return 0
        distance = self.reader.number("H", directory + entry)
        return self.place + distance if distance else 0
