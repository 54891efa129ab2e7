"""The same samples in every format give the same results, in every command that takes samples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, TEST_DATA, check_one_message, edgec
from PIL import Image

import edgec as edgec_api

Capsys = pytest.CaptureFixture[str]
COUNT = 30


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[object, ...]]:
    """Thirty digits as .npz, .csv, and images by class; with the words that name them."""
    folder = tmp_path_factory.mktemp("formats")
    with np.load(TEST_DATA) as data:
        x, y = data["x"], data["y"]
    chosen = np.concatenate([np.flatnonzero(y == label)[:3] for label in range(10)])
    # As a folder of classes is read: the first of each class, then the second of each.
    chosen = chosen.reshape(10, 3).T.reshape(-1)
    pixels = np.rint(x[chosen] * 255).astype(np.uint8)
    x, y = (pixels / 255).astype(np.float32), y[chosen]
    np.savez(folder / "d.npz", x=x, y=y)
    rows = [
        ",".join([str(label), *map(repr, row.tolist())])
        for row, label in zip(x.reshape(COUNT, -1), y, strict=True)
    ]
    names = ",".join(["y", *(f"p{index}" for index in range(64))])
    (folder / "d.csv").write_text("\n".join([names, *rows]))
    for index, (image, label) in enumerate(zip(pixels, y, strict=True)):
        (folder / "images" / str(label)).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image[0]).save(folder / "images" / str(label) / f"{index:02}.png")
    return {
        "npz": (folder / "d.npz",),
        "csv": (folder / "d.csv",),
        "images": (folder / "images", "--normalize", "scale=1/255"),
    }


@pytest.mark.parametrize("format", ["csv", "images"])
def test_evaluate_run_and_calibration(
    capsys: Capsys, tmp_path: Path, compiled_mlp: Path, formats, format: str
) -> None:
    def output(*words: object) -> object:
        done = edgec(capsys, *words, "--json")
        assert done.code == 0, done
        return json.loads(done.out)

    def same(*words: object) -> None:
        assert output(*words, *formats[format]) == output(*words, *formats["npz"])

    same("evaluate", compiled_mlp, "--data")
    same("run", compiled_mlp, "--input")
    models = []
    for name in ("npz", format):
        path = tmp_path / f"{name}.onnx"
        assert edgec(capsys, "quantize", MLP, "-o", path, "--calibration", *formats[name]).code == 0
        models.append(path.read_bytes())
    assert models[0] == models[1]


def test_the_next_command_names_the_same_samples(capsys: Capsys, compiled_mlp, formats) -> None:
    done = edgec(capsys, "run", compiled_mlp, "--input", *formats["images"])
    assert "--normalize scale=1/255" in done.out


def test_images_without_normalize_are_refused(capsys: Capsys, compiled_mlp, formats) -> None:
    done = edgec(capsys, "evaluate", compiled_mlp, "--data", formats["images"][0])
    check_one_message(done, "--normalize scale=1/255", code=2)


@pytest.mark.parametrize("words", [(), ("--calibration", CALIBRATION)])
def test_normalize_without_effect_is_refused(capsys: Capsys, tmp_path: Path, words) -> None:
    command = ("quantize", MLP, "-o", tmp_path / "q.onnx", *words, "--normalize", "scale=1/255")
    check_one_message(edgec(capsys, *command), "--normalize: ", code=2)


def test_python_takes_what_the_command_line_takes(compiled_mlp: Path, formats) -> None:
    folder, _, how = formats["images"]
    found = edgec_api.evaluate(
        compiled_mlp, edgec_api.SampleFile(folder, edgec_api.Normalize.parse(how))
    )
    assert found == edgec_api.evaluate(compiled_mlp, formats["npz"][0])
    by_text = edgec_api.evaluate(compiled_mlp, edgec_api.SampleFile(str(formats["npz"][0])))
    assert by_text == found
