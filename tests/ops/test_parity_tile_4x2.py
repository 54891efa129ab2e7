"""Oracle = generated C for the products of four tokens by two rows, and their outputs."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_transformer import Layer
from targets import by_precedence

from edgec.base.dtypes import DType
from edgec.ir import Graph, qops
from edgec.kernels.dsp.dense_4x2_s8_dsp.spec import Dense4x2
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = {"m4": "nucleo_l4r5zi", "m7": "nucleo_h7a3zi_q", "m33": "nucleo_u575zi_q"}
BYTE = (DType.INT8, -128, 127)
LIFTED = (DType.INT8, -127, 127)
CLIPPED = (DType.INT8, -100, 90)
WIDE = (DType.INT16, -32768, 32767)
LOW = (DType.INT16, -300, 32767)


@dataclass(frozen=True)
class Case:
    """A product of `rows` rows, or a convolution of [rows, rows + 1, depth] for a kernel.

    Attributes:
        output: type and bounds.
        end: "", "table" or "residual".
        shift: of the requantization.
        fuses: outputs are stored from registers.
    """

    rows: int
    depth: int
    units: int
    output: tuple[DType, int, int]
    end: str = ""
    shift: int = 20
    fuses: bool = True
    kernel: int = 0
    stride: int = 1
    pad: int = 0


CASES = (
    Case(5, 64, 6, BYTE),
    Case(4, 20, 8, LIFTED),
    Case(7, 136, 2, LIFTED, shift=22),
    Case(6, 64, 10, WIDE, shift=14),
    Case(3, 64, 4, WIDE, "residual", shift=16),
    Case(9, 36, 6, WIDE, "residual", shift=13, fuses=False),
    Case(2, 64, 8, BYTE, "table"),
    Case(5, 64, 7, LIFTED, fuses=False),
    Case(4, 24, 4, CLIPPED, fuses=False),
    Case(5, 24, 4, LOW, "residual", shift=16, fuses=False),
    Case(5, 3, 6, LIFTED, kernel=3, pad=1),
    Case(6, 4, 4, WIDE, "residual", shift=16, kernel=2, stride=2),
    Case(4, 8, 5, BYTE, kernel=3, pad=2, fuses=False),
    Case(3, 8, 4, BYTE, "table", kernel=1),
    Case(4, 8, 5, BYTE, kernel=2, pad=1, fuses=False),
    Case(4, 4, 3, CLIPPED, kernel=2, stride=2, fuses=False),
)


def graph_of(seed: int, cases: tuple[Case, ...] = CASES) -> Graph:
    layer = Layer(seed)
    for case in cases:
        _add(layer, case)
    return layer.builder.build()


def _add(layer: Layer, case: Case) -> None:
    shape = (1, case.rows, case.rows + 1, case.depth) if case.kernel else (1, case.rows, case.depth)
    x = layer.symmetric(layer.input(*shape))
    while case.kernel and layer.builder.values[x].quant.tensor_zero_point == -128:
        x = layer.symmetric(x)
    dtype, low, high = (DType.INT8, -512, 511) if case.end == "table" else case.output
    taps = (case.kernel, case.kernel) if case.kernel else ()
    depth = case.depth * max(case.kernel, 1) ** 2
    reach = 40 * 70 * round(depth**0.5)
    output = qops.Rescale16x15(max(reach.bit_length() - 15, 0), case.shift, low, high, dtype)
    multipliers = (layer.rng.integers(9000, 32768, case.units) * layer.pick([1, -1])).astype(
        np.int16
    )
    inputs = [
        x,
        layer.array(
            layer.rng.choice([-127, -128, 127, 5, 0], (case.units, *taps, case.depth)).astype(
                np.int8
            )
        ),
        layer.constant(-reach, reach, case.units, dtype=np.int32),
        layer.array(multipliers),
    ]
    y_shape = (*shape[:-1], case.units)
    residual = qops.StreamSum() if case.end == "residual" else None
    attrs: qops.QGemm | qops.QConv = qops.QGemm(output, residual, raw=True)
    if case.kernel:
        sides = [(n + 2 * case.pad - case.kernel) // case.stride + 1 for n in shape[1:3]]
        y_shape = (1, *sides, case.units)
        attrs = qops.QConv((case.stride,) * 2, (case.pad,) * 4, (1, 1), 1, output, residual)
    if case.end == "table":
        inputs += ["", layer.constant(-128, 127, qops.TABLE_SIZE)]
    if case.end == "residual":
        inputs.append(layer.input(*y_shape, dtype=DType.INT16))
    layer.node(attrs, inputs, dtype)


def test_the_cases_get_this_kernel():
    for core, board in BOARDS.items():
        chosen = [
            c.spec for c in select_kernels(graph_of(1), by_precedence(Target.of(load_board(board))))
        ]
        specs = [spec for spec in chosen if spec.family != "elementwise"]
        assert all(isinstance(spec, Dense4x2) for spec in specs)
        assert [spec.fuses for spec in specs] == [case.fuses for case in CASES]
        assert [spec.dual_issue for spec in specs] == [core == "m7"] * len(CASES)
        assert max(spec.unrolled for spec in specs) == (4 if core == "m4" else 16)
    (pointwise,) = (spec for spec, case in zip(specs, CASES, strict=True) if case.kernel == 1)
    assert pointwise.window is None


def test_padding_of_the_code_that_x_never_has_makes_it_a_kernel_for_any_codes():
    layer = Layer(1)
    while True:
        x = layer.symmetric(layer.input(1, 4, 4, 8))
        if layer.builder.values[x].quant.tensor_zero_point == -128:
            break
    output = qops.Rescale16x15(3, 20, -128, 127)
    numbers = [
        layer.constant(-127, 127, 6, 3, 3, 8),
        layer.constant(-9, 9, 6, dtype=np.int32),
        layer.constant(9000, 9999, 6, dtype=np.int16),
    ]
    attrs = qops.QConv((1, 1), (1,) * 4, (1, 1), 1, output=output)
    layer.node(attrs, [x, *numbers], DType.INT8)
    graph = layer.builder.build()
    spec = select_kernels(graph, by_precedence(Target.of(load_board(BOARDS["m4"]))))[-1].spec
    assert isinstance(spec, Dense4x2) and spec.any_code


@pytest.mark.parametrize("core", ["m4", pytest.param("m7", marks=pytest.mark.slow)])
def test_on_the_host(core: str, tmp_path: Path):
    check_host(graph_of(2), tmp_path, board=BOARDS[core])


def test_in_plain_c(tmp_path: Path):
    check_host(graph_of(2), tmp_path, board=BOARDS["m4"], flags=("-DEDGEC_PLAIN_C",))


@pytest.mark.parametrize(
    "core", ["m4", *(pytest.param(core, marks=pytest.mark.slow) for core in ("m7", "m33"))]
)
@pytest.mark.parametrize("half", [0, 1])
def test_on_an_emulated_core(half: int, core: str, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = graph_of(3, CASES[half::2])  # a firmware has at most 16 inputs
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")
