from __future__ import annotations

import numpy as np
import pytest
from pass_samples import Maker, ops_of

from edgec.base.dtypes import DType
from edgec.base.errors import ImportModelError
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.metadata import integer_io_dtype
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify
from edgec.passes.absorb_qdq import absorb_qdq

P, R = QuantParams.per_tensor(0.1, 3), QuantParams.per_tensor(0.2, -5)
UNSIGNED = QuantParams.per_tensor(0.1, 131, DType.UINT8)
TANH = ops.Unary(ops.UnaryKind.TANH)
IDENTITY = ops.Unary(ops.UnaryKind.IDENTITY)
TURN = ops.Transpose((0, 2, 1))


def quantize(m: Maker, x: str, quant: QuantParams) -> str:
    return m.op(ops.QuantizeLinear(), x, dtype=quant.dtype, quant=quant)


def dequantize(m: Maker, x: str) -> str:
    return m.op(ops.DequantizeLinear(), x)


def qdq(m: Maker, x: str, quant: QuantParams) -> str:
    return dequantize(m, quantize(m, x, quant))


def absorbed(graph: Graph) -> Graph:
    after = absorb_qdq(graph)
    verify(after, Stage.REAL)
    assert (graph.inputs, graph.outputs) == (after.inputs, after.outputs)
    assert all(value.dtype is DType.FLOAT32 for value in after.values.values())
    assert not {"QuantizeLinear", "DequantizeLinear"} & set(ops_of(after))
    return after


def quants(graph: Graph) -> list[QuantParams | None]:
    """Of the first input, then of each node's output."""
    names = [graph.inputs[0], *(node.output for node in graph.nodes)]
    return [graph.values[name].quant for name in names]


def test_rules_5_and_6_pin():
    m = Maker()
    y = qdq(m, m.op(TANH, qdq(m, m.input(1, 4), P)), R)
    after = absorbed(m.graph(m.op(TANH, y)))
    assert ops_of(after) == ["Unary", "Unary"]
    assert quants(after) == [P, R, None]


def test_rule_6_several_quantizers_of_equal_parameters():
    m = Maker()
    y = m.op(TANH, m.input(1, 4))
    after = absorbed(m.graph(m.op(TANH, qdq(m, y, P)), m.op(ops.Clip(0.0), qdq(m, y, P))))
    assert ops_of(after) == ["Unary", "Unary", "Clip"]
    assert quants(after)[1] == P


def test_rule_7_unrounded_readers_and_other_parameters_requantize():
    m = Maker()
    y = m.op(TANH, m.input(1, 4))
    after = absorbed(m.graph(m.op(TANH, qdq(m, y, P)), m.op(ops.Clip(0.0), y)))
    assert [node.attrs for node in after.nodes].count(IDENTITY) == 1
    assert quants(after)[:2] == [None, None]
    m = Maker()
    y = qdq(m, qdq(m, m.op(TANH, m.input(1, 4)), P), R)
    after = absorbed(m.graph(m.op(TANH, y)))
    assert [n.attrs for n in after.nodes] == [TANH, IDENTITY, TANH]
    assert quants(after) == [None, P, R, None]


def test_rule_3_integer_inputs_and_outputs():
    m = Maker()
    x = m.input(1, 4, dtype=DType.UINT8, quant=UNSIGNED)
    y = quantize(m, m.op(TANH, dequantize(m, x)), R)
    after = absorbed(m.graph(y))
    assert integer_io_dtype(after, "x") is DType.UINT8
    assert integer_io_dtype(after, y) is DType.INT8
    assert quants(after) == [P, R]  # rule 2: unsigned 131 is signed 3
    assert ops_of(after) == ["Unary"]
    m = Maker()
    assert integer_io_dtype(absorbed(m.graph(m.op(TANH, m.input(1, 4)))), "x") is None


def test_float_outputs_that_are_rounded_keep_their_name():
    m = Maker()
    y = qdq(m, m.op(TANH, m.input(1, 4)), P)
    after = absorbed(m.graph(y))
    assert ops_of(after) == ["Unary"]
    assert after.values[y].quant == P


def test_an_input_that_goes_straight_to_an_output():
    m = Maker()
    x = m.input(1, 4)
    after = absorbed(m.graph(qdq(m, x, P)))
    assert ops_of(after) == ["Unary"]


def test_rule_1_operators_on_codes_become_real():
    m = Maker()
    x = m.input(1, 2, 3, dtype=DType.INT8, quant=P)
    y = m.op(TURN, x, dtype=DType.INT8, quant=P)
    y = m.op(ops.Reshape((1, 6)), y, dtype=DType.INT8, quant=P)
    after = absorbed(m.graph(m.op(TANH, dequantize(m, y))))
    assert ops_of(after) == ["Transpose", "Reshape", "Unary"]
    assert quants(after) == [P, P, P, None]


def test_rule_4_constants():
    m = Maker()
    codes = np.arange(-4, 4, dtype=np.int8).reshape(2, 4)
    weight = m.builder.constant("w", codes, P)
    real = m.const(4, name="r")
    rounded = qdq(m, real, R)
    total = m.op(ops.Add(), m.input(1, 4), rounded)
    y = m.op(ops.Gemm(), total, dequantize(m, weight), "")
    after = absorbed(m.graph(y, stage=None))
    gemm = after.producers[y]
    assert after.constants[gemm.inputs[1]].dtype is DType.INT8
    assert np.array_equal(after.constants[gemm.inputs[1]].array, codes)
    added = after.constants[after.nodes[0].inputs[1]]
    assert added.quant == R
    expected = R.dequantize(R.quantize(m.builder.constants["r"].array))
    assert np.array_equal(added.real(), expected)


def test_rule_2_unsigned_constants():
    m = Maker()
    codes = np.array([[0, 131, 255, 1]], np.uint8)
    weight = m.builder.constant("w", codes, UNSIGNED)
    before = UNSIGNED.dequantize(codes)
    y = m.op(ops.Gemm(), m.input(1, 4), weight)
    after = absorb_qdq(m.graph(y, stage=None))
    constant = after.constants["w"]
    assert constant.array.tolist() == [[-128, 3, 127, -127]]
    assert np.array_equal(constant.real(), before)


def test_rule_8_pins_spread_over_moves():
    m = Maker()
    y = m.op(TURN, m.op(TANH, m.input(1, 2, 3)))
    after = absorbed(m.graph(m.op(TANH, qdq(m, y, P))))
    assert quants(after) == [None, P, P, None]
    m = Maker()
    y = m.op(ops.Reshape((6,)), qdq(m, m.op(TANH, m.input(1, 2, 3)), P))
    after = absorbed(m.graph(m.op(TANH, y)))
    assert quants(after) == [None, P, P, None]


def test_rule_8_conflicts_requantize_before_the_move():
    m = Maker()
    y = m.op(TURN, qdq(m, m.op(TANH, m.input(1, 2, 3)), P))
    after = absorbed(m.graph(m.op(TANH, qdq(m, y, R))))
    assert ops_of(after) == ["Unary", "Unary", "Transpose", "Unary"]
    assert quants(after) == [None, P, R, R, None]


def test_activations_of_16_bits_pin_as_those_of_8_bits_do():
    m = Maker()
    wide = QuantParams.per_tensor(0.1, 0, DType.INT16)
    y = qdq(m, m.input(1, 4), wide)
    after = absorbed(m.graph(m.op(TANH, y)))
    assert quants(after) == [wide, None]


def test_activations_of_other_widths_are_refused():
    m = Maker()
    wide = QuantParams.per_tensor(0.1, 0, DType.INT32)
    y = qdq(m, m.input(1, 4), wide)
    with pytest.raises(ImportModelError, match="int32"):
        absorb_qdq(m.graph(m.op(TANH, y)))
