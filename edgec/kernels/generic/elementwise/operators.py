"""The function of an element, and the numbers in its struct, by operator and form.

The C function of one element: `firmware/runtime/include/edgec/elementwise/functions.h` has them
all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.operands import largest_distance
from edgec.ir.weighted import zero_point_of
from edgec.kernels.common.constants import Params, end_fields, zero_point
from edgec.kernels.common.layer_end import no_kernel
from edgec.kernels.common.weighted import SumParams, sum_params
from edgec.kernels.transformer.single import SingleParams, bias_of


@dataclass(frozen=True, slots=True)
class Element:
    """What an element of y is, of the elements of the tensors.

    The function takes the elements, then the table, the struct and the constants.

    Attributes:
        operation: the operator, in names.
        words: the operator, in words.
        function: the function of `edgec/elementwise/functions.h`.
        constants: numbers that are compiled in.
        params: type of its argument struct; "": it takes none.
    """

    operation: str
    words: str
    function: str
    constants: tuple[int, ...] = ()
    params: str = ""


Found = tuple[Element, Params | None]


@dataclass(frozen=True, slots=True)
class TfliteSumParams:
    """The numbers of a function in fine steps: `ir.qops.TfliteSumNumbers`."""

    c_type: ClassVar[str] = "edgec_tflite_sum_params_t"
    a_multiplier: int
    b_multiplier: int
    y_multiplier: int
    a_zero_point: int
    b_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


def _tflite_sum_params(p: qops.TfliteSumNumbers) -> TfliteSumParams:
    return TfliteSumParams(
        a_multiplier=p.a_multiplier,
        b_multiplier=p.b_multiplier,
        y_multiplier=p.y_multiplier,
        a_zero_point=p.a_zero_point,
        b_zero_point=p.b_zero_point,
        y_zero_point=p.y_zero_point,
        act_min=p.low,
        act_max=p.high,
    )


def _add(_graph: Graph, node: Node) -> Found:
    match node.attrs_as(qops.QAdd).form:
        case qops.AddParams() as form:
            element = Element("add", "Sum", "edgec_add_once", (form.shift,), SumParams.c_type)
            return element, sum_params(form)
        case qops.TfliteSum() as form:
            name, words = ("sub", "Difference") if form.subtracts else ("add", "Sum")
            shifts = form.bits, form.a_right, form.b_right, form.y_right
            function = f"edgec_{name}_twice"
            return Element(
                name, words, function, shifts, TfliteSumParams.c_type
            ), _tflite_sum_params(form)
        case qops.CodeSum() as form:
            return Element("add", "Sum", "edgec_add_codes", (form.low, form.high)), None


@dataclass(frozen=True, slots=True)
class MulParams:
    """Products of two tensors."""

    c_type: ClassVar[str] = "edgec_mul_params_t"
    multiplier: int
    a_zero_point: int
    b_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


def _mul(graph: Graph, node: Node) -> Found:
    attrs = node.attrs_as(qops.QMul)
    zero_points = [zero_point_of(graph, name) for name in node.inputs]
    params: Params
    match attrs.output:
        case qops.Rescale16x15() as form:
            function, constants = "edgec_mul_rescale16", _rescale16(form)
            params = SingleParams(attrs.multiplier, bias_of(node), *zero_points)
        case qops.Requant31() as form:
            centred = not any((*zero_points, form.zero_point))
            function = "edgec_mul_once_centred" if centred else "edgec_mul_once"
            constants = (form.shift,)
            params = MulParams(attrs.multiplier, *zero_points, **end_fields(form))
        case qops.TwoRoundings31() as form:
            # The product of two int16 may be 2^30.
            whole = all(graph.tensor(name).dtype is DType.INT16 for name in node.inputs)
            function = "edgec_mul_twice_any" if whole else "edgec_mul_twice"
            constants = _both_shifts(form)
            params = MulParams(attrs.multiplier, *zero_points, **end_fields(form))
        case _:
            raise no_kernel(node)
    return Element("mul", "Product", function, constants, params.c_type), params


def _rescale16(form: qops.Rescale16x15) -> tuple[int, ...]:
    return form.pre_shift, form.shift, form.low, form.high


def _div(graph: Graph, node: Node) -> Found:
    attrs = node.attrs_as(qops.QDiv)
    zero_points = (zero_point(graph, name) for name in node.inputs)
    end = attrs.left, attrs.right, attrs.zero_point, attrs.low, attrs.high
    return Element("div", "Quotient", "edgec_div", (*zero_points, attrs.multiplier, *end)), None


def _extremum(_graph: Graph, node: Node) -> Found:
    if node.attrs_as(qops.QExtremum).largest:
        return Element("max", "Larger", "edgec_max_s32"), None
    return Element("min", "Smaller", "edgec_min_s32"), None


def _where(_graph: Graph, _node: Node) -> Found:
    return Element("where", "Choice", "edgec_where"), None


def _compare(_graph: Graph, node: Node) -> Found:
    attrs = node.attrs_as(qops.QCompare)
    numbers = attrs.a_multiplier, attrs.b_multiplier, attrs.offset
    name = attrs.kind.name.lower()
    return Element(name, "Comparison", f"edgec_{name}", numbers), None


def _is_equal(_graph: Graph, node: Node) -> Found:
    value = node.attrs_as(qops.QIsEqual).value
    return Element("is_equal", f"Which are {value}", "edgec_is_equal", (value,)), None


@dataclass(frozen=True, slots=True)
class PReluParams:
    """Parametric rectifiers."""

    c_type: ClassVar[str] = "edgec_prelu_params_t"
    multiplier: int
    below_multiplier: int
    x_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


def _prelu(graph: Graph, node: Node) -> Found:
    attrs = node.attrs_as(qops.QPRelu)
    x_zero_point = zero_point(graph, qops.QPRelu.Inputs.of(node.inputs).x)
    shifts: tuple[int, ...]
    match attrs.output, attrs.below:
        case qops.Requant31() as form, None:
            function, shifts = "edgec_prelu_once", (form.shift,)
            end = end_fields(form)
        case qops.TwoRoundings31() as form, qops.TwoRoundings31() as below:
            function, shifts = "edgec_prelu_twice", (*_both_shifts(form), *_both_shifts(below))
            end = end_fields(form)
        case _:
            raise no_kernel(node)
    params = PReluParams(attrs.multiplier, attrs.below_multiplier, x_zero_point, **end)
    return Element("prelu", "Rectifier", function, shifts, params.c_type), params


def _both_shifts(form: qops.TwoRoundings31) -> tuple[int, int]:
    """Left and right shift of a form with one factor."""
    return max(form.shifts[0], 0), max(-form.shifts[0], 0)


def _lut(graph: Graph, node: Node) -> Found:
    match node.attrs_as(qops.QLut).rule:
        case qops.Entries():
            return Element("lut", "Table look-up", "edgec_entry"), None
        case qops.Line() as rule:
            numbers = rule.shift, rule.zero_point, rule.low, rule.high
            if rule.near:
                near = rule.near, *numbers
                return Element("lut", "Interpolated table", "edgec_near_line", near), None
            entries = graph.constants[qops.QLut.Inputs.of(node.inputs).table].array
            ends = rule.rounded(np.array([entries.min(), entries.max()], np.int64))
            if rule.low <= ends[0] and ends[1] <= rule.high:
                inside = "edgec_line_inside"
                return Element("lut", "Interpolated table", inside, numbers[:2]), None
            return Element("lut", "Interpolated table", "edgec_line", numbers), None
        case qops.Logistic() as rule:
            name = "tanh" if rule.tanh else "logistic"
            return Element(name, name, f"edgec_{name}", (rule.multiplier, rule.shift)), None


def _rescale(graph: Graph, node: Node) -> Found:
    attrs = node.attrs_as(qops.QRescale)
    words = "Rescaling"
    numbers: tuple[int, ...]
    match attrs.output:
        case qops.Rescale16x15() as form:
            way = "before" if attrs.before else "after" if attrs.after else "rescale16"
            params = SingleParams(attrs.multiplier, bias_of(node))
            function = f"edgec_scale_{way}"
            return Element("rescale", words, function, _rescale16(form), params.c_type), params
        case qops.Requant31() as form:
            numbers = attrs.bias, attrs.multiplier, form.shift, *_end(form)
            return Element("rescale", words, "edgec_scale_once", numbers), None
        case qops.TwoRoundings31() as form:
            left, right = _both_shifts(form)
            x = graph.tensor(qops.QRescale.Inputs.of(node.inputs).x)
            small = largest_distance(x.dtype) << left < _ROOM
            numbers = attrs.bias, attrs.multiplier, left, right, *_end(form)
            function = "edgec_scale_twice" if small else "edgec_scale_twice_any"
            return Element("rescale", words, function, numbers), None
        case _:
            raise no_kernel(node)


_ROOM = 1 << 30
"""`edgec_twice` takes numbers below this."""


def _end(form: qops.Requant31 | qops.TwoRoundings31) -> tuple[int, int, int]:
    return form.zero_point, form.low, form.high


def _squared_difference(_graph: Graph, node: Node) -> Found:
    p = node.attrs_as(qops.QSquaredDifference).params
    shifts = p.bits, p.a_right, p.b_right, p.y_right
    name = "squared_difference"
    element = Element(name, "Squared difference", f"edgec_{name}", shifts, TfliteSumParams.c_type)
    return element, _tflite_sum_params(p)


ELEMENTS: Mapping[type, Callable[[Graph, Node], Found]] = MappingProxyType(
    {
        qops.QAdd: _add,
        qops.QCompare: _compare,
        qops.QDiv: _div,
        qops.QExtremum: _extremum,
        qops.QIsEqual: _is_equal,
        qops.QLut: _lut,
        qops.QMul: _mul,
        qops.QPRelu: _prelu,
        qops.QRescale: _rescale,
        qops.QSquaredDifference: _squared_difference,
        qops.QWhere: _where,
    }
)
