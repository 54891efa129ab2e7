"""An integer graph in the making: its tensors, in the form that a reader needs.

A value can exist as int8 codes, as int16 codes where it was chosen to have them, and, if it is of
the stream, in the form of the stream.  One form is *native*, the one that its operator computes;
the others are made by a `QRescale` when somebody asks for them.  Where only matrix products read a
stream of int8, its codes serve them as they are.
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
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import ANY_SCALE, Scales, per_channel, stream_unit
from edgec.quant.common.weights import operand_codes
from edgec.quant.convert.rules import INT8_REACH
from edgec.quant.transformer.plan import Plan
from edgec.quant.transformer.samples import Seen
from edgec.quant.transformer.search import LEAST_CODE


class Form(enum.Enum):
    """Use of a stored value: to be multiplied, in 8 bits or in 16, or to be added to."""

    CODES = enum.auto()
    INT16 = enum.auto()
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
        self._constants: dict[tuple[str, QuantParams], str] = {}
        for name in graph.inputs:
            self._start(name)

    def _start(self, name: str) -> None:
        value = self.graph.values[name]
        if value.dtype is DType.INT32:
            self.builder.value(value)
            return
        form = self.finest(name)
        quant = self.quant_of(name, form)
        self.builder.value(replace(value, dtype=quant.dtype, quant=quant))
        self._made[name, form] = name

    # -- names ------------------------------------------------------------------------------------

    def name_of(self, value: str, form: Form) -> str:
        """Name of a form of a value."""
        outside = value in (*self.graph.inputs, *self.graph.outputs)
        if form is (self.finest(value) if outside else self.native(value)):
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
        if form is Form.INT16:
            return self.plan.int16[value].quant
        return (self.plan.codes if form is Form.CODES else self.plan.stream)[value]

    # -- readers ----------------------------------------------------------------------------------

    def as_codes(self, value: str) -> str:
        """The int8 tensor of a value that is native already or can be made."""
        if value in self.plan.stream and self.plan.codes[value] == self.plan.stream[value]:
            return self.as_stream(value)
        return self._form(value, Form.CODES)

    def as_finest(self, value: str) -> str:
        """The int16 tensor of a value that has int16 codes, else the int8 one."""
        return self.as_codes(value) if self.finest(value) is Form.CODES else self.as_int16(value)

    def as_int16(self, value: str) -> str:
        """The int16 tensor of a value that has int16 codes."""
        return self._form(value, Form.INT16)

    def as_stream(self, value: str) -> str:
        """The tensor of a value of the stream."""
        return self._form(value, Form.STREAM)

    def _form(self, value: str, form: Form) -> str:
        found = self._made.get((value, form))
        if found is None:
            source = next(each for each in reversed(Form) if self.is_made(value, each))
            self._rescale(value, source, form)
            found = self._made[value, form]
        return found

    def _rescale(self, value: str, source: Form, target: Form) -> None:
        x, y = self.quant_of(value, source), self.quant_of(value, target)
        if any(quant.axis is not None for quant in self._coded(value, source, target)):
            raise QuantizationError(
                "a tensor with scales per channel joins the stream", where=value
            )
        before, after = (
            form is Form.STREAM and quant.dtype is DType.INT8
            for form, quant in ((source, x), (target, y))
        )
        factor = stream_unit(x) / stream_unit(y)
        zero = self._zero_point(value, target) / factor - self._zero_point(value, source)
        # Before their shifts, the codes of a stream of int8 have more bits.
        most = float(INT8_MAX << qops.MOST_CHANNEL_SHIFT)
        reach = most if after else self.reach(y.dtype)
        requant = self.requant(factor, abs(zero) + INT16_MAX + 1, reach, value)
        bounds = self.plan.int16[value].limits if target is Form.INT16 else None
        output = self.output(requant, y.dtype, bounds)
        bias = int(round_half_up(zero))
        attrs = qops.QRescale(output, int(requant.multiplier[0]), bias, before, after)
        k = self.shifts(value) if before or after else None
        inputs = qops.QRescale.Inputs(self.name_of(value, source), k)
        self.put(f"{value}/{self._ending(value, target)}", attrs, inputs, value, target)

    def _coded(self, value: str, *forms: Form) -> list[QuantParams]:
        """The parameters of those of the forms that are no stream."""
        return [self.quant_of(value, form) for form in forms if form is not Form.STREAM]

    def _zero_point(self, value: str, form: Form) -> float:
        """The zero point of a form; a stream has none."""
        quant = self.quant_of(value, form)
        return 0.0 if form is Form.STREAM else float(quant.tensor_zero_point)

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

    def constant_codes(
        self, name: str, quant: QuantParams | None, scales: Scales = ANY_SCALE
    ) -> str:
        """A constant operand as int8, with the parameters given or its own of the scales given."""
        codes, found = operand_codes(self.graph.constants[name], quant, scales)
        if (name, found) not in self._constants:
            self._constants[name, found] = self.array(f"{name}/int8", codes, found)
        return self._constants[name, found]

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
        """The form in which an operator that can write all of them computes a value."""
        return Form.STREAM if value in self.plan.stream else self.finest(value)

    def finest(self, value: str) -> Form:
        """The form in which a value is multiplied, and given to the user."""
        return Form.INT16 if value in self.plan.int16 else Form.CODES

    def finish(self) -> Graph:
        """The integer graph."""
        for name in self.graph.outputs:
            if name in self.plan.codes:
                self.as_finest(name)
        return self.builder.build()
