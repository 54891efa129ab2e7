"""What the converters from real to integer operators share: one node in the making.

A converter says what an operator becomes, once for all networks.  What differs between a network
whose values are annotated and one whose scales are searched is what `Conversion` leaves abstract:
the tensors that hold the operands, the form of requantization, the integer weights of a layer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array, DType
from edgec.base.errors import InternalError, QuantizationError
from edgec.base.fixedpoint import INT16_MAX, INT32_MAX, Requant, Requant16x15, round_half_up
from edgec.ir import qops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.quant.common.weights import accumulator_bound

SPAN = 255
"""Bound of |q - zero_point| for int8 q."""
INT8_REACH = 129.0
"""Largest code magnitude, and one, that an int8 output needs through its 16 bits."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A tensor of the integer graph that stands for an operand.

    Attributes:
        name: its name there.
        quant: what its codes mean; None for int32 numbers, which mean themselves.
    """

    name: str
    quant: QuantParams | None

    @property
    def params(self) -> QuantParams:
        """`quant` of a tensor of codes; InternalError for int32 numbers."""
        if self.quant is None:
            raise InternalError("tensor has no quantization", where=self.name)
        return self.quant

    @property
    def scale(self) -> float:
        """The scale of a tensor quantized as a whole."""
        return self.params.tensor_scale

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor quantized as a whole."""
        return self.params.tensor_zero_point

    @property
    def span(self) -> int:
        """Bound of |q - zero_point| of its codes."""
        return INT16_MAX + 1 if self.params.dtype is DType.INT16 else SPAN


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
class Single:
    """The end of an operator with one factor.

    Attributes:
        form: the requantization.
        multiplier: for all elements.
        bias: added to the accumulator; 0 where the form has the zero point.
    """

    form: qops.Requantization
    multiplier: int
    bias: int = 0


@dataclass(frozen=True, slots=True)
class LayerParts:
    """A layer with weights, in integers.

    Attributes:
        inputs: its operands.
        form: the requantization.
        residual: how the residual among the operands is added; None: there is none.
        raw: the sums take codes as they are, the zero points of x are in the bias (Gemm only).
    """

    inputs: qops.PlainLayer.Inputs[str]
    form: qops.Requantization
    residual: qops.Residual | None = None
    raw: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Conversion(ABC):
    """One real node as it becomes an integer node.

    Attributes:
        graph: the real graph.
        builder: builds the integer graph.
        node: what is converted.
    """

    FORM: ClassVar[type[qops.Requant31] | type[qops.Rescale16x15]]
    """The form in which operators end that have both."""

    graph: Graph
    builder: GraphBuilder
    node: Node

    @abstractmethod
    def operand(self, name: str) -> Coded:
        """The tensor of an operand, a value or a constant: codes, or int32 numbers."""

    @abstractmethod
    def wide(self, name: str) -> Wide:
        """The tensor of an operand of a norm."""

    @abstractmethod
    def layer(self) -> LayerParts:
        """The layer with weights that the node is."""

    @abstractmethod
    def single(self, factor: float, bound: float) -> Single:
        """The end of an operator with one factor, in `FORM`.

        Args:
            factor: what a unit of an accumulator is in output steps.
            bound: largest magnitude of an accumulator.

        Raises:
            QuantizationError: the factor does not fit.
        """

    @property
    @abstractmethod
    def y(self) -> QuantParams:
        """Parameters of the output."""

    @property
    @abstractmethod
    def act_bounds(self) -> tuple[int, int]:
        """Least and greatest code of an int8 output."""

    @abstractmethod
    def emit(self, attrs: qops.IntegerOperator, inputs: Operands[str]) -> None:
        """Add the integer node and its output value."""

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

    def form31(self, shift: int) -> qops.Requant31:
        """The requantization by 31 bits to the output."""
        return qops.Requant31(shift, self.y.tensor_zero_point, *self.act_bounds)

    def requant31(self, factors: npt.ArrayLike, acc_bound: float) -> Requant:
        """`Requant.from_real`, with the node's name in errors.

        Raises:
            QuantizationError: an accumulator could exceed int32, or a factor is out of range.
        """
        self.check_bound(acc_bound)
        try:
            return Requant.from_real(factors, int(acc_bound))
        except QuantizationError as error:
            raise QuantizationError(error.what, where=self.node.name, hint=error.hint) from error

    def check_bound(self, acc_bound: float) -> None:
        """Check that accumulators fit 32 bits.

        Raises:
            QuantizationError: they do not.
        """
        if acc_bound > INT32_MAX:
            raise QuantizationError(
                f"its accumulators could reach {acc_bound:.3g}, beyond 32 bits",
                where=self.node.name,
                hint="split the operator; it sums too many elements",
            )

    def layer31(self, x: Coded, names: tuple[str, str], scale: Array) -> LayerParts:
        """A layer whose integer weights and biases are chosen, requantized by 31 bits.

        Args:
            x: its input.
            names: constants of the integer graph: weights int8 [O, ...] and biases int32 [O].
            scale: what a weight of each output stands for, float64 [O].

        Raises:
            QuantizationError: the accumulators are not bounded by int32.
        """
        weight, bias = (self.builder.constants[name].array for name in names)
        bound = float(accumulator_bound(weight, bias).max())
        found = self.requant31(scale * x.scale / self.y.tensor_scale, bound)
        multiplier = self.constant("multiplier", found.multiplier)
        inputs = qops.PlainLayer.Inputs(x.name, *names, multiplier)
        return LayerParts(inputs, self.form31(found.shift))

    def single31(self, factor: float, bound: float) -> Single:
        """As `single`, by 31 bits."""
        found = self.requant31(factor, bound)
        return Single(self.form31(found.shift), int(found.multiplier[0]))

    def single16x15(self, factor: float, bound: float) -> Single:
        """As `single`, by 16 by 15 bits: the bias holds the zero point."""
        zero = self.y.tensor_zero_point / factor if factor else 0.0
        try:
            found = Requant16x15.from_real(factor, bound + abs(zero), INT8_REACH)
        except QuantizationError as error:
            raise QuantizationError(error.what, where=self.node.name, hint=error.hint) from error
        form = qops.Rescale16x15(found.pre_shift, found.shift, *self.act_bounds)
        return Single(form, int(found.multiplier[0]), int(round_half_up(zero)))

    def constant(self, suffix: str, array: Array) -> str:
        """Add a constant of the integer graph; its name."""
        return self.builder.constant(f"{self.node.name}_{suffix}", array)

    def int32(self, suffix: str, values: npt.ArrayLike) -> str:
        """Add an int32 constant."""
        return self.constant(suffix, np.asarray(values, np.int32))


Converter: TypeAlias = Callable[[Conversion], None]
"""Adds the integer operator of a real one to the graph in the making."""
