"""Front ends have prices on every Cortex-M core, so that `compile` says what they take."""

from dataclasses import replace

import pytest

from edgec.base.camera import CameraForm, Rectangle
from edgec.base.dtypes import DType
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import PRESETS
from edgec.ir import qops
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.generic.frame import FAMILY, Frame
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

# Cycles of a frame by `benchmarks/sound_prices.py judge`, with the flash of the board.
MEASURED = {
    "nucleo_g0b1re": {"mlperf-sww": 1_461_383, "mlperf-kws": 1_162_292, "micro": 209_818},
    "nucleo_l4r5zi": {"mlperf-sww": 251_744, "mlperf-kws": 261_917, "micro": 88_968},
    "nucleo_h7a3zi_q": {"mlperf-sww": 156_384, "mlperf-kws": 186_972, "micro": 62_645},
    "nucleo_u575zi_q": {"mlperf-sww": 227_688, "mlperf-kws": 249_392, "micro": 81_141},
}


@pytest.mark.parametrize("board", MEASURED)
@pytest.mark.parametrize("name", PRESETS)
def test_estimates_are_near_what_was_measured(board, name):
    target = Target.of(load_board(board))
    estimator = Estimator.of(target)
    one, three = (_cycles(name, frames, target, estimator) for frames in (1, 3))
    assert 2.7 * one < three <= 3 * one
    if name in MEASURED[board]:
        assert one == pytest.approx(MEASURED[board][name], rel=0.11)


def _cycles(name: str, frames: int, target: Target, estimator: Estimator) -> float:
    graph = FrontEnd(name, PRESETS[name]).graph(frames)
    own = [
        each
        for each in select_kernels(graph, target)
        if each.spec.family in ("log_mel", "micro_features", "sensor_features")
    ]
    (choice,) = own
    found = estimator.cycles(choice.family, choice.spec)
    assert found is not None
    return found


@pytest.mark.parametrize("board", MEASURED)
@pytest.mark.parametrize("pixels", ["gray", "rgb888", "rgb565", "yuyv"])
@pytest.mark.parametrize("method", ["area", "nearest"])
def test_frames_of_cameras_have_prices(board, pixels, method):
    """Four times as many pixels take four times as long."""
    target = Target.of(load_board(board))
    estimator = Estimator.of(target)
    found = []
    for side in (40, 80):
        form = CameraForm(side, side, pixels, "big", Rectangle(side, side, 0, 0))
        for to, rows in ((side // 5 * 2, 1), (side - 7, 3)):
            op = qops.QFrame(form, to, to, 3, method)
            choice = replace(Frame(op, DType.INT8, rows), unrolled=method == "area" and rows == 1)
            cycles = estimator.cycles(FAMILY, choice)
            assert cycles is not None
            found.append(cycles)
    assert 3.7 < found[2] / found[0] < 4.1
    assert all(each > 0 for each in found)
