"""A choice of `compile --fit`, and what is known of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from edgec.base.options import (
    Budget,
    CompileOptions,
    FitLimits,
    LayerBits,
    Optimize,
    OptionValue,
    Placement,
    Precision,
    QuantOptions,
    Rows,
)
from edgec.fit.program.problem import Bounds, Figures, State

_GAIN_NOISE, _GAIN_CYCLES = 1.02, 1.01
"""Gains of less than 0.1 dB, or of a hundredth of the time, are worth no further build."""
_ROOMY = 0.9
"""Share of the flash limit below which code need not be small."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Choice of what is global.

    Attributes:
        optimize: what code prefers.
        placement: where constants lie; None: the default of the board.
        rows: layers in turns.
    """

    optimize: Optimize
    placement: Placement | None
    rows: Rows

    def options(
        self, options: CompileOptions, int16: Sequence[str], ram_bytes: int | None = None
    ) -> CompileOptions:
        """Plain options of a build: those of the user with this choice.

        Args:
            options: those of the user.
            int16: the tensors with int16 codes.
            ram_bytes: RAM of the firmware, of which weights take what is left over; None: any.
        """
        quant = said(options.quant, int16)
        return replace(
            options,
            quant=quant,
            optimize=self.optimize,
            placement=self.placement,
            rows=self.rows,
            budget=None if ram_bytes is None else Budget(ram_bytes=ram_bytes),
            # Measured for the code that the user asked for, not for another.
            tuned=options.tuned if self.optimize is options.optimize else None,
        )


def bounds_of(limits: FitLimits, clock_hz: int) -> Bounds:
    """Limits in cycles, bytes and noise.

    Args:
        limits: those of the user.
        clock_hz: clock of the core, in Hz.
    """
    return Bounds(
        cycles=math.inf if limits.time_ms is None else limits.time_ms * clock_hz / 1e3,
        flash_bytes=or_infinity(limits.flash_bytes),
        ram_bytes=or_infinity(limits.ram_bytes),
        noise=math.inf if limits.target_db is None else 10.0 ** (-limits.target_db / 10.0),
    )


def or_infinity(value: float | None) -> float:
    """A limit as a number; infinity: none."""
    return math.inf if value is None else float(value)


def settings_of(
    limits: FitLimits, options: CompileOptions, copies_fit: Callable[[], bool]
) -> tuple[Setting, ...]:
    """Settings that could help: each costs something that a limit may ask for.

    Args:
        limits: limits of the build.
        options: those of the user.
        copies_fit: whether all constants find room in RAM.
    """
    optimize = [options.optimize]
    if limits.flash_bytes is not None:
        optimize = [Optimize.SPEED, Optimize.BALANCED, Optimize.SIZE]
    placements: list[Placement | None] = [options.placement]
    if placements == [None] and limits.time_ms is not None and copies_fit():
        placements.append(Placement.SRAM)
    rows = [Rows.NEVER]
    if limits.ram_bytes is not None:
        rows.append(Rows.ALWAYS)
    return tuple(Setting(o, p, r) for o in optimize for p in placements for r in rows)


def needed(
    settings: Sequence[Setting], usual: Sequence[Figures], bounds: Bounds
) -> tuple[Setting, ...]:
    """Settings that a limit may need.

    Args:
        settings: those that could help, the usual one first.
        usual: figures of builds in the usual one, with int8 and with int16 codes.
        bounds: limits.
    """
    roomy = max(each.flash_bytes for each in usual) <= _ROOMY * bounds.flash_bytes
    whole = max(each.ram_bytes for each in usual) <= bounds.ram_bytes
    return tuple(
        each
        for each in settings
        if not (roomy and each.optimize is not settings[0].optimize)
        and not (whole and each.rows is not settings[0].rows)
    )


def gains(figures: Figures, than: Figures, *, for_noise: bool) -> bool:
    """Whether a prediction is better than a build by enough for a build of its own.

    Args:
        figures: the prediction.
        than: the build.
        for_noise: less noise counts, else fewer cycles alone.
    """
    if for_noise and figures.noise < than.noise / _GAIN_NOISE:
        return True
    same = not for_noise or figures.noise <= than.noise
    return same and figures.cycles < than.cycles / _GAIN_CYCLES


def said(quant: QuantOptions, int16: Sequence[str]) -> QuantOptions:
    """Options of quantization that give int16 codes to the tensors of these names."""
    precision = Precision.AUTO if int16 else None
    return replace(quant, precision=precision, int16=tuple(int16), target_db=None, max_drop=None)


def plain_options(options: CompileOptions) -> dict[str, OptionValue]:
    """Options that a search chose, by the keys of `edgec.toml`.

    Args:
        options: `Fitted.options`.
    """
    found: dict[str, OptionValue] = {
        "rows": options.rows.value,
        "optimize": options.optimize.value,
    }
    if options.placement is not None:
        found["placement"] = options.placement.value
    if options.budget is not None:
        found["budget"] = f"ram={options.budget.ram_bytes}"
    if options.weight_bits:
        found["weight-bits"] = [str(each) for each in options.weight_bits]
    if options.quant.int16:
        found |= {"precision": Precision.AUTO.value, "int16": list(options.quant.int16)}
    return found


def of_plain_options(found: Mapping[str, OptionValue], options: CompileOptions) -> CompileOptions:
    """Options of the build that a search chose.

    Args:
        found: `plain_options` of its result.
        options: those that the search began with.
    """
    placement, kept = found.get("placement"), found.get("budget")
    setting = Setting(
        Optimize(found["optimize"]),
        None if placement is None else Placement(placement),
        Rows(found["rows"]),
    )
    ram_bytes = None if kept is None else Budget.parse(str(kept)).ram_bytes
    chosen = setting.options(options, _texts(found.get("int16")), ram_bytes)
    bits = tuple(map(LayerBits.parse, _texts(found.get("weight-bits"))))
    return replace(chosen, weight_bits=bits)


def _texts(found: OptionValue | None) -> tuple[str, ...]:
    return tuple(map(str, found)) if isinstance(found, list) else ()


class Built(NamedTuple):
    """Figures of firmware.

    Attributes:
        figures: those of the whole.
        layers: cycles by name of a layer's output.
        arena_bytes: arena of the firmware.
        copied_bytes: constants of the model that lie in RAM, too.
    """

    figures: Figures
    layers: Mapping[str, float]
    arena_bytes: int
    copied_bytes: int


class Point(NamedTuple):
    """A choice: a setting, the tensors with int16 codes, and weights of few bits."""

    setting: Setting
    int16: tuple[str, ...]
    bits: tuple[str, ...] = ()

    @property
    def chosen(self) -> State:
        """The choice by its names in the program."""
        return frozenset((*self.int16, *self.bits))


@dataclass(frozen=True, slots=True)
class Fitted:
    """Result of a search.

    Attributes:
        point: the choice.
        options: plain options that give it again, without a search.
        predicted: its figures before it was built; None: it is one of those that prices are held
            against, which are built first.
        measured: those of its firmware.
        drop: percentage points of decisions that differ from the float network's; None: nobody
            asked.
        builds: firmware that was built on the way.
        tensors: how many tensors could have int16 codes.
        bounds: the limits.
    """

    point: Point
    options: CompileOptions
    predicted: Figures | None
    measured: Figures
    drop: float | None
    builds: int
    tensors: int
    bounds: Bounds
