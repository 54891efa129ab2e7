"""Prices of kernels with a weight pool: the file, what is counted, and what it is worth."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from emulated import need_emulator
from pool_derived import derived
from pool_judge import estimate_ideal
from pool_layers import BOARDS as MEASURED
from pool_layers import Layer, measure
from pool_operations import FITTED, Operations, part_prices, stored_prices
from pool_shapes import held_out, spec_of, training
from pooled_layer import pooled_layer
from targets import bare_target

from edgec.base.errors import ConfigError, InternalError
from edgec.base.options import PoolKernel, PoolKernelOptions
from edgec.ir import qops
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.choice.prices import PRICES_FILE, core_prices, price_tables
from edgec.kernels.common.layer_end import KernelForm
from edgec.kernels.common.parts import Run
from edgec.kernels.family import KernelSpec
from edgec.kernels.generic.softmax import Softmax
from edgec.kernels.registry import FAMILIES, family_of
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.events import TABLE, Event
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.neon.spec import PooledConvNeon
from edgec.kernels.weightpool.plan.candidates import Setting, candidates
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


def counts(spec: KernelSpec, form: KernelForm, bits: int = 8) -> Mapping[str, float]:
    """The parts of a call."""
    parts = family_of(spec).parts(spec, Run(form, bits))
    assert parts is not None
    return parts.counts


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("board", BOARDS)
def test_all_that_a_kernel_does_has_a_price(board: str) -> None:
    """On every form of the kernels, for all layers that prices are made from and judged on."""
    loaded = load_board(board)
    estimator = Estimator.of(Target.of(loaded))
    for layer in (*training(loaded), *held_out(loaded)):
        spec = spec_of(layer, loaded)
        assert spec is not None
        cycles = estimator.cycles(family_of(spec), spec, layer.bits)
        assert cycles is not None and cycles > 0, layer


def test_every_part_is_counted_somewhere() -> None:
    done: set[str] = set()
    for name in BOARDS:
        board = load_board(name)
        for layer in training(board):
            spec = spec_of(layer, board)
            if spec is not None and layer.config is not None:
                done |= set(counts(spec, KernelForm.of(Target.of(board)), layer.bits))
    assert done == {str(event) for event in Event}


def test_every_board_has_prices_made_of_few_operations() -> None:
    """The table of the package is what the operations of the benchmark give."""
    stored = stored_prices()
    assert len(dataclasses.fields(Operations)) == 8
    assert all(core_prices(Target.of(board).price_key) for board in list_boards())
    for core, operations in stored.items():
        prices = core_prices(load_board(MEASURED[core]).core.price_key).families[TABLE]
        assert prices == part_prices(core, operations)
        assert all(price >= 0 for price in prices.values())
    keys = {key for table in price_tables() for key in table.cores}
    assert keys == {core.price_key for core in Core}


def test_the_shapes_of_the_two_sets_differ() -> None:
    board = load_board("nucleo_l4r5zi")

    def shape(layer: Layer) -> tuple[int, ...]:
        return layer.size, layer.channels, layer.filters, layer.kernel, layer.stride

    assert not {shape(a) for a in training(board)} & {shape(b) for b in held_out(board)}


def test_derived_prices_are_those_of_the_cycle_model() -> None:
    """The file says what the model says now; an STM32G0 loads in 2 cycles, LDM in 1 + N."""
    for core in ("m0plus", "m3", "m7", "a53"):
        board = load_board(MEASURED[core])
        if not board.core.is_cortex_a:
            need_emulator("nucleo_l4r5zi")
        stored = dataclasses.asdict(stored_prices()[core])
        given = {name: price for name, price in stored.items() if name not in FITTED}
        assert derived(board) == pytest.approx(given, abs=0.005)
    old = stored_prices()["m0plus"]
    assert (old.load, old.step, old.product, old.turn) == (1.44, 1.0, 1.0, 2.0)


def test_look_ups_are_counted_as_the_specification_says() -> None:
    board = load_board("nucleo_l4r5zi")
    spec = spec_of(LAYER, board)
    assert isinstance(spec, PooledConv)
    events = counts(spec, KernelForm.ARMV7EM)
    assert events[Event.LOOK_UP_8] + events[Event.LOOK_UP_4] == spec.look_ups
    assert events[Event.OUTPUT] == 10 * 10 * 20
    assert events[Event.ENTRY] == 20 * 9 * 3
    assert events[Event.GATHER] == spec.out_pairs * 2 * 2


def test_a_gather_of_four_costs_about_half_of_one_of_eight() -> None:
    """What fitting every unit by itself had lost: 0.05 cycles against 29.7."""
    for name in BOARDS:
        prices = core_prices(Target.of(load_board(name)).price_key).families[TABLE]
        assert 0.4 < prices[Event.LOOK_UP_4] / prices[Event.LOOK_UP_8] < 0.85


@pytest.mark.few_cases(1)
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
    setting = Setting.of(load_board("nucleo_l4r5zi"), PoolKernelOptions())
    with pytest.raises(InternalError, match="nothing counts what a kernel 'softmax' does"):
        setting.cycles(Softmax(1, 64, qops.Reciprocal31()), 8)


def test_families_for_weight_pools_share_a_table_and_are_chosen_for_flash() -> None:
    pooled = [family for family in FAMILIES if "weightpool" in family.template.parts]
    assert len(pooled) == 5
    assert all(family.saves_flash for family in pooled)
    # What runs in vectors is measured by itself.
    own = {family.name for family in pooled if family.price_table != TABLE}
    assert own == {"pooled_conv_neon"}


@pytest.mark.parametrize("board", ["raspberry_pi_2", "raspberry_pi_3", "raspberry_pi_5"])
@pytest.mark.parametrize("kernel", [3, 1])
def test_neon_takes_pools_by_price(board: str, kernel: int) -> None:
    """Nine taps share a response; where one filter in each has it, products are fewer, and so they
    are with dot products.
    """
    pays = kernel == 3 and board != "raspberry_pi_5"
    rng = np.random.default_rng(4)
    pool = rng.integers(-14, 15, (64, 8)).astype(np.int8)
    indices = rng.integers(0, 64, (64, kernel, kernel, 8)).astype(np.uint16)
    graph = pooled_layer((16, 16, 64), pool, indices, pad=kernel // 2, multiplier=2**20)
    setting = Setting.of(load_board(board), PoolKernelOptions())
    ways = candidates(graph, graph.nodes[0], setting, None)
    best = min(ways, key=lambda way: way.cycles)
    neon = [way for way in ways if isinstance(way.spec, PooledConvNeon)]
    assert all(way.response_shift == 0 for way in neon)
    assert len({way.spec for way in neon}) == len(neon) > 4
    assert (best in neon) == pays
    assert best.kernel is (PoolKernel.RESPONSES if pays else PoolKernel.EXPAND)


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
    family = family_of(spec)
    estimator, without = (Estimator.of(Target.of(board)) for board in (real, ideal))
    assert without.cycles(family, spec) == without.ideal_cycles(family, spec)
    ideal_cycles, cycles = estimator.ideal_cycles(family, spec), estimator.cycles(family, spec)
    assert ideal_cycles is not None and cycles is not None
    assert ideal_cycles < cycles


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('"call" = 0.0', '"call" = -1.0', "call: .*greater than or equal to 0"),
        ('"call" = 0.0', '"call" = nan', "call: .*finite"),
        ("dense = 3.79", "thick = 3.79", "products.*: "),
        ('"call" = 0.0', '"call" =', "cannot read prices"),
        ('"cortex-m3"', '"cortex-m9"', "no prices of cortex-m3"),
        ('"cortex-m3"', '"cortex-m3", "cortex-m4"', "a core has two tables"),
    ],
)
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, old: str, new: str, match: str) -> None:
    path = tmp_path / "prices.toml"
    text = PRICES_FILE.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ConfigError, match=match) as caught:
        core_prices("cortex-m3", path)
    assert "prices.toml" in str(caught.value)


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read prices"):
        core_prices("cortex-m3", tmp_path / "none.toml")
