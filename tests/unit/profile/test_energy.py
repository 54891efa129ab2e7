"""Energy of a run, power of many, life of a battery."""

from __future__ import annotations

from dataclasses import replace

import pytest
from profile_samples import sample_profile

from edgec.base.errors import ConfigError
from edgec.profile.energy import Battery, energy_of, with_duty
from edgec.target.board import load_board
from edgec.target.energy import Energy


def test_a_measured_cycle_and_a_current_say_the_same_of_energy() -> None:
    measured = Energy("measured", nj_per_cycle=0.33)
    current = Energy("data sheet", run_ma=10.0, volts=3.3)
    assert current.nanojoules(100_000_000) == pytest.approx(measured.nanojoules(100_000_000))


@pytest.mark.parametrize(
    "facts",
    [{}, {"run_ma": 1.0}, {"volts": 3.0}, {"run_ma": 1.0, "volts": 3.0, "nj_per_cycle": 0.1}],
)
def test_a_board_says_one_of_both(facts) -> None:
    with pytest.raises(ValueError):
        Energy("somewhere", **facts)


def test_energy_of_a_run() -> None:
    board = load_board("nucleo_u575zi_q")
    found = energy_of(board, 1_000_000)
    assert found is not None and board.energy is not None
    assert found.microjoules == pytest.approx(1e6 * board.energy.nj_per_cycle / 1e3)
    assert found.idle_milliwatts == board.energy.idle_mw
    assert energy_of(load_board("mps2_an386"), 1000) is None


def test_power_is_that_of_computing_and_of_waiting() -> None:
    profile = sample_profile()
    assert profile.energy is not None
    profile = replace(profile, energy=replace(profile.energy, idle_milliwatts=2.0))
    seconds = profile.total_cycles / profile.clock_hz
    rate = 0.25 / seconds
    duty = with_duty(profile, rate, Battery(100.0, 3.0)).duty
    assert duty is not None and duty.waits
    assert duty.share == pytest.approx(0.25)
    watts = rate * profile.energy.microjoules * 1e-6 + 0.75 * 2e-3
    assert duty.milliwatts == pytest.approx(1e3 * watts)
    assert duty.days == pytest.approx(0.1 * 3.0 / watts / 24)


def test_without_an_idle_power_only_computing_counts() -> None:
    profile = sample_profile()
    assert profile.energy is not None
    duty = with_duty(profile, 1.0, None).duty
    assert duty is not None and not duty.waits and duty.days is None
    assert duty.milliwatts == pytest.approx(profile.energy.microjoules / 1e3)


def test_rates_and_boards_that_cannot_be() -> None:
    profile = sample_profile()
    most = profile.clock_hz / profile.total_cycles
    for rate in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="runs a second"):
            with_duty(profile, rate, None)
    with pytest.raises(ConfigError, match="of the time"):
        with_duty(profile, 1.01 * most, None)
    with pytest.raises(ConfigError, match="is not known"):
        with_duty(replace(profile, energy=None), 1.0, None)


@pytest.mark.parametrize(
    ("text", "capacity", "volts"),
    [("1000mAh", 1000.0, 3.7), ("220mAh@3V", 220.0, 3.0), ("2.5mAh@1.55V", 2.5, 1.55)],
)
def test_batteries(text: str, capacity: float, volts: float) -> None:
    found = Battery.parse(text)
    assert (found.milliampere_hours, found.volts) == (capacity, volts)
    assert found.joules == pytest.approx(capacity * 3.6 * volts)


@pytest.mark.parametrize("text", ["", "1000", "1Ah", "-1mAh", "0mAh", "1mAh@0V", "1mAh@", "٣mAh"])
def test_batteries_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError, match="--battery takes a capacity"):
        Battery.parse(text)
