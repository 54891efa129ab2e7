"""Depthwise convolutions of windows of any size on cores with the DSP extension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Tflite31
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import by_strips
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window, conv_window, is_depthwise
from edgec.kernels.dsp.depthwise import (
    LARGEST_SIZE,
    PLANES,
    WORD_BYTES,
    UnpackedDepthwise,
    ends_in_high_word,
)
from edgec.kernels.dsp.depthwise import overlap as overlap_of_planes
from edgec.kernels.dsp.laid_window import laid, lying, taps_inside
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_STRIPS = (8, 4)
"""Rows of outputs made from one set of planes, where one set for all rows takes too much memory."""
_GROWTH = 8
"""The part of the image that fewer strips may take beyond what the smallest ones need."""
_OUTPUTS = {1: (6, 4), 2: (5, 4)}
"""Outputs of a band, by stride."""
_STEP_CYCLES = {(1, 6): 10, (1, 4): 8, (2, 5): 8, (2, 4): 7}
"""Instructions of a step by stride and outputs, two cycles for its first load."""
_MOST_UNROLLED = 20
"""Steps of a window whose rows are not a loop, 28 or 36 bytes of code each: the smallest caches
hold 1 KB."""
_LARGEST_STORE = 4095
"""The largest offset that a store or an addition of Thumb-2 names (Arm DDI 0403E, A7.7)."""
_HALF = 16
"""Bits of a product that the high word drops beside those of a half word."""
_MOST_TAPS = 31
"""Columns of a window: its steps are never a loop."""


@dataclass(frozen=True, slots=True)
class DepthwiseDsp(UnpackedDepthwise):
    """Depthwise convolution of any window: `edgec/depthwise/depthwise_s8_dsp.h`.

    x int8 [height, width, channels], at least 4 channels; y [out_height, out_width, channels *
    filters].

    Attributes:
        window: with strides of 1 or 2 and no dilation along the rows of `laid`.
        shift: right shift with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        filters: how many each channel has, which are computed one by one from the same planes.
    """

    family: ClassVar[str] = "depthwise_s8_dsp"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_s8_dsp")
    manner: ClassVar[str] = ", some sums of a row at a time"
    element_bytes: ClassVar[int] = 1
    unpack: ClassVar[str] = "edgec_depthwise_dsp_unpack"
    window: Window
    shift: int
    rescale16: None = None
    residual_shift: None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    filters: int = field(default=1, metadata=LATER)

    @property
    def out_channels(self) -> int:
        """Channels of y."""
        return self.window.channels * self.filters

    @property
    def low(self) -> int:
        """The least code of outputs."""
        return INT8_MIN

    @property
    def laid(self) -> Window:
        """The window as the function sees it."""
        return laid(self.window)

    @property
    def streams(self) -> bool:
        """The kernel takes all that its filters need in one stream."""
        return True

    @property
    def steps(self) -> int:
        """Steps of a row of the window, two taps each."""
        taps = self.laid.kernel_w
        return taps // 2 + 1 if self.laid.stride_w == 1 else -(-taps // 2)

    @property
    def outputs(self) -> int:
        """Outputs of a band: as many as compute a row soonest."""
        w = self.laid

        def cycles(outputs: int) -> int:
            return -(-w.out_width // outputs) * _STEP_CYCLES[w.stride_w, outputs]

        return min(_OUTPUTS[w.stride_w], key=cycles)

    @property
    def bands(self) -> int:
        """Bands of a row, the last of which may be cut."""
        return -(-self.laid.out_width // self.outputs)

    @property
    def band(self) -> int:
        """Words from a band to the next."""
        return self.outputs * self.laid.stride_w // 2

    @property
    def words(self) -> int:
        """Words of a row of the planes: all that bands read."""
        return self.bands * self.band + self.steps - 1

    @property
    def inside(self) -> int:
        """Columns of the image that are unpacked."""
        return min(self.laid.width, 2 * self.words - self.laid.pad_left)

    @property
    def is_looped(self) -> bool:
        """Rows of taps are a loop."""
        return self.laid.kernel_h > 1 and self.laid.kernel_h * self.steps > _MOST_UNROLLED

    @property
    def step_pairs(self) -> int:
        """Times that the weights of two steps become words."""
        return -(-self.laid.kernel_h * self.steps // 2)

    @property
    def room_words(self) -> int:
        """Words of scratch memory for the weights of a channel: on the stack but for a loop."""
        if not self.is_looped:
            return 0
        return self.step_pairs * (4 if self.laid.stride_w == 1 else 2)

    @property
    def weights_bytes(self) -> int:
        """Bytes of the weights of a channel in the stream."""
        after = 2 if self.laid.stride_w == 1 else 0
        return -(-(2 * self.laid.kernel_h * self.steps + after) // WORD_BYTES) * WORD_BYTES

    @property
    def numbers_bytes(self) -> int:
        """Bytes of the stream for a channel: weights, bias, multiplier and offset or shift."""
        return self.weights_bytes + (3 if self.numbers else 2) * WORD_BYTES

    @property
    def fours(self) -> int:
        """Times that four channels are unpacked for the same rows."""
        return -(-self.window.channels // PLANES)

    @property
    def form_name(self) -> str:
        """End of C names of the function of all layers of these taps that requantize alike."""
        w = self.laid
        sizes = f"{w.kernel_h}x{w.kernel_w}_{w.stride_w}_{self.outputs}"
        pitch = f"_by{self.pitch}" if self.pitch else ""
        return f"{self.kind}_{sizes}_{self.high_shift}{pitch}{self.type_name}"

    @property
    def type_name(self) -> str:
        """End of these names that says which codes the outputs are, "" of int8."""
        return ""

    @property
    def pitch(self) -> int:
        """Bytes of y from pixel to pixel where they are compiled in, else 0.

        Stores that name them take no additions.  Windows of one row are few in a network and have a
        short function, so one for each number of channels costs little.
        """
        w = self.laid
        pitch = self.out_channels * self.element_bytes
        return pitch if w.kernel_h == 1 and self.outputs * pitch <= _LARGEST_STORE else 0

    @property
    def strip(self) -> int:
        """Rows of outputs made from one set of planes: as many as there is memory for."""
        rows = self.laid.out_height
        strips = [rows, *(strip for strip in _STRIPS if strip < rows)]
        w = self.window
        image = w.height * w.width * w.channels * self.element_bytes
        most = self._memory_bytes(strips[-1]) + image // _GROWTH
        return next(strip for strip in strips if self._memory_bytes(strip) <= most)

    def _memory_bytes(self, strip: int) -> int:
        """The planes, and how far outputs lie before the image, for strips of some rows."""
        whole = self._is_alike and strip == self.laid.out_height
        return self._planes_bytes(strip) + (0 if whole else self._distance(strip))

    def _planes_bytes(self, strip: int) -> int:
        w = self.laid
        rows = (strip - 1) * w.stride_h + (w.kernel_h - 1) * w.dilation_h + 1
        return PLANES * WORD_BYTES * rows * self.words

    def _distance(self, strip: int) -> int:
        return max(by_strips(self.laid, 1, strip, PLANES), 0) * self.element_bytes

    @property
    def _is_alike(self) -> bool:
        """The output has the size of the image."""
        w = self.window
        return (w.height, w.width) == (w.out_height, w.out_width) and self.filters == 1

    @property
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""
        return self._is_alike and self.strip == self.laid.out_height

    @property
    def distance(self) -> int:
        """Distance in bytes of outputs before the image, where they do not take its place."""
        return self._distance(self.strip)

    @property
    def scratch_bytes(self) -> int:
        """The planes, and weights of a channel that rows of taps read in a loop."""
        return self.room_words * WORD_BYTES + self._planes_bytes(self.strip)

    def tops(self) -> Iterator[tuple[int, int, int]]:
        """Rows of outputs of each strip, rows of planes that it needs, and those of the image."""
        w = self.laid
        for top in range(0, w.out_height, self.strip):
            rows = min(self.strip, w.out_height - top)
            first = top * w.stride_h - w.pad_top
            needed = (rows - 1) * w.stride_h + (w.kernel_h - 1) * w.dilation_h + 1
            yield rows, needed, max(min(first + needed, w.height) - max(first, 0), 0)


_CODE_BYTES = 1500
_STEP_BYTES = 36


def parts(spec: DepthwiseDsp, _run: Run) -> Parts:
    """Counts of a call."""
    w = spec.laid
    strips = list(spec.tops())
    taken = spec.fours * sum(inside for _, _, inside in strips)
    words = (spec.inside + w.pad_left % 2 + 1) // 2
    cleared = strips[0][1] + sum(needed - inside for _, needed, inside in strips[1:])
    rows = spec.out_channels * w.out_height
    bands = rows * spec.bands
    kind = f"{spec.outputs} by {w.stride_w}"
    half = w.stride_w == 1 and w.kernel_w % 2 == 0
    counts: dict[str, float] = {
        "call": 1,
        "four channels": len(strips) * spec.fours,
        "row unpacked": taken,
        "word unpacked": taken * words,
        "place cleared": cleared * spec.words,
        f"weights of two steps, by {w.stride_w}": len(strips) * spec.out_channels * spec.step_pairs,
        "row of outputs": rows,
        f"band, {kind}": bands,
        "place of an output": 0 if spec.pitch else bands * spec.outputs,
        f"row of taps, {kind}": bands * w.kernel_h,
        "row of taps in a loop": bands * w.kernel_h if spec.is_looped else 0,
        f"step, {kind}": bands * w.kernel_h * (spec.steps - half),
        f"half a step, {kind}": bands * w.kernel_h * half,
    }
    code = _CODE_BYTES + _STEP_BYTES * spec.steps * (1 if spec.is_looped else w.kernel_h)
    return Parts(counts, code, WeightReads(spec.out_channels * spec.numbers_bytes, len(strips)))


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution that `DepthwiseDsp` computes, on a core with DSP."""
    if not target.has_dsp or target.takes_few_kernels or not is_depthwise(graph, node):
        return False
    window = conv_window(graph, node)
    # Those of unpacked_s8_dsp.h and by_channel_s8_dsp.h are made for windows of 3x3 taps.
    usual = (window.kernel_h, window.kernel_w, window.dilation_h) == (3, 3, 1)
    usual = usual and filters_of(graph, node) == 1
    if usual or not serves(window) or not ends_in_high_word(graph, node):
        return False
    return spec(graph, node, target).scratch_bytes <= target.scratch_limit_bytes


def filters_of(graph: Graph, node: Node) -> int:
    """Filters of each channel of a depthwise convolution."""
    inputs = plain_inputs(node)
    return graph.shape(inputs.w)[0] // graph.shape(inputs.x)[3]


def serves(window: Window) -> bool:
    """Whether a window is one that the function computes."""
    w = lying(window)
    sizes = (w.height, w.width, w.channels, w.out_height, w.out_width)
    return (
        w.stride_w in _OUTPUTS
        and w.dilation_w == 1
        and w.kernel_w <= _MOST_TAPS
        and w.channels >= PLANES
        and w.pad_left < w.kernel_w
        and max(*sizes, w.kernel_h * w.dilation_h) <= LARGEST_SIZE
    )


def spec(graph: Graph, node: Node, _target: Target) -> DepthwiseDsp:
    """The specification for a convolution that `accepts` accepts."""
    end = end_of(graph, node)
    window, filters = conv_window(graph, node), filters_of(graph, node)
    return DepthwiseDsp(window, end.shift, tflite31=end.tflite31, filters=filters)


def overlap(spec: DepthwiseDsp) -> Distances:
    """As other layers of planes have it; an output of several filters a channel lies apart."""
    return (None,) if spec.filters > 1 else overlap_of_planes(spec)


def arguments(
    graph: Graph, node: Node, spec: DepthwiseDsp, pool: ConstantPool
) -> tuple[Params, ...]:
    """All that the channels need, in one piece."""

    def stream(weights: Array, bias: Array, numbers: tuple[Array, ...]) -> Array:
        return _streamed(spec, weights, bias, numbers)

    return weighted_arguments(graph, node, pool, folds=False, stream=stream)


def _streamed(spec: DepthwiseDsp, weights: Array, bias: Array, numbers: tuple[Array, ...]) -> Array:
    """Channels as `edgec/depthwise/depthwise_s8_dsp.h` reads them.

    Args:
        spec: the layer.
        weights: int8 [channels of y, rows, columns, 1].
        bias: int32 [channels of y].
        numbers: [channels of y] each: multipliers and, where channels have them, offsets; or
            offsets and shifts, of which these make those; or shifts of `qops.Once15`.

    Returns:
        int8 [channels of y, bytes].
    """
    w = spec.laid
    whole = lying(spec.window)
    rows_inside, columns_inside = taps_inside(whole)
    channels = spec.out_channels
    taps = weights.reshape(channels, whole.kernel_h, whole.kernel_w)
    taps = taps[:, rows_inside][:, :, columns_inside]
    before = 1 if w.stride_w == 1 else 0
    rows = np.zeros((channels, w.kernel_h, 2 * spec.steps), np.int8)
    rows[:, :, before : before + w.kernel_w] = taps
    stream = np.zeros((channels, spec.weights_bytes), np.int8)
    stream[:, : rows[0].size] = rows.reshape(channels, -1)
    if w.stride_w > 1:
        stream = stream.reshape(channels, -1, 2, 2).swapaxes(2, 3).reshape(channels, -1)
    multiplier, *more = numbers
    if spec.kind == "twice":
        bias, more = 2 * bias, [more[-1] - 1]
    elif spec.kind == "once":
        multiplier, more = multiplier.astype(np.int64) << _HALF, [more[-1] - _HALF - 1]
    words = np.stack([bias, multiplier, *more], axis=1).astype(np.int32)
    return np.concatenate([stream, words.view(np.int8)], axis=1)


FAMILY = KernelFamily(
    spec_type=DepthwiseDsp,
    operators=CONVOLUTIONS,
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    in_place=lambda spec: spec.is_whole,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
