"""Oracle = generated C for the pooled kernels without a table of responses."""

from pathlib import Path

import pytest
from c_programs import BUILDS, SANITIZE, Build
from emulated import BOARDS, check_emulated, need_emulator
from parity import check_build, check_host, compiled, samples_of
from pooled_graphs import (
    DENSE_FAMILIES,
    at_width,
    dense_4x2_operators,
    dense_configs,
    dsp_configs,
    pooled_operators,
    with_short,
)
from random_graphs import with_one_input

from edgec.ir import Graph
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.decode import PooledDecode
from edgec.kernels.weightpool.decode_dsp import PooledDecodeDsp
from edgec.sim.compare import compare_trace
from edgec.sim.host import HostModel

DSP_BOARDS = ("nucleo_l4r5zi", "nucleo_h7a3zi_q", "nucleo_u575zi_q")
"""Cortex-M4, M7 and M33."""
QUICK_BUILDS = (Build("gcc", SANITIZE), Build("clang", ("-O2",)))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("family", DENSE_FAMILIES, ids=lambda f: f.value)
def test_kernels_equal_the_oracle(family: PoolFamily, tmp_path: Path):
    graph = pooled_operators(seed=1, each=20)
    graph, configs = with_short(graph, dense_configs(graph, [family]))
    program = check_host(graph, tmp_path, pool_configs=configs)
    assert {config.short for config in configs.values()} == {True, False}
    decoders = [k.spec for k in program.kernels if isinstance(k.spec, PooledDecode)]
    several = [spec for spec in decoders if spec.batch < spec.out_channels]
    assert bool(several) == (family is PoolFamily.DECODE)


def test_decoding_for_dsp_equals_the_oracle(tmp_path: Path):
    graph = dense_4x2_operators(seed=5, each=24)
    graph, configs = with_short(graph, dsp_configs(graph))
    program = check_host(graph, tmp_path, pool_configs=configs)
    specs = [k.spec for k in program.kernels if isinstance(k.spec, PooledDecodeDsp)]
    assert len(specs) > 24
    for test in (
        lambda s: s.batch < s.out_channels,
        lambda s: s.last,
        lambda s: s.dense.pads_depth,
        lambda s: s.dense.odd,
        lambda s: s.rounds and s.dense.widens_runs and s.window.cols_clipped,
        lambda s: s.rounds and not s.dense.widens_runs,
        lambda s: s.residual_shift is not None and s.batch < s.out_channels,
        lambda s: s.short and s.batch < s.out_channels,
    ):
        assert {bool(test(spec)) for spec in specs} == {False, True}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("dsp", [False, True], ids=["plain", "dsp"])
def test_width_at_run_time_equals_the_oracle_of_that_width(dsp: bool, tmp_path: Path):
    graph = dense_4x2_operators(seed=2, each=8) if dsp else pooled_operators(seed=2, each=8)
    configs = dense_configs(graph, runtime_bits=[True])
    if dsp:
        configs |= dsp_configs(graph, runtime_bits=[True])
    program = compiled(graph, tmp_path / "library", pool_configs=configs)
    model = HostModel(tmp_path / "library", tmp_path / "build", flags=("-O0",))
    for bits in range(1, 9):
        assert model.set_activation_bits(bits) == bits
        for sample in samples_of(at_width(graph, bits))[2:5]:
            compare_trace(program, sample.oracle, model.trace(sample.inputs))


def check_builds(builds: tuple[Build, ...], seed: int, folder: Path) -> None:
    for name, graph in (
        ("any", pooled_operators(seed, each=8)),
        ("dense_4x2_s8_dsp", dense_4x2_operators(seed, each=5)),
    ):
        (folder / name).mkdir()
        check_graph(builds, graph, folder / name)


def check_graph(builds: tuple[Build, ...], graph: Graph, folder: Path) -> None:
    graph, configs = with_short(graph, dense_configs(graph) | dsp_configs(graph))
    program = compiled(graph, folder / "library", pool_configs=configs)
    samples = samples_of(graph)
    for number, build in enumerate(builds):
        (folder / str(number)).mkdir()
        check_build(build, folder / "library", program, samples, folder / str(number))


@pytest.mark.slow
def test_builds_equal_the_oracle(tmp_path: Path):
    check_builds(QUICK_BUILDS, 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 8))
def test_all_builds_equal_the_oracle(seed: int, tmp_path: Path):
    check_builds(BUILDS, seed, tmp_path)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", BOARDS)
def test_emulated_cores_equal_the_oracle(name: str, tmp_path: Path):
    need_emulator(name)
    graph = with_one_input(pooled_operators(seed=4, each=6))
    check_on_board(name, graph, dense_configs(graph), tmp_path)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", DSP_BOARDS)
def test_decoding_for_dsp_on_emulated_cores(name: str, tmp_path: Path):
    need_emulator(name)
    graph = with_one_input(dense_4x2_operators(seed=6, each=8))
    check_on_board(name, graph, dsp_configs(graph), tmp_path)


def check_on_board(
    name: str, graph: Graph, configs: dict[str, PoolKernelConfig], tmp_path: Path
) -> None:
    graph, configs = with_short(graph, configs)
    program = compiled(graph, tmp_path / "library", pool_configs=configs)
    samples = samples_of(graph)[3:5]
    check_emulated(name, tmp_path / "library", program, samples, tmp_path / "project")
