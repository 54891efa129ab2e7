"""Prices of kernels with a weight pool: the file, what is counted, and what it is worth."""

import dataclasses
from pathlib import Path

import pytest
from emulated import need_emulator
from pool_derived import derived
from pool_judge import estimate_ideal
from pool_layers import Layer, measure
from pool_shapes import held_out, spec_of, training
from targets import bare_target

from edgec.base.errors import ConfigError, InternalError
from edgec.kernels.common.events import Event
from edgec.kernels.common.form import KernelForm
from edgec.kernels.generic.lut.family import Lut
from edgec.kernels.registry import FAMILIES
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.plan.estimate import Estimator, events_of
from edgec.kernels.weightpool.plan.operations import Operations
from edgec.kernels.weightpool.plan.prices import PRICES_FILE, core_prices, prices_of
from edgec.kernels.weightpool.tables import ResponseKind
from edgec.target.board import list_boards, load_board
from edgec.target.cores import Core
from edgec.target.target import Target

BOARDS = (
    "nucleo_g0b1re",
    "nucleo_f207zg",
    "nucleo_l4r5zi",
    "nucleo_h7a3zi_q",
    "raspberry_pi_2",
    "raspberry_pi_3",
)
RESPONSES = PoolKernelConfig(PoolFamily.RESPONSES, index_bits=5, chunk_groups=2)
DECODE = PoolKernelConfig(PoolFamily.DECODE, index_bits=5)
LAYER = Layer(10, 24, 20, 3, 1, 32, 8, RESPONSES)
"""Of neither set."""
_OF_PACKED_WEIGHTS = {Event.UNPACK}
"""What only layers without a pool do; it is made of operations whose price is fitted here."""


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("board", BOARDS)
def test_all_that_a_kernel_does_has_a_price(board: str) -> None:
    """On every form of the kernels, for all layers that prices are made from and judged on."""
    loaded = load_board(board)
    estimator = Estimator.of(loaded)
    for layer in (*training(loaded), *held_out(loaded)):
        spec = spec_of(layer, loaded)
        assert spec is not None
        done = {
            event for event, number in events_of(spec, layer.bits, estimator.form).items() if number
        }
        assert done
        assert done <= set(estimator.prices), layer


def test_every_event_is_counted_somewhere() -> None:
    done: set[Event] = set()
    for name in BOARDS:
        board = load_board(name)
        for layer in training(board):
            spec = spec_of(layer, board)
            if spec is not None:
                done |= set(events_of(spec, layer.bits, KernelForm.of(Target.of(board))))
    assert done == set(Event) - _OF_PACKED_WEIGHTS


def test_every_board_has_prices_and_few_of_them() -> None:
    for board in list_boards():
        assert all(price >= 0 for price in prices_of(Target.of(board)).values())
    assert len(dataclasses.fields(Operations)) == 8
    assert set(core_prices()) == {core.price_key for core in Core}


def test_the_shapes_of_the_two_sets_differ() -> None:
    board = load_board("nucleo_l4r5zi")

    def shape(layer: Layer) -> tuple[int, ...]:
        return layer.size, layer.channels, layer.filters, layer.kernel, layer.stride

    assert not {shape(a) for a in training(board)} & {shape(b) for b in held_out(board)}


def test_derived_prices_are_those_of_the_cycle_model() -> None:
    """The file says what the model says now; an STM32G0 loads in 2 cycles, LDM in 1 + N."""
    for name in ("nucleo_g0b1re", "nucleo_f207zg", "nucleo_h7a3zi_q", "raspberry_pi_3"):
        board = load_board(name)
        if not board.core.is_cortex_a:
            need_emulator("nucleo_l4r5zi")
        stored = dataclasses.asdict(core_prices()[board.core.price_key].derived)
        assert derived(board) == pytest.approx(stored, abs=0.005)
    stored = dataclasses.asdict(core_prices()[Core.CORTEX_M0PLUS.price_key].derived)
    assert stored == {"load": 1.44, "step": 1.0, "product": 1.0, "turn": 2.0}


def test_look_ups_are_counted_as_the_specification_says() -> None:
    board = load_board("nucleo_l4r5zi")
    spec = spec_of(LAYER, board)
    assert isinstance(spec, PooledConv)
    events = events_of(spec, 8, KernelForm.ARMV7EM)
    assert events[Event.LOOK_UP_8] + events[Event.LOOK_UP_4] == spec.look_ups
    assert events[Event.OUTPUT] == 10 * 10 * 20
    assert events[Event.ENTRY] == 20 * 9 * 3
    assert events[Event.GATHER] == spec.out_pairs * 2 * 2


def test_a_gather_of_four_costs_about_half_of_one_of_eight() -> None:
    """What fitting every unit by itself had lost: 0.05 cycles against 29.7."""
    for name in BOARDS:
        prices = prices_of(Target.of(load_board(name)))
        assert 0.4 < prices[Event.LOOK_UP_4] / prices[Event.LOOK_UP_8] < 0.85


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("config", "bits"),
    [
        (RESPONSES, 8),
        (dataclasses.replace(RESPONSES, builder=ResponseKind.BITSERIAL), 3),
        (DECODE, 8),
        (dataclasses.replace(DECODE, dsp=True, batch=8), 8),
        (None, 8),
    ],
)
def test_estimates_are_near_what_the_emulator_counts(
    config: PoolKernelConfig | None, bits: int
) -> None:
    need_emulator("nucleo_l4r5zi")
    board = load_board("nucleo_l4r5zi")
    (found,) = measure([dataclasses.replace(LAYER, config=config, bits=bits)], board)
    assert estimate_ideal(found, board) == pytest.approx(found.cycles, rel=0.12)


def test_a_kernel_that_nobody_counts_is_not_free() -> None:
    with pytest.raises(InternalError, match="nothing counts what a kernel 'lut' does"):
        events_of(Lut(64), 8, KernelForm.ARMV7M)


def test_every_family_for_weight_pools_counts_its_calls() -> None:
    pooled = [family for family in FAMILIES if "weightpool" in family.template.parts]
    assert len(pooled) == 4
    assert all(family.cost is not None for family in pooled)


@pytest.mark.parametrize(
    ("core", "dsp", "form"),
    [
        (Core.CORTEX_M0, False, KernelForm.ARMV6M),
        (Core.CORTEX_M3, False, KernelForm.ARMV7M),
        (Core.CORTEX_M33, False, KernelForm.ARMV7M),
        (Core.CORTEX_M33, True, KernelForm.ARMV7EM),
        (Core.CORTEX_A7, True, KernelForm.ARMV7A),
        (Core.CORTEX_A53, False, KernelForm.A64),
        (Core.HOST, False, KernelForm.ARMV7EM),
    ],
)
def test_the_form_of_kernels_follows_from_abilities(
    core: Core, dsp: bool, form: KernelForm
) -> None:
    assert KernelForm.of(bare_target(core, dsp=dsp)) is form


def test_waiting_for_flash_comes_on_top() -> None:
    ideal, real = load_board("mps2_an386"), load_board("nucleo_f446re")
    spec = spec_of(LAYER, real)
    assert spec is not None
    estimator = Estimator.of(real)
    without = Estimator.of(ideal)
    assert without.cycles(spec, 8) == without.ideal_cycles(spec, 8)
    assert estimator.ideal_cycles(spec, 8) < estimator.cycles(spec, 8)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("step = 1.0", "step = -1.0", "derived.step: .*greater than or equal to 0"),
        ("step = 1.0", "step = nan", "derived.step: .*finite"),
        ("step = 1.0", "stride = 1.0", "derived.*step.*: "),
        ("step = 1.0", "step =", "cannot read prices"),
        ('"cortex-m3"', '"cortex-m9"', "no prices of cortex-m3"),
        ('"cortex-m3"', '"cortex-m3", "cortex-m4"', "a core has two tables"),
    ],
)
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, old: str, new: str, match: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(PRICES_FILE.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(ConfigError, match=match) as caught:
        prices_of(bare_target(Core.CORTEX_M3), path)
    assert "prices.toml" in str(caught.value)


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read prices"):
        core_prices(tmp_path / "none.toml")
