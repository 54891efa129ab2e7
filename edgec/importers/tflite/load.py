"""Reads a .tflite file that nobody vouches for.

A flatbuffer is read where its offsets point, and these may point anywhere: to data that others use
as well, backwards, beyond the end.  Every length is therefore compared with what the file can hold
before anything is counted through, and what a small file could make large has a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tflite

from edgec.base.dtypes import Array
from edgec.base.errors import ImportModelError
from edgec.base.names import shown
from edgec.importers.common.boundary import library_call, read_file
from edgec.importers.tflite import is_tflite
from edgec.importers.tflite.load_tensor import (
    MAX_NAME,
    FileGraph,
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
MAX_GRAPHS = 1 << 8
"""Most networks (subgraphs) of a file."""
_METADATA = b"TFLITE_METADATA"
_VERSION = 3
_OPERATORS = names_of(tflite.BuiltinOperator)
_OPTIONS = names_of(tflite.BuiltinOptions)
_NO_OUTPUTS = ("ASSIGN_VARIABLE", "CALL_ONCE")
"""Operators that compute no tensor."""
RING = "CUSTOM CIRCULAR_BUFFER"
"""An operator that computes a variable tensor."""
_CALLS = MappingProxyType(
    {
        "CallOnceOptions": ("InitSubgraphIndex",),
        "WhileOptions": ("CondSubgraphIndex", "BodySubgraphIndex"),
        "IfOptions": ("ThenSubgraphIndex", "ElseSubgraphIndex"),
    }
)
"""Attributes that are numbers of other networks."""


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


def _read(model: Any, data: bytes) -> FileModel:
    count = _checked(model.SubgraphsLength(), MAX_GRAPHS, "networks (subgraphs)")
    raw = [model.Subgraphs(number) for number in range(count)]
    counts = [_checked(each.TensorsLength(), MAX_TENSORS, "tensors") for each in raw]
    _checked(sum(counts), MAX_TENSORS, "tensors")
    tensors = _tensors(model, raw, counts, len(data))
    names = _operator_names(model)
    first, graphs = 0, []
    for each, own in zip(raw, counts, strict=True):
        graphs.append(_graph(each, names, first, own))
        first += own
    _checked(sum(len(graph.operators) for graph in graphs), MAX_OPERATORS, "operators")
    main = graphs[0] if graphs else FileGraph((), (), ())
    if not main.outputs or not main.operators or min((*main.inputs, *main.outputs)) < 0:
        raise ImportModelError(
            "the file holds no network", hint="it may be cut short, or be no whole model"
        )
    _check_calls(graphs)
    if len(set(main.inputs)) < len(main.inputs) or len(set(main.outputs)) < len(main.outputs):
        raise ImportModelError("an input or output of the network is listed twice")
    for graph in graphs:
        _check_order(tensors, graph)
    return FileModel(
        tensors,
        counts[0],
        main.operators,
        main.inputs,
        main.outputs,
        tuple(graphs[1:]),
        _metadata(model),
        _signature(model),
    )


def _graph(raw: Any, names: Sequence[str], first: int, count: int) -> FileGraph:
    """One network, whose `count` tensors have numbers from `first` on."""
    number = _checked(raw.OperatorsLength(), MAX_OPERATORS, "operators")
    operators = (_operator(raw.Operators(index), names, first, count) for index in range(number))
    inputs = _numbers(raw.InputsAsNumpy(), "the network", first, count)
    outputs = _numbers(raw.OutputsAsNumpy(), "the network", first, count)
    return FileGraph(tuple(operators), inputs, outputs)


def called(operator: FileOperator) -> tuple[int, ...]:
    """Numbers of the networks that an operator calls."""
    return tuple(getattr(operator.options, name)() for name in _CALLS.get(operator.kind, ()))


def _check_calls(graphs: Sequence[FileGraph]) -> None:
    """Refuse networks that nobody calls, and such as call themselves."""
    begun: set[int] = set()

    def follow(number: int, callers: tuple[int, ...]) -> None:
        if not 0 < number < len(graphs) and callers:
            raise ImportModelError(f"an operator calls network {number}, which is not there")
        if number in callers:
            raise ImportModelError(f"network {number} calls itself")
        if number not in begun:
            begun.add(number)
            for operator in graphs[number].operators:
                for each in called(operator):
                    follow(each, (*callers, number))

    follow(0, ())
    if len(begun) < len(graphs):
        raise ImportModelError(
            f"the file holds {len(graphs)} networks (subgraphs), "
            f"of which {len(graphs) - len(begun)} are not called by the first",
            hint="several signatures are not compiled; "
            "convert the one function that the device runs",
        )


def _signature(model: Any) -> str:
    if not _has_signature(model):
        return ""
    return (model.SignatureDefs(0).SignatureKey() or b"")[:MAX_NAME].decode("utf-8", "replace")


def _has_signature(model: Any) -> bool:
    """Whether there is one, of the first network."""
    return model.SignatureDefsLength() == 1 and not model.SignatureDefs(0).SubgraphIndex()


def _metadata(model: Any) -> bytes:
    """The buffer that describes the model; empty where there is none, or it is not there."""
    for index in range(_checked(model.MetadataLength(), MAX_METADATA, "kinds of metadata")):
        entry = model.Metadata(index)
        if entry.Name() == _METADATA and entry.Buffer() < model.BuffersLength():
            data = model.Buffers(entry.Buffer()).DataAsNumpy()
            return b"" if isinstance(data, int) else data.tobytes()
    return b""


def _tensors(
    model: Any, graphs: Sequence[Any], counts: Sequence[int], size: int
) -> tuple[FileTensor, ...]:
    """The tensors of all networks."""
    given = _signature_names(model, counts[0]) if counts else {}
    reader = TensorReader(model, size)
    pairs = zip(graphs, counts, strict=True)
    raw = [graph.Tensors(number) for graph, count in pairs for number in range(count)]
    stems = [given.get(number) or reader.name(tensor) for number, tensor in enumerate(raw)]
    return tuple(reader.read(tensor, name) for tensor, name in zip(raw, unique(stems), strict=True))


def _signature_names(model: Any, count: int) -> dict[int, str]:
    """Names of inputs and outputs in the only signature, which are those of the source model."""
    if not _has_signature(model):
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


def _operator_names(model: Any) -> list[str]:
    codes = _checked(model.OperatorCodesLength(), MAX_OPERATORS, "kinds of operators")
    return [_operator_name(model.OperatorCodes(index)) for index in range(codes)]


def _operator_name(code: Any) -> str:
    # Files from before 2020 have a byte only, later ones the larger number of the two.
    number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
    name = _OPERATORS.get(number, f"operator {number}")
    if name != "CUSTOM":
        return name
    custom = code.CustomCode()
    return f"CUSTOM {custom.decode() if custom else ''}"


def _operator(raw: Any, names: Sequence[str], first: int, count: int) -> FileOperator:
    index = raw.OpcodeIndex()
    if index >= len(names):
        raise ImportModelError(f"an operator is of kind {index}, the file has {len(names)} kinds")
    op = names[index]
    inputs, outputs = (
        _numbers(vector, shown(op), first, count)
        for vector in (raw.InputsAsNumpy(), raw.OutputsAsNumpy())
    )
    if min(outputs, default=-(op not in _NO_OUTPUTS)) < 0:
        raise ImportModelError("an operator has no outputs", where=shown(op))
    custom = raw.CustomOptionsAsNumpy()
    own = b"" if isinstance(custom, int) else custom.tobytes()
    kind = _OPTIONS.get(raw.BuiltinOptionsType(), "")
    table = raw.BuiltinOptions()
    if kind in ("", "NONE") or table is None:
        return FileOperator(op, inputs, outputs, "", None, own)
    options = getattr(tflite, kind)()
    options.Init(table.Bytes, table.Pos)
    return FileOperator(op, inputs, outputs, kind, options, own)


def _numbers(vector: Array | int, what: str, first: int, count: int) -> tuple[int, ...]:
    """A vector of tensor numbers; the schema's reader gives 0 for one that is absent.

    Args:
        vector: numbers in one network, -1 for a tensor that is absent.
        what: names it in messages.
        first: number of the first tensor of the network in the file.
        count: how many tensors the network has.
    """
    if isinstance(vector, int):
        return ()
    _checked(len(vector), MAX_OPERANDS, f"inputs or outputs of {what}")
    if vector.size and not (int(vector.min()) >= -1 and int(vector.max()) < count):
        raise ImportModelError(f"{what} names a tensor that is not there")
    return tuple(int(number) + first if number >= 0 else -1 for number in vector)


def _checked(count: int, limit: int, what: str) -> int:
    if not 0 <= count <= limit:
        raise ImportModelError(f"the file claims to hold {count} {what}, more than {limit}")
    return count


def _check_order(tensors: Sequence[FileTensor], graph: FileGraph) -> None:
    """Refuse tensors that are read before something computes them, or are computed twice."""
    ready = {-1, *(n for n, tensor in enumerate(tensors) if tensor.data is not None)}
    if ready & set(graph.inputs):
        raise ImportModelError("an input of the network is a constant")
    ready |= set(graph.inputs)
    # State, which no operator may read: `FileTensor.obstacle`.
    rings = {n for each in graph.operators if each.op == RING for n in each.outputs}
    ready |= {n for n, tensor in enumerate(tensors) if tensor.obstacle and n not in rings}
    for operator in graph.operators:
        for number in operator.inputs:
            if number not in ready:
                raise _disorder(
                    tensors[number], f"{shown(operator.op)} reads it before anything computes it"
                )
        for number in operator.outputs:
            if number in ready:
                raise _disorder(tensors[number], "it is computed twice, or given and computed")
            ready.add(number)
    for number in graph.outputs:
        if number not in ready:
            raise _disorder(tensors[number], "nothing computes this output")


def _disorder(tensor: FileTensor, why: str) -> ImportModelError:
    hint = "the file is damaged; convert the model again"
    return ImportModelError(why, where=shown(tensor.name), hint=hint)
