"""Depthwise convolutions of a line of taps inside the image on cores with DSP."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.depthwise import FOUR, LineFunction
from edgec.kernels.common.form_ends import Tflite31
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import by_pixel, with_ending
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window, conv_window, is_depthwise
from edgec.kernels.dsp.depthwise import (
    LARGEST_SIZE,
    WORD_BYTES,
    HighWordDepthwise,
    ends_in_high_word,
)
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_TAPS = 2
"""Taps whose weights lie together."""
_MOST_PAIRS = 8
"""Pairs of taps in a turn of the loop, 76 bytes of code each: the smallest caches hold that."""

_MOST_MEASURED = 16
"""Pairs of taps in a turn of the loops that are measured, for larger caches."""
_TURNS = (1, 2, 3, 4)

_MORE_BYTES = (0, WORD_BYTES, 1)
"""Bytes of the stream after the multiplier of a channel, by kind."""


@dataclass(frozen=True, slots=True)
class DepthwiseLine(HighWordDepthwise, LineFunction):
    """Depthwise convolution of a line of taps, down or across, that reads no padding:
    `edgec/depthwise/depthwise_line_s8_dsp.h`.

    x int8 [height, width, channels], at least 4 channels; y [out_height, out_width, channels].

    Attributes:
        window: one row or one column of two taps or more, with any strides and dilation.
        shift: right shift with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        turn: pairs of taps in a turn of the loop, where that was measured; None: of all others.
    """

    family: ClassVar[str] = "depthwise_line_s8_dsp"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_line_s8_dsp")
    window: Window
    shift: int
    rescale16: None = None
    residual_shift: None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    turn: int | None = field(default=None, metadata=LATER)

    @property
    def streams(self) -> bool:
        """The kernel takes all that its filters need in one stream."""
        return True

    @property
    def pairs(self) -> int:
        """Pairs of taps."""
        return self.window.taps // _TAPS

    @property
    def odd(self) -> int:
        """1: a tap is left after the pairs."""
        return self.window.taps % _TAPS

    @property
    def unrolled(self) -> int:
        """Pairs of taps in a turn of the loop; one turn is no loop."""
        return self.turn or self.pairs // -(-self.pairs // _MOST_PAIRS)

    @property
    def form_name(self) -> str:
        """End of C names of the function of all layers with as many taps that requantize alike."""
        loop = "" if self.turn is None else f"_by_{self.turn}"
        return f"{self.kind}_{self.window.taps}_{self.high_shift}{loop}"

    @property
    def back(self) -> int:
        """Bytes of x from where the pairs of taps end to the first tap of the next channels."""
        return FOUR - _TAPS * self.pairs * self.step

    @property
    def rest(self) -> int:
        """Channels after the last full four: computed with those before them."""
        return self.window.channels % FOUR

    @property
    def four_bytes(self) -> int:
        """Bytes of the stream for four channels: biases, weights, multipliers and what follows."""
        return FOUR * (self.window.taps + 2 * WORD_BYTES + _MORE_BYTES[self.numbers])

    @property
    def full_bytes(self) -> int:
        """Bytes of the stream for all full fours."""
        return self.window.channels // FOUR * self.four_bytes

    @property
    def weight_reads(self) -> WeightReads:
        """Reads of the stream: all of it for each pixel."""
        return WeightReads(self.fours * self.four_bytes, self.window.out_pixels)


_CODE_BYTES = 350
_PAIR_CODE_BYTES = 76


def parts(spec: DepthwiseLine, _run: Run) -> Parts:
    """Counts of a call."""
    fours = spec.window.out_pixels * spec.fours
    looped = spec.pairs > spec.unrolled
    counts: dict[str, float] = {
        "call": 1,
        "pixel": spec.window.out_pixels,
        "last channels": spec.window.out_pixels if spec.rest else 0,
        "four channels": fours,
        "pair of taps": fours * spec.pairs,
        "odd tap": fours * spec.odd,
        "turn": fours * (spec.pairs // spec.unrolled) if looped else 0,
    }
    code = (spec.unrolled + spec.pairs % spec.unrolled) * _PAIR_CODE_BYTES
    return Parts(counts, _CODE_BYTES + code, spec.weight_reads, copies=True)


def other_loops(spec: DepthwiseLine) -> tuple[DepthwiseLine, ...]:
    """Functions whose loop has fewer or more turns."""
    turns = dict.fromkeys(spec.pairs // count for count in _TURNS if spec.pairs >= count)
    return tuple(
        dataclasses.replace(spec, turn=turn)
        for turn in turns
        if turn != spec.unrolled and turn <= _MOST_MEASURED
    )


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution that `DepthwiseLine` computes, on a core with DSP."""
    if not target.has_dsp or target.takes_few_kernels or not is_depthwise(graph, node):
        return False
    window = conv_window(graph, node)
    one_filter = graph.shape(plain_inputs(node).w)[0] == window.channels
    return one_filter and _serves(window) and ends_in_high_word(graph, node)


def _serves(window: Window) -> bool:
    short = max(window.channels, window.out_height, window.out_width) <= LARGEST_SIZE
    return LineFunction.serves(window) and short and window.channels >= FOUR


def spec(graph: Graph, node: Node, _target: Target) -> DepthwiseLine:
    """The specification for a convolution that `accepts` accepts."""
    end = end_of(graph, node)
    return DepthwiseLine(conv_window(graph, node), end.shift, tflite31=end.tflite31)


def overlap(spec: DepthwiseLine) -> Distances:
    """Four channels of a pixel are written after their reads, the last ones after some of them."""
    again = FOUR - spec.rest if spec.rest else 0
    return with_ending(spec, by_pixel(spec.window, spec.window.channels) + again)


def arguments(
    graph: Graph, node: Node, spec: DepthwiseLine, pool: ConstantPool
) -> tuple[Params, ...]:
    """All that four channels need, in one piece."""

    def stream(weights: Array, bias: Array, numbers: tuple[Array, ...]) -> Array:
        return _streamed(spec, weights.reshape(spec.window.channels, -1), bias, numbers)

    return weighted_arguments(graph, node, pool, stream=stream)


def _streamed(
    spec: DepthwiseLine, weights: Array, bias: Array, numbers: tuple[Array, ...]
) -> Array:
    """Channels as `edgec/depthwise/depthwise_line_s8_dsp.h` reads them.

    Args:
        spec: says which numbers channels have.
        weights: int8 [channels, taps].
        bias: int32 [channels].
        numbers: [channels] each: int32 multipliers and, where channels have them, int32 offsets;
            offsets and shifts are those of `form_arrays`, of which the shifts make the offsets.

    Returns:
        int8 [fours of channels, bytes].
    """
    channels, taps = weights.shape
    firsts = np.minimum(np.arange(0, channels, FOUR), channels - FOUR)
    own = firsts[:, None] + np.arange(FOUR)
    multiplier, *more = numbers
    if spec.kind == "twice":
        more = [(more[-1] - 1).astype(np.int8)[own]]
    else:
        more = [each.astype(np.int32)[own].view(np.int8) for each in more]
    words = [each.astype(np.int32)[own].view(np.int8) for each in (bias, multiplier)]
    pairs = taps // _TAPS
    # [fours, two pairs of channels, 2, pairs of taps, 2] to [fours, pairs of taps, two pairs of
    # channels, 2 taps, 2]
    paired = weights[own][:, :, : pairs * _TAPS].reshape(-1, 2, 2, pairs, _TAPS)
    laid = paired.transpose(0, 3, 1, 4, 2).reshape(len(own), -1)
    odd = weights[own][:, :, pairs * _TAPS :].reshape(len(own), -1)
    return np.concatenate([words[0], laid, odd, words[1], *more], axis=1)


FAMILY = KernelFamily(
    spec_type=DepthwiseLine,
    operators=CONVOLUTIONS,
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    variants=other_loops,
    arguments=arguments,
    weight_reads=lambda spec: spec.weight_reads,
    parts=parts,
)
