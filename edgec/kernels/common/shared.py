"""Names of C functions that layers share: one for each set of numbers that are compiled in."""

from __future__ import annotations

from edgec.base.canonical import canonical_digest

_DIGITS = 12
"""Digits of a digest: two keys of one model meet with a chance below 1 in 10^10."""


def shared_name(stem: str, key: object) -> str:
    """The name of the function that all layers share whose constants are those of `key`.

    Args:
        stem: how the name begins.
        key: plain data (`edgec.base.canonical`): all that the text of the function depends on.
    """
    return f"{stem}_{canonical_digest(key)[:_DIGITS]}"
