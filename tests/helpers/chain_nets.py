"""INTEGER graphs of functions of elements that follow each other, in any form and type."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.residual import STREAM_LIMITS
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify
from edgec.quant.convert.codes import Coded, Output
from edgec.quant.convert.rules import Rules
from edgec.quant.convert.tflm.rules import TflmRules

SHAPE = (1, 3, 4, 5)
RULES = {"once": Rules(), "twice": TflmRules(Rules())}


class ChainMaker:
    """Adds inputs and functions; each result has codes of the type that is asked for."""

    def __init__(self, rules: str = "once", seed: int = 5, shape: tuple[int, ...] = SHAPE) -> None:
        self.shape = shape
        self.builder = GraphBuilder("chain")
        self.rules = RULES[rules]
        self.rng = np.random.default_rng(seed)

    def coded(self, name: str) -> Coded:
        value = self.builder.values[name]
        assert value.quant is not None
        return Coded(value, value.quant)

    def input(self, dtype: DType, *shape: int) -> str:
        name = self.builder.fresh("x")
        self.builder.value(Value(name, shape or self.shape, dtype, self._quant(dtype)))
        self.builder.inputs.append(name)
        return name

    def _quant(self, dtype: DType) -> QuantParams:
        zero = int(self.rng.integers(-30, 30)) if dtype is DType.INT8 else 0
        scale = float(self.rng.uniform(0.02, 0.05)) * (1 if dtype is DType.INT8 else 2.0**-8)
        return QuantParams.per_tensor(scale, zero, dtype)

    def _end(self, dtype: DType) -> Output:
        return Output(self._quant(dtype), *STREAM_LIMITS[dtype], "y")

    def _put(self, attrs: qops.IntegerOperator, *names: str, end: Output) -> str:
        name = self.builder.fresh("v")
        known = {**self.builder.values, **self.builder.constants}
        shape = attrs.infer_shape(attrs.Inputs.of([known[each].shape for each in names]))
        self.builder.value(Value(name, shape, end.quant.dtype, end.quant))
        self.builder.node(f"{name} node", attrs, list(names), [name])
        return name

    def sum(self, a: str, b: str, dtype: DType, *, subtracts: bool = False) -> str:
        end = self._end(dtype)
        form = self.rules.sum(self.coded(a), self.coded(b), end, subtracts=subtracts)
        return self._put(qops.QAdd(form), a, b, end=end)

    def product(self, a: str, b: str, dtype: DType) -> str:
        end = self._end(dtype)
        found = self.rules.product(self.coded(a), self.coded(b), end)
        return self._put(qops.QMul(found.form, found.multiplier, found.bias), a, b, end=end)

    def rescaled(self, x: str, dtype: DType) -> str:
        end = self._end(dtype)
        found = self.rules.rescaled(self.coded(x), end)
        return self._put(qops.QRescale(found.form, found.multiplier, found.bias), x, end=end)

    def larger(self, a: str, b: str, *, largest: bool = True) -> str:
        """The larger or smaller codes of two tensors, which get the scale of the first."""
        quant = self.builder.values[a].quant
        assert quant is not None
        self.alike(b, quant)
        end = Output(quant, *STREAM_LIMITS[quant.dtype], "y")
        return self._put(qops.QExtremum(largest), a, b, end=end)

    def line(self, x: str, dtype: DType, near: int, low: int, high: int) -> str:
        """A function of int16 by straight lines, of codes around 0 alone, or bounded."""
        end = self._end(dtype)
        rule = qops.Line(3, end.quant.tensor_zero_point, low, high, dtype, near)
        most = 900 if dtype is DType.INT8 else 32000
        entries = np.sort(self.rng.integers(-most, most, 513)).astype(np.int16)
        return self._put(qops.QLut(rule), x, self.builder.constant("line", entries), end=end)

    def alike(self, name: str, quant: QuantParams) -> None:
        """Give a value the parameters of another one."""
        self.builder.value(replace(self.builder.values[name], quant=quant))

    def short(self, attrs: qops.IntegerOperator, *names: str, dtype: DType) -> str:
        """An operator whose codes have the zero point 0: one of 16 by 15 bits."""
        quant = QuantParams.per_tensor(0.05, 0, dtype)
        return self._put(attrs, *names, end=Output(quant, *STREAM_LIMITS[dtype], "y"))

    def table(self, x: str) -> str:
        """Some function, in the type of x."""
        dtype = self.builder.values[x].dtype
        end = self._end(dtype)
        count, most = (256, 127) if dtype is DType.INT8 else (513, 32767)
        places = np.linspace(-4, 4, count)
        entries = np.round(most * np.tanh(places * self.rng.uniform(0.5, 2)))
        table = self.builder.constant("table", entries.astype(dtype.numpy))
        rule = qops.Entries() if count == 256 else qops.Line(0, 0, -32767, 32767, dtype)
        return self._put(qops.QLut(rule), x, table, end=end)

    def graph(self, *outputs: str) -> Graph:
        self.builder.outputs += outputs
        graph = self.builder.build()
        verify(graph, Stage.INTEGER, "the test")
        return graph


def lstm_like(rules: str = "once") -> Graph:
    """The next cell of an LSTM, and what is given of it."""
    m, wide = ChainMaker(rules), DType.INT16
    f, i, g, o, cell = (m.input(wide) for _ in range(5))
    kept = m.product(m.table(f), cell, wide)
    new = m.product(m.table(i), m.table(g), wide)
    after = m.sum(kept, new, wide)
    return m.graph(after, m.product(m.table(o), m.table(after), wide))


def mixed(rules: str = "once") -> Graph:
    """Both types, an operand that is spread over the others, one that is read twice."""
    m, narrow, wide = ChainMaker(rules), DType.INT8, DType.INT16
    a, b, few = m.input(narrow), m.input(wide), m.input(wide, 1, 3, 1, 5)
    swish = m.product(a, m.table(a), narrow)
    gated = m.product(m.rescaled(swish, wide), few, wide)
    both = m.sum(gated, m.table(b), wide)
    return m.graph(m.product(both, both, narrow))


NETS = {"lstm": lstm_like, "mixed": mixed}
