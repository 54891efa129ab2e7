"""`edgec report`, `evaluate --html` and `compare --html` on a real build."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import CALIBRATION, RESNET, TEST_DATA, check_one_message, edgec
from import_models import N, model_of
from page_scripts import without_zoom

from edgec.base.samples import file
from edgec.base.samples.request import Found, Request
from edgec.cli.app import run_app
from edgec.report.model import Report

RNG = np.random.default_rng(5)
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "resnet"
    words = ["compile", RESNET, "--board", "nucleo", "--calibration", CALIBRATION, "-o", folder]
    assert run_app([str(word) for word in [*words, "--no-verify"]]) == 0
    return folder


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page.split("</style>")[1]).split())


def test_a_report_has_all_parts_and_the_same_bytes(
    resnet: Path, tmp_path: Path, capsys: Capsys
) -> None:
    page = tmp_path / "page.html"
    command = ("report", resnet, "--data", TEST_DATA, "--limit", 200, "--html", page)
    pages = []
    for _ in range(2):
        done = edgec(capsys, *command)
        assert done.code == 0, done.err
        assert done.out.split() == ["written", "to", str(page)]
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]
    text = text_of(page.read_text())
    layers = len(Report.read(resnet).layers)
    assert "Every tensor of every sample equals the reference, bit for bit." in text
    assert "10 samples on host: digits_test.npz" in text
    assert text.count(" yes ") >= layers
    assert "of 200 samples" in text
    assert "Cycles by layer" in text
    assert page.read_text().count('<li class="bar"') == layers
    assert "Pools" not in text
    assert not re.search(r"<script|https?://", without_zoom(page.read_text()))


def test_a_report_without_data_is_in_the_folder(
    resnet: Path, tmp_path: Path, capsys: Capsys
) -> None:
    folder = Path(shutil.copytree(resnet, tmp_path / "resnet"))
    (folder / "evaluation.json").unlink(missing_ok=True)
    assert edgec(capsys, "report", folder).code == 0
    text = text_of((folder / "report.html").read_text())
    assert "It was not measured" in text
    assert "3 samples on host" in text
    assert edgec(capsys, "evaluate", folder, "--data", TEST_DATA, "--limit", 50).code == 0
    assert edgec(capsys, "report", folder).code == 0
    assert "Of 50 samples " in text_of((folder / "report.html").read_text())


def test_samples_without_labels_give_no_accuracy(
    resnet: Path, tmp_path: Path, capsys: Capsys
) -> None:
    page, data = tmp_path / "page.html", tmp_path / "inputs.npz"
    with np.load(TEST_DATA) as arrays:
        np.savez(data, x=arrays["x"][:4])
    done = edgec(capsys, "report", resnet, "--data", data, "--html", page, "--on", "emulator")
    assert done.code == 0, done.err
    text = text_of(page.read_text())
    assert "4 samples on emulator" in text
    assert "Wrong samples" not in text
    assert "inputs.npz holds no labels." in text


def test_a_limit_is_for_all_parts_and_data_are_read_once_for_each(
    resnet: Path, tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, reads = tmp_path / "page.html", []
    read = file._READERS[".npz"]

    def counted(path: Path, request: Request) -> Found:
        reads.append(path)
        return read(path, request)

    monkeypatch.setitem(file._READERS, ".npz", counted)
    command = ("report", resnet, "--data", TEST_DATA, "--limit", 3, "--html", page)
    done = edgec(capsys, *command)
    assert done.code == 0, done.err
    text = text_of(page.read_text())
    assert "3 samples on host" in text
    assert "of 3 samples" in text
    assert "on the first 3 of 540 samples of digits_test.npz" in text
    assert len(reads) == 3  # validation, accuracy, histograms


def test_a_build_that_decides_nothing_says_so(tmp_path: Path, capsys: Capsys) -> None:
    """Its second input is named as labels are in files."""
    folder, page = tmp_path / "two", tmp_path / "page.html"
    nodes = [N("Add", ["x", "y"], ["sum"]), N("Sub", ["x", "y"], ["gap"])]
    model = model_of(nodes, {"x": (1, 4), "y": (1, 4)}, outputs=("sum", "gap"))
    onnx.save(model, tmp_path / "two.onnx")
    data = tmp_path / "data.npz"
    np.savez(data, **{name: RNG.random((6, 4), np.float32) for name in ("x", "y")})
    words = ["compile", tmp_path / "two.onnx", "--board", "host", "--calibration", data]
    assert edgec(capsys, *words, "-o", folder, "--no-verify").code == 0
    done = edgec(capsys, "report", folder, "--data", data, "--html", page)
    assert done.code == 0, done.err
    text = text_of(page.read_text())
    assert "6 samples on host" in text
    assert "No single output of the model has scores for classes" in text


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--limit", "3"), "--data"),
        (("--normalize", "scale=1/255"), "nothing to normalize|no images"),
        (("--on", "moon"), "host or emulator"),
        (("--data", "nothing.npz"), "nothing.npz"),
        (("--html", "."), "folder"),
    ],
)
def test_bad_words_are_refused_first(
    resnet: Path, capsys: Capsys, more: tuple[str, ...], words: str
) -> None:
    done = edgec(capsys, "report", resnet, *more)
    assert done.code == 2
    assert re.search(words, done.err), done.err
    assert not (resnet / "report.html").exists()


def test_no_build(tmp_path: Path, capsys: Capsys) -> None:
    check_one_message(edgec(capsys, "report", tmp_path), "holds no report.json")


def test_evaluate_shows_confusions_and_wrong_samples(
    resnet: Path, tmp_path: Path, capsys: Capsys
) -> None:
    page = tmp_path / "page.html"
    done = edgec(capsys, "evaluate", resnet, "--data", TEST_DATA, "--html", page)
    assert done.code == 0, done.err
    assert "written to" in done.out
    text = page.read_text()
    cells = re.findall(r'<td class="(right|wrong)"[^>]*>(\d*)</td>', text)
    right = sum(int(number or 0) for style, number in cells if style == "right")
    wrong = sum(int(number or 0) for style, number in cells if style == "wrong")
    assert (len(cells), right + wrong) == (100, 540)
    assert 0 < wrong < 20
    assert text.count('<img src="data:image/bmp;base64,') == wrong
    (accuracy,) = re.findall(r"<span>accuracy</span><b>([\d.]+)%", text)
    assert float(accuracy) == pytest.approx(100 * right / 540, abs=0.01)


def test_compare_shows_builds_and_keeps_its_json(
    resnet: Path, tmp_path: Path, capsys: Capsys
) -> None:
    page, other = tmp_path / "page.html", Path(shutil.copytree(resnet, tmp_path / "other"))
    done = edgec(capsys, "compare", resnet, other, "--html", page)
    assert done.code == 0, done.err
    assert str(other) in page.read_text()
    assert page.read_text().count('class="mark point dot"') >= 2
    check_one_message(edgec(capsys, "compare", resnet, other, "--html", tmp_path), "folder")
