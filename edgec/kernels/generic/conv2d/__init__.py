"""Convolution in plain C, for every core and every shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, has_plain_c, typed_end
from edgec.kernels.common.overlap import by_pixel, with_ending
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window, conv_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.generic.plain_parts import loop_parts, read_kind
from edgec.target.target import Target

_BLOCK = 4
"""Output channels computed together, so that a loaded activation is used several times."""
_CODE_BYTES = 500


@dataclass(frozen=True, slots=True)
class Conv2D(LayerFunction):
    """Convolution: gathers the window of one output pixel, then one dot product per channel.

    x int8 or int16 [height, width, channels], weights int8 [out_channels, kernel_h, kernel_w,
    channels / group], y int8 or int16 [out_height, out_width, out_channels].

    Attributes:
        window: geometry.
        out_channels: filters.
        group: input and output channels are cut into this many independent groups.
        shift: right shift of the requantization.
        residual_shift: right shift of the addition at the end; None: there is no addition.
        rescale16: how it ends in a transformer's arithmetic; None: by a 31-bit multiplier.
    """

    family: ClassVar[str] = "conv2d"
    scratch_name: ClassVar[str | None] = "patch"
    template: ClassVar[Path] = template_beside(__file__, "conv2d")
    window: Window
    out_channels: int
    group: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    typed: TypedEnd | None = field(default=None, metadata=LATER)

    @property
    def depth(self) -> int:
        """Weights of one filter."""
        return self.window.taps * self.window.channels // self.group

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return self.out_channels * self.depth

    @property
    def is_grouped(self) -> bool:
        """There are several groups."""
        return self.group > 1

    @property
    def group_channels(self) -> int:
        """Input channels of a group."""
        return self.window.channels // self.group

    @property
    def group_filters(self) -> int:
        """Output channels of a group."""
        return self.out_channels // self.group

    @property
    def block(self) -> int:
        """Filters computed together."""
        return min(_BLOCK, self.group_filters)

    @property
    def rest(self) -> int:
        """Filters of a group that are left after the last full block."""
        return self.group_filters % self.block

    @property
    def copies_runs(self) -> bool:
        """The window is gathered row by row; else tap by tap."""
        return self.group == 1 and self.window.columns_are_runs

    @property
    def scratch_bytes(self) -> int:
        """The gathered window."""
        return self.window.taps * self.window.channels * self.x_dtype.size_bytes

    @property
    def row_start(self) -> str:
        """The gathered window in C, as elements of x."""
        return "(const int16_t *)(const void *)patch" if self.reads_int16 else "patch"

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.depth

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        group = f", {self.group} groups" if self.group > 1 else ""
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        return f"Convolution {x} to {y}, {describe_window(w)}{group}"


def spec(graph: Graph, node: Node, _target: Target) -> Conv2D:
    """The specification for a convolution of any number of groups."""
    filters = graph.shape(plain_inputs(node).w)[0]
    return Conv2D(
        conv_window(graph, node),
        filters,
        node.attrs_as(qops.QConv).group,
        *end_of(graph, node),
        typed=typed_end(graph, node),
    )


def overlap(spec: Conv2D) -> Distances:
    """The whole window of an output pixel is read before the pixel is written."""
    read = spec.window.channels * spec.x_dtype.size_bytes
    return with_ending(spec, by_pixel(spec.window, spec.out_channels * spec.out_bytes, read))


def arguments(graph: Graph, node: Node, _spec: Conv2D, pool: ConstantPool) -> tuple[Params, ...]:
    """Weights as the graph has them."""
    return weighted_arguments(graph, node, pool)


def parts(spec: Conv2D, _run: Run) -> Parts:
    """Counts of a call; nobody has measured other ends than a multiplier of 31 bits."""
    pixels, kind = spec.window.out_pixels, read_kind(spec)
    rows = pixels * spec.group
    runs = spec.window.kernel_h if spec.copies_runs else spec.window.taps
    counts: dict[str, float] = {
        "call": 1,
        "pixel": pixels,
        "group": rows if spec.is_grouped else 0,
        f"{kind}run" if spec.copies_runs else f"{kind}tap": rows * runs,
        "copied byte": pixels * spec.scratch_bytes,
        **loop_parts(spec, rows, spec.group_filters),
    }
    if spec.is_grouped:  # loops inside one more loop, over short pieces, are other code
        counts = {
            part if part == UNMEASURED else f"grouped {part}": n for part, n in counts.items()
        }
    return Parts(
        counts,
        _CODE_BYTES,
        WeightReads(spec.stored_bytes, pixels, numbers_of(spec.out_channels)),
        load_bytes=1,
    )


FAMILY = KernelFamily(
    spec_type=Conv2D,
    operators=CONVOLUTIONS,
    types=has_plain_c,
    spec=spec,
    overlap=overlap,
    arguments=arguments,
    parts=parts,
    vectorized=True,
)
