"""Weights of few bits in the prices of `compile --fit`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from import_models import N, model_of, save

from edgec.base.options import CompileOptions, LayerBits, Optimize, WeightBits
from edgec.base.options.progress import no_progress
from edgec.fit.prices.learned import Layer
from edgec.fit.prices.ways import States, Ways, ways_of
from edgec.fit.program.problem import State
from edgec.workflow.integer import real_model

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

    def plan_of(self, int16: State) -> Any:
        reader = "sum" if int16 and self._fuses else "conv"
        nodes = [
            SimpleNamespace(output=reader, name="node"),
            SimpleNamespace(output="end", name="end"),
        ]
        return SimpleNamespace(graph=SimpleNamespace(nodes=nodes))

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
