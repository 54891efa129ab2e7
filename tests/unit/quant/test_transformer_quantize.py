"""Float transformers become integer graphs that compute nearly the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from small_transformers import NETS, Net, inputs_of, vit

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError, UnsupportedModelError
from edgec.base.options import QuantOptions
from edgec.floatrun.activations import activations
from edgec.interp import run_graph
from edgec.ir import ops, qops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.ir.searched import is_searched
from edgec.ir.verify import Stage, verify
from edgec.ir.weighted import form_of
from edgec.passes.base import run_passes
from edgec.passes.pipeline import TRANSFORMER_PASSES
from edgec.quant import CalibrationSource, sqnr_db
from edgec.quant.common.numbers import bounds_of
from edgec.quant.transformer import quantize_transformer


def prepared(graph: Graph) -> Graph:
    return run_passes(graph, TRANSFORMER_PASSES).graph


def quantized(graph: Graph, count: int = 64) -> Graph:
    integer, _ = quantize_transformer(graph, inputs_of(graph, count), QuantOptions())
    verify(integer, Stage.INTEGER)
    return integer


def codes_of(graph: Graph, data: dict[str, np.ndarray], index: int) -> dict[str, np.ndarray]:
    """The inputs of one sample as the integer graph takes them."""
    codes = {}
    for name in graph.inputs:
        quant, array = graph.values[name].quant, data[name][index : index + 1]
        codes[name] = array if quant is None else quant.quantize(array)
    return codes


def output_sqnr(real: Graph, integer: Graph, seed: int = 9) -> float:
    """Of the graph's output on samples that were not calibrated on."""
    data = inputs_of(real, 16, seed)
    (name,) = real.outputs
    wanted = np.concatenate([batch[name] for _, batch in activations(real, [name], data)])
    found = [run_graph(integer, codes_of(integer, data, i))[name] for i in range(16)]
    quant = integer.quant(name)
    low, high = quant.dequantize(np.array([-128, 127]))
    result = quant.dequantize(np.concatenate(found))
    # What no calibration sample reached saturates: that is no error of the arithmetic.
    return sqnr_db(np.clip(wanted.reshape(result.shape), low, high), result)


@pytest.mark.parametrize("name", NETS)
def test_integer_graph_is_close_to_float(name):
    real = prepared(NETS[name]())
    assert is_searched(real)
    integer = quantized(real)
    assert output_sqnr(real, integer) > 24
    assert not any(isinstance(form_of(n.attrs), qops.Requant31) for n in integer.nodes)


def test_a_transposed_convolution_requantizes_by_31_bits():
    n = Net("decoder", 8)
    x = n.input("x", 1, 4, 4, 8)
    x = n(ops.Add(), x, n.linear(n.norm(x, "n1"), 8, "mix"), name="sum")
    up = ops.ConvTranspose(strides=(2, 2), pads=(0, 0, 0, 0), dilations=(1, 1), group=1)
    weight, bias = n.normal("up_w", 3, 2, 2, 8, scale=0.3), n.normal("up_b", 3)
    real = n.graph(n(ops.Clip(-2.0, 2.0), n(up, x, weight, bias, name="up"), name="y"))
    integer = quantized(prepared(real))
    assert output_sqnr(real, integer) > 30
    forms = Counter(type(form_of(node.attrs)) for node in integer.nodes)
    assert forms[qops.Requant31] == 1
    assert forms[qops.Rescale16x15] > 0


@pytest.mark.parametrize("name", NETS)
def test_no_input_overflows(name):
    integer = quantized(prepared(NETS[name]()), count=8)
    rng = np.random.default_rng(0)
    for low, high in ((-128, 127), (127, 127), (-128, -128), (0, 0)):
        feeds = {}
        for tensor in integer.inputs:
            shape = integer.shape(tensor)
            if integer.dtype(tensor) is DType.INT32:
                feeds[tensor] = rng.integers(-5, 99, shape).astype(np.int32)
            else:
                feeds[tensor] = rng.choice([low, high], shape).astype(np.int8)
        run_graph(integer, feeds)  # the oracle checks every intermediate


def test_a_block_is_ten_operators():
    integer = quantized(prepared(vit(1)))
    assert Counter(node.op for node in integer.nodes) == {
        "QConv": 1, "QReshape": 2, "QConcat": 1, "QNorm": 3, "QGemm": 5,
        "QAttention": 1, "QSlice": 1,
    }  # fmt: skip
    layers = [n for n in integer.nodes if isinstance(n.attrs, qops.QGemm)]
    operands = [n.attrs.Inputs.of(n.inputs) for n in layers]
    ends = zip(layers, operands, strict=True)
    found = [(bool(o.table), bool(o.residual), n.attrs.output.dtype) for n, o in ends]
    assert found == [
        (False, False, DType.INT8), (False, True, DType.INT16), (True, False, DType.INT8),
        (False, True, DType.INT16), (False, False, DType.INT8),
    ]  # fmt: skip
    conv = next(n for n in integer.nodes if isinstance(n.attrs, qops.QConv))
    assert conv.attrs.residual  # position embeddings
    assert integer.is_constant(conv.inputs[4])


def test_the_stream_has_one_scale():
    integer = quantized(prepared(vit(2)))
    scales = {v.quant for v in integer.values.values() if v.dtype is DType.INT16}
    assert len(scales) == 1


def test_attention_reads_columns_of_one_tensor():
    integer = quantized(prepared(vit(1)))
    node = next(n for n in integer.nodes if isinstance(n.attrs, qops.QAttention))
    assert len(set(node.inputs[:3])) == 1
    assert (node.attrs.q_start, node.attrs.k_start, node.attrs.v_start) == (0, 16, 32)
    quant = integer.quant(node.inputs[0])
    assert quant.axis == 2
    assert not any(quant.zero_point[:16])
    assert not any(quant.zero_point[32:])
    # Each channel of a head has the same product of scales.
    products = np.multiply(quant.scale[:16], quant.scale[16:32]).reshape(2, 8)
    np.testing.assert_allclose(products, products[:, :1].repeat(8, 1), rtol=1e-12)


def test_norms_have_scales_per_channel_where_layers_read_them():
    integer = quantized(prepared(vit(1)))
    norms = [n.output for n in integer.nodes if isinstance(n.attrs, qops.QNorm)]
    assert all(integer.quant(name).axis is not None for name in norms)


def test_calibration_is_needed_for_good_results_but_not_for_any(caplog):
    real = prepared(vit(1))
    integer, report = quantize_transformer(real, None, QuantOptions())
    verify(integer, Stage.INTEGER)
    assert report.source is CalibrationSource.SYNTHETIC
    assert report.warnings
    assert "no calibration data" in caplog.text


def test_bias_correction_can_be_left_out():
    real = prepared(vit(1))
    data = inputs_of(real, 32)
    plain, _ = quantize_transformer(real, data, QuantOptions(bias_correction=False))
    assert output_sqnr(real, plain) > 24


def test_report_lists_operators_with_their_quality():
    real = prepared(vit(1))
    _, report = quantize_transformer(real, inputs_of(real, 16), QuantOptions())
    assert {layer.op for layer in report.layers} >= {"QNorm", "QAttention", "QGemm"}
    assert all(layer.sqnr_db > 25 for layer in report.layers)


# -- refusals ------------------------------------------------------------------------------------


def test_a_bias_on_logits_of_the_run_is_refused():
    graph = vit(1)
    nodes = [
        replace(n, inputs=(*n.inputs[:3], "x", "")) if isinstance(n.attrs, ops.Attention) else n
        for n in graph.nodes
    ]
    with pytest.raises(UnsupportedModelError, match="logits"):
        quantize_transformer(graph.replace(nodes=tuple(nodes)), None, QuantOptions())


def test_pinned_parameters_are_refused():
    graph = prepared(vit(1))
    value = replace(graph.values["b0_qkv"], quant=QuantParams.per_tensor(0.1, 0))
    pinned = graph.replace(values={**graph.values, "b0_qkv": value})
    with pytest.raises(QuantizationError, match="float model"):
        quantize_transformer(pinned, inputs_of(graph, 4), QuantOptions())


# -- intervals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETS)
def test_every_operator_that_computes_has_bounds(name):
    integer = quantized(prepared(NETS[name]()), count=8)
    moves = (qops.QReshape, qops.QSlice, qops.QConcat, qops.QMaxPool)
    free = (*moves, qops.QEmbedding, qops.QIsEqual)
    for node in integer.nodes:
        bounds = bounds_of(integer, node)
        assert bool(bounds) != isinstance(node.attrs, free)
        assert all(0 < bound < 2**31 for bound in bounds.values())
