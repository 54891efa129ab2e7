"""A cascade of biquads in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_CODE_BYTES = 300
"""The functions on a core with Thumb-2, by their sizes in the firmware."""


@dataclass(frozen=True, slots=True)
class Biquad:
    """x int16 [samples]; y int16 [samples / every]; see `qops.QBiquad`.

    Attributes:
        samples: of all axes.
        axes, every: see the operator.
        sections: of the cascade.
        state: numbers of the state.
    """

    family: ClassVar[str] = "biquad"
    template: ClassVar[Path] = template_beside(__file__, "biquad")
    scratch_bytes: ClassVar[int] = 0
    samples: int
    axes: int
    every: int
    sections: int
    state: int

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return 5 * self.sections * self.samples

    @property
    def of_axis(self) -> int:
        """Numbers of the state of an axis."""
        return self.state // self.axes

    @property
    def turns(self) -> int:
        """Samples of each axis."""
        return self.samples // self.axes

    def describe(self) -> str:
        """What the function computes, in words."""
        kept = "" if self.every == 1 else f", 1 of {self.every} results is kept"
        return f"{self.sections} biquads, {self.turns} samples of {self.axes} axes{kept}"


def spec(graph: Graph, node: Node, _target: Target) -> Biquad:
    """The specification for a QBiquad."""
    attrs = node.attrs_as(qops.QBiquad)
    inputs = attrs.Inputs.of(graph.shapes(node))
    sections = inputs.coefficients[0]
    return Biquad(inputs.x[1], attrs.axes, attrs.every, sections, inputs.state[1])


def overlap(_spec: Biquad) -> Distances:
    """The state is copied first, and each result is stored after its sample was read; outputs lie
    apart all the same, since there are two.
    """
    return (None, None, None)


def parts(spec: Biquad, _run: Run) -> Parts:
    """Counts of a call: samples, and the sections that each goes through."""
    counts = {
        "call": 1.0,
        "number of the state": float(spec.state),
        "sample": float(spec.samples),
        "section": float(spec.samples * spec.sections),
    }
    return Parts(counts, _CODE_BYTES, WeightReads(20 * spec.sections, spec.samples))


FAMILY = KernelFamily(
    spec_type=Biquad,
    operators=(qops.QBiquad,),
    spec=spec,
    overlap=overlap,
    constant_stem="filter",
    parts=parts,
)
