"""Networks of few bits: layers of bit planes are found, chosen by price, and change no output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cross import MACHINES, check_cross
from parity import check_host, samples_of
from plane_models import images, network

from edgec.base.dtypes import DType
from edgec.base.options import CompileOptions
from edgec.importers.formats import import_model
from edgec.interp import run_graph
from edgec.ir import Graph, QuantParams, Value, ops, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.convolution import conv_sums
from edgec.ir.verify import Stage, verify
from edgec.passes import REAL_PASSES, run_passes
from edgec.passes.pack_planes import _planes_of, levels_of, pack_planes, plane_layers
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.workflow.bit_planes import in_bit_planes
from edgec.workflow.integer import integer_model

PAIRS = [(1, 1), (1, 2), (0, 2), (2, 2), (1, 3), (2, 3), (3, 3)]
"""Bits of weights, 0 for ternary ones, and of activations."""


def integer(path: Path) -> Graph:
    return integer_model(path, None, CompileOptions()).integer


def codes_of(graph: Graph, seed: int) -> dict[str, np.ndarray]:
    x = graph.only_input
    return {x: graph.quant(x).quantize(images(1, seed).transpose(0, 2, 3, 1))}


@pytest.mark.parametrize(("weight_bits", "bits"), PAIRS)
def test_layers_of_few_bits_are_packed_and_change_nothing(
    weight_bits: int, bits: int, tmp_path: Path
) -> None:
    graph = integer(network(tmp_path / "net.onnx", weight_bits, bits))
    layers = plane_layers(graph)
    assert len(layers) == 5
    packed = pack_planes(graph, layers)
    verify(packed, Stage.INTEGER, "the test")
    found = [node.attrs for node in packed.nodes if isinstance(node.attrs, qops.PlaneLayer)]
    assert {attrs.x_planes for attrs in found} == {bits}
    assert [attrs.y_planes for attrs in found] == [0, bits, 0, bits, 0]
    assert [attrs.residual is not None for attrs in found].count(True) == 1
    (y,) = graph.outputs
    for seed in range(4):
        inputs = codes_of(graph, seed)
        assert np.array_equal(run_graph(graph, inputs)[y], run_graph(packed, inputs)[y])


@pytest.mark.parametrize(("weight_bits", "bits"), [(1, 2), (2, 2)])
def test_codes_of_few_bits_are_those_of_the_file(
    weight_bits: int, bits: int, tmp_path: Path
) -> None:
    """Biases of normalizations that were folded have steps much finer than a code of two bits."""
    path = network(tmp_path / "net.onnx", weight_bits, bits)
    graph = integer(path)
    real = run_passes(import_model(path), REAL_PASSES).graph
    layer = next(node for node in graph.nodes if node.name == plane_layers(graph)[0])
    conv = next(node for node in real.nodes if node.first == layer.first)
    inputs = ops.Conv.Inputs.of(conv.inputs)
    weights, bias = (real.constants[str(name)].real64() for name in (inputs.w, inputs.b))
    wrong = total = 0
    for seed in range(4):
        values = run_graph(graph, codes_of(graph, seed))
        x = graph.quant(layer.first).dequantize(values[layer.first]).astype(np.float64)
        sums = conv_sums(conv.attrs_as(ops.Conv), x, weights) + bias
        wanted = graph.quant(layer.output).quantize(np.clip(sums, 0.0, 1.5))
        wrong += int((wanted != values[layer.output]).sum())
        total += wanted.size
    assert wrong / total < 0.002


def test_c_of_a_network_of_few_bits(tmp_path: Path) -> None:
    graph = integer(network(tmp_path / "net.onnx", 2, 2))
    packed = pack_planes(graph, plane_layers(graph))
    (tmp_path / "host").mkdir()
    check_host(packed, tmp_path / "host")
    program = check_cross(MACHINES["a53"], packed, samples_of(packed), tmp_path)
    assert "plane_4x4_neon" in {kernel.spec.family for kernel in program.kernels}


@pytest.mark.parametrize(
    ("numbers", "planes", "least", "unit"),
    [
        ([-1, 1], 1, -1, 2),
        ([-127, 0, 127], 2, -127, 127),
        ([-2, -1, 0, 1], 2, -2, 1),
        ([-3, -1, 1, 3], 2, -3, 2),
        ([-126, 63], 1, -126, 189),
        ([5, 12], 1, 5, 7),
    ],
)
def test_levels_of_weights(numbers: list[int], planes: int, least: int, unit: int) -> None:
    weights = np.array([numbers, numbers[::-1]], np.int8)
    levels = levels_of(weights)
    assert levels is not None
    assert (levels.planes, levels.least, levels.unit) == (planes, least, unit)
    assert np.array_equal(levels.least + levels.unit * levels.codes, weights)


@pytest.mark.parametrize("numbers", [[3, 3], [-127, 1, 127], list(range(-4, 5))])
def test_no_levels_of_weights(numbers: list[int]) -> None:
    assert levels_of(np.array([numbers], np.int8)) is None


def test_price_decides(tmp_path: Path) -> None:
    """Where words of bits win depends on the core; a core without prices keeps bytes."""
    graph = integer(network(tmp_path / "net.onnx", 1, 2, width=64))
    wide = {}
    for board in ("raspberry_pi_3", "nucleo_g0b1re", "nucleo_l4r5zi"):
        found = in_bit_planes(graph, Target.of(load_board(board)))
        wide[board] = sum(isinstance(node.attrs, qops.PlaneLayer) for node in found.nodes)
    assert wide["raspberry_pi_3"] == wide["nucleo_g0b1re"] == 5
    three = integer(network(tmp_path / "net.onnx", 3, 3, width=64))
    assert in_bit_planes(three, Target.of(load_board("nucleo_l4r5zi"))) is three


def test_ends_of_planes_do_not_pass_the_largest_code() -> None:
    builder = GraphBuilder("g")
    x = Value("x", (1, 2, 2, 3), DType.INT8, QuantParams.per_tensor(0.1, 123, DType.INT8))
    builder.inputs.append(builder.value(x))
    graph = builder.build()
    name = _planes_of(builder, graph, "x", 3, 123)
    below = builder.constants[qops.QPlanes.Inputs.of(builder.nodes[name].inputs).below].array
    assert below[:, 0].tolist() == [123, 124, 125, 126, 127, 127, 127]
