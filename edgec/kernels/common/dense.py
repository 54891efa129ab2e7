"""Base class of specifications of dense kernels for one kind of core.

Weights in the order in which the dense kernels read them: `edgec/dense/dense_3x2_s8_dsp.h`,
`edgec/dense/dense_5x2_s8_m0.h`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.kernels.common.form_ends import Rescale16, Tflite31
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window


@dataclass(frozen=True, slots=True)
class Dense(LayerFunction):
    """Convolution of one group, or matrix product, some rows at a time.

    x int8 [height, width, channels], y [out_height, out_width, out_channels].

    Attributes:
        window: geometry; of a matrix product, a 1x1 window over [1, rows, depth].
        out_channels: filters.
        shift: right shift of the requantization.
        residual_shift: right shift of the addition at the end; None: there is no addition.
        rescale16: as in `Conv2D`.
        variable: the rows of a run are an argument; only of matrix products.
    """

    window: Window
    out_channels: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    variable: bool = False

    @property
    def rows(self) -> int:
        """Pixels of y; of a matrix product its rows."""
        return self.window.out_pixels

    @property
    def depth(self) -> int:
        """Weights of one filter."""
        return self.window.taps * self.window.channels

    def run_parameters(self) -> tuple[str, ...]:
        """The rows of a run."""
        return ("int32_t rows",) if self.variable else ()

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.rows * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.depth

    def _described(self, rows: str) -> str:
        """Operator, shapes and blocking in words, for a comment in C; `rows` at a time."""
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        return f"Convolution {x} to {y}, {describe_window(w)}, {rows} rows at a time"


FILTERS = 2
"""Filters whose sums are computed together."""

WORD = 4
"""Weights in a word."""

SIGNS = np.array([-128, 0, -128, 0], np.int8)
"""Word that `edgec/dense/dense_4x2_s8_dsp.h` adds without carries to a word of weights to flip two
signs.
"""

PAIRS = (0, 2, 1, 3)
"""Order of the weights of a word from which SXTB16 makes pairs of neighbours."""


_JOINED = 4
"""Filters of `joined_filters` that stand beside each other."""


def padded_depth(depth: int) -> int:
    """Weights of a filter as stored: pairs of words."""
    return -(-depth // (2 * WORD)) * 2 * WORD


def interleaved(weights: Array) -> Array:
    """Filters two by two, word by word.

    Args:
        weights: int8 [O, ...].

    Returns:
        int8 [ceil(O / 2), words, 2, 4]; what is missing at the ends is zero.
    """
    rows = weights.reshape(weights.shape[0], -1)
    filters, depth = rows.shape
    pairs = -(-filters // FILTERS)
    missing = ((0, pairs * FILTERS - filters), (0, padded_depth(depth) - depth))
    padded = np.pad(rows, missing).reshape(pairs, FILTERS, -1, WORD)
    return np.ascontiguousarray(padded.transpose(0, 2, 1, 3))


def flipped_words(weights: Array, together: int = FILTERS) -> Array:
    """A few filters at a time, word by word, with the signs flipped that
    `edgec/dense/dense_4x2_s8_dsp.h` wants.

    Args:
        weights: int8 [O, ...].
        together: filters whose words stand beside each other.

    Returns:
        int8 [ceil(O / together), words, together, 4]; what is missing at the ends is zero.
    """
    return np.ascontiguousarray(_words(weights, together) ^ SIGNS)


def paired_words(weights: Array, together: int) -> Array:
    """A few filters at a time, word by word, for SXTB16 (`edgec/dense/dense_2x2_s16_dsp.h`).

    Args:
        weights: int8 [O, ...].
        together: filters whose words stand beside each other.

    Returns:
        int8 [ceil(O / together), words, together, 4], the weights 0, 2, 1, 3 of each word; what is
        missing at the ends is zero.
    """
    return np.ascontiguousarray(_words(weights, together)[..., PAIRS])


def joined_filters(weights: Array) -> Array:
    """Four filters at a time, two in one: `edgec/dense/dense_1x4_pairs_dsp.h`.

    Args:
        weights: int8 [O, ...], more than -128.

    Returns:
        int8 [ceil(O / 4), words, 2, 2, 4]: of each word of four columns those of two columns, of
        the first two filters and of the others, 256 times the first filter's weight and the
        second's in each half word; what is missing at the ends is zero.
    """
    words = _words(weights, _JOINED).astype(np.int32)
    pairs = words[:, :, 0::2] * 256 + words[:, :, 1::2]
    columns = pairs.reshape(*pairs.shape[:3], 2, 2).swapaxes(2, 3)
    return np.ascontiguousarray(columns.astype("<i2")).view(np.int8)


def _words(weights: Array, together: int) -> Array:
    rows = weights.reshape(weights.shape[0], -1)
    filters, depth = rows.shape
    padded = np.pad(rows, ((0, -filters % together), (0, -depth % WORD)))
    return padded.reshape(-(-filters // together), together, -1, WORD).transpose(0, 2, 1, 3)


def odd_sums(weights: Array) -> Array:
    """Additions to the biases for products with codes of any value
    (`edgec/dense/dense_4x2_s8_dsp.h`).

    Args:
        weights: int8 [O, ...].

    Returns:
        int64 [O]: 128 times the sum of each filter's weights 1, 3, 5, ...
    """
    rows = weights.reshape(weights.shape[0], -1).astype(np.int64)
    return np.asarray(128 * rows[:, 1::2].sum(axis=1))


def by_column(weights: Array, filters: int, padded_depth: int) -> Array:
    """A few filters at a time, one weight of each in turn: `edgec/dense/dense_5x2_s8_m0.h`.

    Args:
        weights: int8 [O, ...].
        filters: in a group.
        padded_depth: weights of a filter with those that are added.

    Returns:
        int8 [ceil(O / filters), padded_depth, filters]; what is missing at the ends is zero.
    """
    rows = weights.reshape(weights.shape[0], -1)
    missing = ((0, -len(rows) % filters), (0, padded_depth - rows.shape[1]))
    padded = np.pad(rows, missing).reshape(-1, filters, padded_depth)
    return np.ascontiguousarray(padded.transpose(0, 2, 1))
