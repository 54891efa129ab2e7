"""Oracle = generated C of depthwise convolutions of single pixels, of any type."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_transformer import Layer

from edgec.base.dtypes import DType
from edgec.ir import Graph, QuantParams, qops
from edgec.kernels.generic.channel_scale import ChannelScale
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = ("nucleo_l4r5zi", "nucleo_g0b1re")
N8, N16 = DType.INT8, DType.INT16
TYPES = ((N8, N8), (N8, N16), (N16, N8), (N16, N16))


def graph_of(seed: int) -> Graph:
    """Sums with and without room for more bits below, one pixel and several."""
    layer = Layer(seed)
    for x, y in TYPES:
        for channels, pixels, shift in ((5, (1, 1), 24), (8, (2, 3), 30), (3, (4, 1), 38)):
            _add(layer, channels, pixels, shift, x, y)
    return layer.builder.build()


def _add(
    layer: Layer, channels: int, pixels: tuple[int, int], shift: int, x: DType, y: DType
) -> None:
    weights = layer.rng.integers(-128, 128, (channels, 1, 1, 1))
    larger = 256.0 ** ((y is N16) - (x is N16))
    factors = layer.rng.uniform(0.3, 1, channels) / 128 * larger * 2.0**shift
    zero_point = 0 if y is N16 else 9
    limits = (-32767, 32767) if y is N16 else (-128, 100)
    inputs = [
        layer.input(1, *pixels, channels, dtype=x),
        layer.array(weights.astype(np.int8)),
        layer.constant(-3000, 3000, channels, dtype=np.int32),
        layer.array(np.minimum(factors, 2.0**30).astype(np.int32)),
    ]
    form = qops.Requant31(shift, zero_point, *limits, y)
    conv = qops.QConv((1, 1), (0, 0, 0, 0), (1, 1), channels, form)
    name = layer.node(conv, inputs, y)
    quant = QuantParams.per_tensor(0.05, zero_point, y)
    layer.builder.value(replace(layer.builder.values[name], quant=quant))


def test_sums_are_lifted_where_they_have_room() -> None:
    choices = select_kernels(graph_of(1), Target.of(load_board(BOARDS[0])))
    specs = [choice.spec for choice in choices]
    assert all(isinstance(spec, ChannelScale) for spec in specs)
    assert {spec.lift for spec in specs if spec.typed and spec.x_dtype is N8} == {0, 2, 8}
    assert all(spec.shift == 32 for spec in specs if spec.lift)


@pytest.mark.parametrize("board", BOARDS)
def test_on_the_host(board: str, tmp_path: Path):
    check_host(graph_of(2), tmp_path, board=board)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", BOARDS)
def test_on_an_emulated_core(board: str, tmp_path: Path):
    need_emulator(board)
    graph = graph_of(3)
    program = compiled(graph, tmp_path / "library", board=board)
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")
