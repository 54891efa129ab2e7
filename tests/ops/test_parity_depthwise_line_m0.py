"""Oracle = generated C for depthwise convolutions of a line of taps on Cortex-M0+."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from depthwise_cases import Case, graph_of
from depthwise_kernels import LINE, VALID, all_specs
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of

from edgec.kernels.m0.depthwise_line_s8_m0 import DepthwiseLineM0

BOARD = "nucleo_g0b1re"
CASES = (
    Case(5, 1, 128, pads=VALID, kernel=(5, 1)),
    Case(15, 1, 36, pads=VALID, kernel=(15, 1), twice=True),
    Case(2, 1, 4, pads=VALID, kernel=(2, 1), shift=34, bounds=(-100, 127)),
    Case(1, 12, 8, pads=VALID, kernel=(1, 4), offsets=True, shift=33),
    Case(9, 3, 12, (2, 1), VALID, kernel=(4, 1), shift=35),
    Case(70, 1, 12, pads=VALID, kernel=(29, 1), dilations=(2, 1), twice=True),
)
OTHERS = (
    Case(5, 1, 6, pads=VALID, kernel=(5, 1)),
    Case(5, 1, 8, pads=(1, 0, 1, 0), kernel=(5, 1)),
    Case(5, 2, 8, pads=VALID, kernel=(5, 2)),
)


def random_cases(seed: int) -> tuple[Case, ...]:
    """Lines of any size, of whole words of channels."""
    rng = np.random.default_rng(seed)
    cases = (LINE.random_case(rng) for _ in range(12))
    return tuple(replace(case, channels=case.channels // 4 * 4) for case in cases)


def test_these_get_the_kernel():
    found = [isinstance(spec, DepthwiseLineM0) for spec in all_specs(graph_of(1, CASES), BOARD)]
    assert found == [True] * len(CASES)
    assert not any(
        isinstance(spec, DepthwiseLineM0) for spec in all_specs(graph_of(1, OTHERS), BOARD)
    )


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("cases", [CASES, random_cases(1), random_cases(2)])
def test_equals_the_reference(cases: tuple[Case, ...], tmp_path: Path):
    graph = graph_of(2, cases)
    check_host(graph, tmp_path / "host", board=BOARD)
    need_emulator(BOARD)
    program = compiled(graph, tmp_path / "library", board=BOARD)
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARD, tmp_path / "library", program, samples, tmp_path / "project")
