"""Every format of samples: what it gives, the checks that all share, sizes before memory."""

from __future__ import annotations

import struct
import wave
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from edgec.base.errors import ConfigError
from edgec.base.samples import InputSpec, Normalize, SampleFile, load_labelled, load_samples

FEATURES = (InputSpec("x", (1, 3)),)
GRID = (InputSpec("grid", (1, 1, 2, 2)),)
WAVE = (InputSpec("audio", (1, 8)),)
COLOUR = (InputSpec("image", (1, 3, 2, 4)),)
COLOUR_LAST = (InputSpec("image", (1, 2, 4, 3)),)
GREY = (InputSpec("image", (1, 2, 4)),)
CODES = (InputSpec("image", (1, 2, 4, 3), integers=True),)
SCALED = Normalize.parse("scale=1/255")


def write_wav(path: Path, codes: object, *, rate: int = 16000, width: int = 2, channels: int = 1):
    kinds = {1: "u1", 2: "<i2", 4: "<i4"}
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        data = codes if isinstance(codes, bytes) else np.asarray(codes, kinds[width]).tobytes()
        file.writeframes(data)
    return path


def write_image(path: Path, pixels: object, mode: str | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(np.asarray(pixels, np.uint8))
    (image if mode is None else image.convert(mode)).save(path)
    return path


def text(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


# .npy


def test_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((5, 3), np.float64))
    assert load_samples(tmp_path / "a.npy", FEATURES)["x"].shape == (5, 3)
    with pytest.raises(ConfigError, match=r"no labels: a \.npy file holds the inputs alone"):
        load_labelled(tmp_path / "a.npy", FEATURES)
    with pytest.raises(ConfigError, match="holds one array, and the model has 2 inputs") as caught:
        load_samples(tmp_path / "a.npy", (*FEATURES, *GRID))
    assert "a.npy" in caught.value.where


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a readable .npy"),
        (b"PK\x03\x04", "not a readable .npy"),
        (np.lib.format.magic(2, 0) + struct.pack("<I", 1 << 31) + b"{", "not a readable .npy"),
    ],
)
def test_bad_npy(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        load_samples(tmp_path / "a.npy", FEATURES)


def test_npy_that_claims_more_than_it_holds(tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as stream:
        claim = {"descr": "<f4", "fortran_order": False, "shape": (1 << 40, 3)}
        np.lib.format.write_array_header_1_0(stream, claim)
    with pytest.raises(ConfigError, match="shorter than its shape"):
        load_samples(tmp_path / "a.npy", FEATURES)


# .csv


def test_csv_with_and_without_names(tmp_path: Path) -> None:
    bare = load_samples(text(tmp_path / "a.csv", "1,2.5,-3e1\n4,5,6\n\n"), FEATURES)["x"]
    assert bare.dtype == np.float32
    assert bare.tolist() == [[1, 2.5, -30], [4, 5, 6]]
    named = text(tmp_path / "b.csv", "\ufeffa,y,b,c\n1,0,2,3\n4,1,5,6\n")
    x, labels = load_labelled(named, FEATURES)
    assert x["x"].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert x["x"].dtype.kind == "i"
    assert labels.tolist() == [0, 1]
    assert load_samples(named, FEATURES)["x"].shape == (2, 3)


def test_csv_rows_fill_a_sample_in_the_order_of_its_axes(tmp_path: Path) -> None:
    found = load_samples(text(tmp_path / "a.csv", "1,2,3,4\n"), GRID)["grid"]
    assert found.tolist() == [[[[1, 2], [3, 4]]]]


def test_csv_of_shorter_runs(tmp_path: Path) -> None:
    tokens = (InputSpec("ids", (1, 8), length_axis=1, integers=True),)
    assert load_samples(text(tmp_path / "a.csv", "7,8,9\n"), tokens)["ids"].shape == (1, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no samples"),
        ("a,b,c\n", "holds no samples"),
        ("1,2\n", "has 2 columns of numbers; a sample"),
        ("1,2,3\n4,5\n", "line 2 has 2 columns"),
        ("1,2,3\n4,x,6\n", "line 2: 'x' is no number"),
        ("1,2,3\n4,1_0,6\n", "line 2: '1_0' is no number"),
        ("1,2,3\n4," + "1" * 4000 + ",6\n", "line 2: '1+' is no number"),
        ("1,2,3\n4,nan,6\n", "NaN"),
        ("1,2,3\n4,1e999,6\n", "infinite"),
        ('1,2,3\n"4\n', "line 2|not a readable"),
        ("1," * 100_000, "longer than"),
    ],
)
def test_bad_csv(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_samples(text(tmp_path / "a.csv", content), FEATURES)
    assert "a.csv" in caught.value.where


def test_labels_of_csv(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no column of the first line is named 'y'"):
        load_labelled(text(tmp_path / "a.csv", "1,2,3\n"), FEATURES)
    with pytest.raises(ConfigError, match="expected integers"):
        load_labelled(text(tmp_path / "a.csv", "a,b,c,y\n1,2,3,0.5\n"), FEATURES)


def test_csv_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"1,2,\xff\n")
    with pytest.raises(ConfigError, match="not a readable .csv"):
        load_samples(tmp_path / "a.csv", FEATURES)


# .wav


@pytest.mark.parametrize(
    ("width", "codes", "expected"),
    [
        (1, [0, 128, 255], [-1, 0, 127 / 128]),
        (2, [-32768, 0, 16384], [-1, 0, 0.5]),
        (3, b"\x00\x00\x80\x00\x00\x00\x00\x00\x40", [-1, 0, 0.5]),
        (4, [-(2**31), 0, 2**30], [-1, 0, 0.5]),
    ],
)
def test_wav_is_minus_one_to_one_and_padded(tmp_path: Path, width, codes, expected) -> None:
    path = write_wav(tmp_path / "a.wav", codes, width=width)
    found = load_samples(path, WAVE)["audio"]
    assert found.tolist() == [[*expected, 0, 0, 0, 0, 0]]


def test_long_wav_is_several_samples_and_its_rest_is_not_used(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", range(20))
    found = load_samples(SampleFile(path, Normalize.parse("scale=32768")), WAVE)["audio"]
    assert found.tolist() == [[*range(8)], [*range(8, 16)]]
    column = (InputSpec("audio", (1, 1, 8, 1)),)
    assert load_samples(path, column)["audio"].shape == (2, 1, 8, 1)


def test_folder_of_wav_has_a_label_for_each_window(tmp_path: Path) -> None:
    write_wav(tmp_path / "no" / "a.wav", range(16))
    write_wav(tmp_path / "yes" / "b.wav", range(8))
    samples, labels = load_labelled(tmp_path, WAVE)
    assert samples["audio"].shape == (3, 8)
    assert labels.tolist() == [0, 0, 1]


def test_bad_wav(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", range(8), rate=16000)
    write_wav(tmp_path / "b.wav", range(8), rate=8000)
    with pytest.raises(ConfigError, match="has 8000 samples a second, a.wav has 16000") as caught:
        load_samples(tmp_path, WAVE)
    assert "resample" in caught.value.hint
    stereo = write_wav(tmp_path / "c" / "c.wav", range(8), channels=2)
    with pytest.raises(ConfigError, match="2 channels"):
        load_samples(stereo, WAVE)
    with pytest.raises(ConfigError, match="is no sample of the model's input"):
        load_samples(tmp_path / "a.wav", GRID)
    (tmp_path / "d.wav").write_bytes((tmp_path / "a.wav").read_bytes()[:20])
    with pytest.raises(ConfigError, match="not a readable .wav"):
        load_samples(tmp_path / "d.wav", WAVE)
    with pytest.raises(ConfigError, match="holds no samples"):
        load_samples(write_wav(tmp_path / "e.wav", []), WAVE)


def test_wav_that_claims_more_than_it_holds(tmp_path: Path) -> None:
    data = bytearray(write_wav(tmp_path / "a.wav", range(8)).read_bytes())
    data[40:44] = struct.pack("<I", 1 << 31)
    (tmp_path / "a.wav").write_bytes(data)
    with pytest.raises(ConfigError, match=r"shorter than its header|not a readable \.wav"):
        load_samples(tmp_path / "a.wav", WAVE)


# images

PIXELS = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)


@pytest.mark.parametrize("suffix", ["png", "bmp"])
def test_images_in_both_layouts(tmp_path: Path, suffix: str) -> None:
    write_image(tmp_path / f"a.{suffix}", PIXELS)
    scaled = SampleFile(tmp_path, SCALED)
    expected = (PIXELS / 255).astype(np.float32)
    np.testing.assert_array_equal(load_samples(scaled, COLOUR_LAST)["image"][0], expected)
    first = load_samples(scaled, COLOUR)["image"][0]
    np.testing.assert_array_equal(first, expected.transpose(2, 0, 1))
    assert load_samples(scaled, GREY)["image"].shape == (1, 2, 4)


def test_jpeg_and_mean_of_each_channel(tmp_path: Path) -> None:
    write_image(tmp_path / "a.JPG", np.full((2, 4, 3), 128))
    how = Normalize.parse("scale=1/128,mean=1:0:0,std=1:0.5:2")
    found = load_samples(SampleFile(tmp_path, how), COLOUR)["image"][0]
    assert [channel.tolist() for channel in found] == [[[v] * 4] * 2 for v in (0.0, 2.0, 0.5)]


def test_a_model_of_integers_takes_pixels_as_they_are(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", PIXELS)
    found = load_samples(tmp_path, CODES)["image"]
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found[0], PIXELS)


def test_labels_are_subfolders_and_classes_take_turns(tmp_path: Path) -> None:
    for name, count in (("dog", 3), ("ant", 1), ("cat", 2)):
        for index in range(count):
            write_image(tmp_path / name / f"{index}.png", np.full((2, 4, 3), index))
    (tmp_path / ".cache").mkdir()
    samples, labels = load_labelled(tmp_path, CODES)
    assert labels.tolist() == [0, 1, 2, 1, 2, 2]
    assert samples["image"][:, 0, 0, 0].tolist() == [0, 0, 0, 1, 1, 2]


def png_header(width: int, height: int) -> bytes:
    """A PNG that says how large it is, and holds no more."""
    body = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    end = struct.pack(">I", zlib.crc32(b"IEND"))
    chunk = struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))
    return b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\0\0IEND" + end


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a readable image"),
        (png_header(2, 4), "is 2 x 4 pixels; the model takes 4 x 2"),
        (png_header(12_000, 10_000), "is 12000 x 10000 pixels"),
        (png_header(1 << 30, 1 << 30), "not a readable image"),
        (png_header(4, 2), "not a readable image"),
    ],
)
def test_bad_images_are_refused_before_their_pixels_are_decoded(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(ConfigError, match=message) as caught:
        load_samples(SampleFile(tmp_path, SCALED), COLOUR)
    assert caught.value.where == str(tmp_path / "a.png")


def test_images_of_16_bits_are_refused(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((2, 4), np.uint16)).save(tmp_path / "a.png")
    with pytest.raises(ConfigError, match="8 bits a channel|pixels of the kind"):
        load_samples(SampleFile(tmp_path, SCALED), GREY)


def test_floats_need_to_know_what_pixels_mean(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", PIXELS)
    with pytest.raises(ConfigError, match="which numbers the model takes for pixels") as caught:
        load_samples(tmp_path, COLOUR)
    assert "--normalize scale=1/255" in caught.value.hint
    with pytest.raises(ConfigError, match="mean has 2 numbers; the model has 3 channels"):
        load_samples(SampleFile(tmp_path, Normalize.parse("mean=1:2")), COLOUR)
    with pytest.raises(ConfigError, match="an image is no sample"):
        load_samples(SampleFile(tmp_path, SCALED), FEATURES)


def test_without_pillow_the_message_says_how_to_get_it(tmp_path: Path, monkeypatch) -> None:
    write_image(tmp_path / "a.png", PIXELS)
    monkeypatch.setattr("edgec.base.samples.images.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="needs Pillow"):
        load_samples(SampleFile(tmp_path, SCALED), COLOUR)


# folders, formats and sizes


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no samples"):
        load_samples(tmp_path, COLOUR)
    write_image(tmp_path / "a.png", PIXELS)
    with pytest.raises(ConfigError, match="no labels: the folder has no subfolders"):
        load_labelled(SampleFile(tmp_path, SCALED), COLOUR)
    write_wav(tmp_path / "a.wav", range(8))
    with pytest.raises(ConfigError, match="files of several kinds"):
        load_samples(tmp_path, COLOUR)
    (tmp_path / "class").mkdir()
    with pytest.raises(ConfigError, match="beside subfolders"):
        load_samples(tmp_path, COLOUR)
    classes = tmp_path / "classes"
    (classes / "empty").mkdir(parents=True)
    with pytest.raises(ConfigError, match="class 'empty' has no samples"):
        load_samples(classes, COLOUR)


def test_formats_that_nobody_reads(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown format '\.txt'") as caught:
        load_samples(text(tmp_path / "a.txt", ""), FEATURES)
    assert ".csv" in caught.value.hint


def test_normalize_without_effect(tmp_path: Path) -> None:
    file = SampleFile(text(tmp_path / "a.csv", "1,2,3\n"), SCALED)
    with pytest.raises(ConfigError, match="arrays hold the model's own numbers") as caught:
        load_samples(file, FEATURES)
    assert caught.value.where == "--normalize"


def test_more_than_memory_is_refused_before_it_is_asked_for(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("edgec.base.samples.request.MAX_SAMPLE_BYTES", 100)
    write_image(tmp_path / "images" / "a.png", PIXELS)
    write_image(tmp_path / "images" / "b.png", PIXELS)
    recording = write_wav(tmp_path / "a.wav", range(80))
    table = text(tmp_path / "a.csv", "1,2,3\n" * 10)
    for path, inputs in (
        (SampleFile(tmp_path / "images", SCALED), COLOUR),
        (SampleFile(recording), WAVE),
        (SampleFile(table), FEATURES),
    ):
        with pytest.raises(ConfigError, match="MB of memory"):
            load_samples(path, inputs)


@pytest.mark.parametrize(
    "bad",
    (
        *("", "scale", "scale=", "scale=0", "scale=1/0", "scale=1:2", "std=0", "mean=a", "gain=1"),
        *("scale=1,scale=2", "mean=1e999", "scale=__", "scale=1/2/3"),
    ),
)
def test_normalize_that_cannot_be_read(bad: str) -> None:
    with pytest.raises(ConfigError, match="cannot read") as caught:
        Normalize.parse(bad)
    assert caught.value.where == "--normalize"


# What the file of a model says


def test_pixels_are_normalized_as_the_model_says_unless_the_user_says_otherwise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_image(tmp_path / "a.png", np.full((2, 4, 3), 255))
    told = Normalize(1.0, (127.5,), (127.5,))
    for integers in (False, True):
        spec = (InputSpec("image", (1, 2, 4, 3), integers=integers, normalize=told),)
        assert np.all(load_samples(tmp_path, spec)["image"] == 1)
        assert f"--normalize {told}" in caplog.text
        assert np.all(load_samples(SampleFile(tmp_path, SCALED), spec)["image"] == 1)
    assert Normalize.parse(str(told)) == told


def test_classes_have_the_numbers_of_the_models_labels(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("bird", "cat"):
        write_image(tmp_path / name / "a.png", np.zeros((2, 4, 3)))
    assert load_labelled(tmp_path, CODES)[1].tolist() == [0, 1]
    assert load_labelled(tmp_path, CODES, ("cat", "dog", "bird"))[1].tolist() == [2, 0]
    assert "classes have the numbers" in caplog.text
    assert load_labelled(tmp_path, CODES, ("cat", "dog"))[1].tolist() == [0, 1]
    assert "not named as the model's classes" in caplog.text
