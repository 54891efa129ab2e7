"""Reads a .tflite file that nobody vouches for.

A flatbuffer is read where its offsets point, and these may point anywhere: to data that others use
as well, backwards, beyond the end.  Every length is therefore compared with what the file can hold
before anything is counted through, and what a small file could make large has a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tflite

from edgec.base.dtypes import Array
from edgec.base.errors import ImportModelError
from edgec.base.names import shown
from edgec.importers.common.boundary import library_call, read_file
from edgec.importers.tflite import is_tflite
from edgec.importers.tflite.load_tensor import (
    MAX_NAME,
    FileModel,
    FileOperator,
    FileTensor,
    TensorReader,
    names_of,
    unique,
)

MAX_TENSORS = 1 << 16
MAX_OPERATORS = 1 << 16
MAX_OPERANDS = 1 << 12
"""Most inputs or outputs of one operator."""
MAX_METADATA = 1 << 10
_METADATA = b"TFLITE_METADATA"
_VERSION = 3
_OPERATORS = names_of(tflite.BuiltinOperator)
_OPTIONS = names_of(tflite.BuiltinOptions)


def load_file(path: Path) -> FileModel:
    """The records of a file.

    Raises:
        ImportModelError: the file is missing, too large, no TensorFlow Lite file, or damaged.
    """
    return load_bytes(read_file(path), str(path))


def load_bytes(data: bytes, name: str) -> FileModel:
    """The records of a file whose bytes are known.

    Args:
        data: the bytes.
        name: what messages call the file.

    Raises:
        ImportModelError: it is no TensorFlow Lite file, or damaged.
    """
    where = shown(name)
    if not is_tflite(data):
        raise ImportModelError("the file is no TensorFlow Lite model", where=where)
    with library_call(f"{where} is damaged, or it was cut short"):
        model = tflite.Model.GetRootAs(data, 0)
        _check_model(model)
        return _read(model, data)


def _check_model(model: Any) -> None:
    if model.Version() != _VERSION:
        raise ImportModelError(
            f"version {model.Version()} of the file format is not supported, only {_VERSION}",
            hint="convert the model again with a current TensorFlow Lite converter",
        )
    count = model.SubgraphsLength()
    if count != 1:
        raise ImportModelError(
            f"the file holds {count} networks (subgraphs), not one",
            hint="control flow and several signatures are not compiled; "
            "convert the one function that the device runs",
        )


def _read(model: Any, data: bytes) -> FileModel:
    graph = model.Subgraphs(0)
    count = _checked(graph.TensorsLength(), MAX_TENSORS, "tensors")
    tensors = _tensors(model, graph, count, len(data))
    operators = _operators(model, graph, len(tensors))
    inputs = _numbers(graph.InputsAsNumpy(), "the network", len(tensors))
    outputs = _numbers(graph.OutputsAsNumpy(), "the network", len(tensors))
    if not outputs or not operators or min((*inputs, *outputs)) < 0:
        raise ImportModelError(
            "the file holds no network", hint="it may be cut short, or be no whole model"
        )
    _check_order(tensors, operators, inputs, outputs)
    return FileModel(tensors, operators, inputs, outputs, _metadata(model), _signature(model))


def _signature(model: Any) -> str:
    if model.SignatureDefsLength() != 1:
        return ""
    return (model.SignatureDefs(0).SignatureKey() or b"")[:MAX_NAME].decode("utf-8", "replace")


def _metadata(model: Any) -> bytes:
    """The buffer that describes the model; empty where there is none, or it is not there."""
    for index in range(_checked(model.MetadataLength(), MAX_METADATA, "kinds of metadata")):
        entry = model.Metadata(index)
        if entry.Name() == _METADATA and entry.Buffer() < model.BuffersLength():
            data = model.Buffers(entry.Buffer()).DataAsNumpy()
            return b"" if isinstance(data, int) else data.tobytes()
    return b""


def _tensors(model: Any, graph: Any, count: int, size: int) -> tuple[FileTensor, ...]:
    given = _signature_names(model, count)
    reader = TensorReader(model, size)
    raw = [graph.Tensors(number) for number in range(count)]
    stems = [given.get(number) or reader.name(tensor) for number, tensor in enumerate(raw)]
    return tuple(reader.read(tensor, name) for tensor, name in zip(raw, unique(stems), strict=True))


def _signature_names(model: Any, count: int) -> dict[int, str]:
    """Names of inputs and outputs in the only signature, which are those of the source model."""
    if model.SignatureDefsLength() != 1:
        return {}
    signature = model.SignatureDefs(0)
    found = {}
    for length, entry in (
        (signature.OutputsLength(), signature.Outputs),
        (signature.InputsLength(), signature.Inputs),
    ):
        for index in range(_checked(length, count, "names in its signature")):
            name = entry(index).Name()
            found[entry(index).TensorIndex()] = name.decode() if name else ""
    return found


def _operators(model: Any, graph: Any, tensors: int) -> tuple[FileOperator, ...]:
    codes = _checked(model.OperatorCodesLength(), MAX_OPERATORS, "kinds of operators")
    names = [_operator_name(model.OperatorCodes(index)) for index in range(codes)]
    count = _checked(graph.OperatorsLength(), MAX_OPERATORS, "operators")
    return tuple(_operator(graph.Operators(index), names, tensors) for index in range(count))


def _operator_name(code: Any) -> str:
    # Files from before 2020 have a byte only, later ones the larger number of the two.
    number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
    name = _OPERATORS.get(number, f"operator {number}")
    if name != "CUSTOM":
        return name
    custom = code.CustomCode()
    return f"CUSTOM {custom.decode() if custom else ''}"


def _operator(raw: Any, names: Sequence[str], tensors: int) -> FileOperator:
    index = raw.OpcodeIndex()
    if index >= len(names):
        raise ImportModelError(f"an operator is of kind {index}, the file has {len(names)} kinds")
    op = names[index]
    inputs, outputs = (
        _numbers(vector, shown(op), tensors)
        for vector in (raw.InputsAsNumpy(), raw.OutputsAsNumpy())
    )
    if not outputs or min(outputs) < 0:
        raise ImportModelError("an operator has no outputs", where=shown(op))
    kind = _OPTIONS.get(raw.BuiltinOptionsType(), "")
    table = raw.BuiltinOptions()
    if kind in ("", "NONE") or table is None:
        return FileOperator(op, inputs, outputs, "", None)
    options = getattr(tflite, kind)()
    options.Init(table.Bytes, table.Pos)
    return FileOperator(op, inputs, outputs, kind, options)


def _numbers(vector: Array | int, what: str, tensors: int) -> tuple[int, ...]:
    """A vector of tensor numbers; the schema's reader gives 0 for one that is absent."""
    if isinstance(vector, int):
        return ()
    _checked(len(vector), MAX_OPERANDS, f"inputs or outputs of {what}")
    if vector.size and not (int(vector.min()) >= -1 and int(vector.max()) < tensors):
        raise ImportModelError(f"{what} names a tensor that is not there")
    return tuple(int(number) for number in vector)


def _checked(count: int, limit: int, what: str) -> int:
    if not 0 <= count <= limit:
        raise ImportModelError(f"the file claims to hold {count} {what}, more than {limit}")
    return count


def _check_order(
    tensors: Sequence[FileTensor],
    operators: Sequence[FileOperator],
    inputs: Sequence[int],
    outputs: Sequence[int],
) -> None:
    """Refuse tensors that are read before something computes them, or are computed twice."""
    ready = {-1, *(n for n, tensor in enumerate(tensors) if tensor.data is not None)}
    if ready & set(inputs) or len(set(inputs)) < len(inputs) or len(set(outputs)) < len(outputs):
        raise ImportModelError("an input or output of the network is a constant, or listed twice")
    ready |= set(inputs)
    # State, which no operator may read: `FileTensor.obstacle`.
    ready |= {number for number, tensor in enumerate(tensors) if tensor.obstacle}
    for operator in operators:
        for number in operator.inputs:
            if number not in ready:
                raise _disorder(
                    tensors[number], f"{shown(operator.op)} reads it before anything computes it"
                )
        for number in operator.outputs:
            if number in ready:
                raise _disorder(tensors[number], "it is computed twice, or given and computed")
            ready.add(number)
    for number in outputs:
        if number not in ready:
            raise _disorder(tensors[number], "nothing computes this output")


def _disorder(tensor: FileTensor, why: str) -> ImportModelError:
    hint = "the file is damaged; convert the model again"
    return ImportModelError(why, where=shown(tensor.name), hint=hint)
