"""The one script of a page, for tests that look for others."""

from __future__ import annotations

import base64
import hashlib
import re


def without_zoom(page: str) -> str:
    """A page without the script that enlarges plots, and without leave for it.

    Raises:
        AssertionError: the page has other scripts, or its policy lets others run.
    """
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    allowed = re.findall(r"; script-src '(sha256-[^']*)'\">", page)
    assert len(scripts) == len(allowed) == page.count("script-src") == 1, scripts
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert allowed == [f"sha256-{digest}"]
    page = page.replace(f"<script>{scripts[0]}</script>", "")
    return page.replace(f"; script-src '{allowed[0]}'", "")
