"""Prices: of the alternatives of a layer, and of networks on a board."""

import pytest
from choice_layers import Layer, graph_of
from choice_prices import BOARDS
from mixed_nets import mixed
from neon_wide_layers import dense_layers
from quant_samples import residual_network

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.infer import macs
from edgec.ir.weighted import form_of
from edgec.kernels.buffers import buffers_of
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.price import BoardPrices, alternatives, price_of
from edgec.kernels.select import kernel_candidates, select_kernels
from edgec.lower.bind import bind
from edgec.memory import Peak
from edgec.target.board import load_board
from edgec.target.target import Target

BOARD = load_board("nucleo_l4r5zi")
CORTEX_M = [name for name in BOARDS.values() if name.startswith("nucleo")]
LAYER = Layer(1, 9, 40, 30)


def test_all_kernels_of_a_layer_come_with_their_prices_in_one_call() -> None:
    graph, target = graph_of([LAYER]), Target.of(BOARD)
    found = alternatives(graph, graph.nodes[0], target)
    choices = kernel_candidates(graph, graph.nodes[0], target)
    assert [each.choice.spec for each in found] == [choice.spec for choice in choices]
    assert len({each.price.code for each in found}) == len(found) > 2
    chosen = found[0].price
    assert chosen.counted and chosen.cycles is not None and chosen.waits > 0
    assert chosen.total_cycles == chosen.cycles + chosen.waits
    others = [each.price.total_cycles for each in found[1:] if each.price.counted]
    assert all(cycles is not None and chosen.total_cycles <= cycles * 1.03 for cycles in others)
    assert chosen.types == (DType.INT8, DType.INT8)


def test_constants_are_those_that_are_stored() -> None:
    graph, target = graph_of([LAYER]), Target.of(BOARD)
    choices = select_kernels(graph, target)
    price = price_of(graph, choices[0], Estimator.of(target))
    stored = sum(constant.array.nbytes for constant in bind(graph, choices).constants)
    assert price.constant_bytes == stored
    assert price.scratch_bytes == choices[0].scratch_bytes


def test_more_int16_layers_take_longer() -> None:
    graph, prices = residual_network(), BoardPrices(BOARD)
    none, some, all_wide = (
        prices.price(mixed(graph, lambda i, n=n: i < n)).layer_cycles for n in (0, 4, 99)
    )
    assert none and some and all_wide
    assert none < some <= all_wide < 3.3 * none


def test_nothing_is_said_of_cores_without_cycles() -> None:
    prices = BoardPrices(load_board("raspberry_pi_4"))
    assert prices.price(mixed(residual_network(), lambda _: True)).layer_cycles is None


def test_layers_whose_parts_nobody_counts_are_priced_by_products() -> None:
    """Shifts for each channel, as files of TensorFlow Lite with int16 activations have them."""
    graph, target = dense_layers(1, 12), Target.of(BOARD)
    estimator = Estimator.of(target)
    assert estimator.products is not None
    forms = []
    for choice in select_kernels(graph, target):
        price = price_of(graph, choice, estimator)
        forms.append(isinstance(form_of(choice.node.attrs), qops.Once15))
        assert price.counted != forms[-1]
        if not price.counted:
            assert price.cycles == macs(graph, choice.node) * estimator.products.dense16
    assert set(forms) == {False, True}


@pytest.mark.parametrize("board", CORTEX_M)
@pytest.mark.parametrize(
    "shape",
    [
        ((9, 9, 20, 12), (3, 3)),
        ((6, 5, 24, 10), (1, 1)),
        ((1, 1, 60, 12), (1, 1)),
        ((8, 8, 3, 0), (3, 3)),
    ],
)
@pytest.mark.parametrize(
    "types", [(DType.INT16, DType.INT16), (DType.INT16, DType.INT8), (DType.INT8, DType.INT16)]
)
def test_layers_of_int16_are_counted(
    board: str, shape: tuple[tuple[int, ...], tuple[int, int]], types: tuple[DType, DType]
) -> None:
    """Rows of int16 need not be widened first; nothing takes ten times as long."""
    target = Target.of(load_board(board))
    found = []
    for x, y in ((DType.INT8, DType.INT8), types):
        graph = graph_of([Layer(*shape[0], shape[1], x=x, y=y)])
        (choice,) = select_kernels(graph, target)
        found.append(price_of(graph, choice, Estimator.of(target)))
    narrow, wide = found
    assert narrow.counted and wide.counted
    assert narrow.cycles is not None and wide.cycles is not None
    assert 0.8 * narrow.cycles < wide.cycles < 10 * narrow.cycles


@pytest.mark.parametrize("board", ["nucleo_l4r5zi", "nucleo_h7a3zi_q", "nucleo_u575zi_q"])
def test_depthwise_layers_of_int16_have_the_price_of_the_function_that_runs(board: str) -> None:
    """With DSP less than half of plain C's, which computes the few channels of the other one."""
    target, rates = Target.of(load_board(board)), []
    for channels in (8, 3):
        wide = DType.INT16
        graph = graph_of([Layer(12, 12, channels, 0, (5, 5), x=wide, y=wide)])
        (choice,) = select_kernels(graph, target)
        price = price_of(graph, choice, Estimator.of(target))
        assert price.counted
        assert ("depthwise_s16_dsp" in choice.way) == (channels == 8)
        assert BoardPrices(load_board(board)).price(graph).layer_cycles == price.total_cycles
        assert price.total_cycles is not None
        rates.append(price.total_cycles / macs(graph, choice.node))
    assert rates[0] < rates[1] / 2


def test_a_peak_counts_only_the_steps_that_a_choice_changes() -> None:
    """Other scratch memory of a layer is a question about one step of all."""
    graph = mixed(residual_network(), lambda _: False)
    buffers, overlaps, _ = buffers_of(graph, select_kernels(graph, Target.of(BOARD)))
    whole = Peak.of(buffers, overlaps)
    assert whole.counted == len(whole.by_step) > 5
    scratch = next(each for each in buffers if each.end_step == each.first_step + 1)
    asked = whole.with_sizes({scratch.name: 1 << 20})
    assert asked.counted == 1
    again = [each if each.name != scratch.name else asked.buffers[scratch.name] for each in buffers]
    assert asked.by_step == Peak.of(again, overlaps).by_step
    assert asked.arena_bytes >= 1 << 20
    assert asked.with_sizes({scratch.name: scratch.size_bytes}).by_step == whole.by_step


def test_a_network_beyond_the_floor_needs_no_plan() -> None:
    graph = mixed(residual_network(), lambda _: False)
    assert BoardPrices(BOARD).fits(graph)
    assert not BoardPrices(load_board("microbit")).fits(graph_of([Layer(1, 200, 200, 8)]))
