"""Layers with pooled weights without a table of responses: what their kernels share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import LoweringError
from edgec.ir.graph import Node
from edgec.ir.weighted import pooled_attrs
from edgec.kernels.common.form_ends import Rescale16
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window

CODE_BITS = 8

POOL_WORD_BYTES = 4

BLOCK = 4
"""Output channels computed together, so that a loaded activation is used several times."""


@dataclass(frozen=True, slots=True)
class PooledDense(LayerFunction):
    """Base class of kernels that expand indices, or look bits up.

    x int8 [height, width, channels], y int8 [out_height, out_width, out_channels].  Biases int32
    [out_channels] hold the constant part of the sums; with a width chosen at run time they are
    [2, out_channels]: the plain biases, then the sum of each filter's weights.  Short ones are
    stored as `short_numbers` says.

    Attributes:
        window: geometry.
        out_channels: filters.
        group: weights of a vector.
        index_bits: bits of a stored index.
        bits: width of activations; None: an argument of the kernel.
        shift: right shift of the requantization.
        residual_shift: right shift of the addition at the end; None: there is no addition.
        short: biases and multipliers have 16 bits each.
        rescale16: the end in a transformer's arithmetic, which then replaces both.
        terms: vectors of the pool that are added up to a vector of the layer.
    """

    params_types: ClassVar[tuple[str, str]] = (
        "edgec_pool_params_t",
        "edgec_pool_rescale16_params_t",
    )
    window: Window
    out_channels: int
    group: int
    index_bits: int
    bits: int | None
    shift: int
    residual_shift: int | None
    short: bool = field(default=False, kw_only=True)
    rescale16: Rescale16 | None = field(default=None, kw_only=True)
    terms: int = field(default=1, kw_only=True)

    @property
    def adds_terms(self) -> bool:
        """A vector of the layer is the sum of several of the pool."""
        return self.terms > 1

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""
        wide, rescale16 = self.params_types
        narrow = "edgec_pool_short_params_t" if self.short else wide
        return narrow if self.rescale16 is None else rescale16

    @property
    def runtime_bits(self) -> bool:
        """The width of activations is an argument of the kernel."""
        return self.bits is None

    def run_parameters(self) -> tuple[str, ...]:
        """The width of activations of a run."""
        return ("int32_t bits",) if self.runtime_bits else ()

    @property
    def vectors(self) -> int:
        """Vectors of a tap, each the sum of `terms` vectors of the pool."""
        return -(-self.window.channels // self.group)

    @property
    def filter_indices(self) -> int:
        """Indices of a filter."""
        return self.window.taps * self.vectors * self.terms

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the operator that one call stands for."""
        return self.out_elements * self.window.taps * self.window.channels

    def _describe(self, how: str) -> str:
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        terms = describe_terms(self.terms)
        return f"Pooled convolution {x} to {y}, {describe_window(w)}, {terms}{how}"


def describe_terms(terms: int) -> str:
    """Number of pool vectors in a vector of a layer, as words before others."""
    return f"sums of {terms} vectors, " if terms > 1 else ""


def row_sums(weights: Array) -> Array:
    """int64 [O]."""
    return np.asarray(weights.reshape(len(weights), -1).astype(np.int64).sum(axis=1))


def stacked(bias: Array, sums: Array) -> Array:
    """Biases and sums of weights, for a width of activations that is chosen at run time."""
    return frozen(np.stack([bias.astype(np.int64), sums]), np.int32)


def check_exact(node: Node) -> None:
    """Check that the responses of a layer are not scaled.

    Raises:
        LoweringError: they are.
    """
    if pooled_attrs(node).rounding.response_shift:
        raise LoweringError(
            "responses are scaled, which only the kernel with a table of responses does",
            where=node.name,
        )
