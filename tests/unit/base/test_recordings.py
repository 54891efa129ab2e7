"""Recordings of sensors as samples: columns, numbers and classes of `.csv` files, folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from edgec.base.errors import ConfigError
from edgec.base.samples import InputSpec, SampleFile, load_labelled, load_samples
from edgec.base.samples.checks import check_samples
from edgec.base.samples.normalize import Normalize
from edgec.base.samples.recordings import read_codes
from edgec.base.samples.request import SensorForm

FORM = SensorForm(2, 4.0)


def spec_of(axes: int, lines: int = 2) -> tuple[InputSpec, ...]:
    """Samples of some lines each."""
    return (InputSpec("s", (1, lines * axes), integers=True, sensor=SensorForm(axes, 4.0)),)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("axes", "names", "labelled"),
    [
        (3, "x,y,z", False),
        (3, "time,x,y,z", False),
        (2, "a,b,y", True),
        (2, "a,b,label", True),
        (2, "x,y,label", True),
        (1, "y", False),
        (1, "t,y,label", True),
        (3, "a,b,y", False),
    ],
)
def test_a_column_of_classes_is_told_from_axes(axes, names, labelled, tmp_path):
    count = names.count(",") + 1
    lines = "\n".join(",".join(str(row) for _ in range(count)) for row in (0, 0, 1, 1))
    file = written(tmp_path / "a.csv", f"{names}\n{lines}\n")
    assert load_samples(file, spec_of(axes))["s"].shape == (2, 2 * axes)
    if labelled:
        assert load_labelled(file, spec_of(axes))[1].tolist() == [0, 1]
    else:
        with pytest.raises(ConfigError, match="no column is named 'label'"):
            load_labelled(file, spec_of(axes))


@pytest.mark.parametrize(("axes", "names"), [(2, "x,y,z"), (3, "x,y,label"), (2, "a,b,c")])
def test_columns_that_are_not_the_axes(axes, names, tmp_path):
    file = written(tmp_path / "a.csv", f"{names}\n1,2,3\n")
    with pytest.raises(ConfigError, match=f"and the front end has {axes} axes"):
        load_samples(file, spec_of(axes))


def test_a_recording_has_the_same_codes_as_a_stream_and_as_samples(tmp_path):
    """Halves between two codes, and numbers beyond the full scale, included."""
    steps = np.array([0.5, 1.5, -0.5, -1.5, 40_000.0, -40_000.0, 2.25, 3.0])
    lines = "\n".join(f"{float(a)!r},{float(b)!r}" for a, b in (steps * 4 / 32768).reshape(-1, 2))
    file = written(tmp_path / "a.csv", lines)
    stream = read_codes(file, FORM)
    assert stream.dtype == np.int16
    assert stream.tolist() == [1, 2, 0, -1, 32767, -32768, 2, 3]
    assert load_samples(file, spec_of(2))["s"].ravel().tolist() == stream.tolist()


def test_numbers_are_whole_as_they_are_written(tmp_path):
    codes = read_codes(written(tmp_path / "a.csv", "1,2\n3,-4\n"), FORM)
    assert codes.tolist() == [1, 2, 3, -4]
    real = read_codes(written(tmp_path / "b.csv", "1.0,2\n3,-4\n"), FORM)
    assert real.tolist() == [8192, 16384, 24576, -32768]
    with pytest.raises(
        ConfigError, match=r"numbers with a point, and a.csv whole numbers"
    ) as found:
        load_samples(tmp_path, spec_of(2))
    assert found.value.where.endswith("b.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,label\n1,2,1e30\n1,2,1e30\n", "its labels are no whole numbers"),
        ("1,2\n1,inf\n", "holds NaN or infinite values"),
        ("1,2\n1,32768\n", "holds 32768, and samples are whole numbers of 16 bits"),
        ("1,2\n1," + "9" * 60 + "\n", "samples are whole numbers of 16 bits"),
        ("1,2\n\n\n1,x\n", "line 4: 'x' is no number"),
        ("1," * 100_000, "longer than"),
        ("1,2\n1," + "1" * 3000 + "x\n", "line 2: '1+' is no number"),
    ],
)
def test_numbers_that_are_no_samples(text, words, tmp_path):
    with pytest.raises(ConfigError, match=words) as found:
        read_codes(written(tmp_path / "a.csv", text), FORM)
    assert found.value.where.endswith("a.csv")


def test_more_than_memory_is_refused_while_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("edgec.base.samples.csv_table.MAX_SAMPLE_BYTES", 100)
    with pytest.raises(ConfigError, match="MB of memory"):
        read_codes(written(tmp_path / "a.csv", "1,2\n" * 10), FORM)


def test_files_of_another_kind_are_passed_over(tmp_path):
    """A folder of images may hold a table, a folder of recordings a picture."""
    images = tmp_path / "images"
    written(images / "labels.csv", "a,b\n1,2\n")
    Image.fromarray(np.zeros((2, 4, 3), np.uint8)).save(images / "a.png")
    colour = (InputSpec("image", (1, 3, 2, 4)),)
    found = load_samples(SampleFile(images, Normalize.parse("scale=1/255")), colour)
    assert found["image"].shape == (1, 3, 2, 4)
    days = tmp_path / "days"
    written(days / "a.csv", "1,2\n3,4\n")
    Image.fromarray(np.zeros((2, 4, 3), np.uint8)).save(days / "plot.png")
    assert load_samples(days, spec_of(2))["s"].tolist() == [[1, 2, 3, 4]]
    written(tmp_path / "tables" / "a.csv", "1,2\n3,4\n")
    with pytest.raises(ConfigError, match="holds no samples") as refused:
        load_samples(tmp_path / "tables", colour)
    assert "need a model with --front-end sensor" in refused.value.hint


@pytest.mark.parametrize("kind", ["sound", "sensor"])
@pytest.mark.parametrize("number", [32768, -32769, 1 << 40])
def test_integers_of_more_than_16_bits_are_refused(kind, number):
    sensor = SensorForm(2, 1.0) if kind == "sensor" else None
    spec = InputSpec("s", (1, 4), integers=True, rate=None if sensor else 16_000, sensor=sensor)
    for fits in (32767, -32768):
        assert check_samples({"s": np.full((1, 4), fits)}, [spec], "x")["s"].max() == fits
    with pytest.raises(ConfigError, match="samples are whole numbers of 16 bits"):
        check_samples({"s": np.full((1, 4), number)}, [spec], "x")
