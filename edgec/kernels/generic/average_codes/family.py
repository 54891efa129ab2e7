"""Mean of codes over a sliding window in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.geometry import pooling_window
from edgec.kernels.common.overlap import by_pixel
from edgec.kernels.common.params import Params
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class AverageCodes(Plain):
    """Mean of the codes in windows.

    Attributes:
        window: geometry.
    """

    family: ClassVar[str] = "average_codes"
    template: ClassVar[Path] = template_beside(__file__, "average_codes")
    window: Window

    @property
    def clipped(self) -> bool:
        """Some windows have fewer taps inside the image."""
        return self.window.rows_clipped or self.window.cols_clipped

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        image = describe_image(w.height, w.width, w.channels)
        return f"Average pool of codes {image}, {describe_window(w)}"


@dataclass(frozen=True, slots=True)
class AverageCodesParams:
    """Bounds of the output."""

    c_type: ClassVar[str] = "edgec_average_codes_params_t"
    act_min: int
    act_max: int


def spec(graph: Graph, node: Node, _target: Target) -> AverageCodes:
    """The specification for a QAverageCodes."""
    return AverageCodes(pooling_window(graph, node))


def overlap(spec: AverageCodes) -> Distances:
    """Channel by channel; the distance is that of whole pixels."""
    return (max(by_pixel(spec.window, spec.window.channels), 0),)


def arguments(
    _graph: Graph, node: Node, _spec: AverageCodes, _pool: ConstantPool
) -> tuple[Params, ...]:
    """The bounds."""
    attrs = node.attrs_as(qops.QAverageCodes)
    return (AverageCodesParams(attrs.act_min, attrs.act_max),)


FAMILY = KernelFamily(
    spec_type=AverageCodes,
    operators=(qops.QAverageCodes,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
