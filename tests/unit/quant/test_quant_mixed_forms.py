"""Networks whose layers requantize in both forms: products of two activations and norms of codes
between convolutions of convolutional networks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from parity import check_host
from quant_samples import Sketch, conv, relu, samples

from edgec.base.errors import QuantizationError
from edgec.base.options import CompileOptions, Effort, QuantOptions
from edgec.interp import run_graph_batch
from edgec.ir import ops, qops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.ir.weighted import form_of
from edgec.quant import Quantized, quantize


def stem(s: Sketch) -> str:
    """Two convolutions, the second with a residual addition; [1, 64, 8]."""
    x = s.input("x", 1, 8, 8, 3)
    first = relu(s, conv(s, x, 8))
    second = relu(s, s(ops.Add(), conv(s, first, 8), first))
    return s(ops.Reshape((1, 64, 8)), second)


def network(*, product: bool) -> Graph:
    """A convolutional network, with or without a product of two of its activations at the end."""
    s = Sketch(seed=3)
    tokens = stem(s)
    if not product:
        return s.graph(tokens)
    gram = s(ops.MatMul(transpose_a=True, scale=1 / 64), tokens, tokens)
    return s.graph(s(ops.Softmax(), gram))


def quantized(graph: Graph, count: int = 16) -> Quantized:
    # Of nearest codes: which other codes a network keeps depends on its outputs.
    options = CompileOptions(quant=QuantOptions(effort=Effort.FAST))
    return quantize(graph, samples(graph, count), options)


def convolutions(graph: Graph) -> list[tuple[object, ...]]:
    """Attributes and constants of every convolution."""
    found = []
    for node in graph.nodes:
        if isinstance(node.attrs, qops.QConv):
            arrays = [
                graph.constants[n].array.tolist() for n in node.inputs if n in graph.constants
            ]
            found.append((node.attrs, *arrays))
    return found


def test_a_product_leaves_the_convolutions_as_they_were() -> None:
    alone, mixed = quantized(network(product=False)), quantized(network(product=True))
    wanted = convolutions(alone.integer)
    assert len(wanted) == 2
    assert convolutions(mixed.integer) == wanted
    forms = {type(form_of(n.attrs)) for n in mixed.integer.nodes} - {type(None)}
    assert forms == {qops.Requant31, qops.Rescale16x15}


def test_it_is_close_to_float() -> None:
    graph = network(product=True)
    found = quantized(graph)
    assert found.annotated is not None
    assert min(layer.sqnr_db for layer in found.report.layers) > 20


def test_the_c_code_equals_the_reference(tmp_path: Path) -> None:
    check_host(quantized(network(product=True)).integer, tmp_path)


def pinned_norm(attrs: ops.Norm, x_quant: QuantParams, y_quant: QuantParams) -> Graph:
    s = Sketch(seed=1)
    x = s.input("x", 1, 6, 32, quant=x_quant)
    inputs = [s.normal("gamma", 32), *([s.normal("beta", 32)] * isinstance(attrs, _CENTRED))]
    return s.graph(s(attrs, x, *inputs, quant=y_quant))


_CENTRED = ops.LayerNormalization


@pytest.mark.parametrize("attrs", [ops.LayerNormalization(1e-5), ops.RMSNormalization(1e-6)])
@pytest.mark.parametrize("zero_point", [-128, 3, 127])
def test_a_norm_of_codes_is_exact_to_a_step(tmp_path: Path, attrs: ops.Norm, zero_point: int):
    x_quant = QuantParams.per_tensor(0.05, zero_point)
    y_quant = QuantParams.per_tensor(0.03, -7)
    graph = pinned_norm(attrs, x_quant, y_quant)
    integer = quantize(graph, None, CompileOptions()).integer
    codes = np.random.default_rng(2).integers(-128, 128, (64, 1, 6, 32)).astype(np.int8)
    (output,) = integer.outputs
    found = y_quant.dequantize(run_graph_batch(integer, {"x": codes[:, 0]})[output])
    real = x_quant.dequantize(codes[:, 0]).astype(np.float64)
    if isinstance(attrs, _CENTRED):
        real = real - real.mean(axis=-1, keepdims=True)
    unit = real / np.sqrt((real**2).mean(axis=-1, keepdims=True) + attrs.epsilon)
    gamma = graph.constants["gamma"].real64()
    beta = graph.constants["beta"].real64() if "beta" in graph.constants else 0.0
    low, high = y_quant.dequantize(np.array([-128, 127]))
    wanted = np.clip(unit * gamma + beta, low, high)
    assert np.abs(found.reshape(wanted.shape) - wanted).max() < 0.6 * y_quant.tensor_scale
    assert (found == low).any() == (wanted == low).any()
    check_host(integer, tmp_path)


def test_attention_of_pinned_codes_alone_is_refused_by_name() -> None:
    s = Sketch()
    pin = QuantParams.per_tensor(0.05, 3)
    q, k, v = (s.input(name, 1, 4, 8, quant=pin) for name in "qkv")
    graph = s.graph(s(ops.Attention(heads=1, scale=0.3), q, k, v, quant=pin))
    with pytest.raises(QuantizationError, match="Attention"):
        quantize(graph, None, CompileOptions())
