"""The site of the documents: built strictly, the same as on GitHub, alone, and looked at."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import NEEDS_CHROMIUM, browse, screenshot, share_near
from documents import DOCS
from markdown_it import MarkdownIt
from places import REPOSITORY

WITHOUT_MKDOCS = importlib.util.find_spec("material") is None and "CI" not in os.environ
DARK = "--blink-settings=preferredColorScheme=0"
"""The option of a reader who wants dark pages."""
PAGES = sorted(path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))
COUNTED = frozenset({"h1", "h2", "h3", "h4", "li", "ol", "pre", "table", "td", "th", "tr", "ul"})

pytestmark = pytest.mark.skipif(WITHOUT_MKDOCS, reason="needs pip install '.[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=REPOSITORY,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder


class Tags(HTMLParser):
    """Counts the elements of a page's article."""

    def __init__(self, is_article: bool = False) -> None:
        super().__init__()
        self.is_article = is_article
        self.counts: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.is_article |= tag == "article"
        if self.is_article and tag in COUNTED:
            self.counts[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        self.is_article &= tag != "article"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_parts_that_github_shows(site: Path, page: str) -> None:
    """The two read Markdown differently: lists in lists, tables and code in lists."""
    ours, theirs = Tags(), Tags(is_article=True)
    ours.feed((site / f"{page}.html").read_text("utf-8"))
    text = (DOCS / f"{page}.md").read_text("utf-8")
    theirs.feed(MarkdownIt("commonmark").enable("table").render(text))
    assert ours.counts == theirs.counts


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    fetched = re.compile(
        r'<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)="?(?:https?:)?//'
    )
    for path in site.rglob("*.html"):
        assert fetched.search(path.read_text("utf-8")) is None, path.name
    for path in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", path.read_text("utf-8"))


@NEEDS_CHROMIUM
def test_the_search_works_on_pages_opened_as_files(site: Path, tmp_path: Path) -> None:
    address = f"{(site / 'boards.html').as_uri()}?q=OpenOCD"
    document = browse(address, tmp_path, ["--virtual-time-budget=20000", "--dump-dom"])
    found = re.search(r'class="md-search-result__meta">(\d+) matching', document)
    assert found is not None
    assert int(found[1]) >= 1


@NEEDS_CHROMIUM
@pytest.mark.parametrize(("options", "paper"), [((), (255, 255, 255)), ((DARK,), (30, 33, 41))])
def test_pages_are_drawn_light_and_dark(
    site: Path, tmp_path: Path, options: tuple[str, ...], paper: tuple[int, int, int]
) -> None:
    pixels = screenshot(site / "index.html", tmp_path, "--virtual-time-budget=5000", *options)
    assert share_near(pixels, paper) > 0.6
    assert share_near(pixels, (64, 81, 181)) > 0.01  # the bar at the top


MEASURE = """<script>addEventListener("load", () => setTimeout(() => {
const wide = [...document.querySelectorAll("article pre, article table")].filter(each => {
    for (let box = each; box.tagName != "ARTICLE"; box = box.parentElement)
        if (getComputedStyle(box).overflowX == "auto") return false;
    return each.getBoundingClientRect().right > innerWidth;
}).length;
document.title = `wide=${wide} sideways=${document.documentElement.scrollWidth - innerWidth}`;
}, 500));</script>"""


@NEEDS_CHROMIUM
@pytest.mark.parametrize("page", ["operators", "tutorials/pytorch-to-nucleo"])
def test_wide_tables_and_code_scroll_by_themselves(site: Path, tmp_path: Path, page: str) -> None:
    path = site / f"{page}-measured.html"
    text = (site / f"{page}.html").read_text("utf-8")
    path.write_text(text.replace("</body>", f"{MEASURE}</body>"), "utf-8")
    options = ["--window-size=500,900", "--virtual-time-budget=5000", "--dump-dom"]
    document = browse(path, tmp_path, options)
    assert re.search(r"<title>wide=0 sideways=(-\d+|0)</title>", document), document[:2000]
