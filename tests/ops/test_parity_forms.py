"""One graph, layers of several forms of requantization: verified, oracle = generated C."""

from pathlib import Path

import numpy as np
import pytest
from emulated import check_emulated, need_emulator
from mixed_forms import ONES, Mixed
from parity import check_host, compiled, samples_of

from edgec.ir import Graph, qops
from edgec.ir.ops import ReduceKind
from edgec.ir.verify import Stage, verify
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BYTE = (-128, 127)
RESCALE = qops.Rescale16x15(2, 20, *BYTE)


class Chain(Mixed):
    """A chain of layers of edgec's own forms."""

    def numbers(self, form: qops.Requantization, outputs: int, *inner: int) -> list[str]:
        """Weights, bias and multipliers that spread the outputs over about half of the codes."""
        depth = int(np.prod(inner))
        shift = form.shift + (form.pre_shift if isinstance(form, qops.Rescale16x15) else 0)
        factor = 2.0**shift / (60.0 * depth**0.5 * 60)
        most = self.rng.uniform(0.5, 1, outputs) * factor
        multipliers = np.minimum(most, form.LARGEST_MULTIPLIER).astype(form.MULTIPLIERS.numpy)
        return [
            self.constant(-127, 127, outputs, *inner),
            self.constant(-900, 900, outputs, dtype=np.int32),
            self.array(multipliers),
        ]


def mixed(seed: int) -> Graph:
    """A network whose layers end in either form, centred or raw."""
    net = Chain(seed)
    wide = qops.Requant31(32, -5)
    x = net.input(1, 6, 6, 8)
    conv = qops.QConv(ONES, (1,) * 4, ONES, 1, wide)
    a = net.put(conv, [x, *net.numbers(wide, 8, 3, 3, 8)], -5)
    rescale_conv = qops.QConv(ONES, (1,) * 4, ONES, 1, RESCALE)
    b = net.put(rescale_conv, [a, *net.numbers(RESCALE, 8, 3, 3, 8)], 4)
    depthwise = qops.QConv(ONES, (0,) * 4, ONES, 8, wide)
    c = net.put(depthwise, [b, *net.numbers(wide, 8, 1, 1, 1)], -5)
    d = net.put(qops.QMul(RESCALE, 9000, 77), [b, c], 4)
    e = net.put(qops.QMul(qops.Requant31(30, 7), 2**23), [c, d], 7)
    f = net.put(qops.QAdd(qops.AddParams(4, 7, 1 << 10, -900, 10, -3)), [d, e], -3)
    for form, raw in ((wide, False), (wide, True), (RESCALE, False), (RESCALE, True)):
        layer = qops.QGemm(form, raw=raw)
        zero_point = form.zero_point if isinstance(form, qops.Requant31) else 9
        f = net.put(layer, [f, *net.numbers(form, 8, 8)], zero_point)
    g = net.put(qops.QReduce(ReduceKind.MEAN, (1, 2), False, RESCALE, 9000, 5), [f], 9)
    h = net.put(qops.QReduce(ReduceKind.SUM, (1,), True, qops.Requant31(31), 2**27), [g], 0)
    net.builder.outputs = [g, h]
    return net.builder.build()


@pytest.mark.parametrize("board", ["host", "nucleo_l4r5zi", "nucleo_f207zg"])
@pytest.mark.parametrize("seed", range(2))
def test_layers_of_both_forms_in_one_graph(seed: int, board: str, tmp_path: Path):
    graph = mixed(seed)
    verify(graph, Stage.INTEGER)
    check_host(graph, tmp_path, board=board)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", ["nucleo_l4r5zi", "nucleo_g0b1re"])
def test_means_four_channels_at_a_time(board: str, tmp_path: Path):
    """Of few pixels, and of more than the halves of a word hold."""
    net = Chain(3)
    many, few = net.input(1, 19, 43, 12), net.input(1, 7, 1, 8)
    forms = ((qops.Requant31(38, -5), 2**27, -5), (RESCALE, 2000, 0))
    outputs = [
        net.put(qops.QReduce(kind, (1, 2), False, form, multiplier), [x], zero_point)
        for x in (many, few)
        for form, multiplier, zero_point in forms
        for kind in (ReduceKind.MEAN, ReduceKind.SUM)
    ]
    net.builder.outputs = outputs
    graph = net.builder.build()
    target = Target.of(load_board(board))
    assert all(choice.spec.by_words for choice in select_kernels(graph, target))
    check_host(graph, tmp_path / "host", board=board)
    need_emulator(board)
    program = compiled(graph, tmp_path / "library", board=board)
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")
