"""Weights of few bits layer by layer: what `--weight-bits` reads and what it makes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgec.base.errors import ConfigError, WeightPoolError
from edgec.base.options import CompileOptions, LayerBits, WeightBits
from edgec.ir import ops
from edgec.weightpool import bits_of_layers
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
    for text in ("conv", "=4", "conv=5", "conv="):
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
