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
    picture = tmp_path / "page.png"
    size = f"--window-size={WIDTH},{HEIGHT}"
    browse(page, tmp_path, [size, f"--screenshot={picture}", *options])
    with Image.open(picture) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape == (HEIGHT, WIDTH, 3)
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
