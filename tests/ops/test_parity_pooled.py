"""Oracle = generated C for pooled convolutions that gather responses."""

from pathlib import Path

import pytest
from c_programs import BUILDS, SANITIZE, Build
from emulated import BOARDS, check_emulated, need_emulator
from parity import check_build, check_host, compiled, samples_of
from pooled_graphs import at_width
from pooled_responses import response_operators
from random_graphs import with_one_input

from edgec.lower.spec import PooledConv
from edgec.sim.compare import compare_trace
from edgec.sim.host import HostModel

QUICK_BUILDS = (Build("gcc", SANITIZE), Build("gcc", ("-O0",)), Build("clang", ("-O2",)))


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
    model = HostModel(tmp_path / "library", tmp_path / "build", flags=("-O1",))
    for bits in range(1, 9):
        assert model.set_activation_bits(bits) == bits
        for sample in samples_of(at_width(pooled.graph, bits))[2:5]:
            compare_trace(program, sample.oracle, model.trace(sample.inputs))


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
    check_builds(BUILDS, seed, tmp_path)


@pytest.mark.parametrize("name", BOARDS)
def test_emulated_cores_equal_the_oracle(name: str, tmp_path: Path):
    need_emulator(name)
    pooled = response_operators(seed=9, each=5)
    graph = with_one_input(pooled.graph)
    program = compiled(graph, tmp_path / "library", pool_configs=pooled.configs)
    samples = samples_of(graph)[2:5]
    check_emulated(name, tmp_path / "library", program, samples, tmp_path / "project")
