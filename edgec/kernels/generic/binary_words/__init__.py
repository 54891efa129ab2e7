"""Convolutions and matrix products of signs word by word, for every core."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir.graph import Graph, Node
from edgec.kernels.common.binary import (
    OPERATORS,
    WORD_BYTES,
    BinaryFunction,
    binary_arguments,
    binary_fields,
)
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.overlap import by_pixel, with_ending
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class BinaryWords(BinaryFunction):
    """Gathers the window of an output pixel, then counts bits filter by filter.

    Weights are words [out_channels, taps, words of a pixel]: `edgec/dense/binary_words.h`.
    """

    family: ClassVar[str] = "binary_words"
    scratch_name: ClassVar[str | None] = "patch"
    template: ClassVar[Path] = template_beside(__file__, "binary_words")

    @property
    def scratch_bytes(self) -> int:
        """The gathered window."""
        return self.words * WORD_BYTES

    def describe(self) -> str:
        """Operator, shapes and method of the function in words."""
        return self._described("word by word")


def spec(graph: Graph, node: Node, _target: Target) -> BinaryWords:
    """The specification for a layer of signs."""
    return BinaryWords(*binary_fields(graph, node))


def overlap(spec: BinaryWords) -> Distances:
    """The whole window of an output pixel is read before the pixel is written."""
    read = spec.window.channels * WORD_BYTES
    return with_ending(spec, by_pixel(spec.window, spec.pixel_bytes, read))


def arguments(
    graph: Graph, node: Node, spec: BinaryWords, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights as the graph has them."""
    return binary_arguments(graph, node, spec, pool, lambda words: words, 1)


FAMILY = KernelFamily(
    spec_type=BinaryWords,
    operators=OPERATORS,
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
