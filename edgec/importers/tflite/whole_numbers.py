"""Whole numbers that are known at import: the arithmetic of shapes that converters leave in a file.

Keras writes it for every Dense layer of more than two dimensions with an open batch: the input is
reshaped to rows by products of its dimensions.  With the batch fixed to one, all of it is constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgec.importers.common.axes import normal_axis
from edgec.importers.common.tensors import UnsupportedError
from edgec.importers.tflite.node import TfliteNode
from edgec.ir.graph import Constant

MAX_COMPUTED = 1 << 16
"""Most elements of a result; shapes, axes and positions are far smaller."""

_Whole = NDArray[np.signedinteger[Any]]
_BINARY: Mapping[str, Callable[[_Whole, _Whole], Any]] = MappingProxyType(
    {
        "ADD": np.add,
        "FLOOR_DIV": np.floor_divide,
        "FLOOR_MOD": np.mod,
        "MAXIMUM": np.maximum,
        "MINIMUM": np.minimum,
        "MUL": np.multiply,
        "SUB": np.subtract,
    }
)
_REDUCTIONS: Mapping[str, Any] = MappingProxyType(
    {"REDUCE_MAX": np.max, "REDUCE_MIN": np.min, "REDUCE_PROD": np.prod, "SUM": np.sum}
)


def computed(node: TfliteNode) -> Constant | None:
    """What an operator gives whose inputs are all whole numbers known at import.

    Returns:
        A constant of the inputs' element type, with wrap-around, as the interpreter computes it;
        None for another operator, or where an input is no such number.

    Raises:
        UnsupportedError: the inputs do not fit the operator.
        UnknownTensorError: an unsupported operator computes an input.
    """
    if node.op not in _BINARY and node.op not in _REDUCTIONS:
        return None
    inputs = [node.tensor(index) for index in range(node.input_count)]
    arrays = [t.array for t in inputs if isinstance(t, Constant) and t.quant is None]
    if len(arrays) != 2 or len(inputs) != 2 or any(a.dtype.kind != "i" for a in arrays):
        return None
    array = _reduced(node, *arrays) if node.op in _REDUCTIONS else _of_two(node.op, *arrays)
    return Constant(node.outputs[0], np.asarray(array, arrays[0].dtype))


def _of_two(op: str, a: _Whole, b: _Whole) -> Any:
    try:
        size = math.prod(np.broadcast_shapes(a.shape, b.shape))
    except ValueError as error:
        raise UnsupportedError("its inputs do not fit each other", "correct the model") from error
    if size > MAX_COMPUTED:
        raise UnsupportedError(f"it computes {size} whole numbers", "convert with them folded")
    if op in ("FLOOR_DIV", "FLOOR_MOD") and not b.all():
        raise UnsupportedError("it divides by zero", "correct the model")
    return _BINARY[op](a, b)


def _reduced(node: TfliteNode, x: _Whole, axes: _Whole) -> Any:
    which = tuple(sorted({normal_axis(int(axis), x.ndim) for axis in axes.reshape(-1)}))
    if node.op in ("REDUCE_MAX", "REDUCE_MIN") and not x.size:
        raise UnsupportedError("it reduces nothing", "correct the model")
    keep = bool(node.integer("KeepDims"))
    if node.op in ("REDUCE_MAX", "REDUCE_MIN"):
        return _REDUCTIONS[node.op](x, axis=which, keepdims=keep)
    return _REDUCTIONS[node.op](x, axis=which, keepdims=keep, dtype=x.dtype)
