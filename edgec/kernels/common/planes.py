"""Base class of specifications of layers of bit planes, and the constants that their kernels read.

Kernels count the bits in which planes of a window and of a filter differ, and so use the functions
of layers of signs; see `PlaneLayer.slope` for what sums of products have to do with that.  Words of
zeros, which stand where a window leaves the image, are codes of 0: nothing is taken away again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.planes import unpacked_planes
from edgec.ir.qops.signs import words_of
from edgec.kernels.common.binary import WORD_BYTES, BitFunction, bit_fields
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params, int32_of
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.weighted import sum_params

OPERATORS = (qops.QPlaneConv, qops.QPlaneGemm)


@dataclass(frozen=True, slots=True)
class PlaneThresholdParams:
    """Layers of planes that end in planes."""

    c_type: ClassVar[str] = "edgec_plane_threshold_params_t"
    weights: ConstantRef
    most: ConstantRef


@dataclass(frozen=True, slots=True)
class PlaneParams:
    """Layers of planes that end in codes."""

    c_type: ClassVar[str] = "edgec_plane_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class Plane:
    """A plane that a kernel writes.

    Attributes:
        number: the weight of its bits is 2 to the power of this.
        flips: thresholds at which its bit changes, from 0 on.
    """

    number: int
    flips: tuple[int, ...]


def planes_of(count: int) -> tuple[Plane, ...]:
    """The planes of a number of thresholds: bit p of a count changes at multiples of ``2^p``."""
    ends = range((1 << count) - 1)
    return tuple(Plane(p, tuple(k for k in ends if (k + 1) % (1 << p) == 0)) for p in range(count))


@dataclass(frozen=True, slots=True)
class PlaneFunction(BitFunction):
    """A layer of bit planes; its window and its ends are those of a layer of signs.

    Attributes:
        x_planes, w_planes: bits of an input and of a weight.
        y_planes: bits of an output where the layer ends in planes; else 0.
        step, slope: what a bit that differs takes, and what a unit of the sum of x adds, in units
            of `common` (`PlaneLayer.slope`).
        common: what both are times, which ends in planes leave out.
    """

    x_planes: int = 1
    w_planes: int = 1
    y_planes: int = 0
    slope: int = 0
    common: int = 1

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""
        return (PlaneThresholdParams if self.gives_signs else PlaneParams).c_type

    @property
    def pixel_words(self) -> int:
        """Words of a plane of a pixel of x."""
        return words_of(self.channels)

    @property
    def plane_words(self) -> int:
        """Words of a plane of a window."""
        return self.window.taps * self.pixel_words

    @property
    def is_split(self) -> bool:
        """The planes of a gathered window do not lie one after another."""
        return self.window.taps > 1 and self.x_planes > 1

    @property
    def planes(self) -> tuple[Plane, ...]:
        """The planes of y."""
        return planes_of(self.y_planes)

    @property
    def ends(self) -> range:
        """Thresholds of an output."""
        return range((1 << self.y_planes) - 1)

    @property
    def pixel_bytes(self) -> int:
        """Bytes of a pixel of y."""
        words = self.y_planes * self.out_words
        return words * WORD_BYTES if self.gives_signs else self.out_channels

    def _described(self, how: str) -> str:
        """Operator, shapes and method in words, for a comment in C."""
        w = self.window
        x = describe_image(w.height, w.width, self.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        ends = f" to {self.y_planes} bits" if self.gives_signs else ""
        bits = f"{self.x_planes} by {self.w_planes} bits{ends}"
        return f"Convolution of planes, {bits}, {x} to {y}, {describe_window(w)}, {how}"


def plane_fields(graph: Graph, node: Node) -> dict[str, Any]:
    """The fields of the specification of a node of `OPERATORS`."""
    attrs = node.attrs_as(*OPERATORS)
    return {
        **bit_fields(graph, node),
        "step": attrs.unit // attrs.common,
        "x_planes": attrs.x_planes,
        "w_planes": attrs.w_planes,
        "y_planes": attrs.y_planes,
        "slope": attrs.slope // attrs.common,
        "common": 1 if attrs.output is None else attrs.common,
    }


def plane_arguments(
    graph: Graph,
    node: Node,
    spec: PlaneFunction,
    pool: ConstantPool,
    pack: Callable[[Array], Array],
    padded_to: int,
) -> tuple[Params, ...]:
    """The argument structs of a layer of planes.

    Args:
        graph: INTEGER stage.
        node: one of `OPERATORS`.
        spec: its specification.
        pool: takes the constants.
        pack: brings words of weights, uint32 [O, planes, words of a plane], into the kernel's
            order.
        padded_to: numbers of filters are filled up to a multiple of this.
    """
    attrs = node.attrs_as(*OPERATORS)
    inputs = attrs.Inputs.of(node.inputs)
    words = graph.constants[inputs.w].array
    filters = len(words)
    codes = unpacked_planes(words, attrs.channels, attrs.w_planes)
    total = codes.reshape(filters, -1).sum(axis=1, dtype=np.int64)
    held = attrs.unit * ((1 << attrs.x_planes) - 1) * total
    apart = words.reshape(filters, -1, attrs.w_planes, spec.pixel_words).swapaxes(1, 2)
    weights = pool.add("weights", pack(apart.reshape(filters, attrs.w_planes, -1)))
    bias = graph.constants[inputs.b].array.astype(np.int64)
    missing = -filters % padded_to
    form = attrs.output
    if form is None:
        # acc >= b: unit * bits - slope * sum is at most this, in units of what both hold.
        most = (held - 2 * bias) // attrs.common
        ends = np.iinfo(np.int16)
        # Filters that are not there reach no threshold.
        most = np.pad(most, ((0, 0), (0, missing)), constant_values=ends.min)
        stored = np.clip(most, ends.min, ends.max).astype(np.int16)
        return (PlaneThresholdParams(weights, pool.add("thresholds", stored)),)
    # The rest of the sum is odd where this is, and then rounded down.
    start = int32_of(bias + (held + 1) // 2, node)
    multiplier = graph.constants[str(inputs.multiplier)].array
    params = PlaneParams(
        weights,
        pool.add("bias", np.pad(start, (0, missing))),
        pool.add("multipliers", np.pad(multiplier, (0, missing))),
        form.zero_point,
        form.low,
        form.high,
    )
    added = attrs.residual
    return (params,) if added is None else (params, sum_params(added))
