"""Pooled layers by responses with NEON: oracle = generated C on Cortex-A."""

from __future__ import annotations

from dataclasses import replace
from inspect import getmembers
from pathlib import Path

import numpy as np
import pytest
from cross import MACHINES, check_cross
from parity import Sample, samples_of
from pooled_graphs import pooled_nodes, with_short
from pooled_layer import pooled_layer, worst_images
from random_net import Net
from random_ops import OPS
from random_pools import random_indices, random_vectors
from targets import bare_target

from edgec.base.errors import LoweringError
from edgec.interp import run_graph
from edgec.ir import Graph, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weight_pool import WeightPool
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.neon import pooled_conv_neon
from edgec.kernels.weightpool.neon.spec import Center, PooledConvNeon, vectors_of

_IMAGES = ((1, 5, 18, 20), (1, 9, 12, 33), (1, 12, 17, 16), (1, 6, 3, 24))


def _layers(
    seed: int, machine: str, each: int, *, runtime_bits: bool = False
) -> tuple[Graph, dict[str, PoolKernelConfig]]:
    """A graph of random pooled operators, and a kernel of this family for each."""
    net = Net.seeded(seed)
    for _ in range(each):
        OPS["pooled_conv"].apply(net, net.input(net.image_shape()))
        OPS["pooled_gemm"].apply(net, net.input(net.any_shape()))
    for shape in _IMAGES:
        OPS["pooled_conv"].apply(net, net.input(shape))
    graph, rng = net.build(), np.random.default_rng(seed)
    builder, configs = GraphBuilder.of(graph), {}
    for node in pooled_nodes(graph):
        bits = int(rng.choice([8, 8, 6, 4, 3, 2, 1]))
        pooled = replace(node, attrs=replace(node.attrs, rounding=qops.PoolRounding(bits)))
        pool = WeightPool(graph.constants[node.inputs[1]].array)
        config = PoolKernelConfig(
            PoolFamily.RESPONSES_NEON,
            chunk_groups=int(rng.integers(1, 6)),
            lanes=1,
            index_bits=int(rng.choice([pool.index_bits, max(8, pool.index_bits)])),
            runtime_bits=runtime_bits,
            band=int(rng.integers(1, 9)),
            vectors=vectors_of(bare_target(MACHINES[machine].core)),
        )
        for way in (config, replace(config, chunk_groups=1, band=1)):
            try:
                pooled_conv_neon(graph, node, way)
            except LoweringError:
                continue
            configs[node.name] = way
            builder.put(pooled)
            break
    return builder.build(), configs


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("seed", [1, 2])
def test_kernels_equal_the_oracle(seed: int, machine: str, tmp_path: Path):
    graph, configs = _layers(seed, machine, 12)
    program = check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path, decisions=configs)
    specs = [k.spec for k in program.kernels if isinstance(k.spec, PooledConvNeon)]
    assert len(specs) >= 20
    # Rich enough to mean something.
    assert {spec.chunks > 1 for spec in specs} == {True, False}
    assert {spec.bands > 1 for spec in specs} == {True, False}
    assert {spec.group for spec in specs} == {4, 8, 16}
    assert len({spec.run for spec in specs}) > 3
    assert any(spec.residual_shift is not None for spec in specs)
    assert any(len(spec.lines) > 1 for spec in specs)
    assert any(spec.terms > 1 for spec in specs)


@pytest.mark.parametrize("machine", MACHINES)
def test_width_at_run_time(machine: str, tmp_path: Path):
    """Without a call that lowers it, the width is that of the layer."""
    graph, configs = _layers(3, machine, 5, runtime_bits=True)
    check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path, decisions=configs)


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_of_16_bits(machine: str, tmp_path: Path):
    """Biases and multipliers that are stored in 16 bits each."""
    graph, configs = with_short(*_layers(4, machine, 5), every=1)
    program = check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path, decisions=configs)
    specs = [k.spec for k in program.kernels if isinstance(k.spec, PooledConvNeon)]
    assert len(specs) >= 10
    assert all(spec.short for spec in specs)


def test_properties_of_a_specification_are_all_its_own():
    """None is inherited from a table of another form, whose fields it lacks."""
    graph, configs = _layers(1, "a53", 12)
    specs = (pooled_conv_neon(graph, n, configs[n.name]) for n in pooled_nodes(graph))
    spec = next(spec for spec in specs if spec.residual_shift is not None)
    names = [name for name, kind in getmembers(PooledConvNeon) if isinstance(kind, property)]
    assert len(names) > 50
    for name in names:
        getattr(spec, name)


@pytest.mark.parametrize("machine", MACHINES)
def test_sums_of_16_bits_at_their_bounds(machine: str, tmp_path: Path):
    """The largest and the least sums of every filter, with as many responses in 16 bits as fit."""
    rng = np.random.default_rng(12)
    pool = random_vectors(rng, 16, 8, "extremes")
    pool = np.clip(pool, -16, 16).astype(np.int8)
    indices = random_indices(rng, pool, (6, 3, 3, 32))
    graph = pooled_layer((3, 3, 32), pool, indices, x_zero_point=-128, multiplier=2**18)
    vectors = vectors_of(bare_target(MACHINES[machine].core))
    config = PoolKernelConfig(PoolFamily.RESPONSES_NEON, 4, 1, index_bits=4, vectors=vectors)
    assert pooled_conv_neon(graph, graph.nodes[0], config).run == Center.of(pool, 8).run > 1
    images = [image[None] for kind in worst_images(pool, indices, (3, 3, 32)) for image in kind]
    samples = [Sample([image], run_graph(graph, {"x": image})) for image in images]
    check_cross(
        MACHINES[machine], graph, samples, tmp_path, decisions={graph.nodes[0].name: config}
    )


@pytest.mark.parametrize("bits", range(1, 9))
def test_no_more_responses_than_fit(bits: int):
    rng = np.random.default_rng(bits)
    for kind in ("extremes", "any"):
        pool = random_vectors(rng, 16, 8, kind)
        center = Center.of(pool, bits)
        codes = np.arange(1 << bits) - ((center.code + 128) >> (8 - bits))
        ends = np.array([codes.min(), codes.max()])[:, None, None] * pool.astype(np.int64)
        most, least = ends.max(0).sum(1).max(), ends.min(0).sum(1).min()
        assert center.run * most <= 32767 and center.run * least >= -32768
        assert (center.run + 1) * most > 32767 or (center.run + 1) * least < -32768
        assert center.run >= 1
