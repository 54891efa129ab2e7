"""Tensors of a .tflite file: shapes, element types, stored elements, quantization.

Contents of a .tflite file as plain records; nothing of it is trusted before it was checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import tflite

from edgec.base.dtypes import Array
from edgec.base.errors import ImportModelError
from edgec.base.limits import MAX_ELEMENTS, MAX_RANK
from edgec.base.names import shown
from edgec.importers.common.input_shapes import Dims
from edgec.importers.tflite.sparse import filled


@dataclass(frozen=True, slots=True, eq=False)
class FileTensor:
    """One tensor of the file.

    Attributes:
        name: its name, made unique in the file.
        shape: its sizes, 1 where the file leaves them open.
        dims: its sizes, None where the file leaves them open.
        type: its element type, by the schema's name: "FLOAT32", "INT8", ...
        data: its elements if it is a constant, as they are stored; None otherwise.
        scales: what one step of its codes means, float32: none, one, or one for each channel.
        zero_points: the codes that mean 0, int64, as many as scales.
        axis: the axis of the channels.
        obstacle: why no operator may read it; "" if nothing stands in the way.
    """

    name: str
    shape: tuple[int, ...]
    dims: Dims
    type: str
    data: Array | None
    scales: Array
    zero_points: Array
    axis: int
    obstacle: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class FileOperator:
    """One operator of the file.

    Attributes:
        op: its name in the schema, "CONV_2D", or "CUSTOM name".
        inputs: numbers of tensors, -1 where an optional one is absent.
        outputs: numbers of tensors.
        kind: name of the type of `options`, "Conv2DOptions"; "" without options.
        options: the schema's reader of its attributes; None without options.
        custom: attributes of an operator of somebody's own, a flexbuffer.
    """

    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    kind: str
    options: Any
    custom: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class FileGraph:
    """One of the networks of a file.

    Attributes:
        operators: in the order of a run.
        inputs, outputs: numbers of its own tensors.
    """

    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FileModel:
    """A whole file: the network that a run computes, and others that its operators call.

    Attributes:
        tensors: in one space of numbers: those of the first network, then those of the others.
        count: how many of these the first network has.
        operators: the first network's, in the order of a run.
        inputs, outputs: numbers of its own tensors.
        bodies: the other networks; number n of the file is ``bodies[n - 1]``.
        metadata: what the file says of itself, a flatbuffer of another schema; may be empty.
        signature: name of the only signature; "" if there is none, or there are several.
    """

    tensors: tuple[FileTensor, ...]
    count: int
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    bodies: tuple[FileGraph, ...] = ()
    metadata: bytes = b""
    signature: str = ""


STATE = "is a state that lives between runs"
"""The obstacle of a variable tensor, which only the operator that keeps it reads."""
MAX_NAME = 1 << 12
"""Most bytes of a tensor's name that are kept."""
MAX_SCALES = 1 << 22
"""Most scales of all tensors together; tensors may share them, so a small file can claim many."""

_NUMPY: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "FLOAT32": np.dtype("<f4"),
        "FLOAT16": np.dtype("<f2"),
        "FLOAT64": np.dtype("<f8"),
        "INT8": np.dtype("i1"),
        "UINT8": np.dtype("u1"),
        "INT16": np.dtype("<i2"),
        "UINT16": np.dtype("<u2"),
        "INT32": np.dtype("<i4"),
        "UINT32": np.dtype("<u4"),
        "INT64": np.dtype("<i8"),
        "BOOL": np.dtype("?"),
    }
)
_NO_SCALES = np.zeros(0, np.float32)
_NO_ZEROS = np.zeros(0, np.int64)


def names_of(enumeration: type) -> dict[int, str]:
    """The names of a schema's enumeration, by number."""
    return {n: name for name, n in vars(enumeration).items() if isinstance(n, int)}


_TYPES = names_of(tflite.TensorType)


def unique(stems: Iterable[str]) -> list[str]:
    """Names, made different by a number where they are equal."""
    taken: set[str] = set()
    counts: dict[str, int] = {}
    names = []
    for stem in stems:
        name = stem or "tensor"
        while name in taken:
            counts[stem] = counts.get(stem, 0) + 1
            name = f"{stem or 'tensor'}_{counts[stem]}"
        taken.add(name)
        names.append(name)
    return names


class TensorReader:
    """Reads the tensors of one file."""

    def __init__(self, model: Any, size: int) -> None:
        self._model = model
        self._buffers = model.BuffersLength()
        self._scales_left = MAX_SCALES
        if not 0 <= 4 * self._buffers <= size:
            raise ImportModelError(f"the file claims to hold {self._buffers} buffers")

    def name(self, raw: Any) -> str:
        """Name of a tensor; the first where a converter joined names of fused operators by ';'."""
        return (raw.Name() or b"")[:MAX_NAME].decode().split(";")[0]

    def read(self, raw: Any, name: str) -> FileTensor:
        """The record of a tensor that is called `name` from now on."""
        shape = self._sizes(raw.ShapeLength(), raw.ShapeAsNumpy(), name)
        signature = self._sizes(raw.ShapeSignatureLength(), raw.ShapeSignatureAsNumpy(), name)
        if len(signature) != len(shape):
            signature = shape
        type_name = _TYPES.get(raw.Type(), f"number {raw.Type()}")
        sizes = tuple(max(size, 1) if size < 0 else size for size in shape)
        scales, zero_points, axis = self._quantization(raw, name)
        return FileTensor(
            name=name,
            shape=sizes,
            dims=tuple(None if size < 0 else size for size in signature),
            type=type_name,
            data=self._data(raw, name, type_name, sizes),
            scales=scales,
            zero_points=zero_points,
            axis=axis,
            obstacle=_obstacle(raw),
        )

    def _sizes(self, count: int, vector: Array | int, name: str) -> tuple[int, ...]:
        if isinstance(vector, int):
            return ()
        if count > MAX_RANK:
            raise ImportModelError(
                f"the tensor has {count} dimensions, edgec takes {MAX_RANK}", where=shown(name)
            )
        sizes = tuple(int(size) for size in vector)
        if min(sizes, default=0) < -1 or math.prod(max(s, 1) for s in sizes) > MAX_ELEMENTS:
            raise ImportModelError(f"the tensor has the shape {list(sizes)}", where=shown(name))
        return sizes

    def _data(self, raw: Any, name: str, type_name: str, shape: tuple[int, ...]) -> Array | None:
        number = raw.Buffer()
        if number == 0:
            return None
        if number >= self._buffers:
            raise ImportModelError(f"its buffer {number} is not there", where=shown(name))
        buffer = self._model.Buffers(number)
        if buffer.Offset() > 1:
            raise ImportModelError(
                "its elements lie outside the first 2 GB of the file",
                where=shown(name),
                hint="a model of a microcontroller is far smaller",
            )
        data = buffer.DataAsNumpy()
        # An empty buffer is how older converters mark a tensor that is computed.
        if isinstance(data, int) or not len(data):
            return None
        if raw.Sparsity() is None:
            return _elements(data, name, type_name, shape)
        dtype = _NUMPY.get(type_name)
        if dtype is None or len(data) % dtype.itemsize:
            return np.asarray(data)  # refused where an operator reads it
        return filled(raw, shape, np.frombuffer(data, dtype), name)

    def _quantization(self, raw: Any, name: str) -> tuple[Array, Array, int]:
        quantization = raw.Quantization()
        if quantization is None or isinstance(quantization.ScaleAsNumpy(), int):
            return _NO_SCALES, _NO_ZEROS, 0
        scales = quantization.ScaleAsNumpy()
        self._scales_left -= len(scales)
        if self._scales_left < 0:
            raise ImportModelError(f"the file claims more than {MAX_SCALES} scales")
        zeros = quantization.ZeroPointAsNumpy()
        if isinstance(zeros, int) or not len(zeros):
            zeros = np.zeros(len(scales), np.int64)
        if len(zeros) == 1:
            zeros = np.broadcast_to(zeros, scales.shape)
        if len(zeros) != len(scales):
            raise ImportModelError("scales and zero points differ in number", where=shown(name))
        return scales, zeros, int(quantization.QuantizedDimension())


def _obstacle(raw: Any) -> str:
    if raw.Sparsity() is not None and _TYPES.get(raw.Type()) not in _NUMPY:
        return "is stored as a sparse tensor of a type that is not read so"
    return STATE if raw.IsVariable() else ""


def _elements(data: Array, name: str, type_name: str, shape: tuple[int, ...]) -> Array:
    """The elements that the bytes of a buffer are."""
    count, dtype = math.prod(shape), _NUMPY.get(type_name)
    if dtype is None and type_name != "INT4":
        return data  # refused where an operator reads it
    needed = (count + 1) // 2 if dtype is None else count * dtype.itemsize
    if len(data) != needed:
        raise ImportModelError(
            f"the tensor of shape {list(shape)} needs {needed} bytes of data, has {len(data)}",
            where=shown(name),
            hint="the file is damaged or was cut short",
        )
    if dtype is not None:
        return np.frombuffer(data, dtype).reshape(shape)
    # Two to a byte, the low half first.
    pairs = np.stack([data << 4, data & 0xF0], axis=-1).astype(np.uint8).view(np.int8) >> 4
    return np.asarray(pairs.reshape(-1)[:count].reshape(shape))
