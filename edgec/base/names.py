"""Names that come from a model, made fit for messages.

A model may name a tensor with ten thousand characters, quotes and newlines.  The graph keeps such
names as they are; a message shows them shortened and on one line.
"""

from __future__ import annotations

import re

_SHOWN = 80
_UNUSUAL = re.compile(r"[^ -~\n]")
"""All but printable ASCII and line feeds: what `printable` has to look at more closely."""


def printable(text: str, *, lines: bool = False) -> str:
    """Text from a model or file, fit for any output: terminal, report, page, Markdown, C.

    Control characters are escaped, so that no escape sequence reaches a terminal, and so are
    marks that change the direction of what follows, and line feeds, with which a tensor's name
    could forge lines of a report.

    Args:
        text: the text.
        lines: it has lines of its own, which stay.
    """
    if _UNUSUAL.search(text) is None and (lines or "\n" not in text):
        return text
    return "".join(
        c if c.isprintable() or (lines and c == "\n") else c.encode("unicode_escape").decode()
        for c in text
    )


def shown(name: str) -> str:
    """`name` on one line, control characters escaped, at most about 80 characters."""
    text = printable(name)
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2 - 2
    return f"{text[:half]}...{text[-half:]}"


def node_label(name: str, op: str, first_output: str) -> str:
    """The name of a node, or a stable one made of operator and output if it has none."""
    return name or f"{op}:{first_output}"
