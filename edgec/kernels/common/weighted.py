"""Layers with weights: how they end, and what their functions are called with.

A family that packs weights in an order of its own gives a function for that; the rest is here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.arithmetic import half_step
from edgec.ir.weighted import form_of, input_zero_point, is_int8_layer, plain_inputs, residual_of
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params, int32_of
from edgec.kernels.common.form_ends import form_arrays, tflite31
from edgec.kernels.common.layer_end import ends_in_rescale16, requant31_of, rescale16x15_of


@dataclass(frozen=True, slots=True)
class ConvParams:
    """Convolutions and matrix products."""

    c_type: ClassVar[str] = "edgec_conv_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class OffsetParams:
    """Convolutions and matrix products that end in `qops.Offset31`."""

    c_type: ClassVar[str] = "edgec_offset_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    offset: ConstantRef
    x_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class TwiceParams:
    """Convolutions and matrix products that end in `qops.TwoRoundings31`."""

    c_type: ClassVar[str] = "edgec_twice_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    offset: ConstantRef
    shift: ConstantRef
    x_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class TfliteParams:
    """Either of the two, with the numbers of an output channel beside each other."""

    c_type: ClassVar[str] = "edgec_tflite_params_t"
    weights: ConstantRef
    bias: ConstantRef
    numbers: ConstantRef
    x_zero_point: int


@dataclass(frozen=True, slots=True)
class ResidualParams:
    """Convolutions and matrix products whose filters are one stream of all that they need."""

    c_type: ClassVar[str] = "edgec_residual_params_t"
    weights: ConstantRef
    x_zero_point: int
    y_zero_point: int


@dataclass(frozen=True, slots=True)
class SumParams:
    """`ir.qops.AddParams`, alone or at the end of a convolution."""

    c_type: ClassVar[str] = "edgec_add_params_t"
    a_zero_point: int
    b_zero_point: int
    a_multiplier: int
    b_multiplier: int
    shift: int
    y_zero_point: int
    act_min: int
    act_max: int


@dataclass(frozen=True, slots=True)
class Rescale16Params:
    """Convolutions and matrix products of a transformer."""

    c_type: ClassVar[str] = "edgec_rescale16_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int


@dataclass(frozen=True, slots=True)
class Conv16Params:
    """Convolutions and matrix products whose zero points and bounds are codes of either type."""

    c_type: ClassVar[str] = "edgec_conv16_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int
    y_zero_point: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class OnceParams:
    """Convolutions and matrix products that end in `qops.Once15`."""

    c_type: ClassVar[str] = "edgec_once_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    shift: ConstantRef
    low: int
    high: int


Pack = Callable[[Array, Array, Array], tuple[Array, Array, Array]]
"""Weights, biases and multipliers [O, ...] in the layout that a kernel reads."""
Stream = Callable[[Array, Array, tuple[Array, ...]], Array]
"""Packed weights, biases, and the numbers [O] of which outputs are made, as one array."""
MATRIX_PRODUCTS = (qops.QGemm,)
CONVOLUTIONS = (qops.QConv,)


def as_stored(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
    """Constants as the graph has them."""
    return weights, bias, multiplier


def unpadded(values: Array) -> Array:
    """Numbers of output channels as the graph has them."""
    return values


def weighted_arguments(
    graph: Graph,
    node: Node,
    pool: ConstantPool,
    pack: Pack = as_stored,
    *,
    folds: bool = True,
    pad: Callable[[Array], Array] = unpadded,
    interleaves: bool = False,
    stream: Stream | None = None,
) -> tuple[Params, ...]:
    """The argument structs of a layer with weights, in any form.

    Args:
        graph: INTEGER stage.
        node: a convolution or matrix product.
        pool: takes the constants.
        pack: brings them into the kernel's layout.
        folds: the kernel sums up x * w, not (x - zx) * w: the bias takes the difference.
        pad: brings further numbers of output channels into the kernel's layout.
        interleaves: the kernel takes `TfliteParams`.
        stream: the kernel takes `ResidualParams`; how its filters become a stream.

    Raises:
        InternalError: an accumulator can overflow 32 bits.
    """
    inputs = plain_inputs(node)
    weights, multiplier = (graph.constants[name].array for name in (inputs.w, inputs.multiplier))
    start = accumulator_start(graph, node, folds=folds)
    weights, start, multiplier = pack(weights, start, multiplier)
    x_zero_point, form = input_zero_point(graph, node), form_of(node.attrs)
    bias = int32_of(start, node)
    if stream is not None:
        made_by = (multiplier, *map(pad, _form_numbers(graph, node)))
        filters = pool.add("weights", stream(weights, bias, made_by))
        offset = 0
        if isinstance(form, qops.Requant31 | qops.TwoRoundings31):
            offset = form.zero_point
        return (ResidualParams(filters, x_zero_point, offset), *residual_arguments(node))
    stored = pool.add("weights", weights), pool.add("bias", bias)
    if isinstance(form, qops.TwoRoundings31 | qops.Offset31):
        arrays = tuple(map(pad, _form_numbers(graph, node)))
        if interleaves:
            numbers = np.stack([multiplier, *arrays], axis=1).astype(np.int32)
            return (TfliteParams(*stored, pool.add("numbers", numbers), x_zero_point),)
        factors = pool.add("multipliers", multiplier)
        # Bounds of int16 are compiled in.
        bounds = (form.low, form.high) if form.dtype is DType.INT8 else (INT8_MIN, INT8_MAX)
        codes = x_zero_point, *bounds
        return (_tflite_params((*stored, factors), arrays, pool, codes),)
    constants = (*stored, pool.add("multipliers", multiplier))
    if isinstance(form, qops.Once15):
        shifts = pad(*_form_numbers(graph, node))
        return (OnceParams(*constants, pool.add("shifts", shifts), form.low, form.high),)
    if isinstance(form, qops.Requant31) and not is_int8_layer(graph, node):
        ends = form.zero_point, form.low, form.high
        return (Conv16Params(*constants, x_zero_point, *ends),)
    if ends_in_rescale16(node):
        return (Rescale16Params(*constants, x_zero_point),)
    single = requant31_of(node)
    own = ConvParams(*constants, x_zero_point, single.zero_point, single.low, single.high)
    return (own, *residual_arguments(node))


def _form_numbers(graph: Graph, node: Node) -> tuple[Array, ...]:
    """Numbers of channels beside the multipliers in a stream: those of `form_arrays`, or shifts."""
    form = form_of(node.attrs)
    if isinstance(form, qops.Once15):
        channels = len(graph.constants[plain_inputs(node).multiplier].array)
        return (np.broadcast_to(np.array(form.shifts, np.int8), channels),)
    if not isinstance(form, qops.TwoRoundings31 | qops.Offset31):
        return ()
    return form_arrays(graph, node, tflite31(graph, node, form))


def _tflite_params(
    constants: tuple[ConstantRef, ConstantRef, ConstantRef],
    arrays: tuple[Array, ...],
    pool: ConstantPool,
    codes: tuple[int, int, int],
) -> Params:
    """The struct of a layer whose codes are TensorFlow Lite Micro's."""
    offset = pool.add("offsets", arrays[0])
    if len(arrays) == 1:
        return OffsetParams(*constants, offset, *codes)
    return TwiceParams(*constants, offset, pool.add("shifts", arrays[1]), *codes)


def accumulator_start(graph: Graph, node: Node, *, folds: bool = True) -> Array:
    """Initial values of the accumulators of a layer with weights: int64 [O].

    It is the bias, with the half step of the first shift in a transformer's arithmetic.  With
    `folds` it is also ``-zx * sum(weights)``: then the kernel sums up x * w instead of
    (x - zx) * w.  That fits int32, because it is the accumulator of the input x = 0; and so do all
    partial sums, which are accumulators of inputs with some x = 0 (`ir.qops` promises both).
    """
    inputs = plain_inputs(node)
    weights, bias = (graph.constants[name].array for name in (inputs.w, inputs.b))
    start = bias.astype(np.int64)
    if ends_in_rescale16(node):
        start = start + half_step(rescale16x15_of(node).pre_shift)
    if folds:
        start = start - input_zero_point(graph, node) * filter_sums(weights)
    return start


def filter_sums(weights: Array) -> Array:
    """The sum of the weights of each filter: int64 [O]."""
    return np.asarray(weights.reshape(len(weights), -1).astype(np.int64).sum(axis=1))


def residual_arguments(node: Node) -> tuple[SumParams, ...]:
    """The struct of the addition at the end of a layer, if there is one."""
    addition = residual_of(node.attrs)
    return (sum_params(addition),) if isinstance(addition, qops.AddParams) else ()


def sum_params(params: qops.AddParams) -> SumParams:
    """An addition as its struct."""
    return SumParams(
        a_zero_point=params.a_zero_point,
        b_zero_point=params.b_zero_point,
        a_multiplier=params.a_multiplier,
        b_multiplier=params.b_multiplier,
        shift=params.shift,
        y_zero_point=params.y_zero_point,
        act_min=params.low,
        act_max=params.high,
    )
