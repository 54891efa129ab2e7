"""Weights in the element types of 4 and 2 bits, in an exported model.

Codes and scales stay what they are: where INT4 (opset 21) or INT2 (opset 25) holds all codes of a
weight, two or four of them are a byte.

Sources: ONNX operator documentation (DequantizeLinear 21 and 25) and IR specification (TensorProto:
packing of the types of fewer than 8 bits).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, InternalError
from edgec.base.options import WeightTypes

_LAYERS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


class _Kind(NamedTuple):
    """An element type: bits of an element, and the first versions of ONNX that know it."""

    bits: int
    element: int
    opset: int
    ir_version: int


_INT4 = _Kind(4, onnx.TensorProto.INT4, 21, 10)
# Its number in TensorProto.DataType, which has the name from onnx 1.20 on.
_INT2 = _Kind(2, 26, 25, 13)
_KINDS: Mapping[WeightTypes, tuple[_Kind, ...]] = MappingProxyType(
    {WeightTypes.INT8: (), WeightTypes.INT4: (_INT4,), WeightTypes.INT2: (_INT2, _INT4)}
)
"""Narrowest first."""


def check_weight_types(types: WeightTypes, *, quantized: bool, qonnx: bool = False) -> None:
    """Refuse types that the installed onnx cannot write, or that would be used nowhere.

    Args:
        types: the narrowest type that may be used.
        quantized: the activations of the file are quantized; see `store_narrow`.
        qonnx: the file becomes QONNX, whose tensors are all float32.

    Raises:
        ConfigError: one of these.
    """
    if qonnx and types is not WeightTypes.INT8:
        raise ConfigError(
            "QONNX stores weights as float32, beside the number of their bits",
            where=f"--qonnx --weight-types {types.value}",
            hint="leave out one of the two",
        )
    if quantized and types is WeightTypes.INT2:
        raise ConfigError(
            "onnxruntime does not load weights of 2 bits between quantized activations",
            where="--weight-types int2",
            hint="give int4; edgec packs 2 bits in flash whatever the file's type is",
        )
    newest = onnx.defs.onnx_opset_version()
    if any(kind.opset > newest for kind in _KINDS[types]):
        raise ConfigError(
            f"onnx {onnx.__version__} knows no such elements",
            where=f"--weight-types {types.value}",
            hint="update it (pip install -U onnx), or give int4",
        )


def store_narrow(model: onnx.ModelProto, types: WeightTypes) -> None:
    """Store each weight of an exported model in the narrowest type that holds its codes.

    Only weights of Conv, ConvTranspose, Gemm and MatMul, int8 around 0, that one DequantizeLinear
    reads.  Layers of quantized activations keep at least 4 bits: onnxruntime makes them operators
    on codes (QLinearConv, QGemm), which take none of 2, and does not load the file (as of 1.32).

    Args:
        model: changed in place; its opset and IR version rise to those that know the types.
        types: the narrowest type that may be used.

    Raises:
        InternalError: the result is not valid ONNX.
    """
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in model.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    quantized = {n.output[0] for n in model.graph.node if n.op_type == "DequantizeLinear"}
    used: list[_Kind] = []
    for node in model.graph.node:
        if not _holds_weight(node, stored, readers):
            continue
        least = 4 if _is_fused(node, readers, quantized) else 2
        weight, zero = stored[node.input[0]], stored[node.input[2]]
        codes = numpy_helper.to_array(weight)
        zeros = numpy_helper.to_array(zero)
        kind = next((k for k in _KINDS[types] if k.bits >= least and _fits(codes, k)), None)
        if kind is not None and not zeros.any():
            weight.CopyFrom(_packed(weight.name, codes, kind))
            zero.CopyFrom(_packed(zero.name, zeros, kind))
            used.append(kind)
    if not used:
        return
    (own,) = (each for each in model.opset_import if each.domain == "")
    own.version = max(own.version, *(kind.opset for kind in used))
    model.ir_version = max(model.ir_version, *(kind.ir_version for kind in used))
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise InternalError(f"the exported model is not valid ONNX: {error}") from error


def _holds_weight(
    node: onnx.NodeProto,
    stored: Mapping[str, onnx.TensorProto],
    readers: Mapping[str, list[onnx.NodeProto]],
) -> bool:
    """Whether a node dequantizes an int8 weight that it alone reads, for layers alone."""
    if node.op_type != "DequantizeLinear" or len(node.input) != 3:
        return False
    own = [node.input[0], node.input[2]]
    layers = readers.get(node.output[0], [])
    return (
        all(name in stored and len(readers[name]) == 1 for name in own)
        and stored[node.input[0]].data_type == onnx.TensorProto.INT8
        and bool(layers)
        and all(r.op_type in _LAYERS and r.input[1] == node.output[0] for r in layers)
    )


def _is_fused(
    node: onnx.NodeProto, readers: Mapping[str, list[onnx.NodeProto]], quantized: set[str]
) -> bool:
    """Whether a layer of quantized activations reads the weight of a node."""
    return any(layer.input[0] in quantized for layer in readers[node.output[0]])


def _fits(codes: Array, kind: _Kind) -> bool:
    half = 1 << (kind.bits - 1)
    return bool(-half <= codes.min(initial=0) and codes.max(initial=0) < half)


def _packed(name: str, codes: Array, kind: _Kind) -> onnx.TensorProto:
    """Codes as a tensor of few bits: the first in the lowest bits of a byte, zeros at the end."""
    count = 8 // kind.bits
    flat = codes.reshape(-1).astype(np.int64) & ((1 << kind.bits) - 1)
    rows = np.pad(flat, (0, -flat.size % count)).reshape(-1, count)
    raw = (rows << (kind.bits * np.arange(count))).sum(axis=1).astype(np.uint8).tobytes()
    return onnx.TensorProto(name=name, data_type=kind.element, dims=codes.shape, raw_data=raw)
