"""Small TensorFlow Lite files, written with the flatbuffer builder of the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
import tflite

from edgec.base.dtypes import Array

_TYPES = {
    "float32": tflite.TensorType.FLOAT32,
    "float16": tflite.TensorType.FLOAT16,
    "int4": tflite.TensorType.INT4,
    "int8": tflite.TensorType.INT8,
    "uint8": tflite.TensorType.UINT8,
    "int16": tflite.TensorType.INT16,
    "int32": tflite.TensorType.INT32,
    "int64": tflite.TensorType.INT64,
    "bool": tflite.TensorType.BOOL,
    "string": tflite.TensorType.STRING,
    "resource": tflite.TensorType.RESOURCE,
}


@dataclass(frozen=True)
class Sparsity:
    """Order of axes and blocks, the axes of blocks, and the levels of the tree in that order.

    A level is the size of a dense one, or segments and indices of compressed rows.
    """

    order: Sequence[int] = ()
    blocks: Sequence[int] = ()
    levels: Sequence[int | tuple[Sequence[int], Sequence[int]]] = ()


@dataclass(frozen=True)
class T:
    """A tensor: computed (`data` None) or constant; `signature`: -1 where a size is open.

    `offset`: where its elements lie in the file, if they do not lie in the flatbuffer.
    """

    shape: Sequence[int]
    data: Array | None = None
    dtype: str = "float32"
    scale: Sequence[float] = ()
    zero: Sequence[int] = ()
    axis: int = 0
    signature: Sequence[int] | None = None
    variable: bool = False
    sparse: Sparsity | None = None
    offset: int = 0


def const(array: Any, scale: Sequence[float] = (), zero: Sequence[int] = (), axis: int = 0) -> T:
    array = np.asarray(array)
    return T(array.shape, array, array.dtype.name, scale, zero or [0] * len(scale), axis)


@dataclass(frozen=True)
class Op:
    """An operator; inputs and outputs by name, "" for an absent one; options by field."""

    op: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    kind: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    custom: str = ""
    custom_options: bytes = b""


@dataclass(frozen=True)
class Net:
    """A network that operators call."""

    tensors: Mapping[str, T]
    operators: Sequence[Op]
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()


def write_tflite(
    path: Path,
    tensors: Mapping[str, T],
    operators: Sequence[Op],
    inputs: Sequence[str] = ("x",),
    outputs: Sequence[str] = ("y",),
    **model: Any,
) -> Path:
    """Write a file of one network."""
    path.write_bytes(tflite_bytes(tensors, operators, inputs, outputs, **model))
    return path


def tflite_bytes(
    tensors: Mapping[str, T],
    operators: Sequence[Op],
    inputs: Sequence[str] = ("x",),
    outputs: Sequence[str] = ("y",),
    *,
    version: int = 3,
    subgraphs: int = 1,
    bodies: Sequence[Net] = (),
    signature: Mapping[str, str] | None = None,
    metadata: bytes | None = None,
) -> bytes:
    """The bytes of a file of a network, `subgraphs` times, and of others that it calls."""
    b = flatbuffers.Builder(1024)
    numbers = {name: number for number, name in enumerate(tensors)}
    nets = (*[Net(tensors, operators, inputs, outputs)] * subgraphs, *bodies)
    codes = list(dict.fromkeys((op.op, op.custom) for net in nets for op in net.operators))
    buffers = [_table(b, "Buffer")]
    graphs = [_graph(b, net, codes, buffers) for net in nets]
    signatures = {}
    if signature is not None:
        given = [_map(b, name, numbers[t]) for name, t in signature.items() if t in inputs]
        got = [_map(b, name, numbers[t]) for name, t in signature.items() if t in outputs]
        key = b.CreateString("serving_default")
        one = _table(
            b, "SignatureDef", Inputs=_offsets(b, given), Outputs=_offsets(b, got), SignatureKey=key
        )
        signatures = {"SignatureDefs": _offsets(b, [one])}
    if metadata is not None:
        buffers.append(_table(b, "Buffer", Data=b.CreateByteVector(metadata)))
        name = b.CreateString("TFLITE_METADATA")
        entry = _table(b, "Metadata", Name=name, Buffer=len(buffers) - 1)
        signatures["Metadata"] = _offsets(b, [entry])
    made_codes = [_code(b, *code) for code in codes]
    b.Finish(
        _table(
            b,
            "Model",
            Version=version,
            OperatorCodes=_offsets(b, made_codes),
            Subgraphs=_offsets(b, graphs),
            Buffers=_offsets(b, buffers),
            **signatures,
        ),
        b"TFL3",
    )
    return bytes(b.Output())


def _graph(
    b: flatbuffers.Builder, net: Net, codes: Sequence[tuple[str, str]], buffers: list[int]
) -> int:
    numbers = {name: number for number, name in enumerate(net.tensors)}
    first = len(buffers)
    buffers += [_buffer(b, t) for t in net.tensors.values()]
    made = [_tensor(b, name, t, numbers[name] + first) for name, t in net.tensors.items()]
    ops = [_operator(b, op, numbers, codes.index((op.op, op.custom))) for op in net.operators]
    return _table(
        b,
        "SubGraph",
        Tensors=_offsets(b, made),
        Inputs=_ints(b, [numbers[n] for n in net.inputs]),
        Outputs=_ints(b, [numbers[n] for n in net.outputs]),
        Operators=_offsets(b, ops),
    )


def _table(b: flatbuffers.Builder, name: str, **fields: Any) -> int:
    getattr(tflite, f"{name}Start")(b)
    for key, value in fields.items():
        getattr(tflite, f"{name}Add{key}")(b, value)
    return int(getattr(tflite, f"{name}End")(b))


def _buffer(b: flatbuffers.Builder, t: T) -> int:
    if t.data is None:
        return _table(b, "Buffer")
    if t.offset:
        return _table(b, "Buffer", Offset=t.offset, Size=t.data.nbytes)
    return _table(b, "Buffer", Data=_bytes(b, t.data))


def _bytes(b: flatbuffers.Builder, array: Array) -> int:
    return int(b.CreateByteVector(np.ascontiguousarray(array).tobytes()))


def _ints(b: flatbuffers.Builder, values: Sequence[int], dtype: Any = np.int32) -> int:
    return int(b.CreateNumpyVector(np.asarray(values, dtype)))


def _offsets(b: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    b.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        b.PrependUOffsetTRelative(offset)
    return int(b.EndVector())


def _map(b: flatbuffers.Builder, name: str, number: int) -> int:
    text = b.CreateString(name)
    return _table(b, "TensorMap", Name=text, TensorIndex=number)


_VERSIONS = {"BROADCAST_TO": 2}
"""Versions of operators whose first one the interpreter does not know any more."""


def _code(b: flatbuffers.Builder, op: str, custom: str) -> int:
    number = getattr(tflite.BuiltinOperator, op)
    extra = {"CustomCode": b.CreateString(custom)} if custom else {}
    return _table(
        b,
        "OperatorCode",
        DeprecatedBuiltinCode=min(number, 127),
        BuiltinCode=number,
        Version=_VERSIONS.get(op, 1),
        **extra,
    )


def _tensor(b: flatbuffers.Builder, name: str, t: T, buffer: int) -> int:
    fields: dict[str, Any] = {"Name": b.CreateString(name), "Shape": _ints(b, t.shape)}
    if t.signature is not None:
        fields["ShapeSignature"] = _ints(b, t.signature)
    if t.scale:
        scale, zero = _ints(b, t.scale, np.float32), _ints(b, t.zero, np.int64)
        fields["Quantization"] = _table(
            b, "QuantizationParameters", Scale=scale, ZeroPoint=zero, QuantizedDimension=t.axis
        )
    if t.sparse is not None:
        fields["Sparsity"] = _sparsity(b, t.sparse)
    return _table(b, "Tensor", Type=_TYPES[t.dtype], Buffer=buffer, IsVariable=t.variable, **fields)


def _sparsity(b: flatbuffers.Builder, sparse: Sparsity) -> int:
    levels = _offsets(b, [_level(b, level) for level in sparse.levels])
    order, blocks = _ints(b, sparse.order), _ints(b, sparse.blocks)
    return _table(
        b, "SparsityParameters", TraversalOrder=order, BlockMap=blocks, DimMetadata=levels
    )


def _level(b: flatbuffers.Builder, level: int | tuple[Sequence[int], Sequence[int]]) -> int:
    """A level of a sparse tensor; lists are of 8 bits where they fit, else of 16 or 32."""
    if isinstance(level, int):
        return _table(b, "DimensionMetadata", Format=tflite.DimensionType.DENSE, DenseSize=level)
    fields: dict[str, Any] = {"Format": tflite.DimensionType.SPARSE_CSR}
    for part, numbers in zip(("ArraySegments", "ArrayIndices"), level, strict=True):
        most = max(numbers, default=0)
        kind = (
            "Uint8Vector" if most < 1 << 8 else "Uint16Vector" if most < 1 << 16 else "Int32Vector"
        )
        dtype = {"U": np.uint8, "I": np.int32}[kind[0]] if "16" not in kind else np.uint16
        fields[f"{part}Type"] = getattr(tflite.SparseIndexVector, kind)
        fields[part] = _table(b, kind, Values=_ints(b, numbers, dtype))
    return _table(b, "DimensionMetadata", **fields)


def _operator(b: flatbuffers.Builder, op: Op, numbers: Mapping[str, int], code: int) -> int:
    inputs = _ints(b, [numbers[name] if name else -1 for name in op.inputs])
    outputs = _ints(b, [numbers[name] for name in op.outputs])
    fields: dict[str, Any] = {"OpcodeIndex": code, "Inputs": inputs, "Outputs": outputs}
    if op.kind:
        options = {key: _option(b, value) for key, value in op.options.items()}
        fields["BuiltinOptions"] = _table(b, op.kind, **options)
        fields["BuiltinOptionsType"] = getattr(tflite.BuiltinOptions, op.kind)
    if op.custom_options:
        fields["CustomOptions"] = b.CreateByteVector(op.custom_options)
    return _table(b, "Operator", **fields)


def _option(b: flatbuffers.Builder, value: Any) -> Any:
    if isinstance(value, str):
        return b.CreateString(value)
    return _ints(b, value) if isinstance(value, list) else value
