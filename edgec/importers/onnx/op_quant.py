"""QuantizeLinear and DequantizeLinear.

Integer weights stay integer: dequantizing a constant gives a `Constant` with `quant`.  At run time
the codes are a `Value` of integer dtype; a DequantizeLinear pins the quantization of its input, and
`pins` carries it back over data movement to where the codes come from.

Codes that edgec does not keep: weights of 16 bits, and scales of blocks.  Such weights become the
real numbers that their codes stand for, which edgec quantizes as it does those of a float model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import onnx_ir as ir

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ImportModelError
from edgec.base.names import shown
from edgec.importers.common.pins import Pin
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.metadata import record_note
from edgec.ir.qparams import QuantParams

WIDE = (DType.INT16, DType.UINT16)


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


_CODE_TYPES: Mapping[ir.DataType, DType] = MappingProxyType(
    {
        ir.DataType.INT8: DType.INT8,
        ir.DataType.UINT8: DType.UINT8,
        ir.DataType.INT16: DType.INT16,
        ir.DataType.UINT16: DType.UINT16,
        ir.DataType.INT32: DType.INT32,
        # Two and four bits fit in eight; the codes and zero points are the same numbers.
        ir.DataType.INT4: DType.INT8,
        ir.DataType.UINT4: DType.UINT8,
        ir.DataType.INT2: DType.INT8,
        ir.DataType.UINT2: DType.UINT8,
    }
)
FEW_BITS: Mapping[ir.DataType, int] = MappingProxyType(
    {
        ir.DataType.INT4: 4,
        ir.DataType.UINT4: 4,
        ir.DataType.INT2: 2,
        ir.DataType.UINT2: 2,
    }
)
"""Bits of the element types that only constants may have."""


def quantize_linear(ctx: Context, node: OnnxNode) -> Tensor:
    """Activations to 8 or 16 bits per tensor; constants in any form (computed at import)."""
    if isinstance(found := node.tensor(0), Constant):
        return _codes_of_constant(node, found)
    x = node.real_value(0)
    bits = FEW_BITS.get(_code_type(node, _output_type(node)) or ir.DataType.UNDEFINED)
    if bits is not None:
        raise UnsupportedError(f"activations are quantized to {bits} bits", "quantize them to int8")
    _refuse_blocks(node)
    quant = _parameters(node, x.shape, _output_type(node))
    _check_activation(quant)
    return ctx.emit(ops.QuantizeLinear(), x, dtype=quant.dtype, quant=quant)


def _codes_of_constant(node: OnnxNode, x: Constant) -> Constant:
    """The codes of a constant, rounded half to even as ONNX does."""
    quant = _parameters(node, x.shape, _output_type(node))
    own = _code_type(node, _output_type(node))
    shape = [1] * len(x.shape)
    if quant.axis is not None:
        shape[quant.axis] = -1
    scale = np.asarray(quant.scale, np.float32).reshape(shape if quant.axis is not None else ())
    zero = np.asarray(quant.zero_point).reshape(scale.shape)
    info = np.iinfo(quant.dtype.numpy)
    # What the type of the file holds; the type that keeps its codes here may hold more.
    unused = info.bits - FEW_BITS.get(own or ir.DataType.UNDEFINED, info.bits)
    low, high = info.min >> unused, info.max >> unused
    codes = np.rint(x.real() / scale) + zero
    return Constant(node.outputs[0], np.clip(codes, low, high).astype(quant.dtype.numpy))


def dequantize_linear(ctx: Context, node: OnnxNode) -> Tensor:
    """8 or 16 bits (activations per tensor, weights also per channel or block), int32 (biases)."""
    x = node.tensor(0)
    blocks = node.integer("block_size", 0)
    if blocks and isinstance(x, Constant):
        zero = node.constant(2, "zero point").array if node.has(2) else None
        # onnxruntime's own quantizer writes negative scales; the finished weights are checked.
        scale = node.real_array(1, "scale")
        return block_weight(ctx, x, scale, zero, node.integer("axis", 1), blocks)
    _refuse_blocks(node)
    _refuse_other_type(node)
    quant = _parameters(node, x.shape, node.onnx_dtype(0))
    if isinstance(x, Constant):
        if x.quant is not None or x.dtype is not quant.dtype:
            raise UnsupportedError("its input are no codes of its type", "correct the model")
        return wide_weight(ctx, x, quant) if quant.dtype in WIDE else replace(x, quant=quant)
    _check_activation(quant)
    if x.dtype is not quant.dtype:
        raise UnsupportedError(
            f"its input is {x.dtype.value}, its zero point {quant.dtype.value}", "correct the model"
        )
    _explain_rows(ctx, x, quant)
    ctx.pins.append(Pin(x.name, quant, node.name))
    return ctx.emit(ops.DequantizeLinear(), x, dtype=DType.FLOAT32)


def _explain_rows(ctx: Context, codes: Value, quant: QuantParams) -> None:
    """Give a table of codes the meaning that its rows have."""
    made = ctx.producer(codes)
    if made is not None and isinstance(made.attrs, ops.Embedding):
        table = ctx.builder.constants[ops.Embedding.Inputs.of(made.inputs).table]
        ctx.builder.constants[table.name] = replace(table, quant=quant)


def _refuse_blocks(node: OnnxNode) -> None:
    if node.integer("block_size", 0):
        raise UnsupportedError(
            "it quantizes activations in blocks", "quantize activations per tensor"
        )


def _refuse_other_type(node: OnnxNode) -> None:
    """Refuse codes of few bits whose zero point has another type, or the other way round."""
    if not node.has(2):
        return
    codes, zero = node.onnx_dtype(0), node.onnx_dtype(2)
    if codes is None or zero is None or codes is zero or not {codes, zero} & FEW_BITS.keys():
        return
    raise UnsupportedError(
        f"its input is {codes.name.lower()}, its zero point {zero.name.lower()}",
        "store both in one type",
    )


def _check_activation(quant: QuantParams) -> None:
    if quant.dtype not in (DType.INT8, DType.UINT8, *WIDE) or quant.axis is not None:
        how = "tensor" if quant.axis is None else "channel"
        raise UnsupportedError(
            f"activations are quantized to {quant.dtype.value} per {how}",
            "quantize activations to int8 or uint8 per tensor",
        )


def _output_type(node: OnnxNode) -> ir.DataType:
    """Type of the codes of QuantizeLinear when no zero point says it: output_dtype, else uint8."""
    return ir.DataType(node.integer("output_dtype", 0) or ir.DataType.UINT8)


def _parameters(node: OnnxNode, shape: tuple[int, ...], default: ir.DataType | None) -> QuantParams:
    """Scale, zero point and axis of a (de)quantization node.

    Args:
        node: the node.
        shape: shape of its first input.
        default: type of the codes when there is no zero point.
    """
    scale = _scales(node)
    found = _code_type(node, default)
    dtype = _CODE_TYPES.get(found) if found is not None else None
    if dtype is None:
        raise UnsupportedError(
            f"codes of type {found.name if found else 'unknown'}", "quantize to int8 or uint8"
        )
    zero_point = np.zeros(scale.size, int)
    if node.has(2):
        zero_point = node.constant(2, "zero point").array.reshape(-1).astype(int)
    zeros = tuple(int(z) for z in zero_point)
    if len(zeros) != scale.size:
        raise UnsupportedError("scale and zero point differ in length", "correct the model")
    if dtype is DType.INT32 and any(zeros):
        # ONNX: "when dequantizing int32, there's no zero point".
        raise UnsupportedError(
            f"codes of 32 bits with the zero point {next(filter(None, zeros))}",
            "quantize biases with the zero point 0",
        )
    scales = tuple(float(s) for s in scale.reshape(-1))
    if scale.size == 1:
        return QuantParams(scales, zeros, dtype)
    axis = node.integer("axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    if scale.ndim != 1 or not 0 <= axis < len(shape) or shape[axis] != scale.size:
        raise UnsupportedError(
            f"{scale.size} scales do not fit axis {axis} of {list(shape)}", "correct the model"
        )
    return QuantParams(scales, zeros, dtype, axis)


def _code_type(node: OnnxNode, default: ir.DataType | None) -> ir.DataType | None:
    """ONNX type of the codes: that of the zero point if there is one."""
    return node.onnx_dtype(2) if node.has(2) else default


def _scales(node: OnnxNode) -> Array:
    """The scales, positive and finite."""
    scale = node.real_array(1, "scale")
    if not scale.size or not np.all(np.isfinite(scale)) or not np.all(scale > 0.0):
        raise ImportModelError(
            f"the scale {shown(node.input_name(1))!r} is not a positive, finite number",
            where=shown(node.name),
            hint="quantize the model again with calibration data that vary",
        )
    return scale
