"""Facts about a library that its program does not hold, for its users: `LibraryAbout`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from edgec.base.compiler_level import CompilerLevel
from edgec.base.samples import Normalize


@dataclass(frozen=True, slots=True)
class PixelInput:
    """An input that takes images.

    Attributes:
        normalize: how a pixel of 0 to 255 becomes the number that the model takes; None: the model
            takes uint8 itself, and a code is the pixel less 128.
        channel_axis: axis of colours in the model's own order of axes; None: there is none.
    """

    normalize: Normalize | None
    channel_axis: int | None


@dataclass(frozen=True, slots=True)
class LibraryAbout:
    """Facts of a model that its program does not hold.

    Attributes:
        pixels: inputs that take images, by their position.
        labels: names of the classes, untrusted; empty: there are none.
        labelled: position of the output that they belong to.
        frame: bytes of a camera's frame that its only input takes, in words; empty: it takes none.
        stack: stack that its functions need, in words, as `stack_text` gives it.
    """

    pixels: Mapping[int, PixelInput] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    labelled: int = 0
    frame: str = ""
    stack: str = ""


NOTHING_KNOWN = LibraryAbout()
"""A library of which nobody knows more than its program."""


def stack_text(run_stack: Mapping[CompilerLevel, int], core: str) -> str:
    """Stack of a library's deepest function in words; empty where it was not measured.

    Args:
        run_stack: bytes by level of optimization.
        core: name of the core that the library was compiled for.
    """
    levels = ", ".join(f"{size} at {level.value}" for level, size in run_stack.items())
    return f"{levels} (GCC, {core})" if levels else ""
