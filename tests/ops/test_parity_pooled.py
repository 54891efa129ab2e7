"""Oracle = generated C for pooled convolutions that gather responses."""

from pathlib import Path

import numpy as np
import pytest
from c_programs import BUILDS, SANITIZE, Build
from emulated import BOARDS, check_emulated, need_emulator
from parity import Sample, check_build, check_host, compiled, samples_of
from pooled_graphs import at_width
from pooled_layer import pooled_layer, worst_images
from pooled_responses import response_operators
from random_graphs import with_one_input
from random_pools import random_indices, random_vectors

from edgec.base.dtypes import Array
from edgec.interp import run_graph
from edgec.ir import qops
from edgec.ir.qops.pooled import responses_of
from edgec.kernels.weightpool.bounds import least_response_shift
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.tables import ResponseKind
from edgec.sim.compare import compare_trace
from edgec.sim.host import HostModel

QUICK_BUILDS = (Build("gcc", SANITIZE), Build("gcc", ("-O0",)), Build("clang", ("-O2",)))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_kernels_equal_the_oracle(seed: int, tmp_path: Path):
    pooled = response_operators(seed, each=14)
    program = check_host(pooled.graph, tmp_path, pool_configs=pooled.configs)
    specs = [k.spec for k in program.kernels if isinstance(k.spec, PooledConv)]
    assert len(specs) >= 20
    # Rich enough to mean something.
    assert {spec.lanes for spec in specs} == {1, 2}
    assert {spec.chunks > 1 for spec in specs} == {True, False}
    assert {width for spec in specs for width in spec.blocks} == {4, 8}
    assert any(spec.residual_shift is not None for spec in specs)
    assert any(not spec.is_flat for spec in specs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 30))
def test_many_kernels_equal_the_oracle(seed: int, tmp_path: Path):
    pooled = response_operators(seed, each=25)
    check_host(pooled.graph, tmp_path, pool_configs=pooled.configs)


def test_width_at_run_time_equals_the_oracle_of_that_width(tmp_path: Path):
    pooled = response_operators(seed=3, each=6, runtime_bits=True)
    program = compiled(pooled.graph, tmp_path / "library", pool_configs=pooled.configs)
    model = HostModel(tmp_path / "library", tmp_path / "build", flags=("-O0",))
    for bits in range(1, 9):
        assert model.set_activation_bits(bits) == bits
        for sample in samples_of(at_width(pooled.graph, bits))[2:5]:
            compare_trace(program, sample.oracle, model.trace(sample.inputs))


def test_contexts_of_one_library_have_their_own_widths(tmp_path: Path):
    """Both models load the same compiled library; a run is a context of its own."""
    pooled = response_operators(seed=3, each=2, runtime_bits=True)
    program = compiled(pooled.graph, tmp_path / "library", pool_configs=pooled.configs)
    widths = (2, 7)
    models = [HostModel(tmp_path / "library", tmp_path / "build") for _ in widths]
    for model, bits in zip(models, widths, strict=True):
        model.set_activation_bits(bits)
    for model, bits in 2 * list(zip(models, widths, strict=True)):
        for sample in samples_of(at_width(pooled.graph, bits))[2:4]:
            compare_trace(program, sample.oracle, model.trace(sample.inputs))


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("kind", ResponseKind)
@pytest.mark.parametrize("sign", [1, -1])
def test_lanes_at_their_bounds(kind: ResponseKind, sign: int, tmp_path: Path):
    """The largest and the least sums of every filter side by side, compared to the last unit."""
    rng = np.random.default_rng(12)
    pool = random_vectors(rng, 16, 8, "extremes")
    indices = random_indices(rng, pool, (6, 3, 3, 48))
    k = least_response_shift(pool, indices, 0, 8)
    pairs = zip(*worst_images(pool, indices, (3, 3, 48)), strict=True)
    # Rows 0-2 are those of the low lane, rows 3-5 of the high one.
    images = [np.concatenate([a, b])[None] for p in pairs for a, b in (p, p[::-1], (p[0], p[0]))]
    # At filter f's extreme the output is 0, and one unit of its sum is one code.
    probe = run_sums(pool, indices, k, images)
    extremes = probe.max(axis=(0, 1)) if sign > 0 else probe.min(axis=(0, 1))
    assert abs(extremes).max() > 2**14
    graph = pooled_layer(
        (6, 3, 48),
        pool,
        indices,
        stride=3,
        x_zero_point=0,
        rounding=qops.PoolRounding(8, k),
        bias=(-extremes * 2**k).astype(np.int32),
        multiplier=2 ** (32 - k),
    )
    configs = {"layer": PoolKernelConfig(PoolFamily.RESPONSES, chunk_groups=4, builder=kind)}
    program = compiled(graph, tmp_path / "library", pool_configs=configs)
    samples = [Sample([image], run_graph(graph, {"x": image})) for image in images]
    assert any(0 in sample.oracle["y"] for sample in samples)
    check_build(QUICK_BUILDS[0], tmp_path / "library", program, samples, tmp_path)


def run_sums(pool: Array, indices: Array, k: int, images: list[Array]) -> Array:
    """int64 [images, 2, filters]: sums of responses, zero point 0."""
    picks = indices.astype(np.int64)
    found = []
    for image in images:
        responses = responses_of(image[0].astype(np.int64), pool, k)
        taps = responses.reshape(2, 3, 3, -1, len(pool))[:, None]
        chosen = np.take_along_axis(taps, picks[None, ..., None], axis=-1)
        found.append(chosen.sum(axis=(2, 3, 4, 5)))
    return np.array(found)


def check_builds(builds: tuple[Build, ...], seed: int, folder: Path) -> None:
    pooled = response_operators(seed, each=6)
    program = compiled(pooled.graph, folder / "library", pool_configs=pooled.configs)
    samples = samples_of(pooled.graph)
    for number, build in enumerate(builds):
        (folder / str(number)).mkdir()
        check_build(build, folder / "library", program, samples, folder / str(number))


def test_builds_equal_the_oracle(tmp_path: Path):
    check_builds(QUICK_BUILDS, 4, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5, 9))
def test_all_builds_equal_the_oracle(seed: int, tmp_path: Path):
    check_builds(BUILDS[seed % 2 :: 2], seed, tmp_path)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", BOARDS)
def test_emulated_cores_equal_the_oracle(name: str, tmp_path: Path):
    need_emulator(name)
    pooled = response_operators(seed=9, each=5)
    graph = with_one_input(pooled.graph)
    program = compiled(graph, tmp_path / "library", pool_configs=pooled.configs)
    samples = samples_of(graph)[2:5]
    check_emulated(name, tmp_path / "library", program, samples, tmp_path / "project")
