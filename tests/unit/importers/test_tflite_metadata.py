"""Metadata of TensorFlow Lite files: labels, normalization, attached files, all from strangers."""

from __future__ import annotations

import random
import struct
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tflite_metadata import VALUE_LABELS, metadata, with_files
from tflite_models import Op, T, tflite_bytes

from edgec.base.description import Description
from edgec.base.samples import Normalize
from edgec.importers.formats import describe
from edgec.importers.tflite import flatbuffer
from edgec.importers.tflite import metadata as attached
from edgec.importers.tflite.flatbuffer import Table
from edgec.importers.tflite.load import load_bytes
from edgec.importers.tflite.metadata import attached_files, attached_text
from edgec.importers.tflite.metadata import described as description_of

LABELS = "cat\ndog\nbird\n"


def model(dtype: str = "float32", meta: bytes | None = None) -> bytes:
    scale, zero = ([], []) if dtype == "float32" else ([0.01], [0])
    tensors = {name: T((1, 3), None, dtype, scale, zero) for name in ("x", "y")}
    return tflite_bytes(tensors, [Op("RELU", ["x"], ["y"])], metadata=meta)


def described(folder: Path, data: bytes) -> Description:
    path = folder / "m.tflite"
    path.write_bytes(data)
    return describe(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_metadata_and_attached_labels_are_read(tmp_path: Path, method: int):
    about = described(
        tmp_path, with_files(model(meta=metadata()), {"labels.txt": LABELS, "more": b"12"}, method)
    )
    assert about == Description(
        *("A network", "v1", "", "somebody", "MIT"),
        normalize={"x": Normalize(1.0, (127.5,), (127.5,))},
        labels={"y": ("cat", "dog", "bird")},
        files=about.files,
    )
    assert [(file.name, file.size) for file in about.files] == [
        ("labels.txt", len(LABELS)),
        ("more", 2),
    ]


def test_a_file_without_metadata_says_nothing(tmp_path: Path):
    assert described(tmp_path, model()) == Description()


def test_an_archive_may_count_from_its_own_start(tmp_path: Path):
    data = model(meta=metadata()) + with_files(b"", {"labels.txt": LABELS})
    assert described(tmp_path, data).labels == {"y": ("cat", "dog", "bird")}


def test_pixels_are_the_codes_of_uint8_inputs(tmp_path: Path):
    assert described(tmp_path, model("uint8", meta=metadata())).normalize == {}
    assert set(described(tmp_path, model("int8", meta=metadata())).normalize) == {"x"}


@pytest.mark.parametrize(
    ("meta", "files", "problem"),
    [
        ({"std": [0.0]}, {}, "normalization of x is impossible"),
        ({"mean": [1.0, 2.0]}, {}, "normalization of x is impossible"),
        ({"mean": [float("nan")]}, {}, "normalization of x is impossible"),
        ({"inputs": 2}, {}, "describe 2 inputs, the network has 1"),
        ({}, {}, "labels.txt cannot be read: it is not there"),
        ({}, {"labels.txt": "cat\ndog\n"}, "holds 2 labels, y has 3 elements"),
        ({}, {"labels.txt": b"\xff\xfe"}, "labels.txt cannot be read"),
        ({}, {"labels.txt": b"a" * (attached.MAX_FILE_BYTES + 1)}, "larger than"),
        ({"labels": "../" * 400}, {"labels.txt": LABELS}, "it is not there"),
    ],
)
def test_what_cannot_be_used_is_a_problem_of_its_own(
    tmp_path: Path, meta: dict[str, Any], files: dict[str, Any], problem: str
):
    about = described(tmp_path, with_files(model(meta=metadata(**meta)), files))
    assert any(problem in each for each in about.problems)


def test_a_value_has_any_number_of_labels(tmp_path: Path):
    data = model(meta=metadata(kind=VALUE_LABELS))
    about = described(tmp_path, with_files(data, {"labels.txt": "one\ntwo\n"}))
    assert about.labels == {"y": ("one", "two")}


def test_labels_do_not_bring_control_characters(tmp_path: Path):
    data = with_files(model(meta=metadata()), {"labels.txt": "a\x1b[2J\nb\nc"})
    assert described(tmp_path, data).labels["y"] == (r"a\x1b[2J", "b", "c")


def test_a_bomb_is_not_unpacked():
    bomb = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = bomb.compress(bytes(64 << 20)) + bomb.flush()
    data = with_files(b"", {"labels.txt": "x" * 1000}, zipfile.ZIP_DEFLATED)
    entry = attached_files(data)["labels.txt"]
    start = entry.place + 30 + len("labels.txt")
    with pytest.raises(ValueError, match="damaged"):
        attached_text(
            data[:start] + packed,
            {"b": attached.Entry(1000, len(packed), entry.place, entry.method, entry.check)},
            "b",
        )


def test_an_archive_of_many_files_is_refused():
    data = with_files(b"", {f"f{number}": "" for number in range(attached.MAX_FILES + 1)})
    with pytest.raises(ValueError, match="edgec takes 256"):
        attached_files(data)


def test_weights_that_look_like_an_archive_are_none():
    assert attached_files(bytes(100) + b"PK\x05\x06" + bytes(100)) == {}
    assert attached_files(bytes(100) + b"PK\x05\x06") == {}


@pytest.mark.parametrize("data", [b"", b"abcdefgh", struct.pack("<I4sI", 2**31, b"M001", 0)])
def test_other_buffers_are_no_metadata(data: bytes):
    with pytest.raises(ValueError, match=r"unknown kind|points outside"):
        Table.root(data, b"M001").text(0)


def test_texts_that_many_offsets_share_cannot_fill_memory():
    words = bytes(200_000)
    # A table whose fields all lead to one text.
    fields = 64
    directory = struct.pack("<HH", 4 + 2 * fields, 4 + 4 * fields)
    directory += b"".join(struct.pack("<H", 4 + 4 * number) for number in range(fields))
    place = 8 + len(directory)
    there = place + 4 + 4 * fields
    rows = b"".join(struct.pack("<I", there - (place + 4 + 4 * n)) for n in range(fields))
    data = struct.pack("<I4s", place, b"M001") + directory + struct.pack("<i", len(directory))
    table = Table.root(data + rows + struct.pack("<I", len(words)) + words, b"M001")
    assert len(table.text(0)) == len(words)
    with pytest.raises(ValueError, match="holds too much"):
        for number in range(fields):
            table.text(number)
    assert fields * len(words) > flatbuffer.MAX_BYTES


def test_damaged_metadata_end_in_problems_alone():
    rng, sound = random.Random(3), metadata()
    data = with_files(model(meta=sound), {"labels.txt": LABELS})
    records = load_bytes(data, "m")
    problems = set()
    for _ in range(2000):
        meta = bytearray(sound)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(8, len(meta) - 4)
            number = rng.choice((0, 1, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, rng.randrange(256)))
            meta[place : place + 4] = number.to_bytes(4, "little")
        about = description_of(replace(records, metadata=bytes(meta)), data)
        problems.update(about.problems)
    assert any("points outside" in problem for problem in problems)


def test_damaged_archives_end_in_problems_alone():
    rng, sound = random.Random(4), with_files(model(meta=metadata()), {"labels.txt": LABELS})
    end, records = len(model(meta=metadata())), load_bytes(sound, "m")
    kinds = set()
    for _ in range(2000):
        data = bytearray(sound)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(end, len(data))
            data[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        about = description_of(records, bytes(data))
        kinds.add((bool(about.problems), bool(about.labels)))
    assert {(True, False), (False, True)} <= kinds
