"""The function of a model's header that takes a frame of a camera."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.codegen.cnames import LibraryNames


@dataclass(frozen=True, slots=True)
class FrameContext:
    """Takes a frame of a camera and runs the model.

    Attributes:
        meaning: what the bytes are, in words.
    """

    template: ClassVar[str] = "helpers/frame.h.j2"
    names: LibraryNames
    meaning: str
