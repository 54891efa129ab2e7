"""Depthwise convolutions of a line of taps inside the image on Cortex-M0 and M0+."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.depthwise import FOUR, LineFunction
from edgec.kernels.common.form_ends import Tflite31
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import by_pixel, with_ending
from edgec.kernels.common.parts import Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.short_product import ANY, ShortProduct, product_of, with_product
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window, conv_window, is_depthwise
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class DepthwiseLineM0(LineFunction):
    """Depthwise convolution of a line of taps, down or across, that reads no padding:
    `edgec/depthwise/depthwise_line_s8_m0.h`.

    x int8 [height, width, channels], weights int8 [channels / 4, taps, 4], y [out_height,
    out_width, channels]; whole words of channels.

    Attributes:
        window: one row or one column of two taps or more, with any strides and dilation.
        shift: right shift with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        product: how a sum is multiplied by a multiplier of 31 bits.
    """

    family: ClassVar[str] = "depthwise_line_s8_m0"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_line_s8_m0")
    window: Window
    shift: int
    rescale16: None = None
    residual_shift: None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    product: ShortProduct = field(default=ANY, kw_only=True)


_CODE_BYTES = 350


def parts(spec: DepthwiseLineM0, _run: Run) -> Parts:
    """Counts of a call."""
    w = spec.window
    fours = w.out_pixels * spec.fours
    counts: dict[str, float] = {
        "call": 1,
        "pixel": w.out_pixels,
        "four channels": fours,
        "word of taps": fours * w.taps,
    }
    reads = WeightReads(w.channels * w.taps, w.out_pixels, numbers_of(w.channels))
    return Parts(counts, _CODE_BYTES, reads)


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution that `DepthwiseLineM0` computes, on a core of few instructions.

    Others load bytes with their signs at any distance, which makes plain C faster.
    """
    if not target.is_cortex_m or target.has_wide_thumb or not is_depthwise(graph, node):
        return False
    window, end = conv_window(graph, node), end_of(graph, node)
    if graph.shape(plain_inputs(node).w)[0] != window.channels or window.channels % FOUR:
        return False
    plain = end.residual_shift is None and end.rescale16 is None
    return plain and not target.takes_few_kernels and LineFunction.serves(window)


def spec(graph: Graph, node: Node, target: Target) -> DepthwiseLineM0:
    """The specification for a convolution that `accepts` accepts."""
    product = product_of(graph, node, target)
    end = with_product(end_of(graph, node), product)
    window = conv_window(graph, node)
    return DepthwiseLineM0(window, end.shift, tflite31=end.tflite31, product=product)


def overlap(spec: DepthwiseLineM0) -> Distances:
    """Four channels of a pixel are written after their reads."""
    return with_ending(spec, by_pixel(spec.window, spec.window.channels))


def arguments(
    graph: Graph, node: Node, _spec: DepthwiseLineM0, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights word by word."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        fours = weights.reshape(len(weights) // FOUR, FOUR, -1)
        return fours.swapaxes(1, 2).copy(), bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


FAMILY = KernelFamily(
    spec_type=DepthwiseLineM0,
    operators=CONVOLUTIONS,
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
