"""An integer graph in the making: its tensors, in the form that a reader needs.

A value can exist as int8 codes and, if it is of the stream, as int16.  One form is *native*, the
one that its operator computes; the other is made by a `QRescale16x15` when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from edgec.dtypes import Array, DType
from edgec.errors import QuantizationError
from edgec.fixedpoint import INT8_MAX, INT16_MAX, INT16_MIN, Requant16x15, round_half_up
from edgec.ir import qops_transformer as qt
from edgec.ir.graph import Graph, GraphBuilder, Node, Value
from edgec.ir.qparams import QuantParams
from edgec.quant.params import real64
from edgec.quant.transformer.plan import Plan
from edgec.quant.transformer.samples import Seen
from edgec.quant.transformer.search import LEAST_CODE
from edgec.quant.weights import operand_codes

INT8_REACH = 129.0
"""Largest code magnitude, and one, that an int8 output needs through its 16 bits."""


class Emitter:
    """Builds the integer graph of a real one.

    Attributes:
        graph: REAL stage.
        plan: parameters of every value.
        seen: samples of every value.
        builder: of the integer graph.
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
        self.builder.metadata = dict(graph.metadata)
        self._made: dict[tuple[str, DType], str] = {}
        self._constants: dict[tuple[str, QuantParams | None], str] = {}
        for name in graph.inputs:
            self._start(name)

    def _start(self, name: str) -> None:
        value = self.graph.values[name]
        if value.dtype is DType.INT32:
            self.builder.value(value)
            return
        self.builder.value(replace(value, dtype=DType.INT8, quant=self.plan.codes[name]))
        self._made[name, DType.INT8] = name

    # -- names ------------------------------------------------------------------------------------

    def name_of(self, value: str, dtype: DType) -> str:
        """Name of the int8 or int16 form of a value."""
        if value not in self.plan.stream:
            return value
        outside = value in (*self.graph.inputs, *self.graph.outputs)
        if outside:
            return value if dtype is DType.INT8 else f"{value}/int16"
        return value if dtype is DType.INT16 else f"{value}/int8"

    def quant_of(self, value: str, dtype: DType) -> QuantParams:
        """Parameters of the int8 or int16 form of a value."""
        return (self.plan.codes if dtype is DType.INT8 else self.plan.stream)[value]

    # -- readers ----------------------------------------------------------------------------------

    def narrow(self, value: str) -> str:
        """The int8 tensor of a value that is native already or can be made."""
        return self._form(value, DType.INT8)

    def wide(self, value: str) -> str:
        """The int16 tensor of a value of the stream."""
        return self._form(value, DType.INT16)

    def _form(self, value: str, dtype: DType) -> str:
        found = self._made.get((value, dtype))
        if found is None:
            other = DType.INT16 if dtype is DType.INT8 else DType.INT8
            self._rescale(value, other, dtype)
            found = self._made[value, dtype]
        return found

    def _rescale(self, value: str, source: DType, target: DType) -> None:
        x, y = self.quant_of(value, source), self.quant_of(value, target)
        if x.axis is not None or y.axis is not None:
            raise QuantizationError(
                "a tensor with scales per channel joins the stream", where=value
            )
        factor = x.tensor_scale / y.tensor_scale
        zero = y.tensor_zero_point / factor - x.tensor_zero_point
        requant = self.requant(factor, abs(zero) + INT16_MAX + 1, self.reach(target), value)
        bias = int(round_half_up(zero))
        output = self.output(requant, target)
        attrs = qt.QRescale16x15(output, int(requant.multiplier[0]), bias)
        made = self.name_of(value, source), self.name_of(value, target)
        self.put(f"{value}/{target.value}", attrs, (made[0],), value, target)

    @staticmethod
    def reach(dtype: DType) -> float:
        """Largest code magnitude that an output needs through its 16 bits."""
        return INT8_REACH if dtype is DType.INT8 else float(INT16_MAX + 1)

    # -- constants --------------------------------------------------------------------------------

    def array(self, stem: str, array: Array, quant: QuantParams | None = None) -> str:
        """Add a constant; its name."""
        return self.builder.constant(stem, array, quant)

    def wide_constant(self, name: str, quant: QuantParams, shape: tuple[int, ...]) -> str:
        """A constant of the stream as int16, in the shape wanted."""
        codes = quant.quantize(real64(self.graph.constants[name])).reshape(shape)
        return self.array(f"{name}/int16", codes, quant)

    def narrow_constant(self, name: str, quant: QuantParams | None = None) -> str:
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
    ) -> qt.Rescale16x15:
        """The numbers of a requantization, without the multipliers."""
        whole = (LEAST_CODE, INT8_MAX) if dtype is DType.INT8 else (INT16_MIN, INT16_MAX)
        low, high = bounds or whole
        return qt.Rescale16x15(requant.pre_shift, requant.shift, low, high, dtype)

    def put(
        self,
        stem: str,
        attrs: Any,
        inputs: Iterable[str],
        value: str,
        dtype: DType,
        nodes: Iterable[Node] = (),
    ) -> None:
        """Add the node that computes the int8 or int16 form of a value of the real graph."""
        name = self.name_of(value, dtype)
        shape = self.graph.shape(value)
        self.builder.value(Value(name, shape, dtype, self.quant_of(value, dtype)))
        sources = tuple(source for node in nodes for source in node.sources)
        self.builder.node(stem, attrs, inputs, (name,), sources)
        self.made(value, dtype)

    def made(self, value: str, dtype: DType) -> None:
        """Note that a form of a value is computed under `name_of`."""
        self._made[value, dtype] = self.name_of(value, dtype)

    def is_made(self, value: str, dtype: DType) -> bool:
        """True when a form of a value exists already."""
        return (value, dtype) in self._made

    def native(self, value: str) -> DType:
        """The form in which an operator that can write both computes a value."""
        return DType.INT16 if value in self.plan.stream else DType.INT8

    def finish(self) -> Graph:
        """The integer graph."""
        for name in self.graph.outputs:
            if name in self.plan.codes:
                self.narrow(name)
        return self.builder.build()


def per_channel(quant: QuantParams, channels: int) -> tuple[Array, Array]:
    """Scale and zero point of each channel of the last axis; float64 and int64 [channels]."""
    scale = np.broadcast_to(np.asarray(quant.scale, np.float64), (channels,))
    zero = np.broadcast_to(np.asarray(quant.zero_point, np.int64), (channels,))
    return scale, zero
