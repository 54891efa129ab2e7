"""Firmware with given kernels, built and traced: what `edgec tune` learns from.

Builds run side by side in processes of this machine, and what they show is kept, so that a command
that was interrupted goes on where it was.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import pickle
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from edgec.base.digests import canonical_digest
from edgec.base.errors import ConfigError, MemoryPlanError, SimulationError
from edgec.base.options import App, CompileOptions, TunedKernels
from edgec.base.work_folder import temporary_folder
from edgec.commands.compile import compile_model
from edgec.commands.compile_cached import build_cache, program_digest
from edgec.ir.text import graph_text
from edgec.profile import profile
from edgec.report.progress import Say
from edgec.target.board import Board
from edgec.toolchain.identity import toolchain_identity
from edgec.workflow.integer import Calibration, IntegerModel

_log = logging.getLogger(__name__)
Kernels = tuple[tuple[str, str], ...]
"""Signature of a layer and name of its kernel, sorted; other layers get those of estimates."""

_PARTS = (4, 2, 1)
"""Runs of a model of variable length that are measured are these parts of the longest."""


class LayerCycles(NamedTuple):
    """A layer of a build.

    Attributes:
        kernel: its name in reports.
        cycles: those of a run, or the mean of runs of several lengths.
    """

    kernel: str
    cycles: int


class Measured(NamedTuple):
    """A build.

    Attributes:
        layers: by name of the node, which each step has its own of.
        cycles: those of the whole run, or the mean of runs of several lengths.
    """

    layers: Mapping[str, LayerCycles]
    cycles: int


def of_builds(options: CompileOptions) -> CompileOptions:
    """Options of a user for builds that are traced and thrown away: those that cycles depend on."""
    return replace(
        options,
        app=App.CONSOLE,
        main=None,
        labels=None,
        pixels=None,
        budget=None,
        dump_ir=None,
        build=True,
        verify=False,
        force=False,
        tuned=None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class TuneJob:
    """Everything that all builds have in common.

    Attributes:
        source: ONNX or TensorFlow Lite file.
        board: a microcontroller.
        calibration: calibration data, as the user named them.
        options: as `of_builds` gives them.
        exact: the integer model that they give.
    """

    source: Path
    board: Board
    calibration: Calibration
    options: CompileOptions
    exact: IntegerModel

    @property
    def lengths(self) -> tuple[int | None, ...]:
        """Lengths of the runs that are measured; None: that of all runs."""
        if self.options.max_length is None:
            return (None,)
        most = self.options.max_length.maximum
        return tuple(dict.fromkeys(max(-(-most // part), 1) for part in _PARTS))

    def with_kernels(self, kernels: Kernels) -> CompileOptions:
        """Options of a build with given kernels."""
        return replace(self.options, tuned=TunedKernels("", kernels))

    @property
    def key(self) -> str | None:
        """Digest of all but the kernels that cycles depend on; None: a file cannot be read."""
        try:
            return canonical_digest(
                (
                    "tune",
                    program_digest(),
                    toolchain_identity(self.board),
                    self.board,
                    self.with_kernels(()),
                    graph_text(self.exact.integer),
                )
            )
        except OSError:
            return None


def measured(job: TuneJob, kernels: Kernels) -> Measured | None:
    """Build firmware and trace it; None: it does not fit the board."""
    with temporary_folder() as place:
        folder = place / "build"
        try:
            built = compile_model(
                job.source,
                job.board,
                calibration=job.calibration,
                out=folder,
                options=job.with_kernels(kernels),
                quantized=job.exact,
            )
        except MemoryPlanError:
            return None
        runs = [profile(folder, length=length) for length in job.lengths]
    of_steps = zip(built.program.steps, *(run.layers for run in runs), strict=True)
    layers = {
        step.node: LayerCycles(each[0].kernel, sum(x.counts.cycles for x in each) // len(each))
        for step, *each in of_steps
    }
    return Measured(layers, sum(run.total_cycles for run in runs) // len(runs))


class Builds:
    """Builds of a job, each made once."""

    def __init__(self, job: TuneJob, workers: int, say: Say, *, cache: bool = True) -> None:
        """Look for what was measured before.

        Args:
            job: what is built.
            workers: builds at the same time.
            say: told how many builds are done.
            cache: use what earlier commands measured, and keep what this one does.
        """
        self._job, self._workers, self._say = job, workers, say
        self._known: dict[Kernels, Measured | None] = {}
        store = build_cache() if cache else None
        key = job.key if store is not None and store.limit_bytes else None
        self._key = key
        self._store = None if key is None else store

    @property
    def count(self) -> int:
        """Different builds that were asked for."""
        return len(self._known)

    def __call__(self, wanted: Sequence[Kernels]) -> list[Measured | None]:
        """The builds with some kernels, in order; None for one that does not fit the board.

        Raises:
            EdgecError: any of its kinds.
        """
        missing = [each for each in dict.fromkeys(wanted) if not self._recalled(each)]
        done = len(self._known)
        self._say("measuring kernels", done, done + len(missing))
        for kernels, found in self._made(missing):
            self._known[kernels] = found
            self._keep(kernels, found)
            self._say("measuring kernels", len(self._known), done + len(missing))
        return [self._known[each] for each in wanted]

    def _made(self, wanted: Sequence[Kernels]) -> Iterator[tuple[Kernels, Measured | None]]:
        workers = min(self._workers, len(wanted))
        if workers < 2:
            yield from ((each, measured(self._job, each)) for each in wanted)
            return
        with _pool(self._job, workers) as pool:
            futures: dict[Future[Measured | None], Kernels] = {
                pool.submit(_measured, each): each for each in wanted
            }
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BrokenProcessPool as error:
                raise SimulationError(
                    "a process that built and traced firmware was killed",
                    hint="build fewer at the same time: --workers 1",
                ) from error

    def _recalled(self, kernels: Kernels) -> bool:
        """Whether a build is known, from this command or from an earlier one."""
        if kernels in self._known:
            return True
        data = None if self._store is None else self._store.get(self._entry(kernels))
        if data is None:
            return False
        try:
            self._known[kernels] = _read(data)
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        return True

    def _keep(self, kernels: Kernels, found: Measured | None) -> None:
        if self._store is None:
            return
        content = None if found is None else {"layers": found.layers, "cycles": found.cycles}
        try:
            self._store.put(self._entry(kernels), json.dumps(content).encode())
        except ConfigError as error:
            _log.warning("%s: %s: nothing is kept", self._store.folder, error.what)
            self._store = None

    def _entry(self, kernels: Kernels) -> str:
        return canonical_digest((self._key, kernels))


def _read(data: bytes) -> Measured | None:
    """A build as it was kept."""
    content = json.loads(data)
    if content is None:
        return None
    layers = {
        str(name): LayerCycles(str(kernel), int(cycles))
        for name, (kernel, cycles) in content["layers"].items()
    }
    return Measured(layers, int(content["cycles"]))


_JOB: list[TuneJob] = []
"""The job of a process of the pool."""


@contextmanager
def _pool(job: TuneJob, workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that build; they end at once where the context is left by an exception."""
    others = set(multiprocessing.active_children())
    data = pickle.dumps(job)
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(data,)
    )
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    pool.shutdown()


def _begin(data: bytes) -> None:
    """Begin a process of the pool, whose parent answers signals for it."""
    logging.getLogger("edgec").setLevel(logging.ERROR)  # warnings are those of a real build
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    _JOB[:] = [pickle.loads(data)]


def _measured(kernels: Kernels) -> Measured | None:
    return measured(_JOB[0], kernels)
