"""The proof that no operator of a transformer overflows 32 bits, from its real shapes and numbers.

Every product, sum, shift and rounding addition of `ir.qops_transformer` is bounded for any input,
whatever the order of summation.  The bounds are recomputed from the finished graph, independently
of the code that chose the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir import qops_transformer as qt
from edgec.ir.graph import Graph, Node
from edgec.quant.transformer.numbers import UNIT_BOUND

_BYTE, _WORD, _DIFFERENCE = 128, 32768, 256
_NARROWED_ROOM = 4096
"""Of a narrowed sum: 2^(16 - n) of the margin, less the rounding of up to 4095 keys, half of one
each; n is 3 at most for the largest sums."""
_LONGEST_SHIFT = 30
_MOST_OCTAVES = 27
"""Largest right shift of an exponential."""


def check_intervals(graph: Graph) -> None:
    """Check every operator.

    Args:
        graph: INTEGER stage.

    Raises:
        QuantizationError: an intermediate of the operator it names could exceed +-(2^31 - 1).
    """
    for node in graph.nodes:
        for what, bound in bounds_of(graph, node).items():
            if bound > INT32_MAX:
                raise QuantizationError(
                    f"{what} could reach {bound:.4g}, beyond 32 bits",
                    where=node.name,
                    hint="the layer is too wide, or its scales too far apart; recalibrate",
                )


def bounds_of(graph: Graph, node: Node) -> dict[str, float]:
    """Bounds of the intermediates of a node by what they are; empty where nothing can overflow.

    Args:
        graph: INTEGER stage.
        node: of the graph.
    """
    found = _BOUNDS.get(type(node.attrs))
    return {} if found is None else found(graph, node)


def _half(shift: int) -> float:
    return 2.0 ** (shift - 1) if shift > 0 else 0.0


def _rescale(output: qt.Rescale16x15, acc: float, multiplier: float) -> dict[str, float]:
    return {
        "the accumulator": acc + _half(output.pre_shift),
        "the rescaled accumulator": _WORD * multiplier + _half(output.shift),
    }


def _weighted(graph: Graph, node: Node) -> dict[str, float]:
    weight, bias, multiplier = (graph.constants[n].array.astype(np.int64) for n in node.inputs[1:4])
    rows = np.abs(weight.reshape(len(weight), -1)).sum(axis=1)
    # Kernels of a convolution may take the zero point out of each input or out of the bias.
    span = _BYTE if isinstance(node.attrs, qt.QGemm16x15) else _DIFFERENCE
    acc = float((rows * span + np.abs(bias)).max())
    return _rescale(
        node.attrs_as(qt.QGemm16x15, qt.QConv16x15).output, acc, float(np.abs(multiplier).max())
    )


def _one_multiplier(graph: Graph, node: Node) -> dict[str, float]:
    kinds = (qt.QMatMul16x15, qt.QMul16x15, qt.QReduce16x15, qt.QRescale16x15)
    attrs = node.attrs_as(*kinds)
    x = graph.shape(node.inputs[0])
    wide = graph.dtype(node.inputs[0]) is DType.INT16
    match attrs:
        case qt.QMatMul16x15():
            acc = _DIFFERENCE**2 * x[-2 if attrs.transpose_a else -1]
        case qt.QMul16x15():
            acc = _DIFFERENCE**2
        case qt.QReduce16x15():
            acc = (_WORD if wide else _DIFFERENCE) * math.prod(x[axis] for axis in attrs.axes)
        case _:
            acc = (_WORD if wide else _BYTE) << _most_shift(graph, node, attrs.before)
    found = _rescale(attrs.output, float(acc + abs(attrs.bias)), float(abs(attrs.multiplier)))
    if isinstance(attrs, qt.QRescale16x15) and attrs.after:
        shift = attrs.output.shift + _most_shift(graph, node, True)
        found["the rescaled accumulator"] += _half(shift)
        found["a shift"] = float(shift) if shift <= _LONGEST_SHIFT else math.inf
    return found


def _most_shift(graph: Graph, node: Node, shifted: bool) -> int:
    """The largest k of a stream of int8 that a node reads or writes; 0 of any other."""
    return int(graph.constants[node.inputs[-1]].array.max()) if shifted else 0


def _norm(graph: Graph, node: Node) -> dict[str, float]:
    attrs = node.attrs_as(qt.QNorm)
    channels = graph.shape(node.inputs[0])[-1]
    gamma, beta = (graph.constants[name].array.astype(np.float64) for name in node.inputs[1:3])
    x = (_BYTE << _most_shift(graph, node, True)) if attrs.shifted else _WORD
    w = (2.0 * x - 1) * channels if attrs.centred else float(x)
    excess = int(w).bit_length() - 15
    most = max(excess + attrs.square_shift, attrs.least_shift)
    squares = channels * 2.0 ** (30 - 2 * attrs.square_shift)
    shift = 15 + max(attrs.square_shift, attrs.least_shift)
    return {
        "the centred value": w + _half(most),
        "the sum of squares": squares + attrs.epsilon,
        "the normalised value": 2.0**15 * 46342 + _half(shift) + 23171,
        "the output": float((UNIT_BOUND * np.abs(gamma) + np.abs(beta)).max()),
    }


def _attention(graph: Graph, node: Node) -> dict[str, float]:
    attrs = node.attrs_as(qt.QAttention)
    keys = graph.shape(node.inputs[1])[-2]
    heads = graph.constants[node.inputs[3]].array.astype(np.float64)
    steps = graph.constants[node.inputs[-2]].array.astype(np.float64) if attrs.bias else np.zeros(1)
    logit = float(_BYTE * _BYTE * attrs.width)
    multiplier, limit, numerator, output_shift = heads.T
    highest = 2.0 ** (attrs.exp_bits - 15) * 32767
    whole = keys * math.ceil(highest)
    total = min(whole, (1 << qt.SUM_BITS) - _NARROWED_ROOM) if attrs.narrowed else whole
    distance = float((multiplier * limit).max())
    octaves = (
        int(distance / 2.0 ** (qt.DISTANCE_SHIFT + qt.DISTANCE_BITS)) + 1 + 15 - attrs.exp_bits
    )
    rounding = _half(total.bit_length() - 16 + int(output_shift.max()))
    shifts = 31.0 if output_shift.min() >= 4 and octaves <= _MOST_OCTAVES else math.inf
    return {
        "a logit": 2.0 * logit + float(steps.max() - steps.min()),
        "a logit with its bias": logit + float(np.abs(steps).max()),
        "a distance": distance + _half(qt.DISTANCE_SHIFT),
        "the sum of exponentials": float(whole + qt.SUM_MARGIN),
        "the sum of weighted values": _BYTE * float(total) + rounding,
        "the numerator of the division": float(numerator.max()) + 2.0**15,
        "the normalised output": _WORD * (float(numerator.max()) / 2.0**15 + 1) + _half(21),
        "a shift": shifts,
    }


def _softmax(graph: Graph, node: Node) -> dict[str, float]:
    attrs = node.attrs_as(qt.QSoftmax16x15)
    distance = float(attrs.distance_multiplier * attrs.distance_limit)
    octaves = int(distance / 2.0 ** (qt.DISTANCE_SHIFT + qt.DISTANCE_BITS)) + 16 - attrs.exp_bits
    total = graph.shape(node.inputs[0])[-1] * 2.0**attrs.exp_bits
    return {
        "a distance": distance + _half(qt.DISTANCE_SHIFT),
        "the sum of exponentials": 128.0 * total,
        "the normalised output": 2.0**attrs.exp_bits * 2.0**15 + _half(30),
        "a shift": 31.0 if octaves <= _MOST_OCTAVES else math.inf,
    }


def _add(graph: Graph, node: Node) -> dict[str, float]:
    params = node.attrs_as(qops.QAdd).params
    factors = abs(params.a_multiplier) + abs(params.b_multiplier)
    return {"the sum": 255.0 * factors + _half(params.shift)}


_BOUNDS: Mapping[type, Callable[[Graph, Node], dict[str, float]]] = MappingProxyType(
    {
        qt.QGemm16x15: _weighted,
        qt.QConv16x15: _weighted,
        qt.QMatMul16x15: _one_multiplier,
        qt.QMul16x15: _one_multiplier,
        qt.QReduce16x15: _one_multiplier,
        qt.QRescale16x15: _one_multiplier,
        qt.QNorm: _norm,
        qt.QAttention: _attention,
        qt.QSoftmax16x15: _softmax,
        qops.QAdd: _add,
    }
)
