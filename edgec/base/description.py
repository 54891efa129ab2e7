"""Metadata of a model file: labels of classes, normalization of pixels, title, author, licence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from edgec.base.samples.normalize import Normalize

ONNX_SUFFIX, TFLITE_SUFFIX = ".onnx", ".tflite"


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file that the model carries along.

    Attributes:
        name: what the model calls it; no path on this computer.
        size: its bytes.
    """

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Description:
    """Metadata of a model file, for people and for `labels.h`.

    Attributes:
        title, version, text, author, licence: for people; "" where the file does not say.
        normalize: how pixels become the numbers of an input, by the input's name.
        labels: names of the classes of an output, by the output's name.
        files: what the model carries along.
        front_end: features of sound that it takes, as `--front-end` reads them; "": not said.
        problems: why something of it is not used, a sentence each.
    """

    title: str = ""
    version: str = ""
    text: str = ""
    author: str = ""
    licence: str = ""
    normalize: Mapping[str, Normalize] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[AttachedFile, ...] = ()
    problems: tuple[str, ...] = ()
    front_end: str = ""


NOTHING_SAID = Description()
"""The description that a file without metadata has."""
