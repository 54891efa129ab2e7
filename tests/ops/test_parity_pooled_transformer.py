"""Transformers whose weights come from a pool: quantized, lowered, equal to the oracle in C."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulated import check_emulated
from parity import check_host, compiled, samples_of
from random_pools import pooled_constant, random_pool
from small_transformers import NETS, Net, inputs_of

from edgec.base.errors import QuantizationError
from edgec.base.options import QuantOptions, Residual
from edgec.ir import ops, qops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.kernels.weightpool.decode import PooledDecode
from edgec.kernels.weightpool.decode_dsp import PooledDecodeDsp
from edgec.passes.base import run_passes
from edgec.passes.pipeline import TRANSFORMER_INTEGER_PASSES, TRANSFORMER_PASSES
from edgec.quant.transformer import quantize_transformer
from edgec.quant.transformer.pooled import pooled_codes
from edgec.quant.transformer.weights import LayerCodes, Sums, Target
from edgec.toolchain import process

BOARDS = {"plain": "host", "dsp": "nucleo_l4r5zi"}
KERNELS = {"plain": PooledDecode, "dsp": PooledDecodeDsp}
CASES = [
    ("vit", 8, 1),
    ("cct", 8, 2),
    ("gated", 16, 3),
    ("post_norm", 4, 1),
    ("convolutional", 8, 4),
]
"""Network, weights of a vector, vectors of the pool that are added up to one."""


def weighted(graph: Graph) -> list[Node]:
    """Layers whose inputs fill a vector."""
    nodes = [node for node in graph.nodes if isinstance(node.attrs, ops.Conv | ops.Gemm)]
    nodes = [node for node in nodes if getattr(node.attrs, "group", 1) == 1]
    return [node for node in nodes if graph.shape(node.inputs[1])[-1] >= 4]


def pooled_graph(name: str, group: int, graph: Graph | None = None, terms: int = 1) -> Graph:
    """A network with random weights of a pool in all layers, whose outputs have the old sizes."""
    rng = np.random.default_rng(group)
    graph = graph or NETS[name]()
    pool = random_pool(rng, 64, group, terms=terms)
    builder = GraphBuilder.of(graph)
    for node in weighted(graph):
        weight = graph.constants[node.inputs[1]]
        found = pooled_constant(rng, weight.name, weight.shape, pool, terms)
        assert found.quant is not None
        fit = float(weight.array.std() / found.real().std())
        scale = tuple(s * fit for s in found.quant.scale)
        pinned = replace(found.quant, scale=scale)
        builder.constants[weight.name] = Constant(weight.name, found.array, pinned, found.pooled)
    return run_passes(builder.build(), TRANSFORMER_PASSES).graph


def quantized(real: Graph) -> Graph:
    integer, report = quantize_transformer(real, inputs_of(real, 8), QuantOptions())
    assert report.layers[-1].sqnr_db > 20
    return run_passes(integer, TRANSFORMER_INTEGER_PASSES).graph


def pooled_layers(graph: Graph) -> list[Node]:
    nodes = [n for n in graph.nodes if isinstance(n.attrs, qops.QGemm | qops.QConv)]
    return [node for node in nodes if graph.constants[node.inputs[1]].pooled is not None]


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("kernels", BOARDS)
@pytest.mark.parametrize(("name", "group", "terms"), CASES)
def test_host_c_equals_the_oracle(name: str, group: int, terms: int, kernels: str, tmp_path: Path):
    real = pooled_graph(name, group, terms=terms)
    graph = quantized(real)
    layers = pooled_layers(graph)
    assert len(layers) == len(weighted(real)) > 3
    program = check_host(graph, tmp_path, board=BOARDS[kernels])
    found = [step for step in program.steps if step.node in {node.name for node in layers}]
    specs = [program.kernels[step.kernel].spec for step in found]
    assert {PooledDecode, KERNELS[kernels]} >= {type(spec) for spec in specs}
    assert KERNELS[kernels] in {type(spec) for spec in specs}
    assert {spec.terms for spec in specs} == {terms}


def test_what_is_stored_is_the_pool_once_and_the_indices(tmp_path: Path):
    graph = quantized(pooled_graph("vit", 8))
    program = compiled(graph, tmp_path, board="nucleo_l4r5zi")
    weights = {c.stem: 0 for c in program.constants}
    for constant in program.constants:
        weights[constant.stem] += constant.array.nbytes
    layers = [graph.constants[node.inputs[1]] for node in pooled_layers(graph)]
    indices = [layer.pooled.indices.size for layer in layers if layer.pooled]
    assert weights["pool_table"] == 64 * 8
    assert weights["indices"] == sum(-(-6 * count // 8) for count in indices)
    assert 8 * weights["indices"] < sum(layer.array.size for layer in layers)
    # The patches have 3 channels.
    assert weights["weights"] < 300


def direct() -> Graph:
    """A layer that reads what the residual addition gives, without a norm."""
    n = Net("direct", 9)
    x = n.linear(n.input("x", 1, 9, 8), 16, "start")
    return n.graph(n.linear(n.block(x, 2, "b"), 8, "head"))


@pytest.mark.parametrize("residual", Residual)
def test_a_layer_that_reads_the_stream_gets_one_scale(residual: Residual, tmp_path: Path):
    real = pooled_graph("direct", 8, direct())
    options = QuantOptions(residual=residual)
    integer, report = quantize_transformer(real, inputs_of(real, 8), options)
    assert report.layers[-1].sqnr_db > 15
    for node in pooled_layers(integer):
        assert len(set(integer.quant(node.inputs[0]).scale)) == 1
    assert len(pooled_layers(integer)) == len(weighted(real))
    check_host(integer, tmp_path, board="nucleo_l4r5zi")


def test_weights_are_the_pools_codes_and_inputs_have_one_scale():
    real = pooled_graph("vit", 8)
    graph = quantized(real)
    for node in pooled_layers(graph):
        weight = graph.constants[node.inputs[1]]
        np.testing.assert_array_equal(weight.array, weight.pooled.expand(weight.shape[-1]))
        assert len(set(graph.quant(node.inputs[0]).scale)) == 1


X_SCALE = 0.02
ZERO = np.arange(16)


def pooled_weight() -> Constant:
    rng = np.random.default_rng(0)
    return pooled_constant(rng, "w", (6, 16), random_pool(rng, 8, 8))


def codes_of(bias: float, scale: float = 0.01) -> LayerCodes:
    target = Target(np.array([scale]), np.array([-3.0]), reach=129.0)
    return pooled_codes(
        pooled_weight(), X_SCALE, Sums(np.full(6, bias), target, ZERO, 128, "layer")
    )


def test_codes_compute_what_the_real_weights_do():
    codes, bias = codes_of(0.07), 0.07
    np.testing.assert_array_equal(codes.weight, pooled_weight().array)
    x = np.random.default_rng(1).integers(-40, 41, (50, 16))
    found = codes.requant.apply(codes.bias + x @ codes.weight.T.astype(np.int64))
    wanted = ((x - ZERO) * X_SCALE) @ pooled_weight().real().T.astype(np.float64) + bias
    wanted = wanted / 0.01 - 3
    near = np.abs(wanted) < 128
    assert near.mean() > 0.5
    # The rounding, that of the bias, and 15 bits for the largest multiplier.
    assert np.abs(found - wanted)[near].max() < 0.6


@pytest.mark.parametrize(("bias", "scale"), [(1e9, 0.01), (0.0, 1e-12)])
def test_numbers_beyond_32_bits_are_refused(bias: float, scale: float):
    with pytest.raises(QuantizationError) as caught:
        codes_of(bias, scale)
    assert caught.value.where == "layer"


@pytest.mark.parametrize(
    "board", ["nucleo_l4r5zi", pytest.param("nucleo_g0b1re", marks=pytest.mark.slow)]
)
def test_emulated_cores(board: str, tmp_path: Path):
    if process.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    pytest.importorskip("unicorn")
    graph = quantized(pooled_graph("cct", 8, terms=2))
    program = compiled(graph, tmp_path / "library", board=board)
    samples = samples_of(graph)[2:4]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")
