"""Base class of specifications of layers of signs, and the constants that their kernels read.

Kernels count the bits in which a window and a filter differ, D products in all.  Words of zeros
stand where a window leaves the image: such bits count as ones times the weights, which is taken
away again by a number for each filter and each *class* of pixels, those whose windows leave the
image by the same taps.  So there are two values, not three, in the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.signs import unpacked, words_of
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params, int32_of
from edgec.kernels.common.form_ends import Rescale16, Tflite31
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.weighted import sum_params
from edgec.kernels.common.window import Window, image_window, row_window

OPERATORS = (qops.QBinaryConv, qops.QBinaryGemm)
WORD_BYTES = 4
_RUN, _SEVEN, _THREE = 21, 7, 3
"""Words whose bits are counted together (`edgec/dense/binary_words.h`)."""


@dataclass(frozen=True, slots=True)
class ThresholdParams:
    """Layers of signs that end in signs."""

    c_type: ClassVar[str] = "edgec_threshold_params_t"
    weights: ConstantRef
    thresholds: ConstantRef


@dataclass(frozen=True, slots=True)
class BinaryParams:
    """Layers of signs that end in codes."""

    c_type: ClassVar[str] = "edgec_binary_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    outside: ConstantRef | None
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class BitFunction(LayerFunction):
    """A layer that counts bits: of signs, or of bit planes.

    x bits [height, width, channels], y [out_height, out_width, out_channels], int8 or bits.

    Attributes:
        window: geometry; its channels are words.  Of a matrix product, a 1x1 window over [1, rows,
            words].
        channels: elements of a pixel.
        out_channels: filters.
        gives_signs: the layer ends in bits.
        step: what a product adds to an accumulator.
        shift: right shift of the requantization; 0 where the layer ends in bits.
        residual_shift: right shift of the addition at the end; None: there is no addition.
    """

    window: Window
    channels: int
    out_channels: int
    gives_signs: bool
    step: int = 1
    shift: int = 0
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = None

    @property
    def end(self) -> str:
        """As of other layers, or "signs"."""
        if self.gives_signs:
            return "signs"
        return "requant31" if self.residual_shift is None else "requant31_added"

    @property
    def y_type(self) -> str:
        """C type of an element of y, or of a word of signs."""
        return "uint32_t" if self.gives_signs else "int8_t"

    @property
    def depth(self) -> int:
        """Products in a sum."""
        return self.window.taps * self.channels

    @property
    def words(self) -> int:
        """Words of a window."""
        return self.window.taps * self.window.channels

    @property
    def out_words(self) -> int:
        """Words of a pixel of y that holds signs."""
        return words_of(self.out_channels)

    @property
    def pixel_bytes(self) -> int:
        """Bytes of a pixel of y."""
        return self.out_words * WORD_BYTES if self.gives_signs else self.out_channels

    @property
    def copies_runs(self) -> bool:
        """The window is gathered row by row; else tap by tap."""
        return self.window.columns_are_runs

    @property
    def halves(self) -> Window:
        """The window over elements of 16 bits, whose padding is zero as that of signs is."""
        return replace(self.window, channels=2 * self.window.channels)

    @property
    def bytewise(self) -> Window:
        """The window over bytes."""
        return replace(self.window, channels=WORD_BYTES * self.window.channels)

    def gathered(self, pixels: int) -> dict[str, int]:
        """Parts of the work of gathering the windows of a number of pixels."""
        w = self.window
        beyond = sum(across < w.kernel_w for across in w.taps_across()) * w.out_height
        return {
            "call": 1,
            "pixel": pixels,
            "run" if self.copies_runs else "tap": pixels
            * (w.kernel_h if self.copies_runs else w.taps),
            "tap of a window beyond an edge": beyond * w.taps if self.copies_runs else 0,
        }

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.depth


@dataclass(frozen=True, slots=True)
class BinaryFunction(BitFunction):
    """A layer of signs.

    Attributes:
        pads_ones: what lies outside the image counts as ones, and is not taken away.
    """

    pads_ones: bool = False

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""
        return (ThresholdParams if self.gives_signs else BinaryParams).c_type

    @property
    def is_corrected(self) -> bool:
        """Some windows leave the image, and what they count there is taken away."""
        return not self.pads_ones and (self.window.rows_clipped or self.window.cols_clipped)

    @property
    def row_classes(self) -> tuple[int, ...]:
        """The class of each row of y."""
        return _classes(self._rows_outside)

    @property
    def column_classes(self) -> tuple[int, ...]:
        """The class of each column of y."""
        return _classes(self._columns_outside)

    @property
    def class_type(self) -> str:
        """C type of the number of a class."""
        return "uint8_t" if max(*self.row_classes, *self.column_classes) < 1 << 8 else "uint16_t"

    @property
    def columns_apart(self) -> int:
        """Number of classes of columns."""
        return max(self.column_classes) + 1

    @property
    def _rows_outside(self) -> list[tuple[bool, ...]]:
        w = self.window
        return _outside(w.height, w.out_height, w.kernel_h, w.stride_h, w.pad_top, w.dilation_h)

    @property
    def _columns_outside(self) -> list[tuple[bool, ...]]:
        w = self.window
        return _outside(w.width, w.out_width, w.kernel_w, w.stride_w, w.pad_left, w.dilation_w)

    def added_outside(self, weights: Array) -> Array:
        """Sums of the weights that zeros outside the image meet, for the pixels of each class.

        Args:
            weights: int8 [O, KH, KW, I] of -1 and 1.

        Returns:
            int64 [classes, O]; the class of a pixel is that of its row times the number of classes
            of columns plus that of its column.  [1, O] zeros where nothing is taken away.
        """
        if not self.is_corrected:
            return np.zeros((1, len(weights)), np.int64)
        rows, columns = (
            list(dict.fromkeys(p)) for p in (self._rows_outside, self._columns_outside)
        )
        taps = weights.astype(np.int64).sum(axis=-1)
        masks = np.array([np.logical_or.outer(r, c) for r in rows for c in columns])
        return np.asarray(np.einsum("pyx,oyx->po", masks.astype(np.int64), taps))

    def _described(self, how: str) -> str:
        """Operator, shapes and method in words, for a comment in C."""
        w = self.window
        x = describe_image(w.height, w.width, self.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        return f"Convolution of signs {x} to {y}, {describe_window(w)}, {how}"


def _outside(
    size: int, out_size: int, taps: int, stride: int, pad: int, dilation: int
) -> list[tuple[bool, ...]]:
    """For each output index of one axis, which taps lie outside the image."""
    places = np.arange(out_size)[:, None] * stride - pad + np.arange(taps) * dilation
    return [tuple(row) for row in ((places < 0) | (places >= size)).tolist()]


def _classes(patterns: Sequence[tuple[bool, ...]]) -> tuple[int, ...]:
    known = {pattern: number for number, pattern in enumerate(dict.fromkeys(patterns))}
    return tuple(known[pattern] for pattern in patterns)


def counted_words(words: int, times: int) -> dict[str, int]:
    """Parts of the work of counting the bits of some words a number of times, word by word."""
    last = words % _RUN
    threes, rest = divmod(last % _SEVEN, _THREE)
    return {
        "run of words": times * -(-words // _RUN),
        "seven words": times * (words // _RUN * (_RUN // _SEVEN) + last // _SEVEN),
        "three words": times * threes,
        "one or two words": times * (rest > 0),
    }


def bit_fields(graph: Graph, node: Node) -> dict[str, Any]:
    """The fields of `BitFunction`, but for `step`, of a layer of signs or of bit planes."""
    attrs = node.attrs_as(qops.BinaryLayer, qops.PlaneLayer)
    shape = graph.shape(attrs.Inputs.of(node.inputs).w)
    if isinstance(attrs, qops.QBinaryConv | qops.QPlaneConv):
        window = image_window(graph, node, attrs, (shape[1], shape[2]))
    else:
        *rows, words = graph.shape(node.first)
        window = row_window(int(np.prod(rows)), words)
    form = attrs.output
    return {
        "window": window,
        "channels": attrs.channels,
        "out_channels": shape[0],
        "gives_signs": form is None,
        "shift": 0 if form is None else form.shift,
        "residual_shift": None if attrs.residual is None else attrs.residual.shift,
    }


def binary_fields(graph: Graph, node: Node) -> dict[str, Any]:
    """The fields of the specification of a node of `OPERATORS`."""
    attrs = node.attrs_as(*OPERATORS)
    pads_ones = isinstance(attrs, qops.QBinaryConv) and attrs.pads_ones
    return {**bit_fields(graph, node), "step": attrs.step, "pads_ones": pads_ones}


def inputs_of(node: Node) -> qops.BinaryLayer.Inputs[str]:
    """The operands of a layer of signs; InternalError for any other node."""
    return node.attrs_as(qops.BinaryLayer).Inputs.of(node.inputs)


def binary_arguments(
    graph: Graph,
    node: Node,
    spec: BinaryFunction,
    pool: ConstantPool,
    pack: Callable[[Array], Array],
    padded_to: int,
) -> tuple[Params, ...]:
    """The argument structs of a layer of signs.

    Args:
        graph: INTEGER stage.
        node: one of `OPERATORS`.
        spec: its specification.
        pool: takes the constants.
        pack: brings words of weights, uint32 [O, ...], into the kernel's order.
        padded_to: numbers of filters are filled up to a multiple of this.
    """
    attrs, inputs = node.attrs_as(*OPERATORS), inputs_of(node)
    words = graph.constants[inputs.w].array
    bias = graph.constants[inputs.b].array.astype(np.int64)
    signs = unpacked(words, spec.channels)
    taps = signs.reshape(len(signs), spec.window.kernel_h, spec.window.kernel_w, spec.channels)
    outside = -spec.added_outside(taps)
    missing = -len(bias) % padded_to
    weights = pool.add("weights", pack(words))
    form = attrs.output
    if form is None:
        # Negative is: more bits differ than half of what a sum is without any.
        most = np.clip((spec.depth + outside + bias) >> 1, -1, spec.depth)
        numbers = np.pad(most, ((0, 0), (0, missing)), constant_values=np.iinfo(np.int16).max)
        return (ThresholdParams(weights, pool.add("thresholds", numbers.astype(np.int16))),)
    start = int32_of(bias + spec.step * spec.depth, node)
    multiplier = graph.constants[str(inputs.multiplier)].array
    params = BinaryParams(
        weights,
        pool.add("bias", np.pad(start, (0, missing))),
        pool.add("multipliers", np.pad(multiplier, (0, missing))),
        # A constant that nobody reads would have no place.
        pool.add("outside", np.pad(outside, ((0, 0), (0, missing))).astype(np.int16))
        if spec.is_corrected
        else None,
        form.zero_point,
        form.low,
        form.high,
    )
    added = attrs.residual
    return (params,) if added is None else (params, sum_params(added))
