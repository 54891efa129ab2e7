"""What the converters from real to integer operators share: one node in the making.

A converter says what an operator becomes, once for all networks.  What differs between a network
whose values are annotated and one whose scales are searched is what `Conversion` leaves abstract:
the tensors that hold the operands, the rules of its sums, the integer weights of a layer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.quant.common.weights import accumulator_bound
from edgec.quant.convert.codes import SPAN, Coded, Codes16, Output
from edgec.quant.convert.rules import Rules, Single, check_bound, once31


@dataclass(frozen=True, slots=True)
class Wide:
    """A tensor that a norm reads: int16, or int8 with a shift for each channel.

    Attributes:
        name: its name in the integer graph.
        unit: what a step stands for, after the shift.
        shifts: the constant that holds the shifts; None for int16.
    """

    name: str
    unit: float
    shifts: str | None = None


@dataclass(frozen=True, slots=True)
class LayerParts:
    """A layer with weights, in integers.

    Attributes:
        inputs: its operands.
        form: the requantization.
        residual: how the residual among the operands is added; None: there is none.
        raw: the sums take codes as they are, the zero points of x are in the bias (Gemm only).
        reach: bound of |q - zero point| of x that the sums count with.
    """

    inputs: qops.PlainLayer.Inputs[str]
    form: qops.Requantization
    residual: qops.Residual | None = None
    raw: bool = False
    reach: int = qops.INT8_SPAN


@dataclass(frozen=True, slots=True, eq=False)
class Conversion(ABC):
    """One real node as it becomes an integer node.

    Attributes:
        graph: the real graph.
        builder: builds the integer graph.
        node: what is converted.
    """

    graph: Graph
    builder: GraphBuilder
    node: Node

    @property
    @abstractmethod
    def rules(self) -> Rules:
        """The forms in which operators end."""

    @abstractmethod
    def operand(self, name: str) -> Coded:
        """The tensor of an operand, a value or a constant: codes, or int32 numbers."""

    @abstractmethod
    def wide(self, name: str) -> Wide:
        """The tensor of an operand of a norm."""

    @abstractmethod
    def layer(self) -> LayerParts:
        """The layer with weights that the node is."""

    @property
    @abstractmethod
    def y(self) -> QuantParams:
        """Parameters of the output."""

    @property
    def where(self) -> str:
        """The name of the node, for messages."""
        return self.node.name

    @property
    def end(self) -> Output:
        """What the output's codes are, as `rules` ask it."""
        return Output(self.y, *self.act_bounds, self.where, self.in_stream)

    @property
    @abstractmethod
    def act_bounds(self) -> tuple[int, int]:
        """Least and greatest code of the output."""

    @property
    @abstractmethod
    def limits(self) -> tuple[int, int]:
        """Least and greatest code that the output may have."""

    def bounds_of(self, clip: ops.Clip) -> tuple[int, int]:
        """The codes of the output that are the bounds of a Clip."""
        return self.rules.bounds(clip, self.y, self.limits)

    @abstractmethod
    def widened(self, name: str) -> Coded:
        """The int16 tensor of an operand, made from the int8 one where there is only that."""

    @abstractmethod
    def emit(
        self,
        attrs: qops.IntegerOperator,
        inputs: Operands[str],
        made: QuantParams | None = None,
    ) -> None:
        """Add the integer node and its output value.

        Args:
            attrs: the operator.
            inputs: its operands.
            made: the codes that it gives; None: those of the output.
        """

    @property
    def gives_integers(self) -> bool:
        """Whether the output is int32 numbers: indices, or a mask."""
        return self.graph.values[self.node.output].dtype is DType.INT32

    @property
    def reads_integers(self) -> bool:
        """Whether an operand is int32 numbers of the run."""
        values = (self.graph.values.get(name) for name in self.node.inputs)
        return any(value is not None and value.dtype is DType.INT32 for value in values)

    def numbers(self, name: str) -> str:
        """The int32 tensor of an operand; a constant is made one."""
        if name not in self.graph.constants:
            return self.operand(name).name
        real = self.graph.constants[name].real64()
        if not np.array_equal(np.rint(real), real) or np.abs(real).max(initial=0) > INT32_MAX:
            raise QuantizationError("a constant beside integers is no integer", where=name)
        return self.builder.constant(f"{name}/int32", real.astype(np.int32))

    def summed(self, name: str) -> Coded:
        """As `operand`, in the finest codes that exist, for an operator that sums elements."""
        return self.operand(name)

    def columns(self, name: str) -> tuple[Coded, int]:
        """The tensor that has an operand of attention among its columns, and the first of them."""
        return self.operand(name), 0

    @property
    def in_stream(self) -> bool:
        """Whether the operands and the output are of one stream, and so have one scale."""
        return False

    def check_bound(self, acc_bound: float) -> None:
        """Check that accumulators fit 32 bits.

        Raises:
            QuantizationError: they do not.
        """
        check_bound(acc_bound, self.where)

    def layer_of(self, x: Coded, names: tuple[str, str], scale: Array) -> LayerParts:
        """A layer whose integer weights and biases are chosen.

        Args:
            x: its input.
            names: constants of the integer graph: weights int8 [O, ...] and biases int32 [O].
            scale: what a weight of each output stands for, float64 [O].

        Raises:
            QuantizationError: the accumulators are not bounded by int32.
        """
        weight, bias = (self.builder.constants[name].array for name in names)
        factors = scale * x.scale / self.y.tensor_scale
        reach = self.reach_of(ops.layer_inputs(self.node).x)
        narrow = x.dtype is self.y.dtype is DType.INT8
        bounds = accumulator_bound(weight, bias, SPAN if narrow else reach)
        form, multipliers = self.rules.requantized(factors, bounds, self.end)
        inputs = qops.PlainLayer.Inputs(x.name, *names, self.constant("multiplier", multipliers))
        return LayerParts(inputs, form, reach=reach)

    def codes16(self, _name: str) -> Codes16 | None:
        """The int16 codes that were chosen for a value; None where it has others."""
        return None

    def reach_of(self, name: str) -> int:
        """Bound of |q - zero point| of an operand's codes, which bounds of sums count with."""
        found = self.codes16(name)
        return qops.INT8_SPAN if found is None else found.reach

    def single31(self, factor: float, bound: float) -> Single:
        """The end of an operator with one factor, by 31 bits; see `rules.once31`."""
        return once31(factor, bound, self.end)

    def constant(self, suffix: str, array: Array) -> str:
        """Add a constant of the integer graph; its name."""
        return self.builder.constant(f"{self.node.name}_{suffix}", array)

    def int32(self, suffix: str, values: npt.ArrayLike) -> str:
        """Add an int32 constant."""
        return self.constant(suffix, np.asarray(values, np.int32))


Converter: TypeAlias = Callable[[Conversion], None]
"""Adds the integer operator of a real one to the graph in the making."""
