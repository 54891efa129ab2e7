"""A real browser: headless Chromium from Debian, without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

CHROMIUM = shutil.which("chromium")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--hide-scrollbars",
)
DARK = "--blink-settings=preferredColorScheme=0"
"""The option of a reader who wants dark pages."""
needs_browser = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="needs Chromium: apt install chromium"
)


def browse(address: str, tmp_path: Path, options: Sequence[str]) -> str:
    """Open a page; what the browser prints.

    Args:
        address: what a person would type, such as `file:///tmp/page.html`.
        tmp_path: a folder for the browser's own files.
        options: of the browser, beside `OPTIONS`.
    """
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


def picture(
    address: str, tmp_path: Path, size: tuple[int, int], options: Sequence[str] = ()
) -> np.ndarray:
    """A page as it is drawn: uint8 [height, width, 3].

    Args:
        address: as for `browse`.
        tmp_path: a folder for files.
        size: width and height of the window in pixels.
        options: as for `browse`.
    """
    path = tmp_path / "page.png"
    window = f"--window-size={size[0]},{size[1]}"
    browse(address, tmp_path, [window, f"--screenshot={path}", *options])
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape == (size[1], size[0], 3)
    return pixels


def share_near(pixels: np.ndarray, color: tuple[int, int, int]) -> float:
    """Share of the pixels that have a colour, nearly."""
    return float(np.mean(np.all(np.abs(pixels.astype(int) - color) < 12, axis=2)))
