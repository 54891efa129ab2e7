"""`compile --fit`: the build with the least noise, or the fastest one, within limits.

All choices are priced (`prices`), a mixed-integer program finds the best one (`program`), and
firmware is built from it and traced.  The prices take over what was measured, and the program is
solved again without what was built, until nothing that it finds promises to be better than the best
build within the limits.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from edgec.base.errors import BudgetError, MemoryPlanError
from edgec.base.options import CompileOptions, FitLimits, Optimize, Progress, no_progress
from edgec.fit.answer import best_of
from edgec.fit.builds import built_choice, with_space
from edgec.fit.check import check_fit, check_judged
from edgec.fit.choice import (
    Built,
    Fitted,
    Point,
    Setting,
    bounds_of,
    gains,
    or_infinity,
    settings_of,
)
from edgec.fit.missed import missed
from edgec.fit.prices.pricing import Pricing
from edgec.fit.program.problem import Bounds, Figures, Problem
from edgec.fit.program.solve import Aim
from edgec.fit.references import references
from edgec.target.board import Board
from edgec.workflow.front_end import front_end_of
from edgec.workflow.integer import Calibration, real_model
from edgec.workflow.labels import with_labels
from edgec.workflow.said_front_end import with_said_front_end

_MOST_BUILDS = 6
_MOST_ROUNDS = 40
_MOST_LISTENS = 12
"""Measurements of the noise of the program's answers, of a second or less each."""
_MOST_TRIES = 96
"""Measurements of the noise of choices near them, and of random ones."""
_MOST_STARTS = 24
"""Random choices within the limits that are measured."""
_MOST_NETWORKS = 8
"""Networks with weights of few bits, each of which is quantized anew, in seconds."""
_TIGHTER = 0.7
"""Share of the noise that is tried next where the measured one, or decisions, miss the limit."""


class Search:
    """A search for one model and board."""

    def __init__(
        self,
        model: Path,
        board: Board,
        samples: Calibration,
        options: CompileOptions,
        limits: FitLimits,
        progress: Progress = no_progress,
    ) -> None:
        """Quantize the model, and price what could be chosen.

        Args:
            model: ONNX or TensorFlow Lite file.
            board: a microcontroller.
            samples: calibration data; None: without, and then no tensor gets int16 codes.
            options: those of the user; what is chosen takes the place of theirs.
            limits: limits of the build.
            progress: told what is being done.

        Raises:
            EdgecError: any of its kinds.
        """
        if options.front_end is None:
            options = with_said_front_end(options, model)
        check_fit(board, options, limits)
        self._source, self._board, self._samples = model, board, samples
        self._asked, self._options = options, replace(options, verify=False, dump_ir=None)
        self._limits, self._progress = limits, progress
        front = front_end_of(self._options.front_end)
        real = real_model(self._source, self._samples, self._options, self._progress, front)
        self.real = with_labels(real, self._options.labels)
        drops = limits.drop is not None
        narrowed = partial(with_space, board=board, progress=progress, drops=drops)
        exact, self._space = narrowed(self.real, self._options)
        check_judged(limits, is_measured=self._space is not None)
        progress("pricing choices")
        self.bounds = bounds_of(limits, board.clock_hz)
        self.pricing = Pricing(
            exact, board, self._options, self._space, narrowed, self.bounds.ram_bytes
        )
        copies = replace(self._options, placement=None)
        self.settings = settings_of(limits, self._options, lambda: self.pricing.copies_fit(copies))
        self._built: dict[Point, Built] = {}
        self._kept: dict[Point, int | None] = {}  # RAM that a build was told
        self._predicted: dict[Point, Figures] = {}
        self._references_built = 0
        self._passed: set[Point] = set()
        self._shown_in: set[Optimize] = set()  # codes that int16 everywhere was built in, or not
        self._expected: dict[Point, float] = {}  # noise, before it was measured
        self._last: Setting | None = None
        self._offered = False  # weights of few bits
        self._listens, self._tries = _MOST_LISTENS, _MOST_TRIES

    def run(self) -> Fitted:
        """Find the choice; `Fitted.options` build it again.

        Raises:
            BudgetError: nothing is within the limits; says the nearest miss.
        """
        self.settings = references(self.settings, self.pricing, self.bounds, self.built)
        self._references_built = len(self._built)
        self._offer_bits()
        self._by_program()
        if self._inside() is None and self._offer():
            self._by_program()
        if self.aim is Aim.NOISE and self.pricing.tensors:
            self._by_chance()
        found = self._inside()
        if found is None:
            raise self._missed()
        return self._fitted(found)

    def _offer_bits(self) -> None:
        """Price weights of few bits, if flash costs accuracy or time, or nothing is within it."""
        loose = replace(self.bounds, flash_bytes=math.inf)
        wide = None if loose == self.bounds else self.best(loose, self.aim)
        within = None if wide is None else self.best(self.bounds, self.aim)
        if wide and (not within or self._gains(self.predicted(wide), self.predicted(within))):
            self._offer()

    def _offer(self) -> bool:
        """Price weights of few bits, unless they are, flash has no limit, or nobody hears them."""
        if self._offered or self._space is None or math.isinf(self.bounds.flash_bytes):
            return False
        self._offered = True
        self.pricing.offer(self.real, self._progress)
        return True

    def _by_program(self) -> None:
        """Build what the program finds, as long as it promises more than the builds have."""
        bounds, found = self.bounds, self._inside()
        for _ in range(_MOST_ROUNDS):
            point = self.best(bounds, self.aim)
            if point is None or len(self._built) >= self._references_built + _MOST_BUILDS:
                break
            if self.pricing.quantizes_beyond(point.chosen, _MOST_NETWORKS):
                break
            if self._replanned(point):
                continue
            figures = self.predicted(point)
            if found is not None and not self._gains(figures, self._built[found].figures):
                break
            if self._shown(point):
                continue
            expected = self._expected.setdefault(point, figures.noise)
            if not self._as_quiet(point, bounds, found):
                continue
            if self.aim is Aim.NOISE:
                point = self._quieter(point)
                expected = self._expected.get(point, expected)
            self._predicted[point] = replace(self.predicted(point), noise=expected)
            self.built(point)
            if self._misses(point):
                bounds = replace(bounds, noise=_TIGHTER * min(bounds.noise, figures.noise))
            found = self._inside()

    def _shown(self, point: Point) -> bool:
        """Build int16 codes everywhere in the code of a choice, before any other of this code."""
        optimize = point.setting.optimize
        if not point.int16 or optimize in self._shown_in:
            return False
        self._shown_in.add(optimize)
        if any(each.int16 and each.setting.optimize is optimize for each in self._built):
            return False
        with contextlib.suppress(MemoryPlanError):
            self.built(Point(point.setting, self.pricing.tensors))
            self._references_built += 1
            return True  # prices are others now
        return False

    def _by_chance(self) -> None:
        """Build the best of some random choices, if it is better than the program's.

        Noises add up too badly to trust sums alone.  The program comes first: a choice that is
        quiet by chance promises more than any sum, and would end its search.
        """
        found, noises = self._inside(), self.pricing.noises
        setting, ways = (self.settings[0], ()) if found is None else (found.setting, found.bits)
        drawn = self._problem(setting).drawn(self.bounds, _MOST_STARTS, ways)
        points = [self._point(setting, each) for each in drawn]
        for each in points:
            self._expected.setdefault(each, self.predicted(each).noise)
        points.sort(key=lambda each: noises.measured(each.chosen))
        start = next((each for each in points if not self._replanned(each)), None)
        if start is None:
            return
        self._tries = max(self._tries, _MOST_TRIES // 2)
        point = self._quieter(start)
        figures = self._as_measured(point)
        if found is None or self._gains(figures, self._built[found].figures):
            self._predicted[point] = replace(figures, noise=self._expected[point])
            self.built(point)

    def _as_quiet(self, point: Point, bounds: Bounds, found: Point | None) -> bool:
        """Whether a choice is as good as predicted when its noise is measured, without a build.

        What is not is passed over, or predicted anew.
        """
        noises, chosen = self.pricing.noises, point.chosen
        if not noises.known(chosen):
            self._listens -= 1
            if self._listens < 0:
                return True
            noises.measured(chosen)
            return False  # prices of noise are others now, and so may be the best choice
        figures = self._as_measured(point)
        good = figures.noise <= bounds.noise or math.isnan(figures.noise)
        if found is not None:
            good = good and self._gains(figures, self._built[found].figures)
        if not good:
            self._passed.add(point)
        return good

    def _quieter(self, point: Point) -> Point:
        """The choice with least noise that is reached by one tensor after the other.

        Noises only nearly add up: so choices near the program's answer are measured as a whole.
        """
        noises, problem = self.pricing.noises, self._problem(point.setting)
        while self._tries > 0:
            found: list[tuple[float, float, Point]] = []
            off = noises.measured(point.chosen) / problem.noise(point.chosen)
            for names, figures in problem.beside(point.chosen, self.bounds):
                near = self._point(point.setting, names)
                if self._tries <= 0 and not noises.known(near.chosen):
                    continue
                # What sums of energies miss here they miss beside it, too.
                self._expected.setdefault(near, off * figures.noise)
                self._tries -= not noises.known(near.chosen)
                found.append((noises.measured(near.chosen), figures.cycles, near))
            # By the program's prices, as those beside it.
            here = problem.figures(point.chosen) or self.predicted(point)
            here = replace(here, noise=noises.measured(point.chosen))
            better = (
                near
                for noise, cycles, near in sorted(found, key=lambda each: each[:2])
                if self._gains(replace(here, noise=noise, cycles=cycles), here)
            )
            best_near = next((each for each in better if not self._replanned(each)), None)
            if best_near is None:
                break
            point = best_near
        return point

    def _as_measured(self, point: Point) -> Figures:
        noise = self.pricing.noises.measured(point.chosen)
        return replace(self.predicted(point), noise=noise)

    def _inside(self) -> Point | None:
        """The best of the builds that are within the limits."""
        inside = self._within(self.bounds)
        return min(inside, key=lambda p: self._order(self._built[p].figures), default=None)

    def _within(self, bounds: Bounds) -> list[Point]:
        """The builds within limits that lose no more decisions than was asked for."""
        most = or_infinity(self._limits.drop)
        return [
            point
            for point, built in self._built.items()
            if built.figures.excess(bounds) <= 0.0 and self._drop(point) <= most
        ]

    def _order(self, figures: Figures) -> tuple[float, float]:
        return (figures.noise if self.aim is Aim.NOISE else 0.0), figures.cycles

    def _gains(self, figures: Figures, than: Figures) -> bool:
        return gains(figures, than, for_noise=self.aim is Aim.NOISE)

    def _misses(self, point: Point) -> bool:
        """Whether a build is not as accurate as was asked for."""
        noise = self._built[point].figures.noise
        return noise > self.bounds.noise or self._drop(point) > or_infinity(self._limits.drop)

    @property
    def aim(self) -> Aim:
        """Least noise; where accuracy is a limit, or nobody can measure it, least time."""
        limits = self._limits
        judged = limits.target_db is not None or limits.drop is not None
        return Aim.CYCLES if judged or self._space is None else Aim.NOISE

    def best(self, bounds: Bounds, aim: Aim) -> Point | None:
        """The best choice by all that is known; None: nothing is within the limits."""
        self._progress("solving")
        # What the setting of the last answer gives bounds the programs of the others.
        ordered = sorted(self.settings, key=lambda setting: setting is not self._last)
        found = best_of({each: self._problem(each) for each in ordered}, bounds, aim)
        if found is None:
            return None
        self._last, names = found
        return self._point(self._last, names)

    def _problem(self, setting: Setting) -> Problem:
        """Choices that are left: without what was built, or is known to be no better."""
        done = dict.fromkeys([*self._built, *sorted(self._passed, key=repr)])
        known = [each.chosen for each in done if each.setting == setting]
        return replace(self.pricing.problem(setting), excluded=tuple(known))

    def _point(self, setting: Setting, names: Sequence[str]) -> Point:
        tensors = self.pricing.tensors
        int16 = tuple(name for name in names if name in tensors)
        return Point(setting, int16, tuple(name for name in names if name not in tensors))

    def predicted(self, point: Point) -> Figures:
        """Figures of a choice by all that is known."""
        return self.pricing.figures(point.setting, point.chosen)

    def _replanned(self, point: Point) -> bool:
        """Whether a choice exceeds a limit, unlike the program's prediction, but for noise."""
        try:
            exceeds = not self.pricing.has(point.chosen) or self._exceeds(point)
            figures = replace(self.predicted(point), noise=0.0)
            exceeds = exceeds or figures.excess(self.bounds) > 0.0
        except MemoryPlanError:  # the board has no room for all weights
            exceeds = True
        if exceeds:
            self._passed.add(point)
        return exceeds

    def built(self, point: Point) -> Built:
        """Build a choice, trace it, and learn from it; once for each choice."""
        if point not in self._built:
            self._progress(f"building choice {len(self._built) + 1}")
            model = self.pricing.model_of(point.chosen)
            noise = self.pricing.noises.measured(point.chosen)
            self._kept[point] = None if self._exceeds(point) else self.pricing.kept(point.setting)
            options = self._plain(point, self._options)
            found = built_choice(self._source, self._board, self._samples, options, model, noise)
            self._built[point] = found
            self.pricing.learn(point.setting, point.chosen, found)
        return self._built[point]

    def _plain(self, point: Point, options: CompileOptions) -> CompileOptions:
        """Options of a choice; with the RAM that it has to keep where weights take what is left."""
        bits = (*options.weight_bits, *self.pricing.bits_of(point.chosen))
        found = point.setting.options(options, point.int16, self._kept[point])
        return replace(found, weight_bits=bits)

    def _exceeds(self, point: Point) -> bool:
        """Plan the memory of a choice: whether it needs more than the limit."""
        self.pricing.plan(point.setting, point.chosen)
        return self.predicted(point).ram_bytes > self.bounds.ram_bytes

    def _drop(self, point: Point) -> float:
        return 0.0 if self._limits.drop is None else self.pricing.drop(point.chosen)

    def _fitted(self, point: Point) -> Fitted:
        return Fitted(
            point,
            self._plain(point, self._asked),
            self._predicted.get(point),
            self._built[point].figures,
            None if self._limits.drop is None else self._drop(point),
            len(self._built),
            len(self.pricing.tensors),
            self.bounds,
        )

    def _missed(self) -> BudgetError:
        """The error that says what comes nearest, and how far each limit would have to move."""
        alone: dict[Aim, Figures] = {}
        for aim in Aim:
            if math.isfinite(getattr(self.bounds, aim.value)):
                others = replace(self.bounds, **{aim.value: math.inf})
                point = self.best(others, aim)  # of choices that were not built
                found = [] if point is None else [self._as_built(point, others)]
                found += [self._built[each].figures for each in self._within(others)]
                if found:
                    alone[aim] = min(found, key=attrgetter(aim.value))
        built = [each.figures for each in self._built.values()]
        return missed(built, alone, self.bounds, self._board.clock_hz)

    def _as_built(self, point: Point, bounds: Bounds) -> Figures:
        """Figures of a choice that is built, or predicted ones where it exceeds limits then."""
        predicted = self.predicted(point)
        try:
            measured = self.built(point).figures
        except MemoryPlanError:
            return predicted
        return measured if measured.excess(bounds) <= 0.0 else predicted
