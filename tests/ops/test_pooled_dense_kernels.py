"""Oracle = generated C for the pooled kernels without a table of responses."""

from pathlib import Path

import pytest
from c_programs import BUILDS, SANITIZE, Build
from emulated import BOARDS, check_emulated, need_emulator
from parity import check_build, check_host, compiled, samples_of
from pooled_graphs import DENSE_FAMILIES, at_width, dense_configs, pooled_operators
from random_graphs import with_one_input

from edgec.lower.pool_config import PoolFamily
from edgec.lower.spec import PooledDecode
from edgec.sim.compare import compare_trace
from edgec.sim.host import HostModel

QUICK_BUILDS = (Build("gcc", SANITIZE), Build("clang", ("-O2",)))


@pytest.mark.parametrize("family", DENSE_FAMILIES, ids=lambda f: f.value)
def test_kernels_equal_the_oracle(family: PoolFamily, tmp_path: Path):
    graph = pooled_operators(seed=1, each=20)
    program = check_host(graph, tmp_path, pool_configs=dense_configs(graph, [family]))
    decoders = [k.spec for k in program.kernels if isinstance(k.spec, PooledDecode)]
    several = [spec for spec in decoders if spec.batch < spec.out_channels]
    assert bool(several) == (family is PoolFamily.DECODE)


def test_width_at_run_time_equals_the_oracle_of_that_width(tmp_path: Path):
    graph = pooled_operators(seed=2, each=8)
    configs = dense_configs(graph, runtime_bits=[True])
    program = compiled(graph, tmp_path / "library", pool_configs=configs)
    model = HostModel(tmp_path / "library", tmp_path / "build", flags=("-O1",))
    for bits in range(1, 9):
        assert model.set_activation_bits(bits) == bits
        for sample in samples_of(at_width(graph, bits))[2:5]:
            compare_trace(program, sample.oracle, model.trace(sample.inputs))


def check_builds(builds: tuple[Build, ...], seed: int, folder: Path) -> None:
    graph = pooled_operators(seed, each=8)
    program = compiled(graph, folder / "library", pool_configs=dense_configs(graph))
    samples = samples_of(graph)
    for number, build in enumerate(builds):
        (folder / str(number)).mkdir()
        check_build(build, folder / "library", program, samples, folder / str(number))


def test_builds_equal_the_oracle(tmp_path: Path):
    check_builds(QUICK_BUILDS, 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 8))
def test_all_builds_equal_the_oracle(seed: int, tmp_path: Path):
    check_builds(BUILDS, seed, tmp_path)


@pytest.mark.parametrize("name", BOARDS)
def test_emulated_cores_equal_the_oracle(name: str, tmp_path: Path):
    need_emulator(name)
    graph = with_one_input(pooled_operators(seed=4, each=6))
    program = compiled(graph, tmp_path / "library", pool_configs=dense_configs(graph))
    samples = samples_of(graph)[3:5]
    check_emulated(name, tmp_path / "library", program, samples, tmp_path / "project")
