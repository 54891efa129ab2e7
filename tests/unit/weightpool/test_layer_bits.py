"""Weights of few bits layer by layer: what `--weight-bits` reads and what it makes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from import_models import N, model_of, save

from edgec.base.errors import ConfigError, WeightPoolError
from edgec.base.options import CompileOptions, InPool, LayerBits, WeightBits, WeightPoolOptions
from edgec.ir import ops
from edgec.ir.weight_pool_graph import pooled_nodes
from edgec.ir.weighted import pooled_inputs
from edgec.weightpool import bits_of_layers, compress_graph, narrowed_layers
from edgec.workflow.integer import RealModel, quantized_model, real_model

MLP = Path(__file__).resolve().parents[3] / "examples" / "digits_mlp.onnx"
RNG = np.random.default_rng(1)


@pytest.fixture(scope="module")
def real() -> RealModel:
    samples = np.random.default_rng(2).normal(size=(32, 1, 8, 8)).astype(np.float32)
    (name,) = real_model(MLP, None, CompileOptions()).imported.inputs
    return real_model(MLP, {name: samples}, CompileOptions())


def layers_of(model: RealModel) -> list[str]:
    return [node.name for node in model.graph.nodes if isinstance(node.attrs, ops.Weighted)]


def test_names_and_bits_are_read():
    assert LayerBits.parse("a=b=4") == LayerBits("a=b", WeightBits.FOUR)
    assert str(LayerBits.parse("conv*=ternary")) == "conv*=ternary"
    assert LayerBits.parse("conv=pool64") == LayerBits("conv", InPool(64))
    assert LayerBits.parse("a=pool2+decode") == LayerBits("a", InPool(2, decode=True))
    for text in ("a=pool2", "a=pool1024+decode"):
        assert str(LayerBits.parse(text)) == text
    for text in ("conv", "=4", "conv=5", "conv=", "a=pool", "a=pool1", "a=pool1025", "a=pool064"):
        with pytest.raises(ConfigError, match="cannot read"):
            LayerBits.parse(text)


def test_the_last_of_several_names_holds(real: RealModel):
    first, *others = layers_of(real)
    asked = (LayerBits("*", WeightBits.FOUR), LayerBits(first, WeightBits.TWO))
    expected = {first: WeightBits.TWO, **dict.fromkeys(others, WeightBits.FOUR)}
    assert bits_of_layers(real.graph, asked) == expected
    with pytest.raises(WeightPoolError, match="matches no layer"):
        bits_of_layers(real.graph, (LayerBits("nowhere", WeightBits.TWO),))


def test_each_layer_has_its_own_numbers(real: RealModel):
    names = layers_of(real)
    asked = (LayerBits(names[0], WeightBits.THREE), LayerBits(names[-1], WeightBits.TWO))
    made = quantized_model(real, CompileOptions(weight_bits=asked))
    found, plain = made.integer, quantized_model(real, CompileOptions()).integer
    assert any("they alone add noise to the outputs" in note for note in made.notes)
    nodes = {node.name: node for node in real.graph.nodes}
    for name in names:
        weight = ops.layer_inputs(nodes[name]).w
        codes = found.constants[weight].array
        if name == names[0]:
            assert (codes.min(), codes.max()) == (-4, 3)
        elif name == names[-1]:
            assert (codes.min(), codes.max()) == (-2, 1)
        else:
            assert np.abs(codes).max() > 8
        assert codes.shape == plain.constants[weight].array.shape


def three_layers(folder: Path) -> RealModel:
    weights = {f"w{n}": RNG.normal(size=(32, 32)).astype(np.float32) for n in range(3)}
    nodes = [
        N("MatMul", ["x", "w0"], ["a"]),
        N("Relu", ["a"], ["b"]),
        N("MatMul", ["b", "w1"], ["c"]),
        N("Relu", ["c"], ["d"]),
        N("MatMul", ["d", "w2"], ["y"]),
    ]
    path = save(model_of(nodes, {"x": (1, 32)}, weights), folder)
    data = {"x": RNG.normal(size=(16, 32)).astype(np.float32)}
    return real_model(path, data, CompileOptions())


def test_layers_share_a_pool_beside_layers_of_few_bits(tmp_path: Path):
    """One pool for both layers that ask for it, whatever the layer between them has."""
    real = three_layers(tmp_path)
    first, second, third = layers_of(real)
    asked = (
        LayerBits(first, InPool(16)),
        LayerBits(second, WeightBits.FOUR),
        LayerBits(third, InPool(16)),
    )
    integer = quantized_model(real, CompileOptions(weight_bits=asked)).integer
    pooled = {node.name: node for node in pooled_nodes(integer)}
    assert pooled.keys() == {first, third}
    pools = {pooled_inputs(node).pool for node in pooled.values()}
    assert len(pools) == 1
    assert integer.constants[pools.pop()].array.shape == (16, 8)
    between = next(node for node in integer.nodes if node.name == second)
    codes = integer.constants[between.inputs[1]].array
    assert codes.min() >= -8
    assert codes.max() <= 7


def test_pools_of_two_sizes_are_two(real: RealModel):
    first, second = layers_of(real)[:2]
    asked = LayerBits(first, InPool(16)), LayerBits(second, InPool(8))
    integer = quantized_model(real, CompileOptions(weight_bits=asked)).integer
    pools = {pooled_inputs(node).pool for node in pooled_nodes(integer)}
    assert {integer.constants[name].array.shape for name in pools} == {(16, 8), (8, 8)}


def test_a_pool_of_all_layers_is_that_of_compress(real: RealModel):
    """The same vectors as `edgec compress` finds, whose last pass this is."""
    names = layers_of(real)[:2]
    asked = tuple(LayerBits(name, InPool(32)) for name in names)
    bits = bits_of_layers(real.graph, asked)
    found = narrowed_layers(real.graph, real.calibration, bits)
    options = WeightPoolOptions(size=32, layers=tuple(names), range_bits=8)
    compressed, _ = compress_graph(real.graph, real.calibration, options)
    nodes = {node.name: node for node in real.graph.nodes}
    for name in names:
        weight = ops.layer_inputs(nodes[name]).w
        one, other = found.constants[weight].pooled, compressed.constants[weight].pooled
        assert one is not None
        assert other is not None
        np.testing.assert_array_equal(one.pool.vectors, other.pool.vectors)


def test_more_vectors_than_layers_have_are_refused(real: RealModel):
    last = layers_of(real)[-1]
    asked = (LayerBits(last, InPool(1024)),)
    with pytest.raises(WeightPoolError, match="vectors"):
        quantized_model(real, CompileOptions(weight_bits=asked))


def test_what_to_expect_is_beside_the_network_with_its_own_weights(real: RealModel):
    """Two bits everywhere: far from the float network, however well int8 codes follow them."""
    asked = (LayerBits("*", WeightBits.TWO),)
    narrow = quantized_model(real, CompileOptions(weight_bits=asked)).quantization
    plain = quantized_model(real, CompileOptions()).quantization
    assert narrow.estimate is not None
    assert plain.estimate is not None
    assert narrow.estimate.output_db < plain.estimate.output_db - 6.0
