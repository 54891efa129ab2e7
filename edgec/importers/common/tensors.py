"""Tensors during translation, and what handlers raise when they cannot go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Constant, Value
from edgec.ir.qparams import QuantParams

Tensor = Value | Constant


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Gathered(Constant):
    """A constant whose elements were looked up in a table of vectors, on its way to be a weight.

    An element is one of the table's, or the sum of a few, its *terms*.

    Operators that move elements move `elements` along, so that whatever way a model takes from the
    indices to the weight, the weight still knows them.

    Attributes:
        table: int8 [S, G], the codes.
        elements: for each term int32, where in the flattened table each element comes from; all
            have the shape of `array`.
    """

    table: Array
    elements: tuple[Array, ...]

    def plain(self) -> Constant:
        """This constant without its origin."""
        return Constant(self.name, self.array, self.quant)


class UnsupportedError(Exception):
    """Raised by a handler for a node that cannot be compiled; all of them are reported at once.

    Attributes:
        reason: what stands in the way, a clause without a full stop.
        remedy: what the user can do.
    """

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


class UnknownTensorError(Exception):
    """A node reads a tensor whose shape is unknown, because an unsupported node computes it."""


def require_data(value: Value) -> Value:
    """`value`, if it holds real numbers or codes of real numbers.

    Raises:
        UnsupportedError: it holds indices, token ids or a mask.
    """
    if value.dtype is DType.INT32:
        raise UnsupportedError(
            "it computes on integers of the run",
            "let token ids choose rows (Gather) and masks hide keys, one number a key",
        )
    return value


def require_real(value: Value) -> Value:
    """`value`, if it holds real numbers.

    Raises:
        UnsupportedError: it holds integers, e.g. codes that nobody dequantized.
    """
    require_data(value)
    if value.dtype is not DType.FLOAT32:
        raise UnsupportedError(
            f"it computes on {value.dtype.value} numbers",
            "put DequantizeLinear before the node (QDQ format), or export a float model",
        )
    return value


def same_array(a: Array, b: Array) -> bool:
    """Equal shape, element type and content."""
    return a is b or (a.shape == b.shape and a.dtype == b.dtype and bool(np.array_equal(a, b)))


def moved_constant(constant: Constant, move: Callable[[Array], Array]) -> Constant:
    """A constant whose elements were only moved, its quantization moved along.

    Args:
        constant: any constant.
        move: reshapes, permutes or selects elements of an array of the constant's shape.

    Raises:
        UnsupportedError: per-channel parameters no longer lie along one axis.
    """
    array = move(constant.array)
    quant = constant.quant
    if quant is not None and quant.axis is not None:
        index_shape = [1] * constant.array.ndim
        index_shape[quant.axis] = -1
        channels = np.arange(len(quant.scale)).reshape(index_shape)
        quant = _quant_of_channels(quant, move(np.broadcast_to(channels, constant.shape)))
    if isinstance(constant, Gathered):
        return replace(
            constant, array=array, quant=quant, elements=tuple(map(move, constant.elements))
        )
    return Constant(constant.name, array, quant)


def _quant_of_channels(quant: QuantParams, channel: Array) -> QuantParams:
    """The parameters, given the channel that each element of the moved array belongs to."""
    for axis in range(channel.ndim):
        along = np.moveaxis(channel, axis, 0).reshape(channel.shape[axis], -1)
        if along.size and bool((along == along[:, :1]).all()):
            picked = [int(i) for i in along[:, 0]]
            return QuantParams(
                tuple(quant.scale[i] for i in picked),
                tuple(quant.zero_point[i] for i in picked),
                quant.dtype,
                axis,
            )
    raise UnsupportedError(
        "it reorders a quantized weight across its channels",
        "quantize the weight in the shape in which it is used",
    )
