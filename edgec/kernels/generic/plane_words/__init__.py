"""Convolutions and matrix products of bit planes word by word, for every core."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir.graph import Graph, Node
from edgec.kernels.common.binary import WORD_BYTES, counted_words
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.overlap import by_pixel, with_ending
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.kernels.common.planes import OPERATORS, PlaneFunction, plane_arguments, plane_fields
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_CODE_BYTES = 800
"""Size of the function; the window is gathered in it, too."""


@dataclass(frozen=True, slots=True)
class PlaneWords(PlaneFunction):
    """Gathers the window of an output pixel, then counts bits filter by filter, plane by plane.

    Weights are words [out_channels, planes, taps, words of a pixel]: `edgec/dense/plane_words.h`.
    """

    family: ClassVar[str] = "plane_words"
    scratch_name: ClassVar[str | None] = "patch"
    template: ClassVar[Path] = template_beside(__file__, "plane_words")

    @property
    def scratch_bytes(self) -> int:
        """The gathered window, and its planes one after another where they do not lie so."""
        return self.words * WORD_BYTES * (2 if self.is_split else 1)

    def describe(self) -> str:
        """Operator, shapes and method of the function in words."""
        return self._described("word by word")


def spec(graph: Graph, node: Node, _target: Target) -> PlaneWords:
    """The specification for a layer of planes."""
    return PlaneWords(**plane_fields(graph, node))


def overlap(spec: PlaneWords) -> Distances:
    """The whole window of an output pixel is read before the pixel is written."""
    read = spec.window.channels * WORD_BYTES
    return with_ending(spec, by_pixel(spec.window, spec.pixel_bytes, read))


def arguments(graph: Graph, node: Node, spec: PlaneWords, pool: ConstantPool) -> tuple[Params, ...]:
    """Weights filter by filter, plane by plane."""
    return plane_arguments(graph, node, spec, pool, lambda words: words, 1)


def parts(spec: PlaneWords, _run: Run) -> Parts:
    """Words of a plane by the numbers of them that are counted together; gathered windows."""
    pixels, outputs = spec.window.out_pixels, spec.out_elements
    pairs = outputs * spec.x_planes * spec.w_planes
    counts = {
        **spec.gathered(pixels),
        "copied word": pixels * spec.words,
        "split word": pixels * spec.words if spec.is_split else 0,
        "added word": pixels * spec.words if spec.slope else 0,
        "output": 0 if spec.gives_signs else outputs,
        "threshold": outputs * len(spec.ends),
        "pair of planes": pairs,
        **counted_words(spec.plane_words, pairs),
        "word of planes": pixels * spec.out_words * spec.y_planes,
        "addition": outputs if spec.adds else 0,
    }
    numbers = (2,) * len(spec.ends) if spec.gives_signs else (4, 4)
    beside = tuple(size * spec.out_channels for size in numbers)
    stored = spec.out_channels * spec.w_planes * spec.plane_words * WORD_BYTES
    return Parts(counts, _CODE_BYTES, WeightReads(stored, pixels, beside))


FAMILY = KernelFamily(
    spec_type=PlaneWords,
    operators=OPERATORS,
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    parts=parts,
)
