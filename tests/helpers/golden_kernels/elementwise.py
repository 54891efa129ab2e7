"""Small cases of the functions of elements: operators, forms and types."""

import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.family import KernelSpec
from golden_kernels.common import LOOPS

_TYPES = {"8": DType.INT8, "16": DType.INT16, "32": DType.INT32}
_PAIR, _ONE = (s.Loop(24, (1, 1)),), (s.Loop(100, (1,)),)
_THREE = (s.Loop(3, (4, 0, 4)), s.Loop(4, (1, 1, 1)))
_CHANNELS = (s.Loop(25, (8, 0)), s.Loop(8, (1, 1)))


def _case(
    function: str,
    types: str,
    *constants: int,
    loops: tuple[s.Loop, ...] = LOOPS,
    params: str = "",
    table: DType | None = None,
    variable: bool = False,
) -> s.Elementwise:
    """A function of `edgec_...`; its operator is the first word of its name."""
    name = f"edgec_{params}_params_t" if params else ""
    operation = function.split("_", maxsplit=1)[0]
    element = s.Element(operation, operation, f"edgec_{function}", constants, name)
    dtypes = tuple(_TYPES[size] for size in types.split())
    return s.Elementwise(element, loops, dtypes, table, variable)


CASES: dict[str, KernelSpec] = {
    "add_once": _case("add_once", "8 8 8", 12, params="add"),
    "add_once_mixed": _case("add_once", "8 16 16", 20, params="add"),
    "add_twice": _case("add_twice", "8 8 8", 20, 0, 2, 18, params="tflite_sum"),
    "sub_twice_s16": _case("sub_twice", "16 16 16", 15, 1, 0, 14, loops=_PAIR, params="tflite_sum"),
    "add_codes": _case("add_codes", "16 16 16", -32768, 32767),
    "mul_once": _case("mul_once", "8 8 8", 32, loops=_PAIR, params="mul"),
    "mul_twice": _case("mul_twice", "8 8 8", 0, 7, params="mul"),
    "mul_twice_s16": _case("mul_twice_any", "16 16 16", 0, 7, params="mul"),
    "mul_rescale16": _case(
        "mul_rescale16", "8 8 16", 0, 9, -32768, 32767, params="single", variable=True
    ),
    "squared_difference": _case("squared_difference", "8 8 8", 7, 0, 2, 9, params="tflite_sum"),
    "div": _case("div", "8 8 8", -3, 5, 1 << 20, 0, 22, -128, -128, 127),
    "div_mixed": _case("div", "8 16 16", -5, 0, 40000, 3, 0, 0, -32767, 32767),
    "maximum": _case("max_s32", "8 8 8"),
    "minimum": _case("min_s32", "16 16 16", loops=_PAIR),
    "compare_less": _case("less", "8 8 32", 1 << 21, 77, -99),
    "compare_equal": _case("equal", "32 32 32", 1, 1, 0, loops=_PAIR),
    "compare_less_or_equal": _case("less_or_equal", "16 8 32", 1 << 13, 77, -99),
    "is_equal": _case("is_equal", "32 32", 1, loops=_ONE),
    "where": _case("where", "32 8 8 8", loops=_THREE),
    "where_integers": _case("where", "32 32 32 32", loops=_THREE),
    "prelu_once": _case("prelu_once", "8 32 8", 32, loops=_CHANNELS, params="prelu"),
    "prelu_twice": _case("prelu_twice", "8 16 8", 1, 0, 0, 5, loops=_CHANNELS, params="prelu"),
    "lut": _case("entry", "8 8", loops=_ONE, table=DType.INT8),
    "lut_line": _case("line", "16 8", 14, -128, -128, 127, loops=_ONE, table=DType.INT16),
    "lut_near_line": _case(
        "near_line", "16 16", 3, 7, 0, -32767, 32767, loops=_ONE, table=DType.INT16
    ),
    "logistic": _case("logistic", "16 16", 20132, 12, loops=_ONE, table=DType.UINT16),
    "tanh": _case("tanh", "16 16", 3, 0, loops=_ONE, table=DType.UINT16),
    "rescale": _case("scale_rescale16", "16 8", 3, 9, -127, 127, loops=_ONE, params="single"),
    "rescale_before": _case(
        "scale_before", "8 8 8", 3, 9, -127, 127, loops=_CHANNELS, params="single"
    ),
    "rescale_after": _case(
        "scale_after", "8 8 8", 3, 9, -127, 127, loops=_CHANNELS, params="single"
    ),
    "rescale_once": _case("scale_once", "32 8", 0, 2**30, 32, -5, -128, 127, loops=_ONE),
    "rescale_twice": _case("scale_twice", "16 8", 0, 1573741824, 0, 8, -7, -128, 127, loops=_ONE),
    "rescale_twice_any": _case(
        "scale_twice_any", "16 16", 0, 1573741824, 14, 0, 0, -32768, 32767, loops=_ONE
    ),
}

_LINE = s.Element("lut", "Interpolated table", "edgec_line_inside", (7, 0))
_MUL = s.Element("mul", "Product", "edgec_mul_once", (32,), "edgec_mul_params_t")
_ADD = s.Element("add", "Sum", "edgec_add_once", (15,), "edgec_add_params_t")
_WIDE = DType.INT16
CASES |= {
    "elementwise_chain": s.ElementwiseChain(
        (s.Step(_LINE, (0, 2)), s.Step(_MUL, (-1, 1)), s.Step(_ADD, (-2, -2))),
        (s.Loop(24, (1, 1)),),
        (_WIDE, DType.INT8, _WIDE),
        (_WIDE,),
    ),
    "elementwise_chain_spread": s.ElementwiseChain(
        (s.Step(_MUL, (0, 1)), s.Step(_MUL, (-1, 2))), _THREE, (*[DType.INT8] * 3, _WIDE)
    ),
}
