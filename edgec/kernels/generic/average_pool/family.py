"""Mean over a sliding window in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, end_fields, zero_point
from edgec.kernels.common.geometry import pooling_window
from edgec.kernels.common.layer_end import requant31_of
from edgec.kernels.common.overlap import by_pixel
from edgec.kernels.common.params import ConstantRef, Params
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_TOGETHER = 4
_MOST_TAPS = 257
"""Sums of 257 numbers from 0 to 255 fit 16 bits."""


@dataclass(frozen=True, slots=True)
class AveragePool(Plain):
    """Mean of windows; multipliers int32 [kernel_h * kernel_w + 1], by the number of taps counted.

    Attributes:
        window: geometry.
        counts_padding: every output divides by the same number.
        shift: right shift of the requantization.
    """

    family: ClassVar[str] = "average_pool"
    template: ClassVar[Path] = template_beside(__file__, "average_pool")
    window: Window
    counts_padding: bool
    shift: int

    @property
    def is_clipped(self) -> bool:
        """Some window has taps outside the image."""
        return self.window.rows_clipped or self.window.cols_clipped

    @property
    def counts_all(self) -> bool:
        """The divisor is the same everywhere."""
        return self.counts_padding or not self.is_clipped

    @property
    def by_words(self) -> bool:
        """Four channels, a word, are summed up at a time (`edgec/window_sums.h`)."""
        return self.window.channels % _TOGETHER == 0 and self.window.taps <= _MOST_TAPS

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        return f"Average pool {describe_image(w.height, w.width, w.channels)}, {describe_window(w)}"


@dataclass(frozen=True, slots=True)
class AveragePoolParams:
    """Average pools."""

    c_type: ClassVar[str] = "edgec_average_pool_params_t"
    multiplier: ConstantRef
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


def spec(graph: Graph, node: Node, _target: Target) -> AveragePool:
    """The specification for a QAveragePool."""
    attrs = node.attrs_as(qops.QAveragePool)
    return AveragePool(
        pooling_window(graph, node), attrs.count_include_pad, requant31_of(node).shift
    )


def overlap(spec: AveragePool) -> Distances:
    """Channel by channel; the distance is that of whole pixels."""
    return (max(by_pixel(spec.window, spec.window.channels), 0),)


def arguments(
    graph: Graph, node: Node, _spec: AveragePool, pool: ConstantPool
) -> tuple[Params, ...]:
    """A multiplier for each number of taps that counts, zero points and bounds."""
    inputs = qops.QAveragePool.Inputs.of(node.inputs)
    table = pool.add("multipliers", graph.constants[inputs.multiplier].array)
    x_zero_point = zero_point(graph, inputs.x)
    return (AveragePoolParams(table, x_zero_point, **end_fields(requant31_of(node))),)


FAMILY = KernelFamily(
    spec_type=AveragePool,
    operators=(qops.QAveragePool,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
