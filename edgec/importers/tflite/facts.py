"""What `edgec inspect` says of a .tflite file beside its operators: quantization and signature."""

from __future__ import annotations

from collections import Counter

from edgec.base.names import shown
from edgec.importers.tflite.file import FileModel, FileTensor

_LAYERS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV"})
_KINDS = {"INT8": "int8", "UINT8": "uint8", "INT16": "16x8"}


def facts_of(model: FileModel) -> tuple[str, ...]:
    """Lines about a file."""
    found = [f"quantization: {_quantization(model)}"]
    if model.signature:
        names = [
            ", ".join(shown(model.tensors[number].name) for number in numbers)
            for numbers in (model.inputs, model.outputs)
        ]
        found.append(f"signature {shown(model.signature)}: {names[0]} -> {names[1]}")
    return tuple(found)


def _quantization(model: FileModel) -> str:
    """How activations and weights are stored, in words."""
    activations = Counter(t.type for t in _activations(model) if len(t.scales))
    weights = _weights(model)
    coded = [tensor for tensor in weights if len(tensor.scales)]
    kinds = ", ".join(_stored(kind, coded) for kind in sorted({t.type for t in coded}))
    if not activations:
        if coded:
            return f"dynamic range (float activations, {kinds})"
        half = any(tensor.type == "FLOAT16" for tensor in weights)
        return "none (float32, weights in float16)" if half else "none (float32)"
    most, _ = activations.most_common(1)[0]
    others = [f"{count} {kind.lower()}" for kind, count in activations.items() if kind != most]
    beside = f" beside {', '.join(others)}" if others else ""
    text = f"{_KINDS.get(most, most.lower())} ({most.lower()} activations{beside}"
    return f"{text}, {kinds})" if kinds else f"{text})"


def _activations(model: FileModel) -> list[FileTensor]:
    return [tensor for tensor in model.tensors if tensor.data is None]


def _weights(model: FileModel) -> list[FileTensor]:
    """The weights of layers, each once, those that a DEQUANTIZE makes float included."""
    made: dict[int, int] = {}
    numbers = []
    for operator in model.operators:
        match operator.op, operator.inputs, operator.outputs:
            case "DEQUANTIZE", (codes,), (real,):
                made[real] = codes
            case op, (_, weight, *_), _ if op in _LAYERS:
                numbers.append(made.get(weight, weight))
    return [model.tensors[number] for number in dict.fromkeys(numbers) if number >= 0]


def _stored(kind: str, weights: list[FileTensor]) -> str:
    """How many weights of a type have a scale for each channel, and how many have one."""
    of_kind = [tensor for tensor in weights if tensor.type == kind]
    channels = sum(len(tensor.scales) > 1 for tensor in of_kind)
    parts = [
        f"{count} {how}"
        for count, how in ((channels, "per channel"), (len(of_kind) - channels, "per tensor"))
        if count
    ]
    return f"{kind.lower()} weights: {' and '.join(parts)}"
