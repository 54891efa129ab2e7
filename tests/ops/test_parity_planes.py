"""Layers of bit planes: oracle = definition = host C = C with NEON = C on microcontrollers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from binary_nets import Layer as Shape
from cross import MACHINES, check_cross
from emulated import BOARDS, check_emulated, need_emulator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parity import check_host, compiled, samples_of
from plane_nets import EDGES, ENDS, FORMS, Layer, graph_of
from random_graphs import adversarial_inputs, with_one_input
from scalar_planes import PLANES

from edgec.interp import run_graph
from edgec.ir import Graph, Node
from edgec.ir.qops.operands import Operand
from edgec.ir.verify import Stage, verify

_MOST_ELEMENTS = 12

_SETTINGS = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def layers(draw: st.DrawFn) -> Layer:
    """A layer that has an output."""
    bits = st.integers(1, 3)
    x_planes, y_planes = draw(bits), draw(bits)
    weights, end = draw(st.sampled_from([*FORMS])), draw(st.sampled_from(ENDS))
    # Sums of nine taps must stay within 16 bits.
    most = 24 if x_planes == 3 and FORMS[weights][0] == 3 else 64
    channels, filters = draw(st.integers(1, most)), draw(st.integers(1, 70))
    if draw(st.integers(0, 4)) == 0:
        shape = Shape((1, draw(st.integers(1, 6))), channels * 4, filters, None)
        return Layer(shape, x_planes, y_planes, weights, end)
    side, two = st.integers(1, 7), st.integers(1, 2)
    image = draw(side), draw(side)
    kernel = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    dilations = draw(two), draw(two)
    pads = [draw(st.integers(0, 2)) for _ in range(4)]
    for axis in (0, 1):
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        pads[axis + 2] = max(pads[axis + 2], reach - image[axis] - pads[axis])
    strides = draw(two), draw(two)
    shape = Shape(image, channels, filters, kernel, strides, tuple(pads), dilations)
    return Layer(shape, x_planes, y_planes, weights, end)


def _check_node(graph: Graph, node: Node, values: dict[str, np.ndarray]) -> None:
    operands = []
    for name in node.inputs:
        tensor = graph.tensor(name)
        array = graph.constants[name].array if graph.is_constant(name) else values[name]
        operands.append(Operand(array, tensor.quant.tensor_zero_point if tensor.quant else 0))
    y = values[node.output]
    where = list(np.ndindex(y.shape))
    rng = np.random.default_rng(5)
    for index in rng.permutation(len(where))[:_MOST_ELEMENTS]:
        at = where[index]
        assert y[at] == PLANES[type(node.attrs)](node.attrs, operands, 0, at), f"{node.attrs} {at}"


@_SETTINGS
@given(layer=layers(), seed=st.integers(0, 99))
def test_oracle_is_the_definition(layer: Layer, seed: int) -> None:
    graph = graph_of(seed, [layer])
    verify(graph, Stage.INTEGER, "the test")
    for inputs in adversarial_inputs(graph, np.random.default_rng(5))[2:5]:
        values = run_graph(graph, inputs)
        for node in graph.nodes:
            _check_node(graph, node, values)


@_SETTINGS
@given(made=st.lists(layers(), min_size=8, max_size=8), seed=st.integers(0, 99))
def test_host(made: list[Layer], seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    check_host(graph_of(seed, made), tmp_path_factory.mktemp("host"))


@pytest.mark.parametrize("machine", MACHINES)
def test_edges_with_neon(machine: str, tmp_path: Path) -> None:
    graph = graph_of(1, EDGES)
    program = check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path)
    found = {kernel.spec.family for kernel in program.kernels}
    assert {"plane_4x4_neon", "planes_neon", "planes"} == found


@pytest.mark.parametrize("machine", MACHINES)
@settings(_SETTINGS, max_examples=3)
@given(made=st.lists(layers(), min_size=12, max_size=12), seed=st.integers(0, 99))
def test_any_with_neon(
    machine: str, made: list[Layer], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    graph = graph_of(seed, made)
    check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path_factory.mktemp("neon"))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", BOARDS)
def test_edges_on_an_emulated_core(name: str, tmp_path: Path) -> None:
    need_emulator(name)
    graph = with_one_input(graph_of(2, [layer for layer in EDGES if layer.end != "residual"]))
    program = compiled(graph, tmp_path / "library", board=name)
    assert "plane_words" in {kernel.spec.family for kernel in program.kernels}
    samples = samples_of(graph)[2:5]
    check_emulated(name, tmp_path / "library", program, samples, tmp_path / "project")
