"""Logarithms of mel energies in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.dft import dft_macs, quarter_points
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.kernels.common.transform import Transform, transform_parts
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_CODE_BYTES = 1700
"""The functions of a frame on a core with Thumb-2, by their sizes in the firmware."""


@dataclass(frozen=True, slots=True)
class LogMel:
    """x int16 [samples]; y int16 [frames, filters]; see `qops.QLogMel`.

    Attributes:
        frames, filters: shape of y.
        width: samples of a frame.
        weights: of all filters.
        op: the operator, with all other numbers.
    """

    family: ClassVar[str] = "log_mel"
    template: ClassVar[Path] = template_beside(__file__, "log_mel")
    frames: int
    filters: int
    width: int
    weights: int
    op: qops.QLogMel

    @property
    def transform(self) -> Transform:
        """The DFT of a frame."""
        return Transform(self.op.points, self.width)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.frames * (self.width + dft_macs(self.op.points))

    @property
    def scratch_bytes(self) -> int:
        """The transform of a frame."""
        return self.transform.scratch_bytes

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"{self.filters} mel energies of {self.width} samples, {self.op.points} points"


def spec(graph: Graph, node: Node, _target: Target) -> LogMel:
    """The specification for a QLogMel."""
    attrs = node.attrs_as(qops.QLogMel)
    inputs, (_, frames, filters) = attrs.Inputs.of(graph.shapes(node)), graph.shape(node.output)
    return LogMel(
        frames=frames,
        filters=filters,
        width=inputs.window[0],
        weights=inputs.bank[0],
        op=attrs,
    )


def overlap(_spec: LogMel) -> Distances:
    """Frames overlap, so y lies apart from x; the tables are constants."""
    return (None, None, None, None, None)


def parts(spec: LogMel, _run: Run) -> Parts:
    """Counts of a call: frames, and what each runs for samples, the DFT, its bins and filters."""
    of_frame = {
        "frame": 1,
        "sample": spec.width,
        "zero after the samples": spec.op.points - spec.width,
        "filter": spec.filters,
        "weight": spec.weights,
        **transform_parts(spec.op.points, magnitude=spec.op.magnitude),
    }
    counts = {name: float(spec.frames * count) for name, count in of_frame.items()}
    tables = 2 * spec.width + 4 * (quarter_points(spec.op.points) + 1) + 2 * spec.weights
    return Parts({"call": 1.0} | counts, _CODE_BYTES, WeightReads(tables, spec.frames))


FAMILY = KernelFamily(
    spec_type=LogMel,
    operators=(qops.QLogMel,),
    spec=spec,
    overlap=overlap,
    constant_stem="sound",
    parts=parts,
)
