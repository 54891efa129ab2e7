"""Dot products of whole windows of int16 in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params
from edgec.kernels.common.form_ends import form_call
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class WindowDot:
    """x int16 [rows, taps, channels]; y int8 or int16 [rows, units]; see `qops.QWindowDot`.

    Attributes:
        rows, taps, channels, units: shapes.
        group: of channels and of units.
        output: the form of the sums.
    """

    family: ClassVar[str] = "window_dot"
    template: ClassVar[Path] = template_beside(__file__, "window_dot")
    rows: int
    taps: int
    channels: int
    units: int
    group: int
    output: qops.TwoRoundings31

    @property
    def depth(self) -> int:
        """Channels of a group."""
        return self.channels // self.group

    @property
    def each(self) -> int:
        """Units of a group."""
        return self.units // self.group

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return self.output.dtype.c_name

    @property
    def end(self) -> str:
        """The C function that makes codes of sums."""
        return form_call(self.output, bound=INT32_MAX).name

    @property
    def numbers(self) -> str:
        """Its last arguments."""
        return form_call(self.output, bound=INT32_MAX).numbers

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.rows * self.units * self.taps * self.depth

    def describe(self) -> str:
        """What the function computes, in words."""
        window = f"[{self.taps}, {self.channels}]"
        return f"Dot products of {window} of int16 with {self.units} filters, {self.group} groups"


@dataclass(frozen=True, slots=True)
class WindowDotParams:
    """Weights, biases and the multiplier."""

    c_type: ClassVar[str] = "edgec_window_dot_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: int


def spec(graph: Graph, node: Node, _target: Target) -> WindowDot:
    """The specification for a QWindowDot."""
    attrs = node.attrs_as(qops.QWindowDot)
    inputs = attrs.Inputs.of(graph.shapes(node))
    rows, height, width, channels = inputs.x
    return WindowDot(rows, height * width, channels, inputs.w[0], attrs.group, attrs.output)


def overlap(_spec: WindowDot) -> Distances:
    """Outputs are written while others of their row are to be computed: y lies apart from x."""
    return (None,)


def arguments(graph: Graph, node: Node, _spec: WindowDot, pool: ConstantPool) -> tuple[Params, ...]:
    """Weights as the graph has them."""
    attrs = node.attrs_as(qops.QWindowDot)
    inputs = attrs.Inputs.of(node.inputs)
    weights, bias = (graph.constants[name].array for name in (inputs.w, inputs.b))
    refs = pool.add("weights", weights), pool.add("bias", bias)
    return (WindowDotParams(*refs, attrs.multiplier),)


FAMILY = KernelFamily(
    spec_type=WindowDot,
    operators=(qops.QWindowDot,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
