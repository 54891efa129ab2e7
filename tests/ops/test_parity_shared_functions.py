"""Oracle = generated C where layers share their functions, for all remainders of their sizes."""

from pathlib import Path

import numpy as np
import pytest
from dense_layers import Case, graph_of
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from targets import by_precedence

from edgec.base.options import Optimize
from edgec.kernels.common.spec import LEAST, MayShare
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = {
    "m4": "nucleo_l4r5zi",
    "m7": "nucleo_h7a3zi_q",
    "m0plus": "nucleo_g0b1re",
    "m3": "nucleo_f207zg",
}
SHARING = (Optimize.BALANCED, Optimize.SIZE)
FEW = (
    Case(4, 4, 8),
    Case(17, 8, 8, shift=33),
    Case(18, 12, 9),
    Case(19, 16, 9, shift=36),
    Case(8, 20, 8, shift=36),
    Case(23, 24, 11, shift=33),
    Case(21, 13, 12),
    Case(22, 31, 12, shift=35),
    Case(12, 6, 8, shift=35),
    Case(25, 7, 35),
)
"""All remainders of rows by four and five, of depths by four words, of channels by four, of filters
by two; with what is left of the shift, and with nothing left."""


def random_cases(seed: int, count: int) -> tuple[Case, ...]:
    """Sizes at random, the remainders of which all occur."""
    rng = np.random.default_rng(seed)
    return tuple(
        Case(*(int(rng.integers(*ends)) for ends in ((12, 40), (1, 90), (8, 40))), shift=shift)
        for shift in map(int, rng.choice([32, 32, 33, 38], count))
    )


def sharing(cases: tuple[Case, ...], core: str, optimize: Optimize) -> list[bool]:
    """Which layers share functions."""
    target = by_precedence(Target.of(load_board(BOARDS[core]), optimize))
    specs = [choice.spec for choice in select_kernels(graph_of(1, cases), target)]
    return [isinstance(spec, MayShare) and spec.shares_functions for spec in specs]


@pytest.mark.parametrize("core", BOARDS)
def test_layers_share_where_it_is_asked_for(core: str):
    assert not any(sharing(FEW, core, Optimize.SPEED))
    for optimize in SHARING:
        found = sharing(FEW, core, optimize)
        assert sum(found) >= 8, f"{optimize}: {found}"


@pytest.mark.parametrize("optimize", SHARING)
@pytest.mark.parametrize("core", BOARDS)
def test_too_few_shapes_share_nothing(core: str, optimize: Optimize):
    """Layers of one shape are one function anyway, so they count once."""
    few, enough = FEW[1:LEAST], FEW[1 : LEAST + 1]
    assert sharing((*few, *few), core, optimize) == [False] * 2 * len(few)
    assert sharing(enough, core, optimize) == [True] * LEAST


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", BOARDS)
def test_smaller_is_smaller(core: str, tmp_path: Path):
    texts = []
    for optimize in (Optimize.SPEED, *SHARING):
        folder = tmp_path / optimize.value
        compiled(graph_of(1, FEW), folder, board=BOARDS[core], optimize=optimize)
        (source,) = (path for path in (folder / "src").glob("*.c") if "weights" not in path.name)
        texts.append(source.read_text("utf-8"))
    shared = [text.count("_layer(x, y, scratch, params") for text in texts]
    assert shared[0] == 0 < shared[1] == shared[2]


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("optimize", SHARING)
@pytest.mark.parametrize("core", BOARDS)
def test_on_the_host(core: str, optimize: Optimize, tmp_path: Path):
    check_host(graph_of(2, FEW), tmp_path, board=BOARDS[core], optimize=optimize)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("core", BOARDS)
def test_sizes_at_random_on_the_host(core: str, seed: int, tmp_path: Path):
    cases = random_cases(seed, 16)
    optimize = SHARING[seed % 2]
    check_host(graph_of(seed, cases), tmp_path, board=BOARDS[core], optimize=optimize)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("optimize", SHARING)
@pytest.mark.parametrize(
    "core",
    ["m4", "m0plus", *(pytest.param(core, marks=pytest.mark.slow) for core in ("m7", "m3"))],
)
def test_on_an_emulated_core(core: str, optimize: Optimize, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = graph_of(3, (*FEW, *random_cases(7, 8)))
    program = compiled(graph, tmp_path / "library", board=BOARDS[core], optimize=optimize)
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")
