"""Operators of elements between any types of codes, in every form: definition = numpy = C."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from access_order import events_of, least_distance
from kernel_records import distances
from lower_samples import BOARD
from parity import check_host
from random_graphs import adversarial_inputs
from scalar_kernels import ELEMENTS
from scalar_transformer import SCALAR

from edgec.base.dtypes import DType
from edgec.interp import run_graph
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops.arithmetic import CompareKind
from edgec.ir.qops.operands import Operand
from edgec.ir.qops.residual import STREAM_LIMITS
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify
from edgec.kernels.select import select_kernels
from edgec.quant.common.numbers import check_intervals
from edgec.quant.convert.codes import Coded, Output
from edgec.quant.convert.rules import Rules, Rules16x15, fine_numbers, quotient_numbers
from edgec.quant.convert.tflm.rules import TflmRules

CODES = (DType.INT8, DType.INT16)
RULES = {"once": Rules(), "16x15": Rules16x15(), "twice": TflmRules(Rules())}
_QUANT = {
    DType.INT8: QuantParams.per_tensor(0.031, -7),
    DType.INT16: QuantParams.per_tensor(0.0002, 0, DType.INT16),
}


class Net:
    """A graph whose outputs are functions of two inputs, each of one type of codes."""

    def __init__(self, a: DType, b: DType, y: DType) -> None:
        self.builder = GraphBuilder("elements")
        self.a, self.b = (
            self._value(name, shape, _QUANT[dtype], dtype)
            for name, shape, dtype in (("a", (1, 3, 4, 5), a), ("b", (1, 3, 1, 5), b))
        )
        self.builder.inputs += [self.a.name, self.b.name]
        self.y = Output(_QUANT[y], *STREAM_LIMITS[y], "y")
        self.mask = self.put(qops.QCompare(CompareKind.LESS), self.a.name, self.b.name, kind=None)

    def _value(self, name: str, shape: tuple[int, ...], quant: QuantParams, dtype: DType) -> Coded:
        return Coded(self.builder.value(Value(name, shape, dtype, quant)), quant)

    def put(self, attrs: qops.IntegerOperator, *names: str, kind: QuantParams | None) -> str:
        """A node that gives an output; `kind` None: numbers."""
        name = self.builder.fresh("y")
        known = {**self.builder.values, **self.builder.constants}
        shape = attrs.infer_shape(attrs.Inputs.of([known[each].shape for each in names]))
        dtype = DType.INT32 if kind is None else kind.dtype
        self.builder.value(Value(name, shape, dtype, kind))
        self.builder.node(f"{name} node", attrs, list(names), [name])
        self.builder.outputs.append(name)
        return name


def operators(a: DType, b: DType, y: DType) -> Graph:
    """Every operator that reads these types, in every form that gives codes of the last one."""
    net = Net(a, b, y)
    first, second, end, quant = net.a, net.b, net.y, net.y.quant
    names = first.name, second.name
    for rules in RULES.values():
        for subtracts in (False, True):
            form = rules.sum(first, second, end, subtracts=subtracts)
            net.put(qops.QAdd(form), *names, kind=quant)
        found = rules.product(first, second, end)
        net.put(qops.QMul(found.form, found.multiplier, found.bias), *names, kind=quant)
        found = rules.rescaled(first, end)
        net.put(qops.QRescale(found.form, found.multiplier, found.bias), first.name, kind=quant)
    numbers = quotient_numbers(first, second, end)
    assert numbers is not None
    net.put(qops.QDiv(*numbers, end.zero_point, end.low, end.high, y), *names, kind=quant)
    bits = 7 if a is b is DType.INT8 else 0
    factors = 0.5, 0.4, 0.001 * 4.0**-bits
    fine = fine_numbers(first, second, end, factors)
    assert fine is not None
    square = qops.TfliteSumNumbers(*fine, end.low, end.high, bits, y)
    net.put(qops.QSquaredDifference(square), *names, kind=quant)
    compare = qops.QCompare(CompareKind.LESS_OR_EQUAL, 1 << 13, 77, -99)
    net.put(compare, *names, kind=None)
    if a is b is y:
        codes = qops.CodeSum.of_stream(y)
        plain = QuantParams.per_tensor(quant.tensor_scale, 0, y)
        zero = [net.put(_widened(x), x.name, kind=plain) for x in (first, second)]
        net.put(qops.QAdd(codes), *zero, kind=plain)
        for largest in (True, False):
            net.put(qops.QExtremum(largest), *zero, kind=plain)
        net.put(qops.QWhere(), net.mask, *zero, kind=plain)
    _rectifiers(net)
    return net.builder.build()


def _widened(x: Coded) -> qops.QRescale:
    """The codes of a tensor around 0."""
    quant = QuantParams.per_tensor(x.scale, 0, x.dtype)
    end = Rules().rescaled(x, Output(quant, *STREAM_LIMITS[x.dtype], ""))
    return qops.QRescale(end.form, end.multiplier, end.bias)


def _rectifiers(net: Net) -> None:
    y, dtype = net.y, net.y.dtype
    ends = y.zero_point, y.low, y.high, dtype
    unit = 2**38 if dtype is DType.INT8 else 2**31
    slopes = np.array([-(2**29), 3, 2**28, 0, 2**30], np.int32)
    many = net.builder.constant("slopes", slopes)
    shift = (unit.bit_length() - 1) + (0 if net.a.dtype is DType.INT16 else -8)
    once = qops.QPRelu(qops.Requant31(shift, *ends), 2**30)
    net.put(once, net.a.name, many, kind=y.quant)
    few = net.builder.constant("codes", np.array([-255, 3, 0, 17, 255], np.int16))
    twice = qops.QPRelu(
        qops.TwoRoundings31((-1,), *ends), 2**30, qops.TwoRoundings31((-9,), *ends), 1518500250
    )
    net.put(twice, net.a.name, few, kind=y.quant)


@pytest.mark.parametrize("types", list(product(CODES, CODES, CODES)), ids=str)
def test_any_mixture_of_types(types: tuple[DType, DType, DType], tmp_path: Path) -> None:
    graph = operators(*types)
    verify(graph, Stage.INTEGER, "the test")
    check_intervals(graph)
    rng = np.random.default_rng(3)
    for inputs in adversarial_inputs(graph, rng):
        values = run_graph(graph, inputs)
        for node in graph.nodes:
            _check(graph, node, values, rng)
    check_host(graph, tmp_path / "whole")
    check_host(graph, tmp_path / "halves", flags=("-DEDGEC_HALF_PRODUCTS=1",))


def _check(graph: Graph, node, values: dict, rng: np.random.Generator) -> None:
    """Some elements are those of the definition."""
    operands = []
    for name in node.inputs:
        tensor = graph.tensor(name)
        array = tensor.array if name in graph.constants else values[name]
        operands.append(Operand(array, 0 if tensor.quant is None else tensor.quant.zero_point[0]))
    of_16_bits = isinstance(getattr(node.attrs, "output", None), qops.Rescale16x15)
    for _ in range(8):
        at = tuple(int(rng.integers(size)) for size in values[node.output].shape)
        wanted = (
            SCALAR[type(node.attrs)](node.attrs, operands, at)
            if of_16_bits
            else ELEMENTS[type(node.attrs)](node.attrs, operands, 0, at)
        )
        assert values[node.output][at] == wanted, f"{node.attrs} at {at}"


@pytest.mark.parametrize("types", list(product(CODES, CODES, CODES)), ids=str)
def test_distances_are_those_of_the_spelled_out_order(types: tuple[DType, DType, DType]) -> None:
    for choice in select_kernels(operators(*types), BOARD):
        for operand, distance in enumerate(distances(choice.spec)):
            assert distance == least_distance(events_of(choice.spec, operand)), choice.spec


def test_forms_are_those_of_the_rules() -> None:
    graph = operators(DType.INT8, DType.INT16, DType.INT16)
    forms = {type(node.attrs.form) for node in graph.nodes if isinstance(node.attrs, qops.QAdd)}
    assert forms == {qops.AddParams, qops.TfliteSum}
    ends = {type(node.attrs.output) for node in graph.nodes if isinstance(node.attrs, qops.QMul)}
    assert ends == {qops.Requant31, qops.Rescale16x15, qops.TwoRoundings31}
