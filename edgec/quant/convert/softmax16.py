"""Softmax of int16 codes, by the interpolated tables of TensorFlow Lite Micro.

Source: TensorFlow Lite Micro, micro/kernels/softmax_common.cc.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.tflite_arithmetic import quantized_factor
from edgec.ir import qops
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.codes import Output
from edgec.quant.convert.wide.tables import exponentials, reciprocals

SOFTMAX16_UNIT = 2.0**-15
"""Scale of the output of a softmax of int16 codes."""
_REACH = 10.0
"""Logits that the table of exponentials reaches below the largest, in 65535 steps."""


@dataclass(frozen=True, slots=True)
class SoftmaxParts:
    """A softmax, in integers.

    Attributes:
        rule: how codes are made.
        tables: those of the rule.
        made: the codes that it gives; None: those of the output.
    """

    rule: qops.SoftmaxRule
    tables: tuple[Array, ...] = ()
    made: QuantParams | None = None


def has_softmax16(scale: float, row: int) -> bool:
    """Whether there is a softmax of int16 codes.

    Args:
        scale: what a step of its input stands for.
        row: how many elements are added up.
    """
    return row <= qops.Interpolated.LONGEST and _factor(scale).shift <= qops.Factor.MOST_LEFT


def softmax16(scale: float, row: int, y: Output) -> SoftmaxParts:
    """A softmax of int16 codes, which gives steps of 2^-15.

    Args:
        scale: what a step of its input stands for.
        row: how many elements are added up.
        y: the output.

    Raises:
        QuantizationError: there is none, see `has_softmax16`.
    """
    if not has_softmax16(scale, row):
        what = f"its rows have {row} elements, a step of its input is {scale:.3g}"
        raise QuantizationError(what, where=y.where)
    made = QuantParams.per_tensor(SOFTMAX16_UNIT, 0, DType.INT16)
    rule = qops.Interpolated(_factor(scale))
    return SoftmaxParts(rule, (exponentials(), reciprocals()), None if y.quant == made else made)


def _factor(scale: float) -> qops.Factor:
    """Steps of the table of exponentials in one of the input."""
    return qops.Factor(*quantized_factor(scale / (_REACH / 65535.0)))
