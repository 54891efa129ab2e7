"""Workers: processes of this machine, or the threads of a Dask cluster.

Processes take trials from the storage each for itself, as those of other machines do.  With Dask,
this process proposes and writes, and the cluster builds; it runs a build again whose worker died.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from typing import Any

from optuna.storages import BaseStorage

from edgec.base.errors import ConfigError, EdgecError, InternalError
from edgec.explore import search
from edgec.explore.space import Setting
from edgec.explore.storage import Beat, open_storage, quiet
from edgec.explore.task import Task, edgec_identity
from edgec.explore.trial import Outcome, run_trial

Run = Callable[[Task, Setting], Outcome]
"""Runs one trial; a function of a module, so that other processes find it."""
_MOST_DEATHS = 8
"""Deaths of workers of this machine, one after the other, after which the search ends."""
_CONNECT_S = 10
_WATCH_S = 0.5


@dataclass(frozen=True, slots=True)
class Place:
    """A study, as workers find it.

    Attributes:
        storage: text of `--storage`.
        name: name of the study.
        total: trials of the study.
        beat: signs of life.
    """

    storage: str
    name: str
    total: int
    beat: Beat = field(default_factory=Beat)


def serve(
    place: Place, task: Task, run: Run = run_trial, storage: BaseStorage | None = None
) -> None:
    """Work on a study in this process until it is finished.

    Args:
        place: the study.
        task: the search.
        run: runs a trial.
        storage: the storage, where it is open already.
    """
    found = storage or open_storage(place.storage, place.beat, there=True)

    def evaluate(setting: Setting) -> Outcome:
        return run(task, setting)

    with quiet():
        search.work(found, place.name, task, place.total, evaluate)


def _process(place: Place, task: Task, run: Run, faults: Any) -> None:
    """One process of this machine; says on a queue why it ended early."""
    logging.getLogger("edgec").setLevel(logging.ERROR)  # warnings are those of the chosen build
    # The process that began this one ends it, and it leaves no temporary files.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        serve(place, task, run)
    except EdgecError as error:
        faults.put((error.what, error.where, error.hint))


def _end_with_parent() -> None:
    """End this process where the one that began it was killed, so that nothing builds unseen."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def processes(
    place: Place, task: Task, count: int, run: Run = run_trial
) -> Iterator[Callable[[], None]]:
    """Processes that work on a study; they end with the context.

    Args:
        place: the study.
        task: the search.
        count: processes.
        run: runs a trial.

    Yields:
        A function to call now and then: it starts another process for one that was killed, and
        raises ConfigError where this machine cannot build, InternalError where they die again
        and again.
    """
    context = multiprocessing.get_context("spawn")
    faults = context.SimpleQueue()
    deaths = 0

    def started() -> BaseProcess:
        process = context.Process(target=_process, args=(place, task, run, faults), daemon=True)
        process.start()
        return process

    alive = [started() for _ in range(count)]

    def watch() -> None:
        nonlocal deaths
        if not faults.empty():
            what, where, hint = faults.get()
            raise ConfigError(what, where=where, hint=hint)
        for number, process in enumerate(alive):
            if process.exitcode not in (None, 0):
                deaths += 1
                if deaths > _MOST_DEATHS:
                    raise InternalError(f"workers died {deaths} times")
                alive[number] = started()

    try:
        yield watch
    finally:
        for process in alive:
            process.terminate()
        for process in alive:
            process.join()


@contextmanager
def dask_cluster(
    place: Place,
    task: Task,
    address: str,
    storage: BaseStorage,
    count: int | None = None,
    run: Run = run_trial,
) -> Iterator[Callable[[], None]]:
    """A Dask cluster that builds for a study.

    Args:
        place: the study.
        task: the search.
        address: the scheduler's, such as ``tcp://host:8786``.
        storage: the open storage; this process alone writes to it.
        count: builds at the same time; None: threads of the cluster.
        run: runs a trial.

    Yields:
        A function to call now and then: it raises what ended the search.

    Raises:
        ConfigError: no scheduler or no workers there, or a worker with another edgec.
    """
    client = _client(address)
    threads: list[threading.Thread] = []
    try:
        slots = _check_cluster(client, address)
        failed: list[BaseException] = []

        def evaluate(setting: Setting) -> Outcome:
            from distributed import KilledWorker  # noqa: PLC0415  (an extra)

            try:
                found: Outcome = client.submit(run, task, setting, pure=False).result()
            except KilledWorker:
                return Outcome(None, "each worker that began to build it was killed")
            return found

        def propose() -> None:
            try:
                search.work(storage, place.name, task, place.total, evaluate)
            except BaseException as error:  # told to the thread that watches
                failed.append(error)

        def watch() -> None:
            if failed:
                error = failed[0]
                if isinstance(error, EdgecError):
                    raise error
                raise ConfigError(
                    f"the cluster was lost: {type(error).__name__}: {str(error)[:200]}",
                    where=address,
                    hint="the same command continues the search",
                ) from error

        threads = [threading.Thread(target=propose, daemon=True) for _ in range(count or slots)]
        with quiet():
            for thread in threads:
                thread.start()
            yield watch
    finally:
        client.close()


def _client(address: str) -> Any:
    from distributed import Client  # noqa: PLC0415  (an extra)

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions of Python's packages that differ
            make: Any = Client
            return make(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(
            "no scheduler answers there",
            where=address,
            hint="start one with: dask scheduler; and workers with: dask worker tcp://HOST:8786",
        ) from error


def _check_cluster(client: Any, address: str) -> int:
    """Threads of a cluster whose workers have this edgec.

    Raises:
        ConfigError: it has no workers, or one with another edgec.
    """
    try:
        found: dict[str, str] = client.run(edgec_identity)
        slots: int = sum(client.nthreads().values())
    except Exception as error:  # a worker without edgec cannot even read the question
        raise ConfigError(
            f"a worker cannot run edgec: {type(error).__name__}: {str(error)[:120]}",
            where=address,
            hint="install this edgec[explore] where the workers run",
        ) from error
    if not found:
        raise ConfigError(
            "the scheduler has no workers", where=address, hint="dask worker tcp://HOST:8786"
        )
    for worker, version in found.items():
        if version != edgec_identity():
            raise ConfigError(
                f"the worker {worker} has edgec {version}; this is {edgec_identity()}",
                where=address,
                hint="install the same edgec everywhere",
            )
    return slots


def wait(done: Callable[[], bool], watch: Callable[[], None], show: Callable[[], None]) -> None:
    """Wait until a search is done, showing it."""
    while not done():
        watch()
        show()
        time.sleep(_WATCH_S)
    show()
