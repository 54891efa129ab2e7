from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from integer_samples import IntegerMaker, random_integer_graph
from pass_samples import Maker

from edgec.base.dtypes import DType
from edgec.base.errors import InternalError
from edgec.ir import ops, qops
from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify

P, R = QuantParams.per_tensor(0.1, 3), QuantParams.per_tensor(0.2, -5)


def real_graph() -> Graph:
    m = Maker()
    y = m.op(ops.Gemm(), m.input(1, 4), m.const(3, 4, name="w"), m.const(3, name="b"), name="y")
    return m.graph(m.op(ops.Clip(0.0), y, name="z"))


def annotated_graph() -> Graph:
    graph = real_graph()
    codes = np.ones((3, 4), np.int8), np.ones(3, np.int32)
    per_channel = QuantParams((0.1, 0.2, 0.3), (0, 0, 0), DType.INT8, 0)
    return graph.replace(
        values={name: replace(value, quant=P) for name, value in graph.values.items()},
        constants={
            "w": Constant("w", codes[0], per_channel),
            "b": Constant("b", codes[1], replace(per_channel, dtype=DType.INT32)),
        },
    )


def integer_graph() -> Graph:
    m = IntegerMaker()
    x = m.conv(m.input(1, 4, 4, 3), 4)
    return m.graph(m.same(qops.QReshape((1, 64)), m.add(x, m.lut(x))))


def with_value(graph: Graph, name: str, **changes) -> Graph:
    value = replace(graph.values[name], **changes)
    return graph.replace(values={**graph.values, name: value})


def with_constant(graph: Graph, name: str, array, quant=None) -> Graph:
    return graph.replace(constants={**graph.constants, name: Constant(name, array, quant)})


def with_node(graph: Graph, index: int, **changes) -> Graph:
    nodes = list(graph.nodes)
    nodes[index] = replace(nodes[index], **changes)
    return graph.replace(nodes=tuple(nodes))


def with_form(graph: Graph, index: int, **changes) -> Graph:
    attrs = graph.nodes[index].attrs
    return with_node(graph, index, attrs=replace(attrs, output=replace(attrs.output, **changes)))


def fails(graph: Graph, stage: Stage, message: str) -> None:
    with pytest.raises(InternalError, match=message) as caught:
        verify(graph, stage, "step")
    assert "after step" in caught.value.where


def test_good_graphs():
    verify(real_graph(), Stage.REAL)
    verify(annotated_graph(), Stage.ANNOTATED)
    verify(annotated_graph(), Stage.REAL)
    verify(integer_graph(), Stage.INTEGER)
    for seed in range(5):
        verify(random_integer_graph(seed), Stage.INTEGER)


STRUCTURE = [
    (lambda g: g.replace(nodes=(*g.nodes, g.nodes[0])), "two nodes have one name"),
    (lambda g: g.replace(nodes=g.nodes[::-1]), "not defined before"),
    (lambda g: g.replace(nodes=(*g.nodes, replace(g.nodes[0], name="n"))), "defined twice"),
    (lambda g: with_node(g, 0, inputs=("nothing", "w", "b")), "not defined"),
    (lambda g: with_node(g, 0, outputs=("nothing",)), "no value"),
    (lambda g: with_node(g, 1, outputs=()), "without an output"),
    (lambda g: g.replace(values={**g.values, "w": Value("w", (1,))}), "share a name"),
    (lambda g: g.replace(values={**g.values, "q": Value("r", (1,))}), "another name"),
    (lambda g: g.replace(values={**g.values, "q": Value("q", (1,))}), "nothing computes"),
    (lambda g: g.replace(inputs=("x", "x")), "listed twice"),
    (lambda g: g.replace(outputs=("nothing",)), "no value"),
    (lambda g: with_value(g, "y", shape=(1, 4)), "has shape"),
    (lambda g: with_value(g, "x", shape=(1, 5)), "cannot take inputs"),
    (lambda g: g.replace(input_layouts={"y": (0, 1)}), "no input or output"),
    (lambda g: g.replace(output_layouts={"z": (0, 0)}), "no permutation"),
    (lambda g: with_node(g, 0, inputs=("x", "w", "w", "w")), "4 operands"),
    (lambda g: with_node(g, 1, inputs=("",)), "has shape|absent"),
]


@pytest.mark.parametrize(("change", "message"), STRUCTURE)
def test_structure(change, message):
    fails(change(real_graph()), Stage.REAL, message)


def test_real_stage():
    fails(with_value(real_graph(), "y", dtype=DType.INT8), Stage.REAL, "without its quant")
    fails(with_value(real_graph(), "y", dtype=DType.INT32), Stage.REAL, "without its quant")
    fails(with_constant(real_graph(), "w", np.ones((3, 4), np.int8)), Stage.REAL, "neither")
    odd = QuantParams((0.1, 0.2), (0, 0), DType.INT8, 0)
    fails(with_constant(real_graph(), "w", np.ones((3, 4), np.int8), odd), Stage.REAL, "do not fit")
    fails(with_node(real_graph(), 1, attrs=qops.QReshape((1, 3))), Stage.REAL, "no operator")
    m = Maker()
    y = m.op(ops.Gemm(), m.input(1, 4), m.op(ops.Clip(), m.input(3, 4, name="w")), "")
    with pytest.raises(InternalError, match="must be a constant"):
        m.graph(y)


def test_annotated_stage():
    stage, graph = Stage.ANNOTATED, annotated_graph()
    real = real_graph()
    fails(with_value(graph, "y", quant=None), stage, "not quantized")
    fails(with_value(graph, "y", quant=replace(P, dtype=DType.INT16)), stage, "not quantized")
    fails(with_value(graph, "y", dtype=DType.INT8), stage, "float32")
    fails(graph.replace(constants=real.constants), stage, "not int8")
    codes, scales = graph.constants["w"].array, graph.constants["w"].quant
    fails(with_constant(graph, "w", codes, replace(P, zero_point=(0,))), stage, "per channel")
    odd = replace(scales, zero_point=(0, 1, 0))
    fails(with_constant(graph, "w", codes, odd), stage, "symmetric")
    fails(with_constant(graph, "b", codes[:, 0], scales), stage, "int32")
    fails(with_node(graph, 1, attrs=ops.QuantizeLinear()), stage, "QuantizeLinear")


def test_annotated_operands_are_int8():
    m = Maker()
    y = m.op(ops.Add(), m.input(1, 4, quant=P), m.const(4), quant=P)
    fails(m.graph(y), Stage.ANNOTATED, "not int8")


INTEGER = [
    (lambda g: with_value(g, "qlut", dtype=DType.INT32), "int8"),
    (lambda g: with_value(g, "qlut", quant=None), "no quantization|not quantized"),
    (lambda g: with_value(g, "qlut", quant=R), "zero point"),
    (lambda g: with_value(g, "qconv", quant=R), "zero point"),
    (lambda g: with_value(g, "qadd", quant=replace(P, zero_point=(-128,))), "differ"),
    (lambda g: with_constant(g, "c", np.ones((4, 3, 3, 3), np.int32)), "not int8"),
    (lambda g: with_constant(g, "c#2", np.ones(4, np.int8)), "not int16 or int32"),
    (lambda g: with_constant(g, "c#3", np.ones(255, np.int8)), "256"),
    (lambda g: with_node(g, 0, inputs=g.nodes[0].inputs[:3]), "multiplier.* is absent"),
    (lambda g: with_node(g, 0, inputs=(*g.nodes[0].inputs, "qlut")), "not defined|number"),
    (lambda g: with_form(g, 0, shift=63), "bad shift"),
    (lambda g: with_form(g, 0, low=5, high=4), "clamp"),
    (lambda g: with_node(g, 3, attrs=ops.Reshape((1, 64))), "no operator"),
    (lambda g: with_constant(g, "c", np.ones((4, 3, 3, 3), np.float32)), "int16, int32, uint16"),
]


@pytest.mark.parametrize(("change", "message"), INTEGER)
def test_integer_stage(change, message):
    graph = integer_graph()
    assert [node.op for node in graph.nodes] == ["QConv", "QLut", "QAdd", "QReshape"]
    fails(change(graph), Stage.INTEGER, message)


def test_argmax_indices_may_be_reshaped():
    m = IntegerMaker()
    x = m.input(1, 4)
    quant = None
    for name, attrs, source in (
        ("i", qops.QArgMax(1, True, False), x),
        ("j", qops.QReshape((1,)), "i"),
    ):
        shape = (1, 1) if name == "i" else (1,)
        m.builder.value(Value(name, shape, DType.INT32, quant))
        m.builder.put(Node(name + ".node", attrs, (source,), (name,)))
    m.graph("j")
