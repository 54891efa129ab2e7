"""Notes on a .tflite file for `edgec inspect`: quantization and signature.

Runtime whose codes each operator of an integer file reproduces, with the file's own rounding.

Multiply-accumulates of the operators of a .tflite file, by the shapes of its tensors.
"""

from __future__ import annotations

import enum
import math
from collections import Counter

from edgec.base.names import shown
from edgec.importers.common.summary import Shape
from edgec.importers.tflite.load import RING
from edgec.importers.tflite.load_tensor import FileModel, FileTensor
from edgec.importers.tflite.registry import HANDLERS

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
    """Storage of activations and weights, in words."""
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
    """The weights of layers, each once, those that come by a DEQUANTIZE or DENSIFY included."""
    made: dict[int, int] = {}
    numbers = []
    for operator in model.operators:
        match operator.op, operator.inputs, operator.outputs:
            case "DEQUANTIZE" | "DENSIFY", (stored,), (whole,):
                made[whole] = made.get(stored, stored)
            case "UNIDIRECTIONAL_SEQUENCE_LSTM", (_, *given), _:
                numbers += [made.get(weight, weight) for weight in given[:8]]
            case "SVDF", (_, *given), _:
                numbers += [made.get(weight, weight) for weight in given[:2]]
            case op, (_, weight, *_), _ if op in _LAYERS:
                numbers.append(made.get(weight, weight))
    return [model.tensors[number] for number in dict.fromkeys(numbers) if number >= 0]


def _stored(kind: str, weights: list[FileTensor]) -> str:
    """Numbers of weight tensors of a type, quantized per channel and per tensor, in words."""
    of_kind = [tensor for tensor in weights if tensor.type == kind]
    channels = sum(len(tensor.scales) > 1 for tensor in of_kind)
    parts = [
        f"{count} {how}"
        for count, how in ((channels, "per channel"), (len(of_kind) - channels, "per tensor"))
        if count
    ]
    return f"{kind.lower()} weights: {' and '.join(parts)}"


class Exactness(enum.Enum):
    """Runtime whose codes an operator reproduces.

    MICRO: those of TensorFlow Lite Micro, to the last bit.  REFERENCE: those of TensorFlow Lite's
    reference, where TensorFlow Lite Micro has no kernel for codes.  NOTHING: codes are moved,
    chosen or counted, which every runtime does alike.  EDGEC: edgec's single rounding.
    """

    MICRO = "TensorFlow Lite Micro"
    REFERENCE = "TensorFlow Lite's reference"
    NOTHING = "nothing is rounded"
    EDGEC = "edgec's rounding"


_MICRO = frozenset(
    (
        *("ABS", "ADD", "AVERAGE_POOL_2D", "BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "ELU"),
        *(
            "EQUAL",
            "FULLY_CONNECTED",
            "GREATER",
            "GREATER_EQUAL",
            "HARD_SWISH",
            "LEAKY_RELU",
            "LESS",
        ),
        *("LESS_EQUAL", "NOT_EQUAL", "LOGISTIC", "MEAN", "MUL", "PRELU"),
        *("QUANTIZE", "RELU", "RELU6", "RESIZE_BILINEAR", "RSQRT", "SOFTMAX"),
        *("SQUARED_DIFFERENCE", "SUB", "SUM", "SVDF", "TANH", "TRANSPOSE_CONV"),
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
    )
)
_REFERENCE = frozenset({"EXP", "GELU", "RELU_0_TO_1", "RELU_N1_TO_1"})
_NOTHING = frozenset(
    (
        *("ARG_MAX", "ARG_MIN", "BATCH_TO_SPACE_ND", "BROADCAST_TO", "CAST", "CONCATENATION"),
        *("ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE", RING, "FILL", "WHILE"),
        *(
            "DENSIFY",
            "DEPTH_TO_SPACE",
            "DEQUANTIZE",
            "EXPAND_DIMS",
            "GATHER",
            "GATHER_ND",
            "LOGICAL_AND",
            "LOGICAL_NOT",
        ),
        *("LOGICAL_OR", "MAXIMUM", "MAX_POOL_2D", "MINIMUM", "MIRROR_PAD", "PACK", "PAD"),
        *(
            "PADV2",
            "REDUCE_ALL",
            "REDUCE_ANY",
            "REDUCE_MAX",
            "REDUCE_MIN",
            "RESHAPE",
            "RESIZE_NEAREST_NEIGHBOR",
            "SELECT",
        ),
        "REVERSE_V2",
        "ZEROS_LIKE",
        *("SELECT_V2", "SHAPE", "SLICE", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT"),
        *("SPLIT_V", "SQUEEZE", "STRIDED_SLICE", "TILE", "TRANSPOSE", "UNPACK"),
    )
)


def exactness(op: str) -> Exactness:
    """Runtime whose codes an operator reproduces in an integer file.

    Args:
        op: the schema's name of an operator that is imported.
    """
    if op in _MICRO:
        return Exactness.MICRO
    if op in _REFERENCE:
        return Exactness.REFERENCE
    return Exactness.NOTHING if op in _NOTHING else Exactness.EDGEC


def named() -> frozenset[str]:
    """The operators that are named here but are not imported."""
    return (_MICRO | _REFERENCE | _NOTHING) - HANDLERS.keys()


def macs(op: str, inputs: tuple[Shape, ...], outputs: tuple[Shape, ...]) -> int:
    """Multiply-accumulates of one operator, padding taps included; 0 where shapes are unknown."""
    if len(inputs) < 2 or not outputs:
        return 0
    x, weight, y = inputs[0], inputs[1], outputs[0]
    if x is None or weight is None or y is None:
        return 0
    match op:
        case "CONV_2D":
            return math.prod(y) * math.prod(weight[1:])
        case "DEPTHWISE_CONV_2D":
            return math.prod(y) * math.prod(weight[1:3])
        case "CUSTOM LceBconv2d":
            # 32 signs to a word, of which the last may not be full.
            return math.prod(y[:-1]) * math.prod(weight[:3]) * min(x[-1], 32 * weight[-1])
        case "TRANSPOSE_CONV" if len(inputs) > 2 and inputs[2] is not None:
            # Each input position meets every weight.
            return math.prod(inputs[2][:3]) * math.prod(weight)
        case "FULLY_CONNECTED" if weight:
            return math.prod(y) * weight[-1]
        case "SVDF" if len(inputs) > 2 and inputs[2] is not None:
            return x[0] * (math.prod(weight) + math.prod(inputs[2]))
        case "UNIDIRECTIONAL_SEQUENCE_LSTM" if len(x) == 3:
            # Four gates multiply the input and the hidden state of each step.
            return 4 * math.prod(y) * (x[-1] + y[-1])
        case "BATCH_MATMUL" if len(x) > 1 and y:
            # Whether or not x is transposed, it holds a row of products for each row of y.
            return math.prod(x) * y[-1]
        case _:
            return 0
