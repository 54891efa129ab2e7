"""Depthwise convolutions of 3x3 windows on cores with the DSP extension, a channel at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Rescale16, Tflite31
from edgec.kernels.common.layer_end import end_of, ends_in_requant31
from edgec.kernels.common.overlap import by_strips
from edgec.kernels.common.parts import Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window, conv_window, is_depthwise
from edgec.kernels.dsp.depthwise import (
    LARGEST_SIZE,
    PLANES,
    UnpackedDepthwise,
    high_word_kind,
    overlap,
)
from edgec.kernels.family import KernelFamily, template_beside
from edgec.target.target import Target

_STRIP = 4
"""Most rows of outputs made from one set of planes, where these do not hold the whole image.

Each strip takes two rows of the image apart once more, and keeps the output as far from the input
as it has rows.  It is even, since rows are computed two by two.
"""
_WHOLE_PAIRS = (_STRIP // 2 + 1, 8, 15)
"""Pairs of rows of planes that may hold a whole image: few, so that layers share a function, and no
more than the 255 bytes allow by which a load moves its base on
(`edgec/depthwise/depthwise_3x3_s8_dsp.h`).
"""
_GROWTH = 8
"""The part of the image that planes of all rows may take beyond what strips need."""
_PAIR_BYTES = 4


@dataclass(frozen=True, slots=True)
class Depthwise3x3(UnpackedDepthwise):
    """Depthwise convolution of 3x3 taps, one filter a channel: `edgec/depthwise/unpacked_s8_dsp.h`.

    x int8 [height, width, channels], at least 4 channels; weights int8 [channels, 3 columns, 4], in
    the order that the header states; y [out_height, out_width, channels].

    Attributes:
        window: 3x3 taps without dilation; rows a stride of 1 or 2.
        shift: right shift with a multiplier of 31 bits.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        saturates: the bounds after a multiplier of 31 bits are those of int8.
        residual_shift: None: nothing is added at the end.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
    """

    family: ClassVar[str] = "depthwise_3x3_s8_dsp"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_3x3_s8_dsp")
    manner: ClassVar[str] = ", four channels at a time"
    window: Window
    shift: int
    rescale16: Rescale16 | None = None
    saturates: bool = False
    residual_shift: None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)

    @property
    def goes_by_two(self) -> bool:
        """Windows go down by two rows."""
        return self.window.stride_h == 2

    @property
    def rows_together(self) -> int:
        """Rows of outputs that read the same pairs of rows."""
        return 1 if self.goes_by_two else 2

    @property
    def columns(self) -> int:
        """Columns that the windows of a row read, padding included."""
        return (self.window.out_width - 1) * self.window.stride_w + self.window.kernel_w

    @property
    def left(self) -> int:
        """Columns of padding before the image."""
        return min(self.window.pad_left, self.columns)

    @property
    def inside(self) -> int:
        """Columns of the image that windows read."""
        return min(self.window.width, self.columns - self.left)

    @property
    def strip_pairs(self) -> int:
        """Pairs of rows in the planes of a strip: the same for all layers, to share a function."""
        return _STRIP + 1 if self.goes_by_two else _STRIP // 2 + 1

    @property
    def whole_pairs(self) -> int | None:
        """Pairs of rows in planes of the whole image, where outputs can take its place.

        They can if they lie as the image does: then the outputs of four channels lie where only
        these four have been.  None: they cannot, or planes would be too large.
        """
        w = self.window
        alike = (w.height, w.width, 1, 1) == (w.out_height, w.out_width, w.stride_h, w.stride_w)
        if not alike or self.out_bytes > 1:
            return None
        # The rows that an even number of outputs reads.
        needed = (w.out_height + w.out_height % 2 + w.kernel_h - 1) // 2
        pairs = next((n for n in _WHOLE_PAIRS if n >= needed), None)
        return None if pairs is None or self._planes_bytes(pairs) > self.room else pairs

    @property
    def room(self) -> int:
        """Bytes that planes of all rows may take, and the distance of outputs from the image.

        That is what strips need of both, and a part of the image.
        """
        w = self.window
        in_strips = self._planes_bytes(self.strip_pairs) + self.distance
        return in_strips + w.height * w.width * w.channels // _GROWTH

    @property
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""
        return self.whole_pairs is not None

    @property
    def pairs(self) -> int:
        """Pairs of rows in a set of planes."""
        return self.strip_pairs if self.whole_pairs is None else self.whole_pairs

    @property
    def distance(self) -> int:
        """Distance in bytes of outputs made in strips before the image."""
        strip = min(_STRIP, self.window.out_height)
        return max(by_strips(self.window, self.out_bytes, strip, PLANES), 0)

    @property
    def tile_kind(self) -> str | None:
        """Rounding in `edgec/depthwise/depthwise_3x3_s8_dsp.h`: one "offset", "offsets" by channel,
        or not there.
        """
        w = self.window
        if w.stride_h != w.stride_w or w.out_width < 2 or self.rescale16 is not None:
            return None
        if max(w.height, w.width, w.channels, w.out_height, w.out_width) > LARGEST_SIZE:
            return None
        return high_word_kind(self.shift, self.tflite31, saturates=self.saturates)

    @property
    def offset_step(self) -> int:
        """Bytes from the offset of a channel to the next."""
        return 4 if self.tile_kind == "offsets" else 0

    @property
    def tile_name(self) -> str:
        """The end of the name of the function of all layers that end alike, in C."""
        return f"{self.tile_kind}_{self.window.stride_h}_{self.pairs}_{self.high_shift}"

    @property
    def bounds(self) -> str:
        """The bounds of outputs after a multiplier of 31 bits, in C."""
        return "INT8_MIN, INT8_MAX" if self.saturates else "p.act_min, p.act_max"

    @property
    def strip(self) -> int:
        """Rows of outputs made from one set of planes."""
        rows = self.window.out_height
        return rows if self.is_whole else min(_STRIP, rows)

    @property
    def taps(self) -> tuple[int, ...]:
        """The columns of the window."""
        return tuple(range(self.window.kernel_w))

    @property
    def scratch_bytes(self) -> int:
        """The planes."""
        return self._planes_bytes(self.pairs)

    def _planes_bytes(self, pairs: int) -> int:
        return PLANES * self.columns * pairs * _PAIR_BYTES


_CODE_BYTES = 1800
_FILTER_BYTES = 12


def parts(spec: Depthwise3x3, _run: Run) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None:
        return None
    w = spec.window
    fours = -(-w.channels // PLANES)
    counts = [min(spec.strip, w.out_height - top) for top in range(0, w.out_height, spec.strip)]
    taken = sum(((rows - 1) * w.stride_h + w.kernel_h + 1) // 2 for rows in counts)
    pairs = sum(-(-rows // 2) for rows in counts)
    kind = "tile" if spec.tile_kind else "loop"
    rows, calls = w.out_height, len(counts)
    if spec.tile_kind:
        # A tile has two rows; the last one, of which the first row is kept, is a call of its own.
        rows, calls = 2 * pairs, sum(min(n // 2, 1) + n % 2 for n in counts)
    found: dict[str, float] = {
        "call": 1,
        "strip": len(counts),
        "four channels": len(counts) * fours,
        "pair of rows taken": taken * fours,
        "pair of pixels taken": taken * fours * spec.inside,
        f"channel of a strip, {kind}": calls * w.channels,
        f"pair of rows, {kind}": pairs * w.channels,
        f"output by {w.stride_h}, {kind}": rows * w.out_width * w.channels,
        "last row": sum(rows % 2 for rows in counts) * fours,
    }
    return Parts(
        found,
        _CODE_BYTES,
        WeightReads(w.channels * _FILTER_BYTES, len(counts), numbers_of(w.channels)),
    )


_TAPS = 3
_STRIDES = (1, 2)
_BY_ONE = (0, 1, 1, 2)
_BY_TWO = (0, 2, 1, 2)
"""The rows of a window in the order of `edgec/depthwise/unpacked_s8_dsp.h`."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution that `Depthwise3x3` computes, on a core with DSP."""
    if not target.has_dsp or not is_depthwise(graph, node):
        return False
    window = conv_window(graph, node)
    one_filter = graph.shape(plain_inputs(node).w)[0] == window.channels
    found = spec(graph, node, target)
    small = found.scratch_bytes <= target.scratch_limit_bytes
    return one_filter and _serves(window) and small and not _adds(graph, node)


def _serves(window: Window) -> bool:
    square = (window.kernel_h, window.kernel_w) == (_TAPS, _TAPS)
    dense = (window.dilation_h, window.dilation_w) == (1, 1)
    return square and dense and window.stride_h in _STRIDES and window.channels >= PLANES


def _adds(graph: Graph, node: Node) -> bool:
    """A residual is read in the order of memory, outputs are not written so."""
    end = end_of(graph, node)
    return end.residual_shift is not None or (end.rescale16 is not None and end.rescale16.residual)


def spec(graph: Graph, node: Node, _target: Target) -> Depthwise3x3:
    """The specification for a convolution that `accepts` accepts."""
    end = end_of(graph, node)
    return Depthwise3x3(
        conv_window(graph, node),
        end.shift,
        end.rescale16,
        ends_in_requant31(node, INT8_MIN, INT8_MAX),
        tflite31=end.tflite31,
    )


def arguments(
    graph: Graph, node: Node, spec: Depthwise3x3, pool: ConstantPool
) -> tuple[Params, ...]:
    """Columns of weights as words."""
    order = _BY_TWO if spec.goes_by_two else _BY_ONE

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        columns = weights.reshape(len(weights), _TAPS, _TAPS).swapaxes(1, 2)
        words = columns[:, :, order].copy()
        if spec.goes_by_two:
            # The third rows of the first two columns are one pair of a register.
            words[:, 0, 3] = columns[:, 1, 2]
        return words, bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


FAMILY = KernelFamily(
    spec_type=Depthwise3x3,
    operators=CONVOLUTIONS,
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    in_place=lambda spec: spec.is_whole,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
