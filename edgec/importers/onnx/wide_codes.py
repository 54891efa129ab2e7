"""Codes that edgec does not keep: 16 bits of activations and weights, and scales of blocks.

The targets compute with 8-bit codes.  Activations of 16 bits get codes of 8 bits for the same range
of real numbers; weights become the real numbers that their codes stand for, which edgec quantizes
as it does those of a float model.
"""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.importers.common.tensors import UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.import_notes import record_note
from edgec.ir.qparams import QuantParams

WIDE = (DType.INT16, DType.UINT16)
_STEPS = 255


def narrowed(ctx: Context, x: Value, quant: QuantParams) -> QuantParams:
    """Parameters of int8 for the range that the 16-bit codes of x have.

    Of a value that is limited, e.g. by a Relu, no codes are spent on what it cannot be.
    """
    record_note(
        ctx.builder.metadata,
        "16-bit activations",
        "activations of 16 bits are computed with 8: each has the codes that cover the same range",
    )
    info = np.iinfo(quant.dtype.numpy)
    scale, zero = quant.tensor_scale, quant.tensor_zero_point
    low, high = scale * (info.min - zero), scale * (info.max - zero)
    limits = _limits(ctx, x)
    low, high = max(low, min(limits[0], 0.0)), min(high, max(limits[1], 0.0))
    if not low < high:
        raise UnsupportedError("its codes have no range", "quantize the model again")
    step = (high - low) / _STEPS
    point = math.floor(INT8_MIN - low / step + 0.5)
    return QuantParams.per_tensor(step, min(max(point, INT8_MIN), INT8_MAX))


def _limits(ctx: Context, x: Value) -> tuple[float, float]:
    made = ctx.producer(x)
    if made is not None and isinstance(made.attrs, ops.Clip):
        return made.attrs.low, made.attrs.high
    return -math.inf, math.inf


def wide_weight(ctx: Context, x: Constant, quant: QuantParams) -> Constant:
    """The real numbers of a weight of 16-bit codes."""
    record_note(
        ctx.builder.metadata, "16-bit weights", "weights of 16 bits are quantized again, to 8 bits"
    )
    return Constant(x.name, quant.dequantize(x.array).astype(np.float32))


def block_weight(
    ctx: Context, x: Constant, scale: Array, zero: Array | None, axis: int, size: int
) -> Constant:
    """The real numbers of a weight that has a scale for every block of `size` codes along `axis`.

    Args:
        ctx: takes a note.
        x: the codes.
        scale: float32, the shape of x with the number of blocks along `axis`.
        zero: whole numbers of the shape of `scale`; None: 0.
        axis: the axis that is cut into blocks; may be negative.
        size: codes of a block; the last one may have fewer.

    Raises:
        UnsupportedError: the shapes do not fit.
    """
    rank = x.array.ndim
    axis = axis + rank if axis < 0 else axis
    blocks = -(-x.shape[axis] // size) if 0 <= axis < rank else 0
    wanted = (*x.shape[:axis], blocks, *x.shape[axis + 1 :])
    zero = np.zeros(wanted) if zero is None else zero
    if scale.shape != wanted or zero.shape != wanted:
        raise UnsupportedError(
            f"scales of shape {list(scale.shape)} do not fit blocks of {size} of {list(x.shape)}",
            "correct the model",
        )
    record_note(
        ctx.builder.metadata,
        "blocks",
        "weights with a scale for each block are quantized again, to 8 bits with a scale for each "
        "output channel",
    )
    own_scale, own_zero = (
        np.repeat(a.astype(np.float32), size, axis).take(range(x.shape[axis]), axis)
        for a in (scale, zero)
    )
    return Constant(x.name, (x.array.astype(np.float32) - own_zero) * own_scale)
