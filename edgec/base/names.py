"""Names that come from a model, made fit for messages.

A model may name a tensor with ten thousand characters, quotes and newlines.  The graph keeps such
names as they are; a message shows them shortened and on one line.
"""

from __future__ import annotations

_SHOWN = 80


def shown(name: str) -> str:
    """`name` on one line, control characters escaped, at most about 80 characters."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2 - 2
    return f"{text[:half]}...{text[-half:]}"


def node_label(name: str, op: str, first_output: str) -> str:
    """The name of a node, or a stable one made of operator and output if it has none."""
    return name or f"{op}:{first_output}"
