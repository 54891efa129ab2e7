"""Mean over a sliding window, in plain C or some channels at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.form_ends import FormCall, form_call
from edgec.kernels.common.overlap import by_group
from edgec.kernels.common.short_mean import function_of, is_short, left_of
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.window import Window, pooling_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_WORD = 4
_VECTOR = 16
"""Channels of a word, and of a vector of NEON."""
_EIGHT = 8
"""Channels of int16 of a vector."""
_MOST_WIDE_TAPS = 65_535
"""Sums of as many int16 fit 32 bits."""
_MOST_TAPS = 257
"""Sums of 257 numbers from 0 to 255 fit 16 bits."""


@dataclass(frozen=True, slots=True)
class AveragePool(Plain):
    """Mean of windows; multipliers int32 [kernel_h * kernel_w + 1], by the number of taps counted.

    Attributes:
        window: geometry.
        counts_padding: every output divides by the same number.
        x: element type, INT8 or INT16.
        x_zero_point: code of 0; 0 for `qops.CodeMean`.
        output: the form.
        has_neon: the core has NEON.
    """

    family: ClassVar[str] = "average_pool"
    template: ClassVar[Path] = template_beside(__file__, "average_pool")
    window: Window
    counts_padding: bool
    x: DType
    x_zero_point: int
    output: qops.Requant31 | qops.CodeMean
    has_neon: bool = field(default=False, metadata=LATER)

    @property
    def is_clipped(self) -> bool:
        """Some window has taps outside the image."""
        return self.window.rows_clipped or self.window.cols_clipped

    @property
    def has_multipliers(self) -> bool:
        """There is a table of multipliers."""
        return isinstance(self.output, qops.Requant31)

    @property
    def taps(self) -> str:
        """Taps of a window inside the image, in C; with multipliers there may be none."""
        if not self.is_clipped:
            return "KERNEL_H * KERNEL_W"
        inside = "(ky1 - ky0) * (kx1 - kx0)"
        return f"(ky1 > ky0 && kx1 > kx0) ? {inside} : 0" if self.has_multipliers else inside

    @property
    def divisor(self) -> str:
        """What a sum is divided or multiplied by, in C."""
        if not self.has_multipliers:
            return "taps"
        everywhere = self.counts_padding or not self.is_clipped
        return f"multipliers[{'KERNEL_H * KERNEL_W' if everywhere else 'taps'}]"

    @property
    def left(self) -> int:
        """Shift of a sum to the left after which a code is the high word of one product."""
        assert isinstance(self.output, qops.Requant31)
        return left_of(self.output)

    @property
    def y_zero_point(self) -> int:
        """Code of 0 in y."""
        assert isinstance(self.output, qops.Requant31)
        return self.output.zero_point

    @property
    def is_short(self) -> bool:
        """Whole pixels go at a time (`edgec/pooling/average_s8.h`), as sums are short enough."""
        if not isinstance(self.output, qops.Requant31):
            return False
        types = (self.x, self.output.dtype)
        return is_short(types, self.output.shift, self.window.taps, self.has_neon)

    @property
    def function(self) -> str:
        """The C function of a row of windows."""
        assert isinstance(self.output, qops.Requant31)
        return function_of(self.output)

    @property
    def together(self) -> int:
        """Channels that are summed up at a time (`edgec/pooling/sums_s8.h`): a vector of NEON, a
        word, or one.
        """
        if self.x is DType.INT16:
            whole = self.window.channels % _EIGHT == 0 and self.window.taps <= _MOST_WIDE_TAPS
            return _EIGHT if self.has_neon and whole else 1
        if self.window.taps > _MOST_TAPS or self.x is not DType.INT8:
            return 1
        sizes = (_VECTOR, _WORD) if self.has_neon else (_WORD,)
        return next((size for size in sizes if self.window.channels % size == 0), 1)

    @property
    def way(self) -> str:
        """How channels go: "short", "sums" (several at a time), or "" (one at a time)."""
        if self.is_short:
            return "short"
        return "sums" if self.together > 1 else ""

    @property
    def sums(self) -> str:
        """The C function that sums up as many."""
        if self.x is DType.INT16:
            return "edgec_window_sums_s16_neon"
        return "edgec_window_sums_neon" if self.together == _VECTOR else "edgec_window_sums"

    @property
    def call(self) -> FormCall:
        """How a code is made."""
        return form_call(self.output)

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        image = describe_image(w.height, w.width, w.channels)
        return f"Average pool of {self.x.value} {image}, {describe_window(w)}"


def spec(graph: Graph, node: Node, target: Target) -> AveragePool:
    """The specification for a QAveragePool."""
    attrs = node.attrs_as(qops.QAveragePool)
    x, window = graph.values[node.first], pooling_window(graph, node)
    raw = isinstance(attrs.output, qops.CodeMean)
    zero_point = 0 if raw else graph.quant(node.first).tensor_zero_point
    numbers = (window, attrs.count_include_pad, x.dtype, zero_point, attrs.output)
    return AveragePool(*numbers, has_neon=target.has_neon)


def overlap(spec: AveragePool) -> Distances:
    """Channel by channel; the multipliers are constants."""
    channels = spec.window.channels
    own = by_group(spec.window, channels, channels, spec.x, spec.output.dtype)
    return (own, None) if spec.has_multipliers else (own,)


FAMILY = KernelFamily(
    spec_type=AveragePool,
    operators=(qops.QAveragePool,),
    spec=spec,
    overlap=overlap,
    constant_stem="multipliers",
)
