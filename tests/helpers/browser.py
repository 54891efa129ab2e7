"""Headless Chromium from Debian, no network: what a person would see of a page."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

CHROMIUM = shutil.which("chromium")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--hide-scrollbars",
)
WIDTH, HEIGHT = 1200, 2400
DARK = "--blink-settings=preferredColorScheme=0"
"""The option of a reader who wants dark pages."""

NEEDS_CHROMIUM = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="needs Chromium: apt install chromium"
)


def browse(page: Path | str, tmp_path: Path, options: Sequence[str]) -> str:
    """Open a page, a file or an address; what the browser prints."""
    address = page if isinstance(page, str) else page.as_uri()
    assert CHROMIUM is not None, "CI must have Chromium: apt install chromium"
    profile_dir = tmp_path / "browser"
    shutil.rmtree(profile_dir, ignore_errors=True)
    done = subprocess.run(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={profile_dir}", *options, address],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def screenshot(page: Path, tmp_path: Path, *options: str) -> np.ndarray:
    """uint8 [HEIGHT, WIDTH, 3]."""
    return picture(page, tmp_path, (WIDTH, HEIGHT), options)


def picture(
    page: Path | str, tmp_path: Path, size: tuple[int, int], options: Sequence[str] = ()
) -> np.ndarray:
    """A page as it is drawn in a window of this width and height: uint8 [height, width, 3]."""
    path = tmp_path / "page.png"
    window = f"--window-size={size[0]},{size[1]}"
    browse(page, tmp_path, [window, f"--screenshot={path}", *options])
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape == (size[1], size[0], 3)
    return pixels


def share_near(pixels: np.ndarray, color: tuple[int, int, int]) -> float:
    """Share of the pixels that have a colour, nearly."""
    return float(np.mean(np.all(np.abs(pixels.astype(int) - color) < 12, axis=2)))


def measured(page: Path, tmp_path: Path, script: str, width: int) -> dict[str, Any]:
    """What a script finds in a page that is `width` pixels wide; it leaves JSON in the title."""
    text = page.read_text("utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    changed = tmp_path / "measured.html"
    changed.write_text(text.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    document = browse(changed, tmp_path, [f"--window-size={width},900", "--dump-dom"])
    (title,) = re.findall(r"<title>(\{.*\})</title>", document)
    found: dict[str, Any] = json.loads(html.unescape(title))
    return found


ALL_PANELS = "<style>.panel { display: block !important }</style>"
"""Shows all tabs of a page at once."""

_FRAMES = """
const found = {{}};
addEventListener("load", () => {{
    for (const frame of document.querySelectorAll("iframe"))
        found[frame.width] = (({script}))(frame.contentDocument, frame.contentWindow);
    document.title = JSON.stringify(found);
}});
"""


def measured_at(
    page: Path, tmp_path: Path, script: str, widths: Sequence[int], options: Sequence[str] = ()
) -> dict[int, dict[str, Any]]:
    """What a function of (document, window) finds in a page in frames of several widths.

    A window of Chromium is at least 500 pixels wide; a frame has any width.
    """
    text = page.read_text("utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', ALL_PANELS, text)
    frames = "".join(
        f'<iframe width="{width}" height="900" style="border: 0" srcdoc="{html.escape(text)}">'
        "</iframe>"
        for width in widths
    )
    around = tmp_path / "frames.html"
    head = f"<!doctype html><title></title><script>{_FRAMES.format(script=script)}</script>"
    around.write_text(f'{head}<body style="width: 9000px">{frames}</body>', "utf-8")
    document = browse(around, tmp_path, ["--window-size=1600,900", "--dump-dom", *options])
    (title,) = re.findall(r"<title>(\{.*?\})</title>", document)
    return {int(width): value for width, value in json.loads(html.unescape(title)).items()}
