"""Depthwise convolution in plain C."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.depthwise import DepthwiseFunction
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.layer_end import end_of, has_plain_c, typed_end
from edgec.kernels.common.overlap import by_group, with_ending
from edgec.kernels.common.parts import Parts, Run, WeightReads, numbers_of, unmeasured
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window, conv_window, is_depthwise
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.generic.plain_parts import read_kind
from edgec.target.target import Target

_BORDER_BLOCK = 2
"""Channels of a depthwise convolution that share the loops over the taps.

More of them win nothing: a Cortex-M4 runs out of registers.
"""

_UNROLLED_TAPS = 25
"""Depthwise windows of more taps are loops everywhere."""
_CODE_BYTES = 700


@dataclass(frozen=True, slots=True)
class Depthwise(DepthwiseFunction):
    """Depthwise convolution: every input channel has its own `multiplier` filters.

    x int8 or int16 [height, width, channels], weights int8 [channels * multiplier, kernel_h,
    kernel_w], y int8 or int16 [out_height, out_width, channels * multiplier].
    """

    family: ClassVar[str] = "depthwise"
    scratch_name: ClassVar[str | None] = None
    template: ClassVar[Path] = template_beside(__file__, "depthwise")
    window: Window
    multiplier: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    typed: TypedEnd | None = field(default=None, metadata=LATER)

    @property
    def block(self) -> int:
        """Channels computed together at the border; the filters of one channel go one by one."""
        return min(_BORDER_BLOCK, self.out_channels) if self.multiplier == 1 else 1

    @property
    def rest(self) -> int:
        """Channels that are left after the last full block."""
        return self.out_channels % self.block

    @property
    def has_multiplier(self) -> bool:
        """An input channel has more than one filter."""
        return self.multiplier > 1

    @property
    def taps(self) -> tuple[tuple[int, int], ...]:
        """(row, column) of each tap, in the order of the weights."""
        rows, columns = range(self.window.kernel_h), range(self.window.kernel_w)
        return tuple(itertools.product(rows, columns))

    @property
    def unrolled(self) -> bool:
        """Pixels whose window lies inside the image have code without loops over the taps."""
        few = self.window.taps <= _UNROLLED_TAPS
        return self.multiplier == 1 and few and self.window.fits

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def out_channels(self) -> int:
        """Channels of y."""
        return self.window.channels * self.multiplier


def accepts(graph: Graph, node: Node, _target: Target) -> bool:
    """A convolution of several groups with one input channel each."""
    return is_depthwise(graph, node)


def spec(graph: Graph, node: Node, _target: Target) -> Depthwise:
    """The specification for a convolution that `accepts` accepts."""
    window = conv_window(graph, node)
    multiplier = graph.shape(plain_inputs(node).w)[0] // window.channels
    return Depthwise(window, multiplier, *end_of(graph, node), typed=typed_end(graph, node))


def overlap(spec: Depthwise) -> Distances:
    """Outputs are written channel by channel.

    Channel c is last read for output channel c * multiplier + multiplier - 1.  A block of channels
    reads some of them earlier, but its first one no earlier.
    """
    channels = spec.window.channels
    own = by_group(spec.window, spec.out_channels, channels, spec.x_dtype, spec.y_dtype)
    return with_ending(spec, own)


def arguments(graph: Graph, node: Node, _spec: Depthwise, pool: ConstantPool) -> tuple[Params, ...]:
    """Weights as the graph has them; the kernel leaves padding out, so no zero point is folded."""
    return weighted_arguments(graph, node, pool, folds=False)


def parts(spec: Depthwise, _run: Run) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None or spec.multiplier > 1:
        return None
    w, kind = spec.window, read_kind(spec)
    rows, columns = w.taps_down(), w.taps_across()
    plain = rows.count(w.kernel_h) * columns.count(w.kernel_w) if spec.unrolled else 0
    edge = w.out_pixels - plain
    blocks = edge * -(-spec.out_channels // spec.block)
    taps = sum(rows) * sum(columns) - plain * w.taps
    end = "" if spec.typed is None else "wide "
    # Loops over columns of which none is left out have a fixed length.
    row = "row of taps at an edge" if w.cols_clipped else "row of fixed taps at an edge"
    tap = "tap at an edge" if w.cols_clipped else "tap of a fixed row at an edge"
    tap_rows = sum(rows) * len(columns) - plain * w.kernel_h
    counts: dict[str, float] = {
        "call": 1,
        "row": w.out_height,
        "pixel": w.out_pixels,
        f"{end}output inside": plain * spec.out_channels,
        f"{kind}tap inside": plain * spec.out_channels * w.taps,
        f"{kind}block at an edge": blocks,
        f"{end}output at an edge": edge * spec.out_channels,
        f"{kind}{row}": tap_rows * -(-spec.out_channels // spec.block),
        f"{kind}{tap}": taps * spec.out_channels,
        "addition": spec.out_elements if spec.adds else 0,
    } | unmeasured(spec)
    return Parts(
        counts,
        _CODE_BYTES,
        WeightReads(spec.out_channels * w.taps, w.out_pixels, numbers_of(spec.out_channels)),
        load_bytes=1,
    )


FAMILY = KernelFamily(
    spec_type=Depthwise,
    operators=CONVOLUTIONS,
    types=has_plain_c,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
    vectorized=True,
)
