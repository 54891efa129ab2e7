"""The profile's page in a real browser: headless Chromium from Debian, no network."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, RESNET
from browser import DARK, NEEDS_CHROMIUM, browse, measured, screenshot, share_near
from profile_samples import layer_profile, sample_profile, sample_report

from edgec.cli.app import run_app
from edgec.profile.html import render_html
from edgec.report.model import Report

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build folder of the digits ResNet with its page in `page.html`."""
    folder = tmp_path_factory.mktemp("html") / "resnet"
    options = ["--board", "nucleo", "--calibration", str(CALIBRATION), "--out", str(folder)]
    assert run_app(["compile", str(RESNET), *options, "--no-verify"]) == 0
    assert run_app(["profile", str(folder), "--html", str(folder / "page.html")]) == 0
    return folder


def test_page_is_drawn(resnet: Path, tmp_path: Path) -> None:
    pixels = screenshot(resnet / "page.html", tmp_path)
    assert share_near(pixels, (246, 247, 249)) > 0.01  # paper
    assert share_near(pixels, (255, 255, 255)) > 0.3  # cards
    assert share_near(pixels, (47, 111, 222)) > 0.005  # bars
    assert share_near(pixels, (229, 138, 44)) > 0.0005  # waiting for flash
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 200  # text and boxes


def test_page_is_dark_where_the_reader_wants_it(resnet: Path, tmp_path: Path) -> None:
    pixels = screenshot(resnet / "page.html", tmp_path, DARK)
    assert share_near(pixels, (27, 33, 43)) > 0.3
    assert share_near(pixels, (255, 255, 255)) < 0.01
    assert share_near(pixels, (107, 160, 255)) > 0.005


def test_document_has_every_layer_and_tensor(resnet: Path, tmp_path: Path) -> None:
    document = browse(resnet / "page.html", tmp_path, ["--dump-dom"])
    report = Report.read(resnet)
    assert document.count('<g class="bar">') == len(report.layers)
    assert document.count('<g class="tensor">') == len(report.buffers)
    labels = re.findall(r'<circle class="dot"[^>]*>\s*</circle>\s*<text[^>]*>([^<]+)<', document)
    shown = {int(number) for label in labels for number in label.split(",")}
    assert shown == {index for index, layer in enumerate(report.layers) if layer.macs}
    for part in ("totals", "layers", "arena", "roofline", "table", "functions"):
        assert f'id="{part}"' in document
    assert "known error" in document


def test_scripts_in_names_do_not_run(tmp_path: Path) -> None:
    name = "<script>document.body.id = 'hacked'</script><img src=x onerror=\"document.title='x'\">"
    page = tmp_path / "page.html"
    found = sample_profile(layer_profile(name, 10, 100), layer_profile("b", 10, 50))
    page.write_text(render_html(found, sample_report(name, "b")), "utf-8")
    document = browse(page, tmp_path, ["--dump-dom"])
    assert "<script" not in document
    assert "<img" not in document
    assert 'id="hacked"' not in document
    assert "<title>sample on" in document


MEASURE = """
const boxes = [...document.querySelectorAll("#arena svg text:not(.tick):not(.axis)")]
    .map(text => text.getBoundingClientRect());
let overlaps = 0;
boxes.forEach((a, i) => boxes.slice(0, i).forEach(b => {
    const aside = a.right <= b.left || b.right <= a.left;
    overlaps += !aside && a.top < b.bottom - 3 && b.top < a.bottom - 3;
}));
const scale = document.querySelector("#layers svg").getBoundingClientRect().width / 960;
const beyond = [...document.querySelectorAll("svg, table")].filter(
    each => each.getBoundingClientRect().width > each.parentElement.clientWidth + 1
        && getComputedStyle(each.parentElement).overflowX != "auto").length;
document.title = JSON.stringify({labels: boxes.length, overlaps, text: 12 * scale, beyond,
    sideways: document.documentElement.scrollWidth - innerWidth});
"""


@pytest.mark.parametrize("width", [500, 1400])
def test_labels_are_apart_and_texts_large_enough_in_a_browser(tmp_path: Path, width: int) -> None:
    """Measured by the browser itself, with its fonts."""
    layers = [layer_profile(f"/block.{i}/output_{i}", 10**8 + i, 10**9 + i) for i in range(24)]
    report = sample_report(*(layer.name for layer in layers))
    buffers = [
        replace(each, offset_bytes=0, size_bytes=900 + i % 3, first_step=i, end_step=i + 4)
        for i, each in enumerate(report.buffers)
    ]
    page = tmp_path / "page.html"
    text = render_html(sample_profile(*layers), replace(report, buffers=tuple(buffers)))
    page.write_text(text, "utf-8")
    found = measured(page, tmp_path, MEASURE, width)
    assert found["labels"] >= 12
    assert found["overlaps"] == 0
    assert found["text"] >= 10
    assert found["beyond"] == 0
    assert found["sideways"] <= 0
