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
    counted_words,
)
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.overlap import by_pixel, with_ending
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_CODE_BYTES = 700
"""Size of the function; the window is gathered in it, too."""


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
    return BinaryWords(**binary_fields(graph, node))


def overlap(spec: BinaryWords) -> Distances:
    """The whole window of an output pixel is read before the pixel is written."""
    read = spec.window.channels * WORD_BYTES
    return with_ending(spec, by_pixel(spec.window, spec.pixel_bytes, read))


def arguments(
    graph: Graph, node: Node, spec: BinaryWords, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights as the graph has them."""
    return binary_arguments(graph, node, spec, pool, lambda words: words, 1)


def parts(spec: BinaryWords, _run: Run) -> Parts:
    """Words of a filter by the numbers of them that are counted together; gathered windows."""
    pixels, outputs = spec.window.out_pixels, spec.out_elements
    ends = "sign" if spec.gives_signs else "output"
    counts = {
        **spec.gathered(pixels),
        "copied word": pixels * spec.words,
        ends: outputs,
        **counted_words(spec.words, outputs),
        "word of signs": pixels * spec.out_words if spec.gives_signs else 0,
        "addition": outputs if spec.adds else 0,
    }
    numbers = (2,) if spec.gives_signs else (4, 4)
    beside = tuple(size * spec.out_channels for size in numbers)
    stored = spec.out_channels * spec.words * WORD_BYTES
    return Parts(counts, _CODE_BYTES, WeightReads(stored, pixels, beside))


FAMILY = KernelFamily(
    spec_type=BinaryWords,
    operators=OPERATORS,
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    parts=parts,
)
