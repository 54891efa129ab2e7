"""Depthwise convolutions on cores with NEON: sixteen channels of a pixel at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.depthwise import DepthwiseFunction
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.layer_end import end_of, typed_end
from edgec.kernels.common.overlap import by_blocks, by_starts, pixel_distance, with_ending
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window, conv_window, is_depthwise
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.neon.depthwise_s8_neon.channels import (
    MOST_UNROLLED,
    groups_of,
    lanes_of,
    packed,
    padded,
)
from edgec.kernels.neon.layer import HALF, Block, NeonLayer, has_full_range, reads_int8
from edgec.kernels.neon.layer import WIDE as LANES
from edgec.kernels.neon.strip import Strip
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class DepthwiseNeon(DepthwiseFunction, NeonLayer):
    """Depthwise convolution of any window, sixteen channels at a time, a row of outputs at a time:
    `edgec/depthwise/depthwise_s8_neon.h`.

    x int8 [height, width, channels], weights as `channels.packed` gives them, y [out_height,
    out_width, channels].

    Attributes:
        lanes: channels of a full block.
        window: geometry.
        groups: taps, by their number in the filter, whose products are added up in 16 bits.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: right shift of the addition that follows, if any.
        rescale16: the end of a layer in a transformer's arithmetic.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
    """

    family: ClassVar[str] = "depthwise_s8_neon"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_s8_neon")
    manner: ClassVar[str] = ", sixteen channels at a time"
    lanes: ClassVar[int] = LANES
    window: Window
    groups: tuple[tuple[int, ...], ...]
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    full_range: bool = field(default=False, metadata=LATER)
    typed: TypedEnd | None = field(default=None, metadata=LATER)

    @property
    def fold(self) -> int:
        """Pixels of a row that one vector holds: neighbours are one run of memory at stride 1."""
        whole = self.lanes % self.window.channels == 0 and self.window.stride_w == 1
        return self.lanes // self.window.channels if whole else 1

    @property
    def columns(self) -> int:
        """Vectors of a row of outputs that hold `fold` pixels."""
        return self.window.out_width // self.fold

    @property
    def step(self) -> int:
        """Bytes of x from a vector of outputs to the next one of a row."""
        return self.fold * self.window.stride_w * self.window.channels * self.read_bytes

    @property
    def read_bytes(self) -> int:
        """Bytes of an element of x."""
        return self.x_dtype.size_bytes

    @property
    def in_bytes(self) -> str:
        """C after a number of elements of x that makes it one of bytes, or nothing."""
        return f" * {self.read_bytes}" if self.read_bytes > 1 else ""

    @property
    def out_step(self) -> int:
        """Outputs from a vector of a row to the next one."""
        return self.fold * self.window.channels

    @property
    def neighbours(self) -> int:
        """Taps of a row of a filter that are added up together, in loops over taps."""
        return len(self.groups[0])

    @property
    def leaves_a_tap(self) -> bool:
        """A row of a filter has a tap after those of such loops."""
        return self.window.kernel_w % self.neighbours != 0

    @property
    def last_values(self) -> int:
        """Outputs of a row after these."""
        return self.window.out_width % self.fold * self.window.channels

    @property
    def full(self) -> int:
        """Channels, or values of folded pixels, in full blocks."""
        return self.window.channels * self.fold // self.lanes * self.lanes

    @property
    def last(self) -> Block | None:
        """The channels after the last full block."""
        rest = self.window.channels * self.fold - self.full
        return Block(lanes_of(rest), rest) if rest else None

    @property
    def block(self) -> Block:
        """A full block."""
        return Block(self.lanes, self.lanes)

    @property
    def partial(self) -> Block:
        """The values of the last vector of a row of folded pixels."""
        return Block(self.lanes, self.last_values)

    @property
    def is_unrolled(self) -> bool:
        """The code has no loops over taps."""
        return self.window.taps <= MOST_UNROLLED

    @property
    def copies(self) -> bool:
        """The rows of x that a row of outputs needs are copied, with padding around them.

        Else they are read where they are: no tap is padding, and no vector ends beyond its row.
        """
        w = self.window
        fits = w.channels * self.fold % HALF == 0 and self.last_values == 0
        return w.rows_clipped or w.cols_clipped or not fits or self.out_bytes != self.read_bytes

    @property
    def tap_at(self) -> tuple[str, ...]:
        """C expressions of the distance of each tap from the first one."""
        w = self.window
        return tuple(
            f"{row} * ROW + {column * w.dilation_w * w.channels * self.read_bytes}"
            for row in range(w.kernel_h)
            for column in range(w.kernel_w)
        )

    @property
    def ordered(self) -> tuple[tuple[tuple[int, str], ...], ...]:
        """Groups of taps, each with its place among the packed weights and its distance."""
        places = {tap: at for at, tap in enumerate(tap for each in self.groups for tap in each)}
        return tuple(
            tuple((places[tap], self.tap_at[tap]) for tap in group) for group in self.groups
        )

    @property
    def strip(self) -> Strip:
        """The rows of x that are copied."""
        return Strip(self.window, self.read_bytes)

    @property
    def strip_bytes(self) -> int:
        """Bytes of all copied rows."""
        return self.strip.size_bytes if self.copies else 0

    @property
    def added_at(self) -> int:
        """Place of the residual of a row in scratch; a multiple of 16."""
        return -(-self.strip_bytes // LANES) * LANES

    @property
    def row_elements(self) -> int:
        """Outputs of a row."""
        return self.window.out_width * self.window.channels

    @property
    def scratch_bytes(self) -> int:
        """The copied rows, and the residual of a row of outputs.

        Some bytes where there are neither: the function has the argument in any case.
        """
        if not self.adds:
            return max(self.strip_bytes, LANES)
        return self.added_at + (self.row_elements + LANES) * self.out_bytes


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution of one filter a channel, on a core with NEON."""
    if not target.has_neon or not is_depthwise(graph, node):
        return False
    return graph.shape(plain_inputs(node).w)[0] == graph.shape(node.first)[3]


def spec(graph: Graph, node: Node, _target: Target) -> DepthwiseNeon:
    """The specification for a convolution that `accepts` accepts."""
    window = conv_window(graph, node)
    groups = groups_of(graph.constants[plain_inputs(node).w].array, window.kernel_w)
    return DepthwiseNeon(
        window,
        groups,
        *end_of(graph, node),
        full_range=has_full_range(node),
        typed=typed_end(graph, node),
    )


def overlap(spec: DepthwiseNeon) -> Distances:
    """Rows of outputs, of which each is made of copies, or some channels at a time."""
    w, each = spec.window, spec.out_bytes
    if spec.copies:
        read = replace(w, channels=w.channels * spec.read_bytes)
        return with_ending(spec, by_blocks(read, w.channels * each, w.out_width))
    columns = w.out_width
    if w.channels > spec.lanes:
        # When a channel is last read, those before it are written in all pixels of the row.
        readers = w.last_readers()
        ends = np.where(readers < 0, -1, readers // columns * columns + columns - 1)
        return with_ending(spec, pixel_distance(ends, w.channels, w.channels) * each)
    pixels = np.arange(w.out_pixels)
    starts = pixels - pixels % columns % spec.fold
    return with_ending(spec, by_starts(w, w.channels, starts) * each)


def arguments(
    graph: Graph, node: Node, spec: DepthwiseNeon, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights of a block of channels tap by tap; numbers of channels filled up likewise."""

    def filled(values: Array) -> Array:
        return padded(values, spec.fold, spec.lanes)

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        order = [tap for group in spec.groups for tap in group]
        return packed(weights, order, spec.fold, spec.lanes), filled(bias), filled(multiplier)

    return weighted_arguments(graph, node, pool, pack, pad=filled)


def parts(spec: DepthwiseNeon, _run: Run) -> Parts:
    """Vectors of outputs, with their taps and groups of taps; rows that are copied."""
    w = spec.window
    row = spec.columns + (spec.last_values > 0)
    halves = spec.full // HALF + (0 if spec.last is None else spec.last.lanes // HALF)
    vectors = w.out_height * row * halves
    return Parts(
        {
            "row": w.out_height,
            "block of a row": w.out_height * math.ceil(halves / 2),
            "eight outputs": vectors,
            "eight products": vectors * w.taps,
            "eight sums of products": vectors * len(spec.groups),
            "copied row": w.out_height * w.kernel_h if spec.copies else 0,
            "addition": spec.out_elements if spec.adds else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=DepthwiseNeon,
    operators=CONVOLUTIONS,
    types=reads_int8,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
