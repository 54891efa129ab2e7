"""The contract of each integer operator: operands, their dtypes, the numbers in its attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, SHIFT_MAX, SHIFT_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import ReduceKind
from edgec.ir.qparams import QuantParams
from edgec.ir.weighted import POOLED, residual_of, rows_at, unpooled

Check = Callable[[bool, str], None]

_WEIGHTED = (qops.QConv, qops.QConvTranspose, qops.QGemm)
_KEEPS_CODES = (
    qops.QMaxPool,
    qops.QReshape,
    qops.QTranspose,
    qops.QSlice,
    qops.QConcat,
    qops.QPad,
    qops.QResizeNearest,
    qops.QResizeLinear,
)
"""Operators that move codes: one quantization on both sides."""

_CONSTANTS: Mapping[type, tuple[DType, ...]] = MappingProxyType(
    {
        **dict.fromkeys(_WEIGHTED, (DType.INT8, DType.INT32, DType.INT32)),
        **dict.fromkeys(POOLED, (DType.INT8, DType.UINT16, DType.INT32, DType.INT32)),
        qops.QLut: (DType.INT8,),
        qops.QPRelu: (DType.INT32,),
        qops.QSoftmax: (DType.INT32,),
        qops.QAveragePool: (DType.INT32,),
        qops.QResizeNearest: (DType.INT32,),
        qops.QResizeLinear: (DType.INT32, DType.INT32),
    }
)
"""Element types of the constant inputs that follow x."""


def check_integer_node(graph: Graph, node: Node, check: Check) -> None:
    """Check operands and numbers of one node of an integer graph.

    Args:
        graph: the graph, its shapes already checked.
        node: the node.
        check: called with a condition and the message of its violation.
    """
    _check_operands(graph, node, check)
    _check_parameter_shapes(graph, node, check)
    _check_numbers(node, check)
    _check_quantization(graph, node, check)


def _check_operands(graph: Graph, node: Node, check: Check) -> None:
    check(all(node.inputs), "an input is absent")
    attrs = node.attrs
    if isinstance(attrs, qops.QAdd | qops.QMul | qops.QConcat):
        check(isinstance(attrs, qops.QConcat) or len(node.inputs) == 2, "two inputs are needed")
        for name in node.inputs:
            constant = graph.constants.get(name)
            quantized = constant is None or (
                constant.dtype in (DType.INT8, DType.INT16) and constant.quant is not None
            )
            check(quantized, f"operand {name!r} is not quantized")
        return
    dtypes = _CONSTANTS.get(type(attrs), ())
    if isinstance(attrs, qops.QResizeNearest):
        dtypes = dtypes * 2
    residual = residual_of(attrs) is not None
    check(len(node.inputs) == 1 + len(dtypes) + residual, "wrong number of inputs")
    check(node.inputs[0] in graph.values, "x is not a value")
    for name, dtype in zip(node.inputs[1 : 1 + len(dtypes)], dtypes, strict=True):
        constant = graph.constants.get(name)
        check(constant is not None and constant.dtype is dtype, f"{name!r} is not {dtype.value}")
    if residual:
        check(node.inputs[-1] in graph.values, "the residual is not a value")


def _check_parameter_shapes(graph: Graph, node: Node, check: Check) -> None:
    attrs = node.attrs
    if isinstance(attrs, _WEIGHTED + POOLED):
        weights = rows_at(attrs)
        outputs = graph.shape(node.inputs[weights])[0]
        for name in node.inputs[weights + 1 : weights + 3]:
            check(graph.shape(name) == (outputs,), f"{name!r} is not one number per output channel")
    if isinstance(attrs, qops.QLut | qops.QSoftmax):
        check(graph.shape(node.inputs[1]) == (256,), "a table has 256 entries")
    if isinstance(attrs, qops.QPRelu):
        channels = graph.shape(node.inputs[0])[-1]
        check(graph.shape(node.inputs[1]) == (channels,), "one slope per channel is needed")
    if isinstance(attrs, qops.QAveragePool):
        taps = attrs.kernel[0] * attrs.kernel[1]
        check(graph.shape(node.inputs[1]) == (taps + 1,), "one multiplier per tap count is needed")


def _check_numbers(node: Node, check: Check) -> None:
    attrs = node.attrs
    inner = unpooled(attrs)
    for holder in (inner, getattr(inner, "params", None), residual_of(attrs)):
        low, high = getattr(holder, "act_min", INT8_MIN), getattr(holder, "act_max", INT8_MAX)
        check(INT8_MIN <= low <= high <= INT8_MAX, f"bad clamp bounds [{low}, {high}]")
        shift = getattr(holder, "shift", SHIFT_MIN)
        check(SHIFT_MIN <= shift <= SHIFT_MAX, f"bad shift {shift}")
    if isinstance(attrs, POOLED):
        check(1 <= attrs.pooling.activation_bits <= 8, "activation bits are 1 to 8")
        check(0 <= attrs.pooling.response_shift <= 15, "the response shift is 0 to 15")
        check(getattr(inner, "group", 1) == 1, "a pooled convolution has one group")
    if isinstance(attrs, qops.QPad):
        check(INT8_MIN <= attrs.value <= INT8_MAX, "the padding value is no int8 code")


def _check_quantization(graph: Graph, node: Node, check: Check) -> None:
    attrs = node.attrs
    same = isinstance(attrs, _KEEPS_CODES) or (
        isinstance(attrs, qops.QReduce) and attrs.kind is ReduceKind.MAX
    )
    if same:
        tensors = node.inputs if isinstance(attrs, qops.QConcat) else node.inputs[:1]
        for name in (n for n in tensors if _quantized(graph, n)):
            same_quant = _same_codes(graph.quant(name), graph.quant(node.output))
            check(same_quant, f"{name!r} and the output differ in quantization")
    elif (residual := residual_of(attrs)) is not None:
        zero_point = graph.quant(node.inputs[-1]).tensor_zero_point
        check(residual.b_zero_point == zero_point, "zero point of the residual differs")
        same_t = residual.a_zero_point == unpooled(attrs).y_zero_point
        check(same_t, "zero point of t differs")
        _check_output(graph, node, residual.y_zero_point, check)
    elif isinstance(attrs, _WEIGHTED + POOLED):
        _check_output(graph, node, unpooled(attrs).y_zero_point, check)
    elif isinstance(attrs, qops.QAdd):
        for name, zero_point in zip(
            node.inputs, (attrs.params.a_zero_point, attrs.params.b_zero_point), strict=True
        ):
            found = graph.quant(name).tensor_zero_point
            check(found == zero_point, f"zero point of {name!r} differs")
        _check_output(graph, node, attrs.params.y_zero_point, check)


def _same_codes(a: QuantParams, b: QuantParams) -> bool:
    """Equal parameters, those of channels wherever their axis now lies (it is the last)."""
    return (a.scale, a.zero_point, a.dtype) == (b.scale, b.zero_point, b.dtype)


def _quantized(graph: Graph, name: str) -> bool:
    """False for ArgMax indices, which no operator but a reshape or transpose may move."""
    return name in graph.constants or graph.values[name].dtype is not DType.INT32


def _check_output(graph: Graph, node: Node, zero_point: int, check: Check) -> None:
    found = graph.quant(node.output).tensor_zero_point
    check(found == zero_point, "zero point of the output differs from the operator's")
