"""Files that a .tflite file carries along: a zip archive after the flatbuffer.

Nothing of it is written to disk, and names are names, never paths.  The archive is read here and
not by `zipfile` since it comes from a stranger: how many entries there are and how large one
becomes is known and limited before anything is read.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

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
