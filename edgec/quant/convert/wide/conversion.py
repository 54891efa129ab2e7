"""Conversion of a node whose codes have 16 bits, and which networks have such."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.twice import quantized_factor
from edgec.ir import ops, qops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.annotated import AnnotatedConversion
from edgec.quant.convert.context import Coded
from edgec.quant.convert.tflm.act_codes import act_codes


def is_wide(graph: Graph) -> bool:
    """True for a network whose file has int16 activations.

    Args:
        graph: REAL stage.
    """
    quants = [value.quant for value in graph.values.values()]
    return any(quant is not None and quant.dtype is DType.INT16 for quant in quants)


@dataclass(frozen=True, slots=True, eq=False)
class WideConversion(AnnotatedConversion):
    """A node, with the Clip fused onto it, that reads and gives int16 codes."""

    def operand(self, name: str) -> Coded:
        """The tensor itself.

        Raises:
            QuantizationError: it has no codes, or int16 ones around another number than 0.
        """
        found = Coded(name, self.graph.tensor(name).quant)
        if found.quant is None:
            raise self.error(f"its operand {name!r} has no scale")
        if found.quant.dtype is DType.INT16 and found.quant.zero_point != (0,):
            raise self.error(f"the zero point of its operand {name!r} is not 0")
        return found

    @property
    def y(self) -> QuantParams:
        """Parameters of the output, or of what the fused Clip makes of it.

        Raises:
            QuantizationError: the file says none.
        """
        quant = self.graph.values[self._output].quant
        if quant is None:
            raise self.error("its output has no scale")
        return quant

    @property
    def act_bounds(self) -> tuple[int, int]:
        """Least and largest code of the output: bounds of the fused Clip, if there is one."""
        if self.clip is None:
            limits = np.iinfo(self.y.dtype.numpy)
            return int(limits.min), int(limits.max)
        return act_codes(self.clip.attrs_as(ops.Clip), self.y)

    def factor(self, real: float, most: int = qops.Factor.MOST_LEFT) -> qops.Factor:
        """A real factor as TensorFlow Lite has it.

        Raises:
            QuantizationError: it is too large.
        """
        found = qops.Factor(*quantized_factor(real))
        if found.shift > most:
            raise self.error(f"its scales are too far apart (factor {real:.3g})")
        return found

    def codes16(self, name: str) -> Coded:
        """An int16 operand.

        Raises:
            QuantizationError: it holds other numbers.
        """
        found = self.operand(name)
        if found.params.dtype is not DType.INT16 or self.y.dtype is not DType.INT16:
            raise self.error("it mixes int8 and int16 tensors")
        return found

    def error(self, what: str) -> QuantizationError:
        """A refusal of this node."""
        return QuantizationError(
            what,
            where=self.node.sources[-1] if self.node.sources else self.node.name,
            hint="edgec compiles 16x8 files as TensorFlow Lite Micro does; convert the float model "
            "to int8, or compile it as it is",
        )
