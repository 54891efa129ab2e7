"""Softmax over the last axis in plain C, by any rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_MANY = 256
"""Elements from which a few cycles of each are worth some 300 bytes of code."""


@dataclass(frozen=True, slots=True)
class Softmax(Plain):
    """x, y [rows, depth], over depth.

    Attributes:
        rows, depth: shape.
        rule: what is computed; its numbers are compiled in.
        variable: the rows of a run are an argument.
    """

    family: ClassVar[str] = "softmax"
    template: ClassVar[Path] = template_beside(__file__, "softmax")
    rows: int
    depth: int
    rule: qops.SoftmaxRule
    variable: bool = False

    @property
    def kind(self) -> str:
        """The rule's name, by which the template chooses."""
        return type(self.rule).__name__

    @property
    def by_words(self) -> bool:
        """Four codes are looked up at a time (`edgec/elementwise/softmax_s8.h`)."""
        return self.rule.TABLES == (qops.Entries.COUNT,) and self.rows * self.depth >= _MANY

    @property
    def four(self) -> tuple[tuple[str, str], ...]:
        """Places of four codes, and their distances from the largest one, in C."""
        word = "distances"
        places = ("i", "i + 1", "i + 2", "i + 3")
        parts = (word, f"({word} >> 8)", f"({word} >> 16)", f"({word} >> 24)")
        return tuple((at, f"{part} & 0xFFU") for at, part in zip(places, parts, strict=True))

    @property
    def first(self) -> str:
        """The first element that is looked up by itself, in C."""
        return "words" if self.by_words else "0"

    @property
    def element(self) -> str:
        """C type of an element of x and y."""
        return self.rule.DTYPE.c_name

    @property
    def least(self) -> str:
        """The least code in C."""
        return f"{self.rule.DTYPE.value.upper()}_MIN"

    @property
    def tables(self) -> tuple[str, ...]:
        """The C parameters between x and y."""
        match self.rule:
            case qops.Octaves():
                return ()
            case qops.Interpolated():
                return "const int16_t *exponentials", "const int16_t *reciprocals"
            case _:
                return ("const int32_t *exponentials",)

    @property
    def parameters(self) -> tuple[str, ...]:
        """All C parameters."""
        run = ("int32_t rows",) if self.variable else ()
        return (f"const {self.element} *x", *self.tables, f"{self.element} *y", *run)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the rule, in the order of its fields."""
        match self.rule:
            case qops.Quotients() as rule:
                return rule.multiplier, rule.shift, rule.zero_point, rule.low, rule.high
            case qops.Octaves() as rule:
                return rule.distance_multiplier, rule.distance_limit, rule.exp_bits
            case qops.Interpolated(factor=factor):
                return factor.multiplier, factor.shift
            case _:
                return ()

    def describe(self) -> str:
        """What the function computes, in words."""
        element = self.rule.DTYPE.value
        return f"Softmax of {element} over the last axis of [{self.rows}, {self.depth}]"


def spec(graph: Graph, node: Node, _target: Target) -> Softmax:
    """The specification for a QSoftmax."""
    *rows, depth = graph.shape(node.output)
    return Softmax(math.prod(rows), depth, node.attrs_as(qops.QSoftmax).rule)


def overlap(spec: Softmax) -> Distances:
    """A row is read before it is written, and its elements again in that order."""
    return (IN_PLACE, *(None for _ in spec.tables))


FAMILY = KernelFamily(
    spec_type=Softmax,
    operators=(qops.QSoftmax,),
    spec=spec,
    overlap=overlap,
    lengths=Counted("rows"),
    constant_stem="exponentials",
)
