"""Pooled convolutions of every width, group and builder: C on this computer and on all cores."""

from pathlib import Path

import pytest
from emulated import check_emulated
from parity import check_host, compiled, samples_of
from pooled_grid import GROUPS, grid
from random_graphs import with_one_input

from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.tables import ResponseKind
from edgec.toolchain import process

BOARDS = {
    "m0plus": "nucleo_g0b1re",
    "m3": "nucleo_f207zg",
    "m4": "nucleo_l4r5zi",
    "m7": "nucleo_h7a3zi_q",
    "m33": "nucleo_u575zi_q",
}
CELLS = [((kind,), (group,)) for kind in ResponseKind for group in GROUPS]
SIMPLE, DSP = ("m0plus", "m3"), ("m4", "m7", "m33")
"""Cores without and with the DSP extension. The C of a grid is the same for all: each cell runs on
one of either, and each core runs a third of the cells or more."""
ON_CORES = [
    (kinds[number % len(kinds)], *cell)
    for number, cell in enumerate(CELLS)
    for kinds in (SIMPLE, DSP)
]


def run_on(core: str, kinds: tuple[ResponseKind, ...], groups: tuple[int, ...], folder: Path):
    if process.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    pytest.importorskip("unicorn")
    pooled = grid(kinds, groups, seed=len(kinds[0].value) + groups[0])
    graph = with_one_input(pooled.graph)
    program = compiled(graph, folder / "library", pool_configs=pooled.configs)
    samples = samples_of(graph)[2:5]
    check_emulated(BOARDS[core], folder / "library", program, samples, folder / "project")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", ["m4", "m7"])
def test_core(core: str, tmp_path: Path):
    """What test_parity_pooled does not emulate; the builder that is in assembly for each width."""
    run_on(core, (ResponseKind.MULTIPLY,), (8,), tmp_path)


def test_host(tmp_path: Path):
    pooled = grid((ResponseKind.MULTIPLY, ResponseKind.BITSERIAL), (8,), seed=3)
    program = check_host(pooled.graph, tmp_path, pool_configs=pooled.configs)
    specs = [k.spec for k in program.kernels]
    assert all(isinstance(spec, PooledConv) for spec in specs)
    assert {spec.packs for spec in specs if isinstance(spec, PooledConv)} == {True, False}
    lone = {spec.responses.lone_columns for spec in specs if isinstance(spec, PooledConv)}
    assert lone == {0, 1, 2}


@pytest.mark.slow
@pytest.mark.parametrize(("kinds", "groups"), CELLS, ids=str)
def test_grid_on_the_host(kinds: tuple[ResponseKind, ...], groups: tuple[int, ...], tmp_path: Path):
    for seed in range(4):
        pooled = grid(kinds, groups, seed)
        (tmp_path / str(seed)).mkdir()
        check_host(pooled.graph, tmp_path / str(seed), pool_configs=pooled.configs)


@pytest.mark.slow
@pytest.mark.parametrize(("core", "kinds", "groups"), ON_CORES, ids=str)
def test_grid_on_cores(
    core: str, kinds: tuple[ResponseKind, ...], groups: tuple[int, ...], tmp_path: Path
):
    run_on(core, kinds, groups, tmp_path)
