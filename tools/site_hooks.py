"""Hooks of mkdocs: pages that lie beside what they describe join those of docs/.

On GitHub a page of docs/ links to `../examples/README.md`; the site has that file as the page
`examples.md`.  The hooks add such files as pages and turn links to them, and the links in them,
to where the pages lie in the site.  A link to any other file outside of docs/ is left as it is, so
that the strict build refuses it: pages name source files, they do not link to them.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

BROUGHT_ALONG = {
    "examples/README.md": "examples.md",
    "firmware/README.md": "firmware.md",
    "firmware/port/README.md": "ports.md",
}
"""Files of the repository outside of docs/, and the page of the site that each becomes."""

_LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)\s]*)?(?=\))")


def _source(page: str) -> str:
    """Where a page of the site lies in the repository."""
    for source, name in BROUGHT_ALONG.items():
        if name == page:
            return source
    return f"docs/{page}"


def _page(source: str) -> str | None:
    """The page of the site that a file of the repository is, None where it is none."""
    if source in BROUGHT_ALONG:
        return BROUGHT_ALONG[source]
    inside = posixpath.relpath(source, "docs")
    return None if inside.startswith("..") else inside


def relinked(markdown: str, page: str) -> str:
    """The text of a page with its relative links as they must be in the site.

    Args:
        markdown: the text as it is in the repository.
        page: path of the page in the site, such as `tutorials/accuracy.md`.
    """
    folder = posixpath.dirname(_source(page))

    def link(found: re.Match[str]) -> str:
        target = _page(posixpath.normpath(posixpath.join(folder, found[2])))
        if target is None:
            return found[0]
        path = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return f"{found[1]}{path}{found[3] or ''}"

    return _LINK.sub(link, markdown)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files outside of docs/ as pages."""
    root = Path(config.config_file_path).parent
    for source, page in BROUGHT_ALONG.items():
        files.append(File.generated(config, page, abs_src_path=str(root / source)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn the links of a page."""
    del config, files
    return relinked(markdown, page.file.src_uri)
