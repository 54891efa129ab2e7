"""Weights of few bits in the prices of `compile --fit`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from import_models import N, model_of, save

from edgec.base.options import CompileOptions, LayerBits, Optimize, WeightBits
from edgec.base.options.progress import no_progress
from edgec.commands.compile_placed import placed
from edgec.fit.prices.layers import Layers
from edgec.fit.prices.learned import Layer
from edgec.fit.prices.ways import States, Ways, ways_of
from edgec.fit.program.problem import State
from edgec.target.board import load_board
from edgec.workflow.integer import RealModel, quantized_model, real_model

RNG = np.random.default_rng(8)

NOTHING: State = frozenset()
INT16: State = frozenset("ab")


def a_layer(cycles: float, function: str) -> Layer:
    spec: Any = function
    return Layer(cycles, 8, {}, spec, ("Dense", ("INT8",)), frozenset("a"))


class _Network:
    """Layers by int16 tensors; with int16 codes a sum takes the convolution before it in."""

    def __init__(self, factor: float, *, fuses: bool = True) -> None:
        self._factor, self._fuses = factor, fuses

    def plan_of(self, int16: State, _: Optimize) -> Any:
        reader = "sum" if int16 and self._fuses else "conv"
        nodes = [
            SimpleNamespace(output=reader, name="node"),
            SimpleNamespace(output="end", name="end"),
        ]
        return SimpleNamespace(graph=SimpleNamespace(nodes=nodes))

    tensors = ("a", "b")

    def of(self, int16: State, _: Optimize) -> dict[str, Layer]:
        found = {"sum": a_layer(10.0, "sum"), "end": a_layer(5.0, "end")}
        if int16 and self._fuses:
            found["sum"] = a_layer(100.0 * self._factor, "fused")
        else:
            found["conv"] = a_layer(70.0 * self._factor, "conv")
        return found


def states_of(*, fuses: bool) -> dict[str, tuple[State, States]]:
    plain, narrow = _Network(1.0), _Network(2.0, fuses=fuses)
    bits = LayerBits("node", WeightBits.FOUR)
    probes = [NOTHING, INT16]
    networks: Any = {WeightBits.FOUR: narrow}
    ways = Ways({str(bits): bits}, {str(bits): 0.1}, networks, probes)
    ends = {"conv": frozenset("a"), "sum": frozenset("ab"), "end": frozenset("b")}
    cells: dict[str, tuple[State, States]] = {}
    for name, tensors in ends.items():
        cells[name] = tensors, {tensors & e: plain.of(e, Optimize.SPEED).get(name) for e in probes}
    network: Any = plain
    return ways.states_of(cells, network, Optimize.SPEED)


def cycles(found: tuple[State, States]) -> dict[str, float]:
    return {
        "".join(sorted(state)): 0.0 if layer is None else layer.cycles
        for state, layer in found[1].items()
    }


def test_layers_cost_more_in_the_states_in_which_they_read_the_weights():
    found = states_of(fuses=True)
    way = "node=4"
    assert found["conv"][0] == {"a", way}
    assert cycles(found["conv"]) == {"": 70.0, "a": 0.0, way: 140.0, "a" + way: 0.0}
    # Of its own the sum reads no weights: then they do not matter to it.
    assert cycles(found["sum"]) == {"": 10.0, "ab": 100.0, way: 10.0, "ab" + way: 200.0}
    assert found["end"][0] == {"b"}


def test_with_few_bits_a_layer_may_be_there_that_is_part_of_another_otherwise():
    found, way = states_of(fuses=False), "node=4"
    assert cycles(found["conv"]) == {"": 70.0, "a": 0.0, way: 140.0, "a" + way: 140.0}
    assert cycles(found["sum"]) == {"": 10.0, "ab": 100.0, way: 10.0, "ab" + way: 10.0}


def test_weights_of_a_choice_are_in_graph_order():
    first, second = LayerBits("n1", WeightBits.TWO), LayerBits("n2", WeightBits.FOUR)
    ways = Ways({"n1=2": first, "n2=4": second}, {}, {}, [])
    assert ways.bits_of({"n2=4", "x", "n1=2"}) == (first, second)


def test_weights_that_several_layers_read_keep_their_bits(tmp_path):
    """A program adds up layers, so that no layer may choose for another one."""
    weights = {"w": RNG.normal(size=(64, 64)).astype(np.float32)}
    nodes = [
        N("MatMul", ["x", "w"], ["a"]),
        N("Relu", ["a"], ["r"]),
        N("MatMul", ["r", "w"], ["y"]),
    ]
    path = save(model_of(nodes, {"x": (1, 64)}, weights), tmp_path)
    data = {"x": RNG.normal(size=(4, 64)).astype(np.float32)}
    real = real_model(path, data, CompileOptions(), no_progress)
    nobody: Any = None
    assert ways_of(real, CompileOptions(), nobody, (), nobody, no_progress) is None


def three_layers(folder: Path) -> RealModel:
    weights = {f"w{n}": RNG.normal(size=(64, 64)).astype(np.float32) for n in range(4)}
    nodes = []
    for n in range(4):
        nodes += [N("MatMul", [f"r{n}" if n else "x", f"w{n}"], [f"a{n}"])]
        nodes += [N("Relu", [f"a{n}"], [f"r{n + 1}" if n < 3 else "y"])]
    path = save(model_of(nodes, {"x": (1, 64)}, weights), folder)
    data = {"x": RNG.normal(size=(16, 64)).astype(np.float32)}
    return real_model(path, data, CompileOptions(), no_progress)


def layers_of(real: RealModel, *bits: str) -> Layers:
    asked = tuple(map(LayerBits.parse, bits))
    options = CompileOptions(weight_bits=asked)
    return Layers(quantized_model(real, options), None, load_board("nucleo_g0b1re"), options)


def test_layers_pay_for_a_pool_once(tmp_path: Path):
    """Bytes of single layers and of what they share are those of the whole program."""
    real = three_layers(tmp_path)
    found = layers_of(real, "*=pool16")
    layers = found.of((), Optimize.SIZE).values()
    pooled = [each for each in layers if each.shared_bytes]
    assert len(pooled) == 4
    shared = {key: size for each in pooled for key, size in each.shared_bytes.items()}
    assert len(shared) == 1
    options = CompileOptions(optimize=Optimize.SIZE)
    made = placed(found.plan_of((), Optimize.SIZE), load_board("nucleo_g0b1re"), options).made
    assert (
        sum(e.constant_bytes for e in layers) + sum(shared.values()) == made.program.constant_bytes
    )


def test_layers_may_be_in_a_pool_where_it_is_shared_enough(tmp_path: Path):
    """Each of the two inner layers has 512 vectors: enough for 64 of a pool, not for 256."""
    real, options = three_layers(tmp_path), CompileOptions()
    plain = layers_of(real)

    def narrow(model: RealModel, bits: tuple[LayerBits, ...]) -> Layers:
        integer = quantized_model(model, options)
        return Layers(integer, None, load_board("nucleo_g0b1re"), CompileOptions(weight_bits=bits))

    ways = ways_of(real, options, plain, (NOTHING,), narrow, no_progress)
    assert ways is not None
    kinds = {str(bits).rpartition("=")[2] for bits in ways.asked.values()}
    assert kinds == {"4", "3", "2", "pool64+decode"}
    names = {bits.layers for bits in ways.asked.values()}
    assert len(names) == 3  # the first layer may be in a pool
    for name in names:
        noise = {b.bits: ways.noises[str(b)] for b in ways.asked.values() if b.layers == name}
        assert all(value > 0.0 for value in noise.values())
    cells = {
        name: (NOTHING, {NOTHING: layer}) for name, layer in plain.of((), Optimize.SIZE).items()
    }
    wider = ways.states_of(cells, plain, Optimize.SIZE)
    both = [states for tensors, states in wider.values() if len(tensors) == 4]
    assert len(both) == 2
    for states in both:
        bytes_of = {next(iter(s), ""): e.constant_bytes for s, e in states.items() if e is not None}
        pool = next(size for way, size in bytes_of.items() if way.endswith("=pool64+decode"))
        assert pool < min(
            size for way, size in bytes_of.items() if not way.endswith("=pool64+decode")
        )
