"""An integer graph in the making: its tensors, in the form that a reader needs.

A value can exist as int8 codes and, if it is of the stream, in the form of the stream.  One form is
*native*, the one that its operator computes; the other is made by a `QRescale` when somebody
asks for it.  Where only matrix products read a stream of int8, its codes serve them as they are.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT16_MAX, INT16_MIN, Requant16x15, round_half_up
from edgec.ir import qops
from edgec.ir.graph import Graph, GraphBuilder, Node, Value
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.quant.common.channels import per_channel, stream_unit
from edgec.quant.common.weights import operand_codes
from edgec.quant.convert.context import INT8_REACH
from edgec.quant.transformer.plan import Plan
from edgec.quant.transformer.samples import Seen
from edgec.quant.transformer.search import LEAST_CODE


class Form(enum.Enum):
    """What a value is stored for: to be multiplied, or to be added to."""

    CODES = enum.auto()
    STREAM = enum.auto()


class Tensors:
    """Builds the integer graph of a real one.

    Attributes:
        graph: REAL stage.
        plan: parameters of every value.
        seen: samples of every value.
        builder: builds the integer graph.
        correct_biases: take the mean error of rounded weights out of the biases.
    """

    def __init__(
        self, graph: Graph, plan: Plan, seen: Mapping[str, Seen], correct_biases: bool
    ) -> None:
        self.graph, self.plan, self.seen = graph, plan, seen
        self.correct_biases = correct_biases
        self.builder = GraphBuilder(graph.name)
        self.builder.inputs, self.builder.outputs = list(graph.inputs), list(graph.outputs)
        self.builder.input_layouts = dict(graph.input_layouts)
        self.builder.output_layouts = dict(graph.output_layouts)
        self.builder.input_features = dict(graph.input_features)
        self.builder.metadata = dict(graph.metadata)
        self.builder.reserve(graph.values)
        self._made: dict[tuple[str, Form], str] = {}
        self._names: dict[tuple[str, Form], str] = {}
        self._constants: dict[tuple[str, QuantParams | None], str] = {}
        for name in graph.inputs:
            self._start(name)

    def _start(self, name: str) -> None:
        value = self.graph.values[name]
        if value.dtype is DType.INT32:
            self.builder.value(value)
            return
        self.builder.value(replace(value, dtype=DType.INT8, quant=self.plan.codes[name]))
        self._made[name, Form.CODES] = name

    # -- names ------------------------------------------------------------------------------------

    def name_of(self, value: str, form: Form) -> str:
        """Name of a form of a value."""
        if value not in self.plan.stream:
            return value
        outside = value in (*self.graph.inputs, *self.graph.outputs)
        if (form is Form.CODES) == outside:
            return value
        if (value, form) not in self._names:
            self._names[value, form] = self.builder.fresh(f"{value}/{self._ending(value, form)}")
        return self._names[value, form]

    def value_of(self, value: str, form: Form) -> Value:
        """A form of a value of real numbers, as it is in the integer graph."""
        name, quant = self.name_of(value, form), self.quant_of(value, form)
        origin = "" if name == value else value
        return Value(name, self.graph.shape(value), quant.dtype, quant, origin)

    def _ending(self, value: str, form: Form) -> str:
        dtype = self.quant_of(value, form).dtype
        return "stream" if form is Form.STREAM and dtype is DType.INT8 else dtype.value

    def quant_of(self, value: str, form: Form) -> QuantParams:
        """Parameters of a form of a value."""
        return (self.plan.codes if form is Form.CODES else self.plan.stream)[value]

    # -- readers ----------------------------------------------------------------------------------

    def as_codes(self, value: str) -> str:
        """The int8 tensor of a value that is native already or can be made."""
        if value in self.plan.stream and self.plan.codes[value] == self.plan.stream[value]:
            return self.as_stream(value)
        return self._form(value, Form.CODES)

    def as_stream(self, value: str) -> str:
        """The tensor of a value of the stream."""
        return self._form(value, Form.STREAM)

    def _form(self, value: str, form: Form) -> str:
        found = self._made.get((value, form))
        if found is None:
            self._rescale(value, Form.STREAM if form is Form.CODES else Form.CODES, form)
            found = self._made[value, form]
        return found

    def _rescale(self, value: str, source: Form, target: Form) -> None:
        codes, stream = self.quant_of(value, Form.CODES), self.quant_of(value, Form.STREAM)
        if codes.axis is not None:
            raise QuantizationError(
                "a tensor with scales per channel joins the stream", where=value
            )
        unit, zero_point = stream_unit(stream), codes.tensor_zero_point
        shifted = stream.dtype is DType.INT8
        if target is Form.CODES:
            factor = unit / codes.tensor_scale
            zero = zero_point / factor
        else:
            factor, zero = codes.tensor_scale / unit, -float(zero_point)
        # Before their shifts, the codes of a stream of int8 have more bits.
        most = float(INT8_MAX << qops.MOST_CHANNEL_SHIFT)
        before, after = shifted and target is Form.CODES, shifted and target is Form.STREAM
        reach = most if after else self.reach(self.quant_of(value, target).dtype)
        requant = self.requant(factor, abs(zero) + INT16_MAX + 1, reach, value)
        output = self.output(requant, self.quant_of(value, target).dtype)
        bias = int(round_half_up(zero))
        attrs = qops.QRescale(output, int(requant.multiplier[0]), bias, before, after)
        k = self.shifts(value) if shifted else None
        inputs = qops.QRescale.Inputs(self.name_of(value, source), k)
        self.put(f"{value}/{self._ending(value, target)}", attrs, inputs, value, target)

    def shifts(self, value: str) -> str:
        """The constant k of a value of a stream of int8."""
        quant = self.plan.stream[value]
        scale, _ = per_channel(quant, self.graph.shape(value)[-1])
        k = (np.frexp(scale / stream_unit(quant))[1] - 1).astype(np.int8)
        return self.array(f"{value}/shifts", k)

    @staticmethod
    def reach(dtype: DType) -> float:
        """Largest code magnitude that an output needs through its 16 bits."""
        return INT8_REACH if dtype is DType.INT8 else float(INT16_MAX + 1)

    # -- constants --------------------------------------------------------------------------------

    def array(self, stem: str, array: Array, quant: QuantParams | None = None) -> str:
        """Add a constant; its name."""
        return self.builder.constant(stem, array, quant)

    def wide_constant(self, name: str, quant: QuantParams, shape: tuple[int, ...]) -> str:
        """A constant of the stream, in the shape wanted (a scale a channel: of all channels)."""
        real = self.graph.constants[name].real64().reshape(shape)
        if quant.axis is not None:
            real = np.broadcast_to(real, (*shape[:-1], len(quant.scale)))
            quant = replace(quant, axis=real.ndim - 1)
        codes = quant.quantize(real)
        if quant.dtype is DType.INT8:
            codes = np.maximum(codes, LEAST_CODE)
        return self.array(f"{name}/{quant.dtype.value}", codes, quant)

    def constant_codes(self, name: str, quant: QuantParams | None = None) -> str:
        """A constant operand as int8, with the parameters given or its own."""
        if (name, quant) not in self._constants:
            codes, found = operand_codes(self.graph.constants[name], quant)
            self._constants[name, quant] = self.array(f"{name}/int8", codes, found)
        return self._constants[name, quant]

    # -- nodes ------------------------------------------------------------------------------------

    def requant(self, factor: float, bound: float, reach: float, where: str) -> Requant16x15:
        """`Requant16x15.from_real` of one factor, with the place in errors.

        Raises:
            QuantizationError: the factor does not fit.
        """
        try:
            return Requant16x15.from_real(factor, bound, reach)
        except QuantizationError as error:
            raise QuantizationError(error.what, where=where, hint=error.hint) from error

    @staticmethod
    def output(
        requant: Requant16x15, dtype: DType, bounds: tuple[int, int] | None = None
    ) -> qops.Rescale16x15:
        """The numbers of a requantization, without the multipliers."""
        whole = (LEAST_CODE, INT8_MAX) if dtype is DType.INT8 else (INT16_MIN, INT16_MAX)
        low, high = bounds or whole
        return qops.Rescale16x15(requant.pre_shift, requant.shift, low, high, dtype)

    def put(
        self,
        stem: str,
        attrs: qops.IntegerOperator,
        inputs: Operands[str],
        value: str,
        form: Form,
        nodes: Iterable[Node] = (),
    ) -> None:
        """Add the node that computes a form of a value of the real graph."""
        name = self.builder.value(self.value_of(value, form))
        sources = tuple(source for node in nodes for source in node.sources)
        self.builder.node(stem, attrs, inputs, (name,), sources)
        self.made(value, form)

    def made(self, value: str, form: Form) -> None:
        """Note that a form of a value is computed under `name_of`."""
        self._made[value, form] = self.name_of(value, form)

    def is_made(self, value: str, form: Form) -> bool:
        """True when a form of a value exists already."""
        return (value, form) in self._made

    def native(self, value: str) -> Form:
        """The form in which an operator that can write both computes a value."""
        return Form.STREAM if value in self.plan.stream else Form.CODES

    def finish(self) -> Graph:
        """The integer graph."""
        for name in self.graph.outputs:
            if name in self.plan.codes:
                self.as_codes(name)
        return self.builder.build()
