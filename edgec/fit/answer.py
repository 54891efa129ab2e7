"""The best answer of several programs: one for each setting of what is global."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from edgec.fit.choice import Setting
from edgec.fit.program.problem import Bounds, Problem
from edgec.fit.program.solve import Aim, best

_EQUAL = 1.02
"""Choices of two settings whose figures differ by less are about equal."""


def best_of(
    problems: Mapping[Setting, Problem], bounds: Bounds, aim: Aim
) -> tuple[Setting, tuple[str, ...]] | None:
    """The best choice of all settings by the program's prices.

    Args:
        problems: the program of each setting; what the first ones give bounds the later ones.
        bounds: limits.
        aim: the figure that is to be least; of about equal ones that with fewer cycles is taken.

    Returns:
        A setting, and what is chosen by its names; None: nothing is within the limits.
    """
    found: list[tuple[float, float, int, Setting, tuple[str, ...]]] = []
    for number, (setting, problem) in enumerate(problems.items()):
        names = best(problem, bounds, aim)
        figures = None if names is None else problem.figures(names)
        if names is None or figures is None:
            continue
        value = getattr(figures, aim.value)
        rounded = 0.0 if math.isnan(value) else round(math.log(value), 2)
        found.append((rounded, figures.cycles, number, setting, names))
        if not math.isnan(value):  # what is worse than this is of no use in other settings
            most = min(getattr(bounds, aim.value), value * _EQUAL)
            bounds = replace(bounds, **{aim.value: most})
    return min(found, key=lambda each: each[:3])[3:] if found else None
