"""Solution of a `Problem` by HiGHS: one thread and a fixed seed, so equal input gives equal output.

For each tensor a binary x (int16 codes), and for each way of a layer's weights; for each cell and
state a variable y with ``sum_s y_s = 1`` and ``sum of y_s with t in s = x_t``, which makes y whole
where all x are.  A function's f is at least the sum of a cell's y that call it, and is paid once.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import math
import os
import sys
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from edgec.base.errors import ConfigError
from edgec.fit.program.problem import Bounds, Cost, Problem, State

_SECONDS = 20.0
"""Most time of one program, far above what networks of a microcontroller take."""
_TIE = 1.005
"""Noises within 0.02 dB are equal: then fewer cycles decide."""


class Aim(enum.Enum):
    """The figure that is to be least."""

    NOISE = "noise"
    CYCLES = "cycles"
    FLASH = "flash_bytes"
    RAM = "ram_bytes"


def check_solver() -> None:
    """Refuse where HiGHS is not installed.

    Raises:
        ConfigError: it is not.
    """
    try:
        import highspy  # noqa: F401, PLC0415
    except ImportError:
        raise ConfigError(
            "the solver HiGHS is not installed", where="--fit", hint="pip install 'edgec[explore]'"
        ) from None


def best(problem: Problem, bounds: Bounds, aim: Aim) -> tuple[str, ...] | None:
    """The choice with the least of a figure within limits; of equal noise that with least cycles.

    Args:
        problem: what can be chosen.
        bounds: limits.
        aim: the figure.

    Returns:
        The tensors with int16 codes and the ways of weights, by `Problem.names`; None: nothing is
        within the limits.
    """
    options = [
        () if _allowed(problem, (), bounds) else None,
        _solved(problem, bounds, aim, widens=True),
        # Without int16 codes a network is fitted for int8 codes, and its noise is another.
        _solved(problem, bounds, aim, widens=False),
    ]
    found = [each for each in options if each is not None]
    if not found:
        return None
    values = [(getattr(problem.figures(each), aim.value), each) for each in found]
    least = min(value for value, _ in values)
    first = next(each for value, each in values if value == least)
    if aim is not Aim.NOISE or math.isnan(least):
        return first
    tied = replace(bounds, noise=min(bounds.noise, least * _TIE))
    return best(problem, tied, Aim.CYCLES) or first


def _allowed(problem: Problem, chosen: tuple[str, ...], bounds: Bounds) -> bool:
    figures = problem.figures(chosen)
    excluded = frozenset(chosen) in problem.excluded
    return not excluded and figures is not None and figures.excess(bounds) <= 0.0


def _solved(problem: Problem, bounds: Bounds, aim: Aim, *, widens: bool) -> tuple[str, ...] | None:
    """The best choice with one int16 tensor or more, or with other weights alone; None: none."""
    if not (problem.tensors if widens else problem.ways):
        return None
    program = _Program(problem, bounds, aim, widens=widens)
    chosen = program.solved()
    return chosen if chosen is not None and _near(problem, chosen, bounds) else None


def _near(problem: Problem, chosen: tuple[str, ...], bounds: Bounds) -> bool:
    """Whether a solution holds in numbers, but for the solver's tolerance."""
    figures = problem.figures(chosen)
    return figures is not None and figures.excess(bounds) <= 1e-6


@contextlib.contextmanager
def _unheard() -> Iterator[None]:
    """HiGHS writes its name to standard output when it is made, where a record may have to go."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        with contextlib.suppress(OSError, TypeError):  # no such library on Windows
            ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _joined(problem: Problem) -> dict[frozenset[Hashable], float]:
    """Bytes of functions, those as one that the same states need."""
    users: dict[Hashable, list[tuple[int, State]]] = {key: [] for key in problem.functions}
    for number, cell in enumerate(problem.cells):
        for state, cost in cell.costs.items():
            for key in () if cost is None else cost.functions:
                users[key].append((number, state))
    groups: dict[frozenset[tuple[int, State]], list[Hashable]] = {}
    for key, states in users.items():
        if states:
            groups.setdefault(frozenset(states), []).append(key)
    return {frozenset(keys): sum(problem.functions[k] for k in keys) for keys in groups.values()}


def _needs(cost: Cost | None, functions: frozenset[Hashable]) -> bool:
    return cost is not None and functions <= cost.functions


class _Program:
    """One mixed-integer program."""

    def __init__(self, problem: Problem, bounds: Bounds, aim: Aim, *, widens: bool) -> None:
        import highspy  # noqa: PLC0415  (an extra)

        self._problem, self._widens = problem, widens
        make: Any = highspy.Highs
        with _unheard():
            self._solver: Any = make()
        for key, value in (
            ("log_to_console", False),
            ("output_flag", False),
            ("threads", 1),
            ("random_seed", 0),
            ("time_limit", _SECONDS),
            # HiGHS 1.16 presolves some of these programs without end, past its limit of time;
            # without it they take as long.
            ("presolve", "off"),
            # Smaller programs on the way take half of the time, and find nothing that branching on
            # these few variables would not.
            ("mip_heuristic_run_rins", False),
            ("mip_heuristic_run_rens", False),
            ("mip_heuristic_run_root_reduced_cost", False),
            ("mip_rel_gap", 1e-6),
            ("mip_feasibility_tolerance", 1e-9),
        ):
            self._solver.setOptionValue(key, value)
        self._good = highspy.HighsModelStatus.kOptimal
        self._columns = 0
        self._infinity = highspy.kHighsInf
        self._integer = highspy.HighsVarType.kInteger
        figures = self._figures()
        # Rows of about 1, which solvers count best.
        for each, most in (
            (Aim.CYCLES, bounds.cycles),
            (Aim.FLASH, bounds.flash_bytes),
            (Aim.RAM, bounds.ram_bytes),
            (Aim.NOISE, bounds.noise),
        ):
            terms, constant = figures[each]
            if math.isfinite(most) and terms:
                scale = 1.0 / max(abs(most), 1e-12)
                self._row([(c, v * scale) for c, v in terms], upper=(most - constant) * scale)
        terms = figures[aim][0]
        scale = 1.0 / max((abs(value) for _, value in terms), default=1.0)
        for column, value in terms:
            self._solver.changeColCost(column, value * scale)

    def solved(self) -> tuple[str, ...] | None:
        self._solver.run()
        if self._solver.getModelStatus() != self._good:
            return None
        values = self._solver.getSolution().col_value
        return tuple(t for t in self._problem.names if values[self._x[t]] > 0.5)

    def _figures(self) -> dict[Aim, tuple[list[tuple[int, float]], float]]:
        """Columns, and each figure as terms of them and a constant."""
        problem = self._problem
        self._x = {name: self._column(whole=True) for name in problem.names}
        some = problem.tensors if self._widens else problem.ways
        self._row([(self._x[name], 1.0) for name in some], lower=1.0)
        if not self._widens:
            self._row([(self._x[tensor], 1.0) for tensor in problem.tensors], upper=0.0)
        cycles: list[tuple[int, float]] = []
        constants: list[tuple[int, float]] = []
        flash: list[tuple[int, float]] = []
        sizes = _joined(problem)
        functions: dict[frozenset[Hashable], int] = {}
        for cell in problem.cells:
            columns = {state: self._column() for state in sorted(cell.costs, key=sorted)}
            self._row([(c, 1.0) for c in columns.values()], 1.0, 1.0)
            for t in sorted(cell.tensors):
                terms = [(c, 1.0) for state, c in columns.items() if t in state]
                self._row([*terms, (self._x[t], -1.0)], 0.0, 0.0)
            for state, column in columns.items():
                cost = cell.costs[state]
                if cost is None:
                    continue
                cycles.append((column, cost.cycles))
                constants.append((column, float(cost.constant_bytes)))
            # A cell has one state: so a function is there as often as any of those that need it.
            for key, size in sizes.items():
                needing = [c for state, c in columns.items() if _needs(cell.costs[state], key)]
                if not needing:
                    continue
                if key not in functions:
                    functions[key] = self._column()
                    flash.append((functions[key], size))
                self._row([(functions[key], 1.0), *((c, -1.0) for c in needing)], lower=0.0)
        for excluded in problem.excluded:
            others = [(c, -1.0 if t in excluded else 1.0) for t, c in self._x.items()]
            self._row(others, lower=1.0 - len(excluded))
        arena = self._column(upper=self._infinity)
        for need in problem.needs:
            more = [(self._x[t], -float(n)) for t, n in sorted(need.more.items())]
            self._row([(arena, 1.0), *more], lower=float(need.base_bytes))
        for cut in problem.cuts:
            # Arena >= bytes * (1 - number of the cut's tensors that are int8 now).
            terms = [(self._x[t], -float(cut.arena_bytes)) for t in sorted(cut.tensors)]
            least = float(cut.arena_bytes) * (1 - len(cut.tensors))
            self._row([(arena, 1.0), *terms], lower=least)
        copied = [(c, problem.copied * n) for c, n in constants] if problem.copied else []
        noise = [(self._x[way], problem.noises[way]) for way in problem.ways]
        always = problem.int8_noise
        if self._widens:
            noise += [(self._x[t], -problem.noises[t]) for t in problem.tensors]
            always = problem.floor + sum(problem.noises[t] for t in problem.tensors)
        return {
            Aim.CYCLES: (cycles, 0.0),
            Aim.FLASH: ([*flash, *constants], problem.flash_bytes),
            Aim.RAM: ([(arena, 1.0), *copied], problem.ram_bytes),
            Aim.NOISE: (noise, always),
        }

    def _column(self, *, whole: bool = False, upper: float = 1.0) -> int:
        self._solver.addVar(0.0, upper)
        column, self._columns = self._columns, self._columns + 1
        if whole:
            self._solver.changeColIntegrality(column, self._integer)
        return column

    def _row(
        self,
        terms: Iterable[tuple[int, float]],
        lower: float | None = None,
        upper: float | None = None,
    ) -> None:
        sums: dict[int, float] = {}
        for column, value in terms:
            sums[column] = sums.get(column, 0.0) + value
        self._solver.addRow(
            -self._infinity if lower is None else lower,
            self._infinity if upper is None else upper,
            len(sums),
            np.array(list(sums), np.int32),
            np.array(list(sums.values()), np.float64),
        )
