"""Oracle = generated C for products of one row by four filters: any codes, forms and types."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_transformer import Layer
from targets import by_precedence

from edgec.base.dtypes import DType
from edgec.ir import Constant, Graph, QuantParams, qops
from edgec.kernels.dsp.dense_1x4_dsp import Dense1x4
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = {"m4": "nucleo_l4r5zi", "m7": "nucleo_h7a3zi_q", "m33": "nucleo_u575zi_q"}
# Depth, units, bounds, shift: all remainders of four, one word, several batches, odd words.
CASES = (
    (64, 8, (-128, 127), 32),
    (128, 36, (-128, 127), 32),
    (4, 4, (-128, 127), 32),
    (3, 1, (-128, 127), 34),
    (13, 5, (-100, 90), 33),
    (30, 6, (-3, 127), 32),
    (31, 7, (-128, 127), 35),
    (68, 67, (-128, 127), 32),
    (40, 24, (-128, 127), 33),
    (64, 160, (-128, 127), 33),
)


TYPES = ((DType.INT16, DType.INT16), (DType.INT16, DType.INT8), (DType.INT8, DType.INT16))
"""Of x and y: rows of int16, and sums of rows of int8 that become int16."""
NARROW, TYPED = "narrow", "typed"


def graph_of(seed: int, kind: str = NARROW) -> Graph:
    layer = Layer(seed)
    for case in CASES:
        if kind == NARROW:
            _add(layer, *case)
            continue
        for types in TYPES if case in CASES[::2] else TYPES[:1]:
            depth, units, bounds, shift = case
            wide = types[1] is DType.INT16
            _add(
                layer,
                depth,
                units,
                (layer.pick([(-32767, 32767), (-32768, 32767), (-999, 9000)]) if wide else bounds),
                shift,
                types,
            )
    return layer.builder.build()


def _add(
    layer: Layer,
    depth: int,
    units: int,
    bounds: tuple[int, int],
    shift: int,
    types: tuple[DType, DType] = (DType.INT8, DType.INT8),
) -> None:
    x, y = types
    # A sum is as large as its codes, and an output uses the codes that there are.
    larger = 256.0 ** ((y is DType.INT16) - (x is DType.INT16))
    if larger != 1:
        shift -= round(np.log2(larger))
    # Filters that are joined to rows of int16 have no -128.
    least = -128 if x is DType.INT8 else -126
    weights = layer.rng.choice([-127, 127, least, 5, 0, 60], (units, depth))
    multipliers = layer.rng.uniform(0.4, 1, units) / (12 * round(depth**0.5)) * larger * 2.0**shift
    zero_point = 0 if y is DType.INT16 else layer.pick([0, -128, 7])
    inputs = [
        layer.input(1, depth, dtype=x),
        layer.array(weights.astype(np.int8)),
        layer.constant(-9000, 9000, units, dtype=np.int32),
        layer.array((multipliers * layer.pick([1, -1])).astype(np.int32)),
    ]
    form = qops.Requant31(shift, zero_point, *bounds, y)
    name = layer.node(qops.QGemm(form), inputs, y)
    quant = QuantParams.per_tensor(0.05, zero_point, y)
    layer.builder.value(replace(layer.builder.values[name], quant=quant))


@pytest.mark.parametrize("kind", [NARROW, TYPED])
def test_the_cases_get_this_kernel(kind: str):
    for core, board in BOARDS.items():
        choices = select_kernels(graph_of(1, kind), by_precedence(Target.of(load_board(board))))
        specs = [choice.spec for choice in choices]
        assert all(isinstance(spec, Dense1x4) for spec in specs)
        assert {spec.dual_issue for spec in specs} == {core == "m7"}
        assert {(spec.typed is None) for spec in specs} == {kind == NARROW}


def test_a_bias_without_room_for_the_sums_of_odd_weights_gets_plain_c():
    graph = graph_of(1)
    first = graph.nodes[0]
    bias = qops.QGemm.Inputs.of(first.inputs).b
    full = Constant(bias, np.full(CASES[0][1], 2**31 - 1 - 128 * 128 * 64, np.int32))
    changed = graph.replace(constants={**graph.constants, bias: full})
    choices = select_kernels(changed, by_precedence(Target.of(load_board(BOARDS["m4"]))))
    assert [choice.spec.family for choice in choices][:2] == ["gemm", "dense_1x4_dsp"]


@pytest.mark.parametrize("core", ["m4", "m7"])
def test_the_least_weight_beside_rows_of_int16(core: str):
    """Two filters in one have no room for it; a core that issues two instructions joins none."""
    graph = graph_of(1, TYPED)
    name = qops.QGemm.Inputs.of(graph.nodes[0].inputs).w
    weights = graph.constants[name].array.copy()
    weights[3, 5] = -128
    changed = graph.replace(constants={**graph.constants, name: Constant(name, weights)})
    choices = select_kernels(changed, by_precedence(Target.of(load_board(BOARDS[core]))))
    assert isinstance(choices[0].spec, Dense1x4) == (core == "m7")


@pytest.mark.parametrize("kind", [NARROW, TYPED])
@pytest.mark.parametrize("core", ["m4", pytest.param("m7", marks=pytest.mark.slow)])
def test_on_the_host(core: str, kind: str, tmp_path: Path):
    check_host(graph_of(2, kind), tmp_path, board=BOARDS[core])


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("kind", [NARROW, TYPED])
@pytest.mark.parametrize("core", BOARDS)
def test_on_an_emulated_core(core: str, kind: str, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = graph_of(3, kind)
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")
