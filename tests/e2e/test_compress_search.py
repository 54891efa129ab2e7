"""`edgec compress --max-drop` as users call it: what it finds, prints, draws and refuses."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from pooled_models import save, small_network

from edgec.base.result_cache import FOLDER_VARIABLE, LIMIT_VARIABLE
from edgec.cli.app import run_app
from edgec.commands import compress_search
from edgec.floatrun.float_model import FloatModel
from edgec.workflow import pool_search as pool_ways
from edgec.workflow.pool_search import point_name

RNG = np.random.default_rng(8)
COLOURS = 2 * RNG.normal(size=(36, 1, 1, 3))
IMAGES = (COLOURS + RNG.normal(size=(36, 8, 8, 3))).astype(np.float32)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """A network, samples that calibrate, and others whose labels are the network's decisions."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(LIMIT_VARIABLE, "1M")
    monkeypatch.setattr(pool_ways, "SIZES", (4, 32))
    model = save(small_network(), tmp_path / "small.onnx")
    scores = [FloatModel(model).run({"x": x[None]}) for x in IMAGES]
    labels = np.array([next(iter(each.values())).argmax() for each in scores])
    calibration, labelled = tmp_path / "c.npz", tmp_path / "e.npz"
    np.savez(calibration, x=IMAGES[:12])
    np.savez(labelled, x=IMAGES[12:], y=labels[12:])
    return model, calibration, labelled


def command(files: tuple[Path, Path, Path], *more: str | Path) -> list[str]:
    model, calibration, labelled = files
    data = ("--calibration", calibration, "--eval", labelled, "--layers", "wide_w")
    return ["compress", *map(str, (model, *data, *more))]


def test_what_is_found_is_the_smallest_that_holds(
    files: tuple[Path, Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = tmp_path / "pools.html"
    more = ("--max-drop", "60", "--board", "nucleo", "--html", str(page))
    assert run_app(command(files, *more, "--json")) == 0
    (found,) = json.loads(capsys.readouterr().out)
    curve = found["curve"]
    assert (curve["real"], curve["n"], curve["configurations"]) == (1.0, 24, 4)
    sizes = [point["stored_bytes"] for point in curve["points"]]
    assert sizes == sorted(sizes)
    assert all(point["cycles"] > 0 and point["arena_bytes"] > 0 for point in curve["points"])
    enough = [point["accuracy"] >= 0.4 - 1e-9 for point in curve["points"]]
    assert enough.index(True) == curve["chosen"]
    chosen = curve["points"][curve["chosen"]]
    assert found["sizes"]["pooled_bytes"] == chosen["stored_bytes"]
    assert found["accuracy"]["pooled"] == [chosen["accuracy"]]
    html = page.read_text()
    name = point_name(chosen["sharing"], chosen["size"], chosen["ratio"])
    assert f"{name} (chosen)" in html
    assert "no test result" in html

    # Once more: nothing is measured again, and the same file is written.
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(compress_search, "_measured", never)
    output = Path(found["output"])
    before = output.read_bytes()
    output.unlink()
    assert run_app(command(files, *more, "--json")) == 0
    assert json.loads(capsys.readouterr().out) == [found]
    assert output.read_bytes() == before
    assert run_app(command(files, *more)) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Pools that were tried, 24 samples" in text
    assert f"{name} *" in text
    assert "no test result" in text


def test_what_loses_too_much_is_refused(
    files: tuple[Path, Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool_ways, "SIZES", (2,))
    layers = ("--layers", "inner_w", "--layers", "second_w")
    page = files[0].parent / "pools.html"
    more = ("--max-drop", "0", "--pools", "network", "--html", page)
    assert run_app(command(files, *layers, *more)) == 5
    message = " ".join(capsys.readouterr().err.split())
    assert "no pools that were tried keep the accuracy within 0 points" in message
    assert "network:2 " in message
    assert "--train and --pool-size without --max-drop" in message
    assert f"{page} draws them" in message
    html = page.read_text()
    assert "network:2" in html
    assert "(chosen)" not in html
    assert not list(page.parent.glob("*.pool.onnx"))
    # As much as the message says is enough.
    (drop,) = re.findall(r"loses ([0-9.]+) points", message)
    assert run_app(command(files, *layers, *more, "--max-drop", drop)) == 0
    assert "network:2 (chosen)" in page.read_text()


@pytest.mark.slow
def test_what_is_found_can_be_made_by_its_name(
    files: tuple[Path, Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sums of vectors that were chosen are those of `--pools`, `--pool-size` and `--ratio`."""
    monkeypatch.setattr(pool_ways, "SIZES", (2,))
    monkeypatch.setattr(pool_ways, "SUM_SIZES", (2,))
    monkeypatch.setattr(pool_ways, "SUM_STEPS", (1.9,))
    found = tmp_path / "found.onnx"
    layers = ("--layers", "inner_w", "--layers", "second_w", "--pools", "network")
    monkeypatch.setattr(
        compress_search, "smallest", lambda count, holds: (holds(count - 1), count - 1)[1]
    )
    assert run_app(command(files, *layers, "--max-drop", "90", "-o", found, "--json")) == 0
    (report,) = json.loads(capsys.readouterr().out)
    (point,) = report["curve"]["points"]
    assert point["ratio"] is not None
    assert point["compression"] >= point["ratio"]
    assert sum(layer["terms"] for layer in report["layers"]) > len(report["layers"])
    again = tmp_path / "again.onnx"
    size = ("--pool-size", str(point["size"]), "--ratio", f"{point['ratio']:g}")
    assert run_app(command(files, *layers, *size, "-o", again)) == 0
    assert again.read_bytes() == found.read_bytes()


def test_a_checkpoint_of_another_run_stays(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    output = files[0].parent / "out.onnx"
    checkpoint = output.with_name("out.onnx.checkpoint")
    checkpoint.write_bytes(b"hours of training")
    words = ("compress", files[0], "--pool-size", "4", "--layers", "wide_w", "-o", output)
    assert run_app([*map(str, words)]) == 0
    assert output.is_file()
    assert checkpoint.is_file()
    assert "warning:" in capsys.readouterr().out


def test_pools_that_save_nothing(
    files: tuple[Path, Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool_ways, "SIZES", (512, 1024))
    assert run_app(command(files, "--max-drop", "1", "--pools", "network")) == 5
    message = capsys.readouterr().err
    assert message.count("error:") == 1
    assert "no pools save anything" in message


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("--max-drop", "101"), "no drop"),
        (("--max-drop", "1", "--pool-size", "64"), "the size is found"),
        (("--max-drop", "1", "--board", "nothing"), "nothing"),
        (("--board", "nucleo"), "only a search has cycles"),
        (("--html", "page.html"), "only a search has a page"),
        (("--max-drop", "1", "--html", "small.onnx"), "is one to read"),
        (("--max-drop", "1", "--html", "e.npz"), "is one to read"),
        (("--max-drop", "1", "--html", "small.pool.onnx"), "the place of the model"),
        (("--max-drop", "1", "--train", "e.npz"), "would have to be trained"),
    ],
)
def test_bad_options(
    files: tuple[Path, Path, Path],
    more: tuple[str, ...],
    expected: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(files[0].parent)
    monkeypatch.setattr("edgec.commands.compress._check_training", lambda *_: None)
    assert run_app(command(files, *more)) == 2
    message = capsys.readouterr().err
    assert expected in " ".join(message.split())
    assert message.count("error:") == 1


def test_samples_are_needed(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["compress", str(files[0]), "--max-drop", "1"]) == 2
    assert "--eval" in capsys.readouterr().err
