"""Options as words of a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

OptionValue = str | float | Sequence[str]
"""Value of an option as `edgec.toml` holds it; several texts: the option is repeated."""


def option_words(options: Mapping[str, OptionValue]) -> list[str]:
    """Options as words of a command line, in their order.

    Args:
        options: values by the key in `edgec.toml`, which is the name without ``--``.
    """
    words = []
    for key, value in options.items():
        for each in [value] if isinstance(value, str | float | int) else value:
            words += [f"--{key}", each if isinstance(each, str) else f"{each:g}"]
    return words
