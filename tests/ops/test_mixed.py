"""Operators between int8 and int16 tensors: definition = numpy = host C = emulated firmware."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from access_order import events_of, least_distance
from emulated import check_emulated, need_emulator
from kernel_records import distances
from lower_samples import BOARD, DSP_BOARD
from mixed_nets import CHOICES, NETWORKS, mixed
from parity import check_host, compiled, samples_of
from random_graphs import adversarial_inputs
from scalar_mixed import MIXED

from edgec.base.dtypes import DType
from edgec.interp import run_graph
from edgec.ir.graph import Graph
from edgec.ir.qops.operands import Operand
from edgec.ir.verify import Stage, verify
from edgec.kernels.dsp.dense_2x2_s16_dsp import FAMILY as TILE
from edgec.kernels.registry import FAMILIES
from edgec.kernels.select import select_kernels
from edgec.quant.common.numbers import check_intervals
from edgec.quant.precision.codes import check_reach
from edgec.target.target import Target

_PORTABLE_TILE = replace(TILE, accepts=lambda graph, node, _: TILE.accepts(graph, node, DSP_BOARD))
"""The kernel with pairs on this computer, by the C forms of its instructions."""
CASES = [(network, choice) for network in NETWORKS for choice in CHOICES]


def graph_of(case: tuple[str, str]) -> Graph:
    network, choice = case
    graph = mixed(NETWORKS[network](), CHOICES[choice])
    verify(graph, Stage.INTEGER, "the test")
    return graph


def _operand(graph: Graph, name: str, values: dict) -> Operand:
    tensor = graph.constants.get(name) or graph.values[name]
    array = tensor.array if name in graph.constants else values[name]
    quant = tensor.quant
    per_tensor = quant is not None and quant.axis is None
    return Operand(array, quant.tensor_zero_point if per_tensor else 0)


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("case", CASES)
def test_the_oracle_is_the_definition(case: tuple[str, str]):
    graph = graph_of(case)
    rng = np.random.default_rng(5)
    checked = 0
    for inputs in adversarial_inputs(graph, rng)[:4]:
        values = run_graph(graph, inputs)
        for node in graph.nodes:
            if type(node.attrs) not in MIXED:
                continue
            y = values[node.output]
            where = list(np.ndindex(y.shape))
            operands = [_operand(graph, name, values) for name in node.inputs]
            for number in rng.choice(len(where), min(len(where), 12), replace=False):
                at = where[number]
                assert y[at] == MIXED[type(node.attrs)](node.attrs, operands, at), node.name
                checked += 1
    assert checked > 90


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("case", CASES)
def test_no_sum_can_leave_32_bits(case: tuple[str, str]):
    graph = graph_of(case)
    check_intervals(graph)
    check_reach(graph)
    assert any(value.dtype is DType.INT16 for value in graph.values.values())


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("case", CASES)
def test_generated_c_computes_the_same(case: tuple[str, str], tmp_path: Path):
    check_host(graph_of(case), tmp_path)


@pytest.mark.parametrize("case", CASES[:4])
def test_kernels_with_pairs_compute_the_same(case: tuple[str, str], tmp_path: Path):
    graph = graph_of(case)
    families = {choice.spec.family for choice in select_kernels(graph, DSP_BOARD)}
    assert "dense_2x2_s16_dsp" in families
    check_host(graph, tmp_path, families=(_PORTABLE_TILE, *FAMILIES))


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("board", [BOARD, DSP_BOARD], ids=["plain", "dsp"])
@pytest.mark.parametrize("case", CASES)
def test_distances_are_those_of_the_spelled_out_order(case: tuple[str, str], board: Target):
    checked = 0
    for choice in select_kernels(graph_of(case), board):
        if type(choice.node.attrs) not in MIXED:
            continue
        for operand, distance in enumerate(distances(choice.spec)):
            if distance is not None:
                assert distance == least_distance(events_of(choice.spec, operand)), choice.spec
                checked += 1
    assert checked


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nucleo_f446re", "nucleo_g0b1re"])
@pytest.mark.parametrize("network", sorted(NETWORKS))
def test_emulated_firmware_computes_the_same(name: str, network: str, tmp_path: Path):
    need_emulator(name)
    graph = graph_of((network, "odd"))
    program = compiled(graph, tmp_path / "library", board=name)
    check_emulated(name, tmp_path / "library", program, samples_of(graph)[2:5], tmp_path / "p")
