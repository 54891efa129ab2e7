"""The message of `compile --fit` where nothing is within the limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from edgec.base.errors import BudgetError
from edgec.fit.program.problem import Bounds, Figures
from edgec.fit.program.solve import Aim

_NAMES = {Aim.FLASH: "flash", Aim.RAM: "ram", Aim.CYCLES: "ms", Aim.NOISE: "db"}


def missed(
    built: Sequence[Figures], alone: Mapping[Aim, Figures], bounds: Bounds, clock_hz: int
) -> BudgetError:
    """The error that says what comes nearest, and how far each limit would have to move.

    Args:
        built: figures of all builds.
        alone: by limit, figures of the choice that has least of it within the other limits.
        bounds: the limits.
        clock_hz: clock of the core, in Hz.
    """
    text = f"no build was found within the limits, by {len(built)} builds"
    if built:
        figures = min(built, key=lambda each: each.excess(bounds))
        text += "; the nearest one has " + ", ".join(
            f"{name}={_said(aim, figures, clock_hz)}"
            for aim, name in _NAMES.items()
            if math.isfinite(getattr(bounds, aim.value))
        )
    needs = [
        f"{name}={_said(aim, alone[aim], clock_hz)}" for aim, name in _NAMES.items() if aim in alone
    ]
    hint = "any one of these limits alone would do: " if len(needs) > 1 else "would do: "
    return BudgetError(
        text,
        (),
        where="--fit",
        hint=hint + ", ".join(needs) if needs else "more than one limit has to give",
    )


def _said(aim: Aim, figures: Figures, clock_hz: int) -> str:
    value = getattr(figures, aim.value)
    if aim is Aim.CYCLES:
        return f"{math.ceil(value / clock_hz * 1e6) / 1e3:g}"
    return f"{figures.decibels:.1f}" if aim is Aim.NOISE else f"{math.ceil(value)}"
