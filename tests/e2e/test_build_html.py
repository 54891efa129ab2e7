"""The pages of `compile --html` and `validate --html`, in a real browser and without one."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, RESNET, TEST_DATA, check_one_message, edgec
from browser import (
    ALL_PANELS,
    DARK,
    NEEDS_CHROMIUM,
    browse,
    measured,
    picture,
    screenshot,
    share_near,
)
from page_scripts import without_zoom
from profile_samples import sample_report

from edgec.cli.app import run_app
from edgec.profile.compile_html import compile_page, render_compile_html
from edgec.profile.compile_rows import Work
from edgec.profile.origins import FileNode, GoneNodes, LayerOrigin, Origins
from edgec.profile.validation_html import render_validation_html
from edgec.report.model import CalibrationReport, Report
from edgec.workflow.histograms import BINS, Histograms, TensorHistogram
from edgec.workflow.validation import Validation, validate

Capsys = pytest.CaptureFixture[str]
NAME = "<script>document.body.id = 'hacked'</script><img src=x onerror=\"document.title='x'\">"
LONG = "model/block_1/conv/BatchNorm/with/a/name/that/does/not/end" * 6
WHOLE = (1200, 3200)
"""Width and height of a window that shows all of the page of a build."""
QUICK = ("--board", "host", "--no-build", "--no-verify")


@pytest.fixture(scope="module")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the digits ResNet with `build.html` and `validation.html` in its folder."""
    folder = tmp_path_factory.mktemp("html") / "resnet"
    words = ["compile", RESNET, "--board", "nucleo", "--calibration", CALIBRATION, "-o", folder]
    words += ["--no-verify", "--html", folder / "build.html"]
    assert run_app([str(word) for word in words]) == 0
    words = ["validate", folder, "--data", TEST_DATA, "--limit", 2, "--on", "emulator"]
    words += ["--html", folder / "validation.html"]
    assert run_app([str(word) for word in words]) == 0
    return folder


SEEN = (
    f"""
document.head.insertAdjacentHTML("beforeend", {ALL_PANELS!r});
"""
    + """
const boxes = [...document.querySelectorAll("section, .tile, .histogram")];
const beyond = [...document.querySelectorAll("svg, table, .stack, dl")].filter(
    each => each.getBoundingClientRect().width > each.parentElement.clientWidth + 1
        && getComputedStyle(each.parentElement).overflowX != "auto").length;
const sizes = [...document.querySelectorAll("p, td, th, dd, code, figcaption, .ends, .node")]
    .map(each => parseFloat(getComputedStyle(each).fontSize));
const ends = [...document.querySelectorAll(".ends")];
document.title = JSON.stringify({beyond, smallest: Math.min(...sizes),
    empty: boxes.filter(each => each.getBoundingClientRect().height < 10).length,
    wrapped: ends.filter(each => each.getBoundingClientRect().height > 25).length,
    histograms: document.querySelectorAll(".histogram path[d^=M]").length,
    sideways: document.documentElement.scrollWidth - innerWidth});
"""
)


@pytest.mark.few_cases(2)
@NEEDS_CHROMIUM
@pytest.mark.parametrize("name", ["build", "validation"])
@pytest.mark.parametrize("width", [500, 1400])
def test_everything_is_inside_and_readable(resnet: Path, tmp_path: Path, name: str, width: int):
    found = measured(resnet / f"{name}.html", tmp_path, SEEN, width)
    layers = len(Report.read(resnet).layers)
    assert found["histograms"] == (layers + 1 if name == "build" else 0)
    assert found["smallest"] >= 12
    assert (found["beyond"], found["empty"], found["wrapped"]) == (0, 0, 0)
    assert found["sideways"] <= 0


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_pages_are_light_or_dark_as_the_reader_wants(resnet: Path, tmp_path: Path) -> None:
    page = f"{(resnet / 'build.html').as_uri()}#tab-accuracy"
    light = picture(page, tmp_path, WHOLE)
    assert share_near(light, (255, 255, 255)) > 0.2  # cards
    assert share_near(light, (47, 111, 222)) > 0.005  # histograms
    assert share_near(light, (219, 231, 251)) > 0.003  # bars of cells
    assert len(np.unique(light.reshape(-1, 3), axis=0)) > 200
    pixels = picture(page, tmp_path, WHOLE, [DARK])
    assert share_near(pixels, (27, 33, 43)) > 0.2
    assert share_near(pixels, (255, 255, 255)) < 0.01
    assert share_near(pixels, (107, 160, 255)) > 0.005
    pixels = screenshot(resnet / "validation.html", tmp_path, DARK)
    assert share_near(pixels, (255, 255, 255)) < 0.01
    assert share_near(pixels, (27, 33, 43)) > 0.3


@NEEDS_CHROMIUM
def test_the_document_has_every_layer_and_tensor(resnet: Path, tmp_path: Path) -> None:
    document = browse(resnet / "build.html", tmp_path, ["--dump-dom"])
    report = Report.read(resnet)
    assert document.count('class="mark box ') == len(report.buffers)
    for layer in report.layers:
        assert f'title="{", ".join([layer.name, *layer.sources])}"' in document
        assert all(f'<span class="node" title="{name}">' in document for name in layer.sources)
    for part in ("memory", "arena", "layers", "histograms", "origins", "commands"):
        assert f'id="{part}"' in document
    assert "edgec profile" in document
    assert "<th>cycles</th>" in document


@NEEDS_CHROMIUM
def test_scripts_in_names_do_not_run_and_long_names_fit(tmp_path: Path) -> None:
    calibration = CalibrationReport("user", 7, "mse", False, True)
    names = (NAME, LONG)
    report = replace(
        sample_report(*names), calibration=calibration, warnings=names, notes=names, model=NAME
    )
    shares = (1.0, *(0.0,) * (BINS - 1))
    tensors = [TensorHistogram(n, "int8", -1.0, 1.0, shares, 1.0, 0.0, 0.5) for n in names]
    nodes = tuple(FileNode("Conv", name) for name in names)
    layers = tuple(LayerOrigin(i, layer, nodes) for i, layer in enumerate(report.layers))
    page = tmp_path / "page.html"
    origins = Origins(layers, (GoneNodes(NAME, names),))
    found = compile_page(
        report, Work("cycles", (), NAME), Histograms(tuple(tensors), LONG), origins, ()
    )
    page.write_text(render_compile_html(found), "utf-8")
    document = browse(page, tmp_path, ["--dump-dom"])
    assert "<script" not in without_zoom(document)
    assert "<img" not in document
    assert 'id="hacked"' not in document
    seen = measured(page, tmp_path, SEEN, 500)
    assert (seen["beyond"], seen["sideways"] <= 0) == (0, True)


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def broken(found: Validation, *numbers: int) -> Validation:
    """The validation as if some layers had differed on one sample."""
    layers = [
        replace(layer, differing=1, largest_gap=3) if number in numbers else layer
        for number, layer in enumerate(found.layers)
    ]
    return replace(found, layers=tuple(layers))


def test_the_page_of_a_validation_names_the_first_layer_that_differs(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    words = ["compile", MLP, *QUICK, "--calibration", CALIBRATION, "-o", folder]
    assert run_app([str(word) for word in words]) == 0
    found = validate(folder)
    good = render_validation_html(found)
    assert "Every tensor of every sample equals the reference, bit for bit." in good
    assert 'class="passed"' in good
    assert 'class="first"' not in good
    page = render_validation_html(broken(found, 0, 1))
    assert 'class="failed"' in page
    assert page.count('<tr class="first">') == 1
    assert page.count('<tr class="later">') == 1
    first = found.layers[0]
    assert f"Layer 0, {first.title} ({first.op}), is the first whose output differs" in page
    assert "no, on 1 of 3" in text_of(page)
    for measure in ("RMSE", "MAE", "L2 error", "NSE", "cosine", "same largest output"):
        assert measure in good
    assert "equal decisions" not in good  # nobody said that these are classes
    (output,) = found.outputs
    told = render_validation_html(replace(found, outputs=(replace(output, classes=True),)))
    assert "equal decisions" in told
    assert "same largest output" not in told
    hostile = replace(found, model=NAME, layers=(replace(found.layers[0], sources=(NAME,)),))
    assert "<script" not in without_zoom(render_validation_html(hostile))


def test_the_page_of_a_validation_has_cycles_and_accuracy(resnet: Path) -> None:
    text = text_of((resnet / "validation.html").read_text())
    assert "layers bit-exact 11 of 11 on emulator" in text
    assert "accuracy" in text
    assert "node_Conv_138" in text


def test_a_layer_that_differs_ends_in_its_error_and_a_page(
    resnet: Path, tmp_path: Path, capsys: Capsys
) -> None:
    """The first weights overwritten in the C library are found on the host."""
    folder = Path(shutil.copytree(resnet, tmp_path / "resnet"))
    (weights,) = (folder / "library" / "src").glob("*-weights.c")
    text = weights.read_text()
    start = text.index("{", text.index("_weights["))
    weights.write_text(text[:start] + re.sub(r"\d+", "1", text[start:], count=64))
    page = tmp_path / "page.html"
    done = edgec(capsys, "validate", folder, "--html", page)
    assert done.code == 10
    assert "is the first whose output differs" in page.read_text()
    named = re.search(r"layer (\d+), (\S+) ", done.err)
    assert named is not None
    assert f"Layer {named[1]}, {named[2]} " in page.read_text()


def test_without_firmware_the_page_says_so(capsys: Capsys, tmp_path: Path) -> None:
    page, folder = tmp_path / "a" / "page.html", tmp_path / "out"
    page.parent.mkdir()
    done = edgec(capsys, "compile", MLP, *QUICK, "-o", folder, "--html", page)
    assert done.code == 0, done.err
    assert f"page: {page}" in done.out
    text = text_of(page.read_text())
    assert "There are no cycles: it was built for the host" in text
    assert "3 pseudo-random inputs" in text
    assert "without calibration data: ranges are guesses" in text


def test_the_page_is_the_same_from_the_cache(
    capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGEC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("EDGEC_CACHE_LIMIT", "1G")
    page = tmp_path / "page.html"
    command = ("compile", MLP, *QUICK, "-o", tmp_path / "out", "--html", page, "--json")
    pages, outputs = [], []
    for _ in range(2):
        done = edgec(capsys, *command)
        pages.append(page.read_bytes())
        outputs.append(done.out)
    assert "taken from the cache" in done.err
    assert pages[0] == pages[1]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("command", ["compile", "validate"])
def test_a_place_that_takes_no_file_is_refused_first(
    capsys: Capsys, tmp_path: Path, command: str
) -> None:
    out = tmp_path / "out"
    arguments = (MLP, *QUICK, "-o", out) if command == "compile" else (tmp_path / "none",)
    done = edgec(capsys, command, *arguments, "--html", tmp_path)
    check_one_message(done, "folder")
    assert not out.exists()
