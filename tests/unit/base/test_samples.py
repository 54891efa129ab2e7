import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from edgec.base.errors import ConfigError
from edgec.base.samples import InputSpec, check_samples, load_labelled, load_samples

IMAGE = (InputSpec("image", (1, 3, 4, 4)),)


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_x_and_the_input_name_both_serve_a_single_input(tmp_path):
    x = np.ones((5, 3, 4, 4), np.float64)
    for key in ("x", "image"):
        loaded = load_samples(save(tmp_path / "a.npz", **{key: x}), IMAGE)["image"]
        assert loaded.dtype == np.float32
        assert loaded.shape == (5, 3, 4, 4)


def test_a_batch_axis_of_one_inside_each_sample_is_dropped(tmp_path):
    path = save(tmp_path / "a.npz", x=np.zeros((5, 1, 3, 4, 4), np.float32))
    assert load_samples(path, IMAGE)["image"].shape == (5, 3, 4, 4)


def test_an_array_without_a_name_is_the_only_input(tmp_path: Path):
    images = np.ones((2, 3, 4, 4), np.float32)
    path = tmp_path / "a.npz"
    np.savez(path, images)
    assert np.array_equal(load_samples(path, IMAGE)["image"], images)
    np.savez(path, images, x=2 * images, y=np.arange(2))
    found, labels = load_labelled(path, IMAGE)
    assert np.array_equal(found["image"], 2 * images), "a name is better than none"
    assert labels.tolist() == [0, 1]
    np.savez(path, images, np.arange(2))
    with pytest.raises(ConfigError, match=r"no labels: array 'y' is missing .*arr_1"):
        load_labelled(path, IMAGE)
    with pytest.raises(ConfigError, match="no array for model input 'a'"):
        load_samples(path, (InputSpec("a", (1, 2)), InputSpec("b", (1, 2))))


def test_integer_samples_stay_integers(tmp_path):
    path = save(tmp_path / "a.npz", x=np.zeros((2, 3, 4, 4), np.int8))
    assert load_samples(path, IMAGE)["image"].dtype == np.int8


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"z": np.zeros((2, 3, 4, 4))}, "no array for model input 'image'"),
        ({"x": np.zeros((2, 3, 4, 5))}, "does not fit"),
        ({"x": np.zeros((0, 3, 4, 4))}, "no samples"),
        ({"x": np.float32(1.0)}, "does not fit"),
        ({"x": np.full((2, 3, 4, 4), np.nan)}, "NaN"),
        ({"x": np.full((2, 3, 4, 4), 1e300)}, "infinite"),
        ({"x": np.full((2, 3, 4, 4), "a")}, "expected numbers"),
        ({"x": np.full((2, 3, 4, 4), None)}, "not a readable .npz"),
    ],
)
def test_bad_arrays_are_refused(tmp_path, arrays, message):
    with pytest.raises(ConfigError, match=message):
        load_samples(save(tmp_path / "a.npz", **arrays), IMAGE)


def test_inputs_must_have_equally_many_samples(tmp_path):
    specs = (InputSpec("a", (1, 2)), InputSpec("b", (1, 2)))
    path = save(tmp_path / "a.npz", a=np.zeros((3, 2)), b=np.zeros((4, 2)))
    with pytest.raises(ConfigError, match="different numbers"):
        load_samples(path, specs)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a zip", b"\x93NUMPY\x01\x00v\x00"])
def test_files_that_are_no_npz_are_refused(tmp_path, content):
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="not a readable .npz"):
        load_samples(path, IMAGE)


def test_an_array_that_claims_more_than_it_holds_is_refused_before_allocation(tmp_path):
    header = io.BytesIO()
    claim = {"descr": "<f4", "fortran_order": False, "shape": (1 << 40, 3, 4, 4)}
    np.lib.format.write_array_header_1_0(header, claim)
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", header.getvalue() + b"\0" * 64)
    with pytest.raises(ConfigError, match="shorter than its shape"):
        load_samples(path, IMAGE)


def archive_bytes(path, compression=zipfile.ZIP_STORED, header=b""):
    data = io.BytesIO()
    np.lib.format.write_array(data, np.zeros((2, 3, 4, 4), np.float32))
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("x.npy", header or data.getvalue())
    return bytearray(path.read_bytes())


def damaged_archive(kind, path):
    """An archive of each kind that zipfile, a decompressor or numpy refuses in its own way."""
    local, central = 0, b"PK\x01\x02"
    if kind == "open header":
        text = b"{'descr': '<f4', 'shape': ((((\n"
        header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
        return archive_bytes(path, header=header)
    lzma = kind == "corrupt LZMA"
    data = archive_bytes(path, zipfile.ZIP_LZMA if lzma else zipfile.ZIP_STORED)
    entry = data.index(central)
    if lzma:
        data[45:60] = b"\xff" * 15
    elif kind == "encrypted":
        data[local + 6] |= 1
        data[entry + 8] |= 1
    elif kind == "unknown compression":
        data[local + 8], data[entry + 10] = 77, 77
    else:
        data[local + 4], data[entry + 6] = 99, 99
    return data


@pytest.mark.parametrize(
    "kind",
    ["encrypted", "unknown compression", "unknown version", "corrupt LZMA", "open header"],
)
def test_archives_that_no_library_reads_are_refused(tmp_path, kind):
    path = tmp_path / "a.npz"
    path.write_bytes(damaged_archive(kind, path))
    with pytest.raises(ConfigError, match="not a readable .npz"):
        load_samples(path, IMAGE)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="no such file") as caught:
        load_samples(tmp_path / "none.npz", IMAGE)
    assert "none.npz" in caught.value.where


def test_labels(tmp_path):
    x = np.zeros((4, 3, 4, 4), np.float32)

    def labels(**arrays):
        return load_labelled(save(tmp_path / "data.npz", x=x, **arrays), IMAGE)[1]

    assert labels(y=np.arange(4, dtype=np.uint8)).tolist() == [0, 1, 2, 3]
    with pytest.raises(ConfigError, match="expected integers"):
        labels(y=np.arange(5))
    with pytest.raises(ConfigError, match="expected integers"):
        labels(y=np.zeros(4))
    with pytest.raises(ConfigError, match=r"no labels: array 'y' is missing \(the file holds x"):
        labels()


def test_arrays_that_nobody_needs_are_not_read(tmp_path, monkeypatch):
    """Even if they could not be: pickled objects, or more than memory holds."""
    path = save(
        tmp_path / "a.npz", x=np.zeros((2, 3, 4, 4)), notes=np.array([None]), y=np.zeros(2, int)
    )
    read = []
    original = np.lib.format.read_array

    def noted(stream, **options):
        read.append(stream.name)
        return original(stream, **options)

    monkeypatch.setattr(np.lib.format, "read_array", noted)
    assert load_samples(path, IMAGE)["image"].shape == (2, 3, 4, 4)
    assert read == ["x.npy"]
    load_labelled(path, IMAGE)
    assert read == ["x.npy", "x.npy", "y.npy"]


def test_samples_given_as_arrays_or_lists_are_checked_alike():
    specs = (InputSpec("a", (1, 2)),)
    for given in ({"a": np.ones((3, 2))}, {"x": [[1, 2], [3, 4], [5, 6]]}):
        assert check_samples(given, specs, "samples")["a"].shape == (3, 2)
    for given, message in (
        ({"b": [[1, 2]]}, "no array for model input 'a'"),
        ({"a": [[1, 2], [3]]}, "is no array"),
        ({"a": [1, 2]}, "does not fit"),
        ({"a": [[1, float("nan")]]}, "NaN"),
        ({"a": ["text"]}, "expected numbers"),
    ):
        with pytest.raises(ConfigError, match=message) as caught:
            check_samples(given, specs, "samples")
        assert caught.value.where.startswith("samples")


def test_masks_may_be_booleans():
    """The type that a model's own boolean input has; a model of real numbers wants numbers."""
    mask = np.array([[True, False], [False, True]])
    found = check_samples({"m": mask}, (InputSpec("m", (1, 2), integers=True),), "calibration")
    np.testing.assert_array_equal(found["m"], [[1, 0], [0, 1]])
    with pytest.raises(ConfigError, match="holds bool"):
        check_samples({"m": mask}, (InputSpec("m", (1, 2)),), "calibration")


@pytest.mark.parametrize(("number", "text"), [(-1, "-1"), (30, "30"), (1000, "1000")])
def test_numbers_of_rows_that_a_table_lacks(number, text):
    ids = np.array([[0, 29], [3, number]], np.int64)
    spec = (InputSpec("ids", (1, 2), integers=True, rows=30),)
    with pytest.raises(ConfigError, match=f"here: ids.*holds {text}, and") as caught:
        check_samples({"ids": ids}, spec, "here")
    assert "0 to 29" in (caught.value.hint or "")
    assert check_samples({"ids": ids[:1]}, spec, "here")["ids"].tolist() == [[0, 29]]
