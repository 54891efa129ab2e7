"""The choice of kernels by estimated cycles: prices, what they are for, and what is chosen."""

from pathlib import Path

import pytest
from choice_layers import Layer, graph_of, nodes_of
from choice_prices import BOARDS, Way, fit
from choice_shapes import held_out, packed_rows, training
from lower_samples import NetBuilder
from random_transformer import Layer as TransformerLayer
from targets import bare_target

from edgec.base.dtypes import DType
from edgec.base.errors import ConfigError
from edgec.ir import qops
from edgec.ir.qops.signs import SIGNS
from edgec.kernels.choice.estimate import Estimator, code_waits, weight_waits
from edgec.kernels.choice.prices import core_prices
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads
from edgec.kernels.common.window import Window
from edgec.kernels.dsp import dense_4x2_s8_dsp
from edgec.kernels.select import kernel_candidates, select_kernels
from edgec.target.board import load_board
from edgec.target.cores import Core
from edgec.target.target import Target

TINY = Layer(1, 1, 22, 2)
FEW_ROWS = Layer(1, 9, 40, 30)
ONE_PART = Parts({"call": 1}, 640, WeightReads(1000, 5, (60, 60)))


def families(layer: Layer, target: Target) -> list[str]:
    """What could compute a layer, what is chosen first."""
    graph = graph_of([layer])
    return [each.spec.family for each in kernel_candidates(graph, graph.nodes[0], target)]


@pytest.mark.parametrize("board", BOARDS.values())
def test_all_parts_of_a_call_have_a_price(board: str) -> None:
    target = Target.of(load_board(board))
    estimator = Estimator.of(target)
    graph = graph_of([*training(), *held_out()])
    for node in graph.nodes:
        for each in kernel_candidates(graph, node, target):
            parts = each.family.parts(each.spec, Run(estimator.form))
            if parts is None or UNMEASURED in parts.counts:
                continue  # nobody counts them: precedence decides
            cycles = estimator.cycles(each.family, each.spec)
            assert cycles is not None, (each.spec.describe(), each.spec.family)
            assert cycles > 0


@pytest.mark.parametrize("board", ["raspberry_pi_3", "raspberry_pi_2", "raspberry_pi_5"])
def test_rows_by_weights_of_few_bits_have_a_price_with_neon(board: str) -> None:
    target = Target.of(load_board(board))
    estimator, found = Estimator.of(target), set()
    graph = graph_of(packed_rows())
    for node in graph.nodes:
        first = kernel_candidates(graph, node, target)[0]
        cycles = estimator.cycles(first.family, first.spec)
        assert cycles is not None and cycles > 0, first.spec.describe()
        found.add(first.spec.family)
    tables = {"dense_1x32_table_neon"} if target.is_aarch64 else set()
    in_bytes = {"dense_8x8_s8_dot"} if target.has_dot_product else {"dense_4x4_s8_neon"}
    assert found == {"dense_1x4_packed_neon"} | tables | in_bytes


def test_the_sets_have_no_layer_in_common() -> None:
    assert not {*training()} & {*held_out()}


@pytest.mark.parametrize("board", [name for name in BOARDS.values() if name.startswith("nucleo")])
def test_a_tiny_layer_gets_the_loop_with_the_shortest_way_to_its_products(board: str) -> None:
    assert families(TINY, Target.of(load_board(board)))[0] == "gemm"


@pytest.mark.parametrize("board", ["nucleo_l4r5zi", "nucleo_h7a3zi_q", "nucleo_u575zi_q"])
def test_rows_of_a_block_that_is_not_full_may_be_computed_for_nothing(board: str) -> None:
    assert families(FEW_ROWS, Target.of(load_board(board)))[0] == "dense_4x2_s8_dsp"


def test_precedence_decides_where_nothing_was_measured() -> None:
    host = Target.of(load_board("host"))
    assert not Estimator.of(host).compares
    assert families(TINY, host)[0] == "gemm"


@pytest.mark.parametrize(
    ("board", "family"),
    [("raspberry_pi_2", "dense_4x4_s8_neon"), ("raspberry_pi_5", "dense_8x8_s8_dot")],
)
def test_kernels_of_cores_with_neon_are_compared(board: str, family: str) -> None:
    """A lone row of few filters would have most of a block computed for nothing."""
    target = Target.of(load_board(board))
    assert Estimator.of(target).compares
    assert families(FEW_ROWS, target)[0] == family


@pytest.mark.parametrize(
    ("board", "family"), [("raspberry_pi_2", "conv2d"), ("nucleo_l4r5zi", "dense_2x2_s16_dsp")]
)
def test_groups_are_left_to_a_compiler_that_makes_vectors(board: str, family: str) -> None:
    """A Cortex-A7 has both DSP, which is slower there, and NEON."""
    layer = Layer(8, 8, 32, 32, (3, 3), groups=4)
    assert families(layer, Target.of(load_board(board)))[0] == family


@pytest.mark.parametrize(
    ("rows", "turned", "neon", "dsp"),
    [
        (8, True, "matmul_neon", "matmul_dsp"),
        (3, True, "matmul", "matmul"),
        (3, False, "matmul_neon", "matmul"),
    ],
)
def test_so_are_few_rows_of_products_in_order(rows: int, turned: bool, neon: str, dsp: str) -> None:
    layer = TransformerLayer(1)
    a = layer.input(rows, 32)
    b = layer.input(*((12, 32) if turned else (32, 12)))
    form = qops.Requant31(40, 0, -32767, 32767, DType.INT16)
    layer.node(qops.QMatMul(form, 1 << 30, 0, False, turned, 256, 256), [a, b], DType.INT16)
    graph = layer.builder.build()
    for board, expected in (("raspberry_pi_2", neon), ("nucleo_l4r5zi", dsp)):
        (choice,) = select_kernels(graph, Target.of(load_board(board)))
        assert choice.spec.family == expected


@pytest.mark.parametrize("board", BOARDS.values())
@pytest.mark.parametrize("y", [SIGNS, DType.INT8])
def test_layers_of_signs_have_prices(board: str, y: DType) -> None:
    target = Target.of(load_board(board))
    estimator = Estimator.of(target)
    graph = graph_of([Layer(6, 6, 64, 32, (3, 3), x=SIGNS, y=y)])
    (node,) = nodes_of(graph)
    found = [
        estimator.cycles(each.family, each.spec) for each in kernel_candidates(graph, node, target)
    ]
    assert all(cycles is not None and cycles > 0 for cycles in found)
    # A word is 32 products: a layer of signs takes a small part of one of codes.
    codes = graph_of([Layer(6, 6, 64, 32, (3, 3))])
    (dense, *_) = kernel_candidates(codes, *nodes_of(codes), target)
    assert min(found) < (estimator.cycles(dense.family, dense.spec) or 0)


def test_precedence_decides_between_like_estimates() -> None:
    """Two kernels that compute a pixel at a time differ by less than estimates are off."""
    target = bare_target(Core.CORTEX_M0PLUS)
    graph = graph_of([Layer(1, 1, 300, 1)])
    (chosen,) = select_kernels(graph, target)
    assert chosen.spec.family == "gemm"


def test_memory_that_never_waits_takes_the_parts_alone() -> None:
    target = bare_target(Core.CORTEX_M4)
    assert target.flash is None
    graph = graph_of([FEW_ROWS])
    (choice,) = select_kernels(graph, target)
    with_flash = Estimator.of(Target.of(load_board("nucleo_l4r5zi")))
    alone = Estimator.of(target).cycles(choice.family, choice.spec)
    waiting = with_flash.cycles(choice.family, choice.spec)
    assert alone is not None
    assert waiting is not None
    assert waiting > alone > 0


def test_code_is_read_line_by_line() -> None:
    m7 = load_board("nucleo_h7a3zi_q").memory
    m4 = load_board("nucleo_l4r5zi").memory
    assert m7 is not None
    assert m4 is not None
    assert code_waits(ONE_PART, m7.flash) == pytest.approx(640 / 16 * 6)
    # Prefetch hides what eight bytes of code take.
    assert code_waits(ONE_PART, m4.flash) == pytest.approx(640 / 8 * (5 - 8 / 3))


def test_weights_are_read_as_often_as_nothing_holds_them() -> None:
    m7 = load_board("nucleo_h7a3zi_q").memory
    m4 = load_board("nucleo_l4r5zi").memory
    assert m7 is not None
    assert m4 is not None
    assert weight_waits(ONE_PART, m7.flash) == 0
    each_time = weight_waits(ONE_PART, m4.flash)
    assert each_time == pytest.approx(5 * 1120 / 4 * 2.5)
    copied = Parts(ONE_PART.counts, 0, ONE_PART.weights, copies=True)
    assert 1120 / 4 * 2.5 < weight_waits(copied, m4.flash) < each_time


@pytest.mark.parametrize("board", BOARDS.values())
def test_prices_know_of_copies_of_the_families_that_ask_for_them(board: str) -> None:
    target = Target.of(load_board(board))
    form = Estimator.of(target).form
    graph = graph_of([*training(), *held_out()])
    for node in graph.nodes:
        for each in kernel_candidates(graph, node, target):
            parts = each.family.parts(each.spec, Run(form))
            asks = each.family.weight_reads(each.spec) is not None
            assert parts is None or parts.copies == asks, each.spec.family


def test_taps_inside_the_image_are_counted() -> None:
    window = Window(5, 4, 1, 3, 4, 3, 3, 2, 1, 1, 1, 1, 1)
    assert window.taps_down() == [2, 3, 2]
    assert window.taps_across() == [2, 3, 3, 2]


@pytest.mark.parametrize("board", ["nucleo_g0b1re", "nucleo_f207zg"])
def test_strips_at_an_edge_read_no_five_rows_at_once(board: str) -> None:
    """11 rows of outputs are four strips: padding is above the first, below the last two rows."""
    graph = graph_of([Layer(11, 8, 5, 0, (3, 3))])
    target = Target.of(load_board(board))
    (choice,) = select_kernels(graph, target)
    parts = choice.family.parts(choice.spec, Run(Estimator.of(target).form))
    assert choice.way == "depthwise_s8_m0" and parts is not None
    assert parts.counts["strip"] == 4
    assert parts.counts["column of five rows"] == 2 * 5 * 8
    assert parts.counts["column of three rows"] == 2 * 5 * 3 * 8
    assert parts.counts["column of padding"] == 4 * 5 * 3 * 2


def test_windows_of_two_pixels_are_counted_as_they_are_copied() -> None:
    wide = DType.INT16
    graph = graph_of([Layer(5, 4, 6, 3, (3, 3), x=wide, y=wide)])
    target = Target.of(load_board("nucleo_l4r5zi"))
    (choice,) = select_kernels(graph, target)
    parts = choice.family.parts(choice.spec, Run(Estimator.of(target).form))
    assert choice.way == "dense_2x2_s16_dsp" and parts is not None
    assert parts.counts["row of a window"] == (2 + 3 + 3 + 3 + 2) * 4
    assert parts.counts["wide activation"] == 13 * (2 + 3 + 3 + 2) * 6
    # Both windows at first, and again for the 14 of 20 pixels at an edge: 54 places, 56 in words.
    assert parts.counts["place cleared"] == (2 + 14) * 56
    assert parts.counts["tile"] == 10 * 2 and parts.counts["turn"] == 20 * 56 / 8


@pytest.mark.parametrize("kernel", [(3, 1), (3, 3)])
def test_rows_of_taps_are_fixed_where_no_column_is_left_out(kernel: tuple[int, int]) -> None:
    graph = graph_of([Layer(9, 1 if kernel[1] == 1 else 9, 5, 0, kernel)])
    target = Target.of(load_board("nucleo_f207zg"))
    found = {each.way: each for each in kernel_candidates(graph, graph.nodes[0], target)}
    plain = found["depthwise"]
    parts = plain.family.parts(plain.spec, Run(Estimator.of(target).form))
    assert parts is not None
    assert ("row of fixed taps at an edge" in parts.counts) == (kernel == (3, 1))
    assert ("row of taps at an edge" in parts.counts) == (kernel == (3, 3))


def test_prices_are_fitted_to_what_parts_take() -> None:
    ways = [
        Way("gemm", {"call": 1.0, "row": rows}, 0, round(10 + 7 * rows), 0.0)
        for rows in (1.0, 2.0, 5.0, 9.0)
    ]
    assert fit(ways) == {"gemm": {"call": 10.0, "row": 7.0}}


def test_a_core_with_two_tables_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    table = (
        '[[prices]]\ncores = ["cortex-m3"]\nmeasured_on = "x"\n[prices.families.gemm]\ncall = 1\n'
    )
    path.write_text(table + table, "utf-8")
    with pytest.raises(ConfigError, match="a core has two tables of prices"):
        core_prices("cortex-m3", path)


def test_a_damaged_file_says_what_helps(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text("[[prices]]\ncores = []\n", "utf-8")
    with pytest.raises(ConfigError) as caught:
        core_prices("cortex-m3", path)
    assert "choice_prices.py fit" in str(caught.value)


@pytest.mark.parametrize(
    ("channels", "units", "pays"), [(3, 4, False), (3, 8, True), (4, 4, True), (4, 8, True)]
)
def test_gathering_pays_for_filters_that_share_it(channels: int, units: int, pays: bool) -> None:
    """Windows of 3 channels are gathered, those of 4 are read where they lie."""
    net = NetBuilder()
    x = net.input("x", 1, 8, 8, channels)
    graph = net.build(net.conv(x, "y", (1, 8, 8, units), kernel=3, pad=1))
    target = Target.of(load_board("nucleo_l4r5zi"))
    found = dense_4x2_s8_dsp.spec(graph, graph.nodes[0], target)
    assert (found.row_source == "patch") == (channels == 3)
    assert dense_4x2_s8_dsp.computes(graph, graph.nodes[0], target)
    assert dense_4x2_s8_dsp.accepts(graph, graph.nodes[0], target) == pays
