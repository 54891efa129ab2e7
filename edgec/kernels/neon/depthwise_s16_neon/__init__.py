"""Depthwise convolutions of int16 on cores with NEON: eight channels of a pixel at a time.

The function is that of `edgec.kernels.neon.depthwise_s8_neon`, whose products of int16 go to sums
of 32 bits at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.graph import Graph, Node
from edgec.kernels.common.layer_end import end_of, typed_end
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS
from edgec.kernels.common.window import conv_window
from edgec.kernels.family import KernelFamily
from edgec.kernels.neon.depthwise_s8_neon import DepthwiseNeon, accepts, arguments, overlap
from edgec.kernels.neon.layer import HALF, has_full_range, reads_int16
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class DepthwiseS16Neon(DepthwiseNeon):
    """Depthwise convolution of int16, of any window: `edgec/depthwise/depthwise_s8_neon.h`.

    x int16 [height, width, channels], weights as `channels.packed` gives them, y int8 or int16
    [out_height, out_width, channels].
    """

    family: ClassVar[str] = "depthwise_s16_neon"
    manner: ClassVar[str] = ", eight channels at a time"
    lanes: ClassVar[int] = HALF


def spec(graph: Graph, node: Node, _target: Target) -> DepthwiseS16Neon:
    """The specification for a convolution of int16."""
    window = conv_window(graph, node)
    return DepthwiseS16Neon(
        window,
        tuple((tap,) for tap in range(window.taps)),
        *end_of(graph, node),
        full_range=has_full_range(node),
        typed=typed_end(graph, node),
    )


def parts(spec: DepthwiseS16Neon, _run: Run) -> Parts:
    """Vectors of outputs, with their taps; rows that are copied."""
    w = spec.window
    row = spec.columns + (spec.last_values > 0)
    eights = spec.full // HALF + (spec.last is not None)
    vectors = w.out_height * row * eights
    return Parts(
        {
            "row": w.out_height,
            "block of a row": w.out_height * eights,
            "weights of eight taps": w.out_height * eights * w.taps if spec.is_unrolled else 0,
            "eight outputs": vectors,
            "eight products": vectors * w.taps,
            "eight products in a loop": 0 if spec.is_unrolled else vectors * w.taps,
            "copied row": w.out_height * w.kernel_h if spec.copies else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=DepthwiseS16Neon,
    operators=CONVOLUTIONS,
    types=reads_int16,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
