"""What the codes of each operator of an integer file equal, with the file's own rounding."""

from __future__ import annotations

import enum

from edgec.importers.tflite.registry import HANDLERS


class Exactness(enum.Enum):
    """Whose codes an operator gives.

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
        *("SQUARED_DIFFERENCE", "SUB", "SUM", "TANH", "TRANSPOSE_CONV"),
    )
)
_REFERENCE = frozenset({"EXP", "GELU", "RELU_0_TO_1", "RELU_N1_TO_1"})
_NOTHING = frozenset(
    (
        *("ARG_MAX", "ARG_MIN", "BATCH_TO_SPACE_ND", "BROADCAST_TO", "CAST", "CONCATENATION"),
        *("DEPTH_TO_SPACE", "DEQUANTIZE", "EXPAND_DIMS", "GATHER", "LOGICAL_AND", "LOGICAL_NOT"),
        *("LOGICAL_OR", "MAXIMUM", "MAX_POOL_2D", "MINIMUM", "MIRROR_PAD", "PACK", "PAD"),
        *("PADV2", "REDUCE_MAX", "REDUCE_MIN", "RESHAPE", "RESIZE_NEAREST_NEIGHBOR", "SELECT"),
        *("SELECT_V2", "SHAPE", "SLICE", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT"),
        *("SPLIT_V", "SQUEEZE", "STRIDED_SLICE", "TILE", "TRANSPOSE", "UNPACK"),
    )
)


def exactness(op: str) -> Exactness:
    """Whose codes an operator gives in an integer file.

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
