"""TensorFlow Lite Micro's features of sound in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.micro_features import POINTS, TURNS, micro_macs
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_PAIR_BYTES = 4
_WAVES = TURNS + POINTS // 4
_CODE_BYTES = 1900
"""The functions of a frame on a core with Thumb-2, by their sizes in the firmware."""


@dataclass(frozen=True, slots=True)
class MicroFeatures:
    """x int16 [samples], noise int32 [filters]; y int16 [frames, filters], noise after them; see
    `qops.QMicroFeatures`.

    Attributes:
        frames, filters: shape of y.
        width, hop: samples of a frame, and from frame to frame.
        weights: of all filters.
    """

    family: ClassVar[str] = "micro_features"
    template: ClassVar[Path] = template_beside(__file__, "micro_features")
    frames: int
    filters: int
    width: int
    hop: int
    weights: int

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.frames * micro_macs(self.width)

    @property
    def scratch_bytes(self) -> int:
        """The DFT of a frame, two numbers of 16 bits for each pair of points."""
        return _PAIR_BYTES * POINTS // 2

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"{self.filters} features of {self.width} samples as TensorFlow Lite Micro has them"


def spec(graph: Graph, node: Node, _target: Target) -> MicroFeatures:
    """The specification for a QMicroFeatures."""
    attrs = node.attrs_as(qops.QMicroFeatures)
    inputs, (_, frames, filters) = attrs.Inputs.of(graph.shapes(node)), graph.shape(node.outputs[0])
    return MicroFeatures(frames, filters, inputs.window[0], attrs.hop, inputs.bank[0])


def overlap(_spec: MicroFeatures) -> Distances:
    """Frames overlap and noise is read late, so outputs lie apart; the tables are constants."""
    return (None,) * 8


def parts(spec: MicroFeatures, _run: Run) -> Parts:
    """Counts of a call; a sample has its part of the DFT, whose size is always the same."""
    of_frame = {"sample": spec.width, "filter": spec.filters, "weight": spec.weights}
    counts = {name: float(spec.frames * count) for name, count in of_frame.items()}
    tables = 2 * (spec.width + 2 * _WAVES + spec.weights)
    return Parts({"call": 1.0} | counts, _CODE_BYTES, WeightReads(tables, spec.frames))


FAMILY = KernelFamily(
    spec_type=MicroFeatures,
    operators=(qops.QMicroFeatures,),
    spec=spec,
    overlap=overlap,
    constant_stem="sound",
    parts=parts,
)
