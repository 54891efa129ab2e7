"""Oracle = generated C with NEON, run in an emulator of a Linux process, for A64 and Armv7-A."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import neon_wide_layers
import numpy as np
import pytest
import variable_nets
from cross import DOT, MACHINES, check_cross, check_program, library_for, linked
from depthwise_cases import Case, add_layer, graph_of
from depthwise_kernels import KERNELS
from neon_layers import (
    convolutional,
    dense_layers,
    depthwise,
    depthwise_cases,
    others,
    paired_layers,
    products,
    tflite_sums,
)
from parity import Sample, samples_of
from random_transformer import OPERATORS, Layer, operators
from small_transformers import NETS, inputs_of

from edgec.base.dtypes import DType
from edgec.base.options import QuantOptions
from edgec.interp import run_graph
from edgec.ir import Graph, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.kernels.neon.dense_4x4_s8_neon import Dense4x4
from edgec.passes.base import run_passes
from edgec.passes.pipeline import TRANSFORMER_PASSES
from edgec.quant.transformer import quantize_transformer
from edgec.target.cores import Core

GRAPHS: dict[str, tuple[Callable[[], Graph], set[str]]] = {
    "products": (lambda: products(1, 16), {"dense_4x4_s8_neon"}),
    "others": (
        lambda: others(1),
        {"norm_neon", "rescale_neon", "elements_neon", "attention_neon"},
    ),
    "convolutional": (lambda: convolutional(1, 2), {"dense_4x4_s8_neon"}),
    "depthwise": (lambda: depthwise(1, 12), {"depthwise_s8_neon"}),
    "sums": (lambda: tflite_sums(1), {"add_s8_neon"}),
}
"""Graphs, and the kernels that they must reach."""
QUICK_NETS = ("vit", "cct")
FLAGS = {"gcc-O0": ("-O0",), "gcc-O3": ("-O3",), "gcc-pic": ("-O2", "-fPIC")}


def families(graph: Graph, core: Core, folder: Path) -> Counter[str]:
    program = library_for(core, graph, folder)
    return Counter(kernel.spec.family for kernel in program.kernels)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", GRAPHS)
def test_operators(name: str, machine: str, tmp_path: Path) -> None:
    make, expected = GRAPHS[name]
    graph = make()
    program = check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path)
    assert expected <= {kernel.spec.family for kernel in program.kernels}


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "seed"), [("a53", 2), ("a53", 3), ("a7", 4), ("a7", 5)])
def test_operators_thoroughly(machine: str, seed: int, tmp_path: Path) -> None:
    graphs = [products(seed, 40), others(seed), convolutional(seed, 4), depthwise(seed, 40)]
    graphs.append(operators(seed, list(OPERATORS), 8))
    for number, graph in enumerate(graphs):
        folder = tmp_path / str(number)
        folder.mkdir()
        check_cross(MACHINES[machine], graph, samples_of(graph), folder)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_depthwise_layers_of_all_forms_of_31_bits(machine: str, seed: int, tmp_path: Path) -> None:
    others = KERNELS["planes"].cases[::3] + KERNELS["line"].cases[::2] + KERNELS["bands"].others[:3]
    graph = graph_of(seed, (*others, *depthwise_cases(seed, 16)))
    program = check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path)
    assert {kernel.spec.family for kernel in program.kernels} == {"depthwise_s8_neon"}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    "make",
    [
        lambda: products(1, 20),
        lambda: convolutional(1, 2),
        lambda: dense_layers(1, 24),
        pytest.param(lambda: products(2, 60), marks=pytest.mark.slow),
        pytest.param(lambda: dense_layers(2, 80), marks=pytest.mark.slow),
    ],
)
def test_dot_products(make: Callable[[], Graph], tmp_path: Path) -> None:
    graph = make()
    program = check_cross(DOT, graph, samples_of(graph), tmp_path)
    found = {kernel.spec.family for kernel in program.kernels}
    assert "dense_8x8_s8_dot" in found and "dense_4x4_s8_neon" not in found


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", ["a53", "a7", "a76"])
@pytest.mark.parametrize(("seed", "count"), [(1, 27), pytest.param(2, 150, marks=pytest.mark.slow)])
def test_dense_layers_of_int16(seed: int, count: int, name: str, tmp_path: Path) -> None:
    graph = neon_wide_layers.dense_layers(seed, count)
    machine = {**MACHINES, "a76": DOT}[name]
    program = check_cross(machine, graph, samples_of(graph), tmp_path)
    found = {kernel.spec.family for kernel in program.kernels}
    narrow = {"dense_8x8_s8_dot"} if machine is DOT else {"dense_4x4_s8_neon"}
    wide = {"dense_8x8_s16_dot"} if machine is DOT else {"dense_4x16_s16_neon"}
    # Weights of -128, and sums of 64 bits, are left to others.
    assert narrow | wide <= found


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("seed", "count"), [(1, 27), pytest.param(2, 150, marks=pytest.mark.slow)])
def test_depthwise_layers_of_int16(seed: int, count: int, machine: str, tmp_path: Path) -> None:
    graph = neon_wide_layers.depthwise_layers(seed, count)
    program = check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path)
    found = {kernel.spec.family for kernel in program.kernels}
    assert found == {"depthwise_s8_neon", "depthwise_s16_neon"}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_pairs_of_blocks(seed: int, tmp_path: Path) -> None:
    graph = paired_layers(seed, 24 * seed)
    program = check_cross(MACHINES["a53"], graph, samples_of(graph), tmp_path)
    specs = [kernel.spec for kernel in program.kernels]
    dense = [spec for spec in specs if isinstance(spec, Dense4x4)]
    ways = {(spec.paired, spec.reads_in_place, spec.reads_strip, spec.is_product) for spec in dense}
    assert {
        (True, True, True, False),
        (True, False, True, False),
        (True, False, False, True),
        (False, False, True, False),
    } <= ways
    assert any(spec.paired and spec.rows == 1 for spec in dense)


@pytest.mark.parametrize("flags", FLAGS)
def test_dot_products_with_other_options_of_the_compiler(flags: str, tmp_path: Path) -> None:
    graph = products(9, 16)
    check_cross(DOT, graph, samples_of(graph), tmp_path, FLAGS[flags])


@pytest.mark.slow
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("machine", MACHINES)
def test_other_options_of_the_compiler(machine: str, flags: str, tmp_path: Path) -> None:
    for number, graph in enumerate((products(9, 16), others(9))):
        folder = tmp_path / str(number)
        folder.mkdir()
        check_cross(MACHINES[machine], graph, samples_of(graph), folder, FLAGS[flags])


def integer_samples(graph: Graph) -> list[Sample]:
    """Extremes and anything, token ids within range, masks of all kinds."""
    samples = samples_of(graph)
    real = inputs_of(graph, 2)
    for sample in range(2):
        inputs = {
            name: real[name][sample][None].astype(np.int32)
            if graph.dtype(name) is DType.INT32
            else np.clip(real[name][sample][None] * 40, -128, 127).astype(np.int8)
            for name in graph.inputs
        }
        samples.append(Sample([inputs[n] for n in graph.inputs], run_graph(graph, inputs)))
    return samples


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    "name",
    [*QUICK_NETS, *(pytest.param(n, marks=pytest.mark.slow) for n in NETS if n not in QUICK_NETS)],
)
def test_whole_transformers(name: str, machine: str, tmp_path: Path) -> None:
    real = run_passes(NETS[name](), TRANSFORMER_PASSES).graph
    graph = quantize_transformer(real, inputs_of(real, 8), QuantOptions())[0]
    program = check_cross(MACHINES[machine], graph, integer_samples(graph), tmp_path)
    used = Counter(kernel.spec.family for kernel in program.kernels)
    assert used["dense_4x4_s8_neon"] and not used["gemm"] and not used["dense_4x2_s8_dsp"]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["bert", pytest.param("vit", marks=pytest.mark.slow)])
def test_every_length_of_a_variable_run(name: str, machine: str, tmp_path: Path) -> None:
    graph = variable_nets.integer_graph(variable_nets.NETS[name])
    compiled = library_for(MACHINES[machine].core, graph, tmp_path / "library")
    program = linked(MACHINES[machine], tmp_path / "library", tmp_path / "program")
    assert "dense_4x4_s8_neon" in {kernel.spec.family for kernel in compiled.kernels}
    for length in variable_nets.LENGTHS:
        found = [Sample(*pair) for pair in variable_nets.samples(graph, length)]
        check_program(MACHINES[machine], program, compiled, found, tmp_path, length)


def test_a_weight_of_minus_128_is_left_to_plain_kernels(tmp_path: Path) -> None:
    layer = Layer(1)
    x = layer.input(1, 4, 16)
    weight = np.full((4, 16), -128, np.int8)
    constants = (weight, np.zeros(4, np.int32), np.full(4, 999, np.int16))
    attrs = qops.QGemm(layer.output(DType.INT8, 1000), raw=True)
    layer.node(attrs, [x, *map(layer.array, constants)], DType.INT8)
    graph = layer.builder.build()
    assert families(graph, Core.CORTEX_A53, tmp_path) == {"gemm": 1}


def test_attention_of_codes_of_minus_128_is_left_to_plain_kernels(tmp_path: Path) -> None:
    graph = operators(1, ["attention"], 4)
    found = families(graph, Core.CORTEX_A53, tmp_path)
    assert set(found) == {"attention"}


def test_tables_are_looked_up_in_registers_on_a64_only(tmp_path: Path) -> None:
    builder = GraphBuilder.of(operators(1, ["fused_attention"], 1))
    graph = builder.build()
    assert any(isinstance(node.attrs, qops.QLut) for node in graph.nodes)
    assert "lut_neon" in families(graph, Core.CORTEX_A53, tmp_path / "a53")
    assert "elements_neon" in families(graph, Core.CORTEX_A7, tmp_path / "a7")


def test_a_single_window_with_padding_on_a_core_with_dot_products(tmp_path: Path) -> None:
    """It is gathered as a whole: the function for one row reads one run."""
    layer = Layer(1)
    add_layer(layer, Case(2, 2, 64, pads=(1, 1, 0, 0)), filters=8)
    graph = layer.builder.build()
    program = check_cross(DOT, graph, samples_of(graph), tmp_path)
    assert [kernel.spec.family for kernel in program.kernels] == ["dense_8x8_s8_dot"]
