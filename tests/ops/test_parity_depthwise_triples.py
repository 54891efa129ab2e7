"""Oracle = generated C for depthwise convolutions of three rows in two words, all borders."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_transformer import Layer
from targets import by_precedence

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, qops
from edgec.ir.shapes import window_out
from edgec.kernels.m0.depthwise_s8_m0 import DepthwiseM0
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = {"m0plus": "nucleo_g0b1re", "m3": "nucleo_f207zg"}
INT8 = (-128, 127)


@dataclass(frozen=True)
class Case:
    """Sizes, taps, strides and dilation down, padding (top, left, bottom, right)."""

    height: int
    width: int
    channels: int = 3
    kernel: tuple[int, int] = (3, 3)
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    dilation: int = 1
    bounds: tuple[int, int] = INT8
    shift: int = 32

    def out(self) -> tuple[int, int]:
        """Sizes of the output."""
        down = window_out(
            self.height, self.kernel[0], self.strides[0], self.dilation, *self.pads[::2]
        )
        return down, window_out(self.width, self.kernel[1], self.strides[1], 1, *self.pads[1::2])


CASES = (
    Case(25, 5, 8),
    Case(8, 8, 12, bounds=(-20, 127)),
    Case(9, 6, strides=(2, 2), pads=(0, 0, 1, 1)),
    Case(17, 3, strides=(1, 2), pads=(1, 2, 0, 2), shift=38),
    Case(6, 11, strides=(2, 1), pads=(2, 2, 2, 2), shift=31),
    Case(3, 3, 16, pads=(1, 0, 1, 0)),
    Case(2, 1, 2, pads=(2, 2, 2, 2)),
    Case(7, 9, 2, (5, 5), pads=(2, 2, 2, 2)),
    Case(12, 4, 5, (5, 1), pads=(2, 0, 2, 0)),
    Case(5, 12, 5, (1, 4), pads=(0, 3, 0, 0)),
    Case(11, 7, 4, dilation=2, pads=(2, 1, 2, 1)),
    Case(10, 10, 3, (2, 4), (3, 2), (0, 1, 1, 2)),
)


def random_case(rng: np.random.Generator) -> Case:
    """Any sizes that have several rows of outputs."""
    while True:
        kernel = tuple(int(k) for k in rng.integers(1, 6, 2))
        case = Case(
            *(int(n) for n in rng.integers(2, 14, 2)),
            int(rng.integers(2, 9)),
            (kernel[0], kernel[1]),
            (int(rng.integers(1, 4)), int(rng.integers(1, 4))),
            tuple(int(rng.integers(0, k)) for k in (*kernel, *kernel)),
            int(rng.integers(1, 3)),
            shift=int(rng.integers(28, 40)),
        )
        reach = (kernel[0] - 1) * case.dilation + 1
        fits = case.height + sum(case.pads[::2]) > reach and case.width >= kernel[1]
        if fits and case.out()[0] > 1 and kernel != (1, 1):
            return case


def graph_of(cases: tuple[Case, ...], seed: int) -> Graph:
    layer = Layer(seed)
    for case in cases:
        _add(layer, case)
    return layer.builder.build()


def _add(layer: Layer, case: Case) -> None:
    x = layer.input(1, case.height, case.width, case.channels)
    weights = layer.rng.choice([-127, 127, -128, 5, 0, 60], (case.channels, *case.kernel, 1))
    size = 13 * max(case.kernel[0] * case.kernel[1], 3) ** 0.5
    multipliers = layer.rng.uniform(0.4, 1, case.channels) / size * 2.0 ** min(case.shift, 36)
    zero_point = layer.pick([0, -128, 7])
    inputs = [
        x,
        layer.array(weights.astype(np.int8)),
        layer.constant(-9000, 9000, case.channels, dtype=np.int32),
        layer.array((np.minimum(multipliers, 2**30) * layer.pick([1, -1])).astype(np.int32)),
    ]
    form = qops.Requant31(case.shift, zero_point, *case.bounds)
    conv = qops.QConv(case.strides, case.pads, (case.dilation, 1), case.channels, form)
    y = layer.node(conv, inputs, DType.INT8)
    value = layer.builder.values[y]
    layer.builder.value(replace(value, quant=QuantParams.per_tensor(0.05, zero_point)))


def test_the_cases_get_this_kernel():
    for board in BOARDS.values():
        choices = select_kernels(graph_of(CASES, 1), by_precedence(Target.of(load_board(board))))
        specs = [choice.spec for choice in choices]
        assert all(isinstance(spec, DepthwiseM0) for spec in specs)
        assert [spec.saturates for spec in specs] == [case.bounds == INT8 for case in CASES]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", BOARDS)
def test_on_the_host(core: str, tmp_path: Path):
    check_host(graph_of(CASES, 2), tmp_path, board=BOARDS[core])


def test_random_sizes_on_the_host(tmp_path: Path):
    rng = np.random.default_rng(11)
    cases = tuple(random_case(rng) for _ in range(24))
    check_host(graph_of(cases, 4), tmp_path, board=BOARDS["m3"])


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", BOARDS)
def test_on_an_emulated_core(core: str, tmp_path: Path):
    need_emulator(BOARDS[core])
    rng = np.random.default_rng(12)
    graph = graph_of((*CASES, *(random_case(rng) for _ in range(8))), 3)
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")
