"""The profile's page in a real browser: headless Chromium from Debian, no network."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, RESNET
from browser import DARK, NEEDS_CHROMIUM, browse, screenshot, share_near
from page_scripts import without_zoom
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
    assert document.count('<li class="bar"') == len(report.layers)
    assert document.count('class="mark box ') == len(report.buffers)
    said = "".join(re.findall(r'<label class="mark point dot".*?</label>', document, re.S))
    shown = {int(number) for number in re.findall(r"[:,] (\d+) ", said)}
    assert shown == {index for index, layer in enumerate(report.layers) if layer.macs}
    for part in ("cycles", "arena", "roofline", "table", "functions"):
        assert f'id="{part}"' in document
    assert "known error" in document


def test_scripts_in_names_do_not_run(tmp_path: Path) -> None:
    name = "<script>document.body.id = 'hacked'</script><img src=x onerror=\"document.title='x'\">"
    page = tmp_path / "page.html"
    found = sample_profile(layer_profile(name, 10, 100), layer_profile("b", 10, 50))
    page.write_text(render_html(found, sample_report(name, "b")), "utf-8")
    document = browse(page, tmp_path, ["--dump-dom"])
    assert "<script" not in without_zoom(document)
    assert "<img" not in document
    assert 'id="hacked"' not in document
    assert "<title>sample on" in document
