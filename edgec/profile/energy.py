"""Energy of a run, power of runs again and again, and the life of a battery."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from edgec.base.errors import ConfigError
from edgec.profile.types import DutyEstimate, EnergyEstimate, Profile
from edgec.target.board import Board

_CELL_VOLTS = 3.7
"""Nominal voltage of a lithium-ion cell."""
_BATTERY = re.compile(r"(\d{1,7}(?:\.\d{1,3})?)\s*mAh(?:@(\d{1,2}(?:\.\d{1,3})?)V)?", re.ASCII)
_SECONDS_PER_HOUR = 3600.0
_HOURS_PER_DAY = 24.0


@dataclass(frozen=True, slots=True)
class Battery:
    """A battery.

    Attributes:
        milliampere_hours: capacity.
        volts: its mean voltage.
    """

    milliampere_hours: float
    volts: float = _CELL_VOLTS

    @classmethod
    def parse(cls, text: str) -> Battery:
        """A battery from text like ``1000mAh`` or ``220mAh@3V``.

        Raises:
            ConfigError: it says nothing of the kind, or 0.
        """
        found = _BATTERY.fullmatch(text)
        capacity = float(found[1]) if found else 0.0
        volts = float(found[2]) if found and found[2] else _CELL_VOLTS
        if not capacity or not volts:
            raise ConfigError(
                "--battery takes a capacity, and a voltage where it is no lithium cell",
                hint="--battery 1000mAh, --battery 220mAh@3V",
            )
        return cls(capacity, volts)

    @property
    def joules(self) -> float:
        """The energy in it."""
        return self.milliampere_hours / 1e3 * self.volts * _SECONDS_PER_HOUR

    @property
    def words(self) -> str:
        """Capacity and voltage."""
        return f"{self.milliampere_hours:g} mAh at {self.volts:g} V"


def energy_of(board: Board, cycles: int) -> EnergyEstimate | None:
    """Energy of a run; None where the board file has no figure."""
    facts = board.energy
    if facts is None:
        return None
    each = facts.nanojoules(board.clock_hz)
    return EnergyEstimate(each * cycles / 1e3, each, facts.words, facts.source, facts.idle_mw)


def duty_of(energy: EnergyEstimate, rate: float, share: float) -> DutyEstimate:
    """Mean power, ``rate * energy of a run + idle power * (1 - rate * time of a run)``.

    Args:
        energy: energy of a run.
        rate: runs a second.
        share: rate times time of a run, 0 to 1.
    """
    idle = energy.idle_milliwatts
    power = rate * energy.microjoules / 1e3 + (0.0 if idle is None else idle * (1 - share))
    return DutyEstimate(rate, share, power, waits=idle is not None)


def with_duty(found: Profile, rate: float, battery: Battery | None) -> Profile:
    """The profile with the power of runs again and again.

    A battery gives all of its energy: losses of a converter, self-discharge and the rest of the
    device are not counted.

    Args:
        found: the profile of a run.
        rate: runs a second.
        battery: what the board runs on; None: it is not asked for.

    Raises:
        ConfigError: no such rate, more time than there is, or a board without a figure.
    """
    if not math.isfinite(rate) or rate <= 0:
        raise ConfigError("--rate takes runs a second, above 0", hint="--rate 10, --rate 0.1")
    energy = found.energy
    if energy is None:
        raise ConfigError(
            f"what computing takes on {found.board} is not known",
            where="--rate",
            hint="boards with [energy] in their file: edgec boards show NAME; a file of your own "
            "may have it (docs/contributing.md)",
        )
    share = rate * found.total_cycles / found.clock_hz
    if share > 1:
        raise ConfigError(
            f"{rate:g} runs a second need {share:.0%} of the time",
            where="--rate",
            hint=f"at most {found.clock_hz / found.total_cycles:.3g} runs a second",
        )
    duty = duty_of(energy, rate, share)
    if battery is not None:
        days = battery.joules / (duty.milliwatts / 1e3) / _SECONDS_PER_HOUR / _HOURS_PER_DAY
        duty = replace(duty, battery=battery.words, days=days)
    return replace(found, duty=duty)
