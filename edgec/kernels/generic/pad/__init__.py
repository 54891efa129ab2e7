"""Padding of leading axes in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import PadMode
from edgec.kernels.common.loops import strides_of
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class PadAxis:
    """One padded axis: `before` new entries, then the `size` of x; `out_size` in all."""

    size: int
    before: int
    out_size: int


@dataclass(frozen=True, slots=True)
class NumberedAxis(PadAxis):
    """A `PadAxis` and its number among all axes."""

    number: int


@dataclass(frozen=True, slots=True)
class Pad(Plain):
    """Padding of the leading axes; what lies after the last padded axis is copied in runs.

    Attributes:
        mode: what the new entries hold.
        axes: all axes up to the last padded one.
        run_bytes: contiguous bytes after these axes.
        value: int8 code of the new entries, in CONSTANT mode; 0 if elements are wider.
    """

    family: ClassVar[str] = "pad"
    template: ClassVar[Path] = template_beside(__file__, "pad")
    mode: PadMode
    axes: tuple[PadAxis, ...]
    run_bytes: int
    value: int

    @property
    def is_constant(self) -> bool:
        """New entries hold one value."""
        return self.mode is PadMode.CONSTANT

    @property
    def is_reflect(self) -> bool:
        """New entries mirror x at its border, which is not repeated."""
        return self.mode is PadMode.REFLECT

    @property
    def last_axis(self) -> int:
        """Number of the last axis."""
        return len(self.axes) - 1

    @property
    def numbered_axes(self) -> tuple[NumberedAxis, ...]:
        """The axes with their numbers, in order."""
        return tuple(
            NumberedAxis(axis.size, axis.before, axis.out_size, number)
            for number, axis in enumerate(self.axes)
        )

    def describe(self) -> str:
        """What the function computes, in words."""
        shape = [axis.out_size for axis in self.axes]
        return f"Padding ({self.mode.value}) to {shape} runs of {self.run_bytes} bytes"


def spec(graph: Graph, node: Node, _target: Target) -> Pad:
    """The specification for a QPad."""
    attrs = node.attrs_as(qops.QPad)
    shape = graph.shape(node.input)
    padded = [axis for axis, pads in enumerate(attrs.pads) if pads != (0, 0)]
    count = padded[-1] + 1 if padded else 0
    axes = tuple(
        PadAxis(size, before, before + size + after)
        for size, (before, after) in zip(shape[:count], attrs.pads[:count], strict=True)
    )
    # A padding of nothing is a copy in one run.
    run = math.prod(shape[count:]) * graph.values[node.output].dtype.size_bytes
    return Pad(attrs.mode, axes or (PadAxis(1, 0, 1),), run, attrs.value)


def overlap(spec: Pad) -> Distances:
    """One run at a time (memmove)."""
    return (max(_distance(spec), 0),)


def _distance(spec: Pad) -> int:
    own = strides_of([axis.size for axis in spec.axes])
    out = strides_of([axis.out_size for axis in spec.axes])
    return spec.run_bytes * sum(
        _along_axis(spec, axis, stride, out_stride)
        for axis, stride, out_stride in zip(spec.axes, own, out, strict=True)
    )


def _along_axis(spec: Pad, axis: PadAxis, stride: int, out_stride: int) -> int:
    written = np.arange(axis.out_size, dtype=np.int64)
    read = written - axis.before
    inside = (read >= 0) & (read < axis.size)
    if not spec.is_constant:
        mirrored = (axis.size - 1) - np.abs(axis.size - 1 - np.abs(read))
        read = mirrored if spec.is_reflect else np.clip(read, 0, axis.size - 1)
        inside = np.ones_like(inside)
    return int(np.max((written * out_stride - read * stride)[inside]))


FAMILY = KernelFamily(
    spec_type=Pad,
    operators=(qops.QPad,),
    spec=spec,
    overlap=overlap,
)
