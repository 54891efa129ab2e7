"""What a .tflite file says, as plain records; nothing of it is believed before it was checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgec.base.dtypes import Array
from edgec.importers.common.input_shapes import Dims


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
    """

    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    kind: str
    options: Any


@dataclass(frozen=True, slots=True, eq=False)
class FileModel:
    """A whole file: one network.

    Attributes:
        inputs, outputs: numbers of the network's own tensors.
        metadata: what the file says of itself, a flatbuffer of another schema; may be empty.
        signature: name of the only signature; "" if there is none, or there are several.
    """

    tensors: tuple[FileTensor, ...]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    metadata: bytes = b""
    signature: str = ""
