"""Oracle = generated C for pooling of any windows, channels and element types, on every core."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cross import MACHINES, check_cross
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_graphs import with_one_input
from random_net import Net
from random_parts import any_window, moved_codes
from random_reductions import average_pool, average_pool_codes, reduce_image

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.infer import infer_shape
from edgec.kernels.generic.reduce import Reduce

CHANNELS = (1, 3, 4, 8, 9, 12, 16, 20, 21, 33, 48)
BOARDS = ("nucleo_g0b1re", "nucleo_l4r5zi", "nucleo_f207zg")
EACH = 2


def image(net: Net, channels: int) -> str:
    return net.input((1, net.integer(2, 7), net.integer(2, 7), channels))


WIDE = QuantParams.per_tensor(0.01, 0, DType.INT16)


def wide_image(net: Net, channels: int) -> tuple[str, tuple[int, ...]]:
    shape = (1, net.integer(2, 7), net.integer(2, 7), channels)
    x = net.builder.value(Value(f"wide {len(net.builder.values)}", shape, DType.INT16, WIDE))
    net.builder.inputs.append(x)
    return x, shape


def mean_s16(net: Net, channels: int) -> None:
    x, shape = wide_image(net, channels)
    window = any_window(net, *shape[1:3])
    taps, shift = window[0][0] * window[0][1], net.pick([31, 34])
    real = net.rng.uniform(0.2, 1.9) * 2.0**shift / np.maximum(np.arange(taps + 1), 1)
    multiplier = net.constant(np.minimum(real, 2.0**31 - 1).astype(np.int32))
    form = qops.Requant31(shift, 0, -32767, 32767, DType.INT16)
    attrs = qops.QAveragePool(*window, net.chance(), form)
    y = Value(f"{x} mean", infer_shape(attrs, [shape, (taps + 1,)]), DType.INT16, WIDE)
    net.builder.node("mean", attrs, [x, multiplier], [net.builder.value(y)])


def largest_s16(net: Net, channels: int) -> None:
    x, shape = wide_image(net, channels)
    quant = WIDE
    attrs = qops.QMaxPool(*any_window(net, *shape[1:3]))
    y = Value(f"{x} pooled", attrs.infer_shape(attrs.Inputs(shape)), DType.INT16, quant)
    net.builder.node("pool", attrs, [x], [net.builder.value(y)])


def pools(seed: int, wide: bool = False) -> Graph:
    """Maxima and means of windows, for each number of channels."""
    net = Net.seeded(seed)
    for channels in CHANNELS:
        for _ in range(EACH):
            x = image(net, channels)
            moved_codes(net, qops.QMaxPool(*any_window(net, *net.shape(x)[1:3])), [x])
            average_pool(net, image(net, channels))
            average_pool_codes(net, image(net, channels))
        if wide:
            largest_s16(net, channels)
            mean_s16(net, channels)
    return net.build()


def means_of_images(seed: int) -> Graph:
    """Sums of up to 128 pixels, and of more, for each number of channels."""
    net = Net.seeded(seed)
    for channels in CHANNELS:
        for height, width in ((1, 1), (net.integer(1, 9), net.integer(2, 9)), (8, 16), (13, 10)):
            reduce_image(net, net.input((1, height, width, channels)))
    return net.build()


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", BOARDS)
def test_means_of_images(board: str, tmp_path: Path) -> None:
    need_emulator(board)
    graph = with_one_input(means_of_images(9))
    program = compiled(graph, tmp_path / "library", board=board)
    specs = [kernel.spec for kernel in program.kernels]
    short = [spec for spec in specs if isinstance(spec, Reduce) and spec.as_window]
    assert any(spec.kept[0].size % 4 for spec in short)
    samples = samples_of(graph)[2:5]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", MACHINES)
def test_means_of_images_with_neon(name: str, tmp_path: Path) -> None:
    graph = means_of_images(10)
    check_cross(MACHINES[name], graph, samples_of(graph)[2:5], tmp_path)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_on_this_computer(seed: int, tmp_path: Path) -> None:
    graph = pools(seed, wide=True)
    check_host(graph, tmp_path / "plain", board="nucleo_g0b1re")
    # The same functions as on cores with DSP, in their form for other compilers.
    check_host(graph, tmp_path / "words", board="nucleo_l4r5zi")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", BOARDS)
def test_on_a_microcontroller(board: str, tmp_path: Path) -> None:
    need_emulator(board)
    graph = with_one_input(pools(3))
    program = compiled(graph, tmp_path / "library", board=board)
    samples = samples_of(graph)[2:5]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")


@pytest.mark.parametrize("board", BOARDS)
def test_windows_of_many_taps(board: str, tmp_path: Path) -> None:
    """Of 25 taps, which cores without DSP have code for, and of more, with and without edges."""
    need_emulator(board)
    net = Net.seeded(8)
    for channels, kernel, pad in ((8, (5, 5), 2), (3, (5, 5), 1), (4, (5, 5), 0), (6, (6, 5), 2)):
        x = net.input((1, 7, 6, channels))
        moved_codes(net, qops.QMaxPool(kernel, (1, 1), (pad,) * 4, (1, 1)), [x])
    graph = net.build()
    program = compiled(graph, tmp_path / "library", board=board)
    samples = samples_of(graph)[2:5]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")


def test_words_at_odd_places_on_a_core_that_cannot_read_them(tmp_path: Path) -> None:
    """Taps that lie words apart in pixels of six bytes: every other begins amid a word."""
    need_emulator("microbit")
    net = Net.seeded(6)
    x = net.input((1, 3, 7, 6))
    quant = net.quant()
    multiplier = np.full(3, 1 << 29, np.int32)
    attrs = qops.QAveragePool(
        (1, 2), (1, 1), (0, 0, 0, 0), (1, 2), True, net.form(31, quant.tensor_zero_point)
    )
    inputs = [x, net.constant(multiplier)]
    shapes = [net.shape(name) for name in inputs]
    net.node(attrs, inputs, net.output(infer_shape(attrs, shapes), quant))
    graph = net.build()
    program = compiled(graph, tmp_path / "library", board="microbit")
    samples = samples_of(graph)[2:4]
    check_emulated("microbit", tmp_path / "library", program, samples, tmp_path / "project")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", MACHINES)
def test_with_neon(name: str, tmp_path: Path) -> None:
    graph = pools(4, wide=True)
    check_cross(MACHINES[name], graph, samples_of(graph)[2:5], tmp_path)
