"""Layers of the depthwise kernels for cores with DSP: chosen ones, others, and random ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from depthwise_cases import INT8, Case, graph_of
from targets import by_precedence

from edgec.ir import Graph
from edgec.kernels.dsp.depthwise import HighWordDepthwise
from edgec.kernels.dsp.depthwise_3x3_few_columns_s8_dsp import Depthwise3x3FewColumns
from edgec.kernels.dsp.depthwise_3x3_many_columns_s8_dsp import Depthwise3x3ManyColumns
from edgec.kernels.dsp.depthwise_3x3_s8_dsp import Depthwise3x3
from edgec.kernels.dsp.depthwise_line_s8_dsp import DepthwiseLine
from edgec.kernels.dsp.depthwise_s8_dsp import DepthwiseDsp
from edgec.kernels.dsp.depthwise_s16_dsp import DepthwiseS16
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target


@dataclass(frozen=True)
class Kernel:
    """A kernel, and layers for its tests.

    `spec_type`: its specifications; `cases`: layers that get it; `others`: layers that do not;
    `random_case`: one that no one chose, which may get it; most do.
    """

    spec_type: type[HighWordDepthwise]
    cases: tuple[Case, ...]
    others: tuple[Case, ...]
    random_case: Callable[[np.random.Generator], Case]

    def random_cases(self, seed: int, count: int = 12) -> tuple[Case, ...]:
        """Layers that no one chose."""
        rng = np.random.default_rng(seed)
        return tuple(self.random_case(rng) for _ in range(count))

    def specs_of(self, cases: tuple[Case, ...], board: str, seed: int = 1) -> list:
        """Its specifications among those of the layers, by precedence."""
        return [spec for spec in all_specs(graph_of(seed, cases), board) if self.computes(spec)]

    def computes(self, spec: object) -> bool:
        """A specification is one of this kernel."""
        return isinstance(spec, self.spec_type)


def all_specs(graph: Graph, board: str) -> list:
    """The specifications of all layers, by precedence."""
    target = by_precedence(Target.of(load_board(board)))
    return [choice.spec for choice in select_kernels(graph, target)]


BEFORE, AFTER = (1, 1, 0, 0), (0, 0, 1, 1)
"""Padding of windows that go on by two, on an image of an even size."""


def _narrow(rng: np.random.Generator) -> Case:
    stride = int(rng.integers(1, 3))
    width = int(rng.integers(3, 7) if stride == 1 else rng.integers(5, 13))
    height = int(rng.integers(1, 16))
    pads = (1, 1, 1, 1)
    if stride == 2:
        pads = (1, 1, height % 2, width % 2)
        if width % 2 == height % 2 == 0 and rng.integers(2):
            pads = AFTER
    channels, shift = int(rng.integers(4, 41)), int(rng.integers(32, 37))
    offsets = bool(rng.integers(2))
    return Case(height, width, channels, (stride, stride), pads, shift=shift, offsets=offsets)


SIDES = (0, 1, 0, 1)
"""Padding of parts of images, which have all rows of their windows."""


def _bands(rng: np.random.Generator) -> Case:
    stride = int(rng.integers(1, 3))
    if rng.integers(2):
        return _rows(rng, stride)
    width = 6 * stride * int(rng.integers(2, 5))
    height = int(rng.integers(12, 25)) if stride == 1 else 2 * int(rng.integers(1, 13))
    channels, shift = int(rng.integers(4, 41)), int(rng.integers(32, 37))
    pads = (1, 1, 1, 1) if stride == 1 else AFTER
    offsets = bool(rng.integers(2))
    return Case(height, width, channels, (stride, stride), pads, shift=shift, offsets=offsets)


def _rows(rng: np.random.Generator, stride: int) -> Case:
    left = int(rng.integers(2)) if stride == 2 else 1
    pads = (0, left, 0, 2 - stride + (1 - left) * (stride - 1))
    return Case(
        (int(rng.integers(1, 5)) - 1) * stride + 3,
        2 * stride * int(rng.integers(4, 12)),
        int(rng.integers(4, 25)),
        (stride, stride),
        pads,
        shift=int(rng.integers(32, 37)),
        offsets=bool(rng.integers(2)),
    )


def _planes(rng: np.random.Generator) -> Case:
    while True:
        height, width = (int(n) for n in rng.integers(1, 15, 2))
        pads = tuple(int(n) for n in rng.integers(0, 3, 4))
        if height + pads[0] + pads[2] >= 3 and width + pads[1] + pads[3] >= 3:
            break
    return Case(
        height,
        width,
        int(rng.integers(4, 41)),
        ((1, 1), (2, 2), (1, 2), (2, 1), (1, 3))[int(rng.integers(5))],
        (pads[0], pads[1], pads[2], pads[3]),
        INT8 if rng.integers(4) else (-50, 60),
        int(rng.integers(32, 37)),
        bool(rng.integers(2)),
    )


VALID = (0, 0, 0, 0)


def _line(rng: np.random.Generator) -> Case:
    taps, stride, dilation = (int(n) for n in rng.integers((2, 1, 1), (31, 4, 4)))
    length = (taps - 1) * dilation + 1 + int(rng.integers(0, 6))
    other, across = int(rng.integers(1, 4)), bool(rng.integers(2))
    sizes, kernel = ((length, other), (taps, 1))
    numbers = int(rng.integers(3))
    return Case(
        *(sizes[::-1] if across else sizes),
        int(rng.integers(4, 41)),
        (stride, int(rng.integers(1, 3))),
        VALID,
        shift=int(rng.integers(32, 37)),
        kernel=kernel[::-1] if across else kernel,
        dilations=(1, dilation) if across else (dilation, 1),
        offsets=numbers == 1,
        twice=numbers > 1,
    )


def _windows(rng: np.random.Generator) -> Case:
    rows, columns = int(rng.integers(1, 8)), int(rng.integers(2, 12))
    strides = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    dilation, numbers = int(rng.integers(1, 3)), int(rng.integers(3))
    across = int(rng.integers(columns)), int(rng.integers(columns))
    down = int(rng.integers(2 * rows)), int(rng.integers(2 * rows))
    reach = (rows - 1) * dilation + 1
    height = max(reach - sum(down), 1) + int(rng.integers(0, 12))
    width = max(columns - sum(across), 1) + int(rng.integers(0, 16))
    case = Case(
        height,
        width,
        int(rng.integers(4, 25)),
        strides,
        (down[0], across[0], down[1], across[1]),
        shift=int(rng.integers(32, 37)),
        kernel=(rows, columns),
        dilations=(dilation, 1),
        offsets=numbers == 1,
        twice=numbers > 1,
    )
    if rows > 1 or rng.integers(2):
        return case
    # Over time: an image of one column.
    return replace(
        case,
        height=width,
        width=1,
        strides=strides[::-1],
        pads=(across[0], 0, across[1], 0),
        kernel=(columns, 1),
        dilations=(1, 1),
    )


NARROW = Kernel(
    Depthwise3x3FewColumns,
    (
        Case(25, 5, 64),
        Case(6, 6, 13),
        Case(3, 3, 18),
        Case(4, 4, 7),
        Case(1, 6, 9),
        Case(2, 3, 8),
        Case(1, 3, 12),
        Case(6, 6, 14, (2, 2), AFTER),
        Case(8, 8, 8, (2, 2), AFTER),
        Case(10, 10, 9, (2, 2), AFTER),
        Case(12, 12, 27, (2, 2), AFTER),
        Case(2, 12, 12, (2, 2), AFTER),
        Case(6, 6, 14, (2, 2), BEFORE),
        Case(5, 5, 10, (2, 2)),
        Case(7, 8, 9, (2, 2), (1, 1, 1, 0)),
        Case(8, 7, 9, (2, 2), (1, 1, 0, 1)),
        Case(9, 9, 8, (2, 2)),
        Case(10, 10, 12, (2, 2), BEFORE),
        Case(11, 11, 8, (2, 2)),
        Case(12, 12, 31, (2, 2), BEFORE),
        Case(1, 11, 20, (2, 2)),
        Case(6, 6, 15, shift=34),
        Case(6, 5, 16, shift=33, offsets=True),
        Case(3, 3, 11, shift=34, offsets=True),
        Case(5, 4, 6, shift=32, offsets=True),
        Case(12, 12, 29, (2, 2), AFTER, shift=35, offsets=True),
        Case(11, 12, 9, (2, 2), (1, 1, 1, 0), shift=33),
    ),
    (
        Case(6, 6, 3),
        Case(6, 7, 8),
        Case(6, 2, 8),
        Case(6, 6, 8, pads=(0, 1, 1, 1)),
        Case(6, 6, 8, pads=(2, 1, 1, 1)),
        Case(6, 6, 8, pads=(1, 1, 2, 1)),
        Case(6, 6, 8, (1, 2)),
        Case(7, 6, 8, (2, 2), (0, 0, 0, 1)),
        Case(6, 6, 8, (2, 2), (1, 0, 0, 1)),
        Case(6, 6, 8, bounds=(-100, 127)),
    ),
    _narrow,
)
BANDS = Kernel(
    Depthwise3x3ManyColumns,
    (
        Case(12, 12, 64),
        Case(24, 24, 30),
        Case(24, 12, 33),
        Case(16, 18, 31),
        Case(20, 12, 37, shift=34),
        Case(17, 24, 26, shift=33, offsets=True),
        Case(12, 12, 57, shift=32, offsets=True),
        Case(48, 48, 6, (2, 2), AFTER),
        Case(24, 24, 13, (2, 2), AFTER),
        Case(2, 24, 8, (2, 2), AFTER),
        Case(6, 36, 7, (2, 2), AFTER),
        Case(8, 24, 4, (2, 2), AFTER, shift=34),
        Case(18, 24, 11, (2, 2), AFTER, shift=33, offsets=True),
        Case(10, 24, 9, (2, 2), AFTER, shift=32, offsets=True),
        Case(3, 48, 8, pads=SIDES),
        Case(4, 20, 11, pads=SIDES, shift=34),
        Case(6, 28, 7, pads=SIDES, shift=33, offsets=True),
        Case(3, 8, 16, pads=SIDES),
        Case(3, 48, 16, (2, 2), (0, 0, 0, 1)),
        Case(5, 32, 9, (2, 2), (0, 1, 0, 0)),
        Case(9, 40, 6, (2, 2), (0, 1, 0, 0), shift=34, offsets=True),
    ),
    (
        Case(12, 12, 3),
        Case(3, 9, 8, pads=SIDES),
        Case(7, 24, 8, pads=SIDES),
        Case(4, 24, 8, (2, 2), SIDES),
        Case(12, 13, 32),
        Case(25, 24, 32),
        Case(24, 24, 32, pads=(0, 1, 1, 1)),
        Case(24, 24, 32, pads=(2, 1, 1, 1)),
        Case(24, 24, 32, (2, 2)),
        Case(23, 24, 32, (2, 2), AFTER),
        Case(24, 24, 32, (2, 1), (0, 1, 1, 1)),
        Case(12, 12, 32, bounds=(-100, 127)),
    ),
    _bands,
)
PLANES = Kernel(
    Depthwise3x3,
    (
        Case(25, 7, 8),
        Case(8, 8, 12, bounds=(-20, 127)),
        Case(9, 6, strides=(2, 2), pads=(0, 0, 1, 1)),
        Case(9, 15, 8, strides=(2, 2)),
        Case(17, 3, strides=(1, 2), pads=(1, 2, 0, 2), shift=34),
        Case(6, 11, strides=(2, 1), pads=(2, 2, 2, 2)),
        Case(3, 3, 16, pads=(0, 0, 0, 0)),
        Case(1, 1, 8),
        Case(10, 7, 7),
        Case(5, 17, 13, strides=(2, 2)),
        Case(2, 1, pads=(2, 2, 2, 2)),
        Case(4, 2, 8, strides=(2, 2), pads=(2, 1, 1, 2)),
        Case(7, 7, 9, offsets=True, shift=33),
        Case(6, 15, 6, strides=(2, 2), offsets=True),
        Case(5, 6, bounds=(-100, 127), offsets=True),
        Case(25, 7, 40),
        Case(11, 6, 29, bounds=(-100, 127)),
        Case(12, 7, 31, offsets=True, shift=34),
    ),
    (Case(3, 3, 3), Case(5, 5, 8, (3, 3))),
    _planes,
)
LINE = Kernel(
    DepthwiseLine,
    (
        Case(5, 1, 128, pads=VALID, kernel=(5, 1)),
        Case(15, 1, 37, pads=VALID, kernel=(15, 1), twice=True),
        Case(2, 1, 4, pads=VALID, kernel=(2, 1), shift=34),
        Case(30, 1, 40, pads=VALID, kernel=(3, 1), twice=True),
        Case(1, 12, 6, pads=VALID, kernel=(1, 4), offsets=True, shift=33),
        Case(9, 3, 10, (2, 1), VALID, kernel=(4, 1), offsets=True, shift=32),
        Case(3, 9, 5, (1, 3), VALID, kernel=(1, 3), shift=35),
        Case(70, 1, 12, pads=VALID, kernel=(29, 1), dilations=(2, 1), twice=True),
        Case(20, 2, 7, pads=VALID, kernel=(17, 1), shift=33),
        Case(41, 1, 9, pads=VALID, kernel=(40, 1), offsets=True, shift=34),
    ),
    (
        Case(5, 1, 3, pads=VALID, kernel=(5, 1)),
        Case(5, 1, 8, pads=(1, 0, 1, 0), kernel=(5, 1)),
        Case(1, 5, 8, pads=(0, 2, 0, 2), kernel=(1, 5)),
        Case(5, 2, 8, pads=VALID, kernel=(5, 2)),
        Case(5, 1, 8, pads=VALID, kernel=(5, 1), bounds=(-100, 127)),
        Case(5, 1, 8, pads=VALID, kernel=(5, 1), bounds=(-100, 127), twice=True),
        Case(5, 1, 8, pads=VALID, kernel=(5, 1), shift=30),
    ),
    _line,
)
WINDOWS = Kernel(
    DepthwiseDsp,
    (
        Case(10, 10, 12, pads=(2, 2, 2, 2), kernel=(5, 5)),
        Case(10, 10, 7, pads=(2, 2, 2, 2), kernel=(5, 5), offsets=True, shift=34),
        Case(5, 5, 24, pads=(3, 3, 3, 3), kernel=(7, 7), shift=33),
        Case(3, 3, 9, pads=(3, 3, 3, 3), kernel=(7, 7), offsets=True, shift=33),
        Case(4, 4, 8, pads=(3, 3, 3, 3), kernel=(7, 7)),
        Case(26, 26, 5, (2, 2), VALID, kernel=(7, 7), shift=34),
        Case(16, 16, 8, (2, 2), VALID, kernel=(7, 7), offsets=True),
        Case(17, 17, 5, (2, 2), (3, 3, 1, 1), kernel=(7, 7), shift=33),
        Case(5, 5, 11, (2, 2), (2, 2, 2, 2), kernel=(5, 5)),
        Case(28, 28, 4, (2, 2), (1, 1, 2, 2), kernel=(5, 5), shift=36),
        Case(29, 27, 6, (1, 2), (0, 1, 0, 1), kernel=(4, 4)),
        Case(40, 8, 4, pads=(2, 2, 1, 1), kernel=(4, 4), offsets=True, shift=35),
        Case(21, 13, 4, (3, 1), (4, 0, 4, 3), kernel=(3, 6), dilations=(4, 1)),
        Case(1, 9, 4, pads=(6, 4, 6, 4), kernel=(7, 5)),
        Case(30, 1, 40, pads=(1, 0, 1, 0), kernel=(3, 1)),
        Case(28, 1, 13, pads=(0, 0, 2, 0), kernel=(5, 1), offsets=True, shift=33),
        Case(24, 1, 6, pads=(4, 0, 5, 0), kernel=(10, 1)),
        Case(24, 1, 9, pads=(4, 0, 5, 0), kernel=(10, 1), twice=True),
        Case(9, 4, 10, pads=(2, 2, 2, 2), kernel=(5, 5), twice=True),
        Case(14, 14, 6, (2, 2), (2, 2, 2, 2), kernel=(5, 5), twice=True),
        Case(9, 9, 5, (2, 2), (3, 3, 3, 3), kernel=(7, 7), twice=True),
        Case(14, 1, 5, pads=(1, 0, 0, 0), kernel=(15, 1), shift=34),
        Case(49, 1, 8, (2, 1), (7, 0, 7, 0), kernel=(15, 1), offsets=True),
        Case(33, 1, 4, pads=(30, 0, 0, 0), kernel=(31, 1)),
        Case(1, 12, 6, (1, 2), (0, 1, 0, 1), kernel=(1, 4), shift=33),
        Case(64, 3, 4, (2, 1), (0, 1, 0, 0), kernel=(1, 2)),
        Case(12, 1, 8, (2, 1), (8, 0, 8, 0), kernel=(9, 1)),
        Case(10, 4, 8, pads=(2, 0, 2, 0), kernel=(5, 1)),
        Case(1, 2, 6, pads=(2, 2, 2, 2), kernel=(5, 5), shift=33),
        Case(2, 3, 5, (2, 2), (7, 4, 6, 3), kernel=(7, 6), dilations=(2, 1)),
        Case(9, 8, 6, multiplier=2, shift=33),
        Case(12, 11, 5, (2, 2), (2, 2, 2, 2), kernel=(5, 5), offsets=True, multiplier=3),
        Case(24, 1, 4, pads=(4, 0, 5, 0), kernel=(10, 1), twice=True, multiplier=2),
    ),
    (
        Case(10, 10, 3, pads=(2, 2, 2, 2), kernel=(5, 5)),
        Case(10, 10, 8, (2, 3), (2, 2, 2, 2), kernel=(5, 5)),
        Case(12, 12, 8, pads=(2, 4, 2, 4), kernel=(5, 5), dilations=(1, 2)),
        Case(40, 1, 8, pads=VALID, kernel=(32, 1)),
        Case(10, 10, 8, pads=(2, 2, 2, 2), kernel=(5, 5), bounds=(-100, 127)),
        Case(8, 8, 8),
    ),
    _windows,
)

EVEN, POSITIVE, ALL = (-32767, 32767), (0, 32767), (-32768, 32767)
"""Bounds of int16 that the kernel has ends for."""


def _wide_windows(rng: np.random.Generator) -> Case:
    plain = {"offsets": False, "twice": False, "wide": True}
    return replace(_windows(rng), bounds=(EVEN, POSITIVE, ALL)[rng.integers(3)], **plain)


WIDE = Kernel(
    DepthwiseS16,
    (
        Case(10, 10, 12, bounds=EVEN, shift=34, wide=True),
        Case(9, 11, 7, (2, 2), bounds=ALL, shift=33, wide=True),
        Case(10, 10, 7, pads=(2, 2, 2, 2), kernel=(5, 5), bounds=POSITIVE, shift=35, wide=True),
        Case(26, 26, 5, (2, 2), VALID, kernel=(7, 7), bounds=EVEN, wide=True),
        Case(40, 8, 4, pads=(2, 2, 1, 1), kernel=(4, 4), bounds=ALL, shift=36, wide=True),
        Case(21, 13, 4, (3, 1), (4, 0, 4, 3), EVEN, 34, kernel=(3, 6), dilations=(4, 1), wide=True),
        Case(28, 1, 13, pads=(0, 0, 2, 0), kernel=(5, 1), bounds=POSITIVE, shift=32, wide=True),
        Case(49, 1, 8, (2, 1), (7, 0, 7, 0), kernel=(15, 1), bounds=EVEN, shift=33, wide=True),
        Case(30, 1, 400, pads=(1, 0, 1, 0), kernel=(3, 1), bounds=EVEN, shift=34, wide=True),
        Case(9, 8, 6, bounds=EVEN, shift=33, wide=True, multiplier=2),
        Case(10, 10, 9, bounds=ALL, shift=26, wide=True, once=True),
        Case(26, 26, 5, (2, 2), VALID, POSITIVE, 24, kernel=(7, 7), wide=True, once=True),
        Case(
            40, 1, 8, pads=(1, 0, 1, 0), bounds=ALL, shift=20, kernel=(3, 1), wide=True, once=True
        ),
        Case(30, 1, 8, pads=VALID, bounds=EVEN, shift=24, kernel=(9, 1), wide=True, once=True),
    ),
    (
        Case(10, 10, 3, bounds=EVEN, wide=True),
        Case(10, 10, 8, bounds=(-32767, 32766), wide=True),
        Case(10, 10, 8, dilations=(1, 2), pads=(1, 2, 1, 2), bounds=EVEN, wide=True),
        Case(3, 3, 8, pads=VALID, bounds=EVEN, wide=True),
        Case(10, 10, 8, bounds=ALL, shift=17, wide=True, once=True),
    ),
    _wide_windows,
)
KERNELS = {
    **{"planes": PLANES, "narrow": NARROW, "bands": BANDS, "line": LINE, "windows": WINDOWS},
    "wide": WIDE,
}
