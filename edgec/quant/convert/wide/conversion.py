"""Conversion of a node of a file with int16 codes, and which networks have such."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.base.rounding import Rounding
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.annotated import AnnotatedConversion
from edgec.quant.convert.codes import Coded
from edgec.quant.convert.context import LayerParts
from edgec.quant.convert.rules import Rules
from edgec.quant.convert.tflm.rules import TflmRules, tflm_refusal

_REACH = 1 << 15
"""Largest magnitude of an int16 code."""


def is_wide(graph: Graph) -> bool:
    """True for a network to be rounded as TensorFlow Lite Micro does, with int16 activations.

    Args:
        graph: REAL stage.
    """
    return graph.rounding is Rounding.TFLM and any(map(_is_int16, graph.values.values()))


def has_int16(graph: Graph, node: Node) -> bool:
    """Whether a node reads or gives int16 codes.

    Args:
        graph: REAL stage.
        node: one of its nodes.
    """
    names = (*node.inputs, *node.outputs)
    return any(_is_int16(graph.values[name]) for name in names if name in graph.values)


def _is_int16(value: Value) -> bool:
    return value.quant is not None and value.quant.dtype is DType.INT16


@dataclass(frozen=True, slots=True, eq=False)
class FileConversion(AnnotatedConversion):
    """A node, with the Clip fused onto it, whose tensors have the codes that the file gives them.

    They are int8 or int16; a layer that reads int16 has int16 output.
    """

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
    def limits(self) -> tuple[int, int]:
        """Least and largest code of the type of the output."""
        limits = np.iinfo(self.y.dtype.numpy)
        return int(limits.min), int(limits.max)

    @property
    def where(self) -> str:
        """The name of the operator in the file."""
        return self.node.sources[-1] if self.node.sources else self.node.name

    def layer(self) -> LayerParts:
        """A layer with the file's weights: of int16 by int8, rounded once, or of int8, twice.

        The latter gives int16 in the cells of recurrent layers.

        Raises:
            QuantizationError: its operands are other numbers, or a factor is out of range.
        """
        real = ops.layer_inputs(self.node)
        weight = self._weights(real.w)
        outputs = len(weight)
        bias = np.zeros(outputs) if real.b is None else self.graph.constants[real.b].array
        if real.b is not None and bias.dtype.kind not in "iu":
            raise self.error("its bias is no integer")
        scales = np.broadcast_to(self._scales(real.w), outputs)
        if self.operand(real.x).dtype is DType.INT8:
            names = self.constant("weight", weight), self.int32("bias", bias)
            twice = replace(self, rules=TflmRules(Rules()))
            return twice.layer_of(self.operand(real.x), names, scales)
        x = self.widened(real.x)
        factors = scales * x.scale / self.y.tensor_scale
        form, multiplier = self.rules.requantized(factors, 0.0, self.end)
        inputs = qops.PlainLayer.Inputs(
            x=x.name,
            w=self.constant("weight", weight),
            b=self.int32("bias", bias),
            multiplier=self.constant("multiplier", multiplier),
        )
        return LayerParts(inputs, form, reach=_REACH)

    def _scales(self, name: str) -> tuple[float, ...]:
        """The scale of each filter of a layer's weights, or one for all."""
        quant = self.graph.constants[name].quant
        if quant is None or quant.dtype not in (DType.INT8, DType.UINT8):
            raise self.error("its weights are no int8 codes")
        return quant.scale

    def _weights(self, name: str) -> Array:
        """The weights of a layer as int8 codes around 0."""
        constant = self.graph.constants[name]
        quant = constant.quant
        zero = np.asarray((0,) if quant is None else quant.zero_point, np.int64)
        codes = constant.array.astype(np.int64) - zero.reshape(-1, *[1] * (constant.array.ndim - 1))
        if codes.min() < INT8_MIN or codes.max() > INT8_MAX:
            raise self.error("its weights do not fit int8 around their zero point")
        return codes.astype(np.int8)

    def widened(self, name: str) -> Coded:
        """An int16 operand.

        Raises:
            QuantizationError: it holds other numbers.
        """
        found = self.operand(name)
        if found.params.dtype is not DType.INT16 or self.y.dtype is not DType.INT16:
            raise self.error("it mixes int8 and int16 tensors")
        return found

    def reach_of(self, name: str) -> int:
        """Any code of the operand's type."""
        is_int16 = self.operand(name).params.dtype is DType.INT16
        return _REACH if is_int16 else qops.INT8_SPAN

    def error(self, what: str) -> QuantizationError:
        """A refusal of this node."""
        return tflm_refusal(what, self.where)
