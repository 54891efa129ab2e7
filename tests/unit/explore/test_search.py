"""Searches with a synthetic objective: storages, seeds, interruptions, killed workers."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from explore_trials import synthetic, synthetic_task

pytest.importorskip("optuna", reason="the search engine, edgec[explore], is not installed")

from edgec.base.errors import BuildError, ConfigError
from edgec.explore import search
from edgec.explore.cluster import Place, processes, serve, wait
from edgec.explore.storage import Beat, open_storage, quiet
from edgec.explore.task import Task
from edgec.explore.trial import Outcome

STORAGES = ("{0}/study.journal", "sqlite:///{0}/study.db")


def opened(text: str, task, total: int = 12) -> tuple[Place, object, object]:
    place = Place(text, "edgec", total, Beat(1, 3))
    storage = open_storage(place.storage, place.beat)
    return place, storage, search.begin(storage, task, place.name, place.storage, place.total)


@pytest.mark.parametrize("text", STORAGES)
def test_one_worker_and_one_seed_give_the_same_study(text: str, tmp_path: Path):
    found = []
    for number, parts in enumerate(((14,), (5, 14))):
        (tmp_path / str(number)).mkdir()
        task = synthetic_task({})
        for total in parts:  # the second study is interrupted and goes on
            place, storage, study = opened(text.format(tmp_path / str(number)), task, total)
            serve(place, task, synthetic, storage)
        found.append(search.points_of(study))
    assert found[0] == found[1]
    assert [point.number for point in found[0]] == list(range(14))
    assert set(found[0][0].setting.values()) == {"net", "nucleo_f446re", "0"}
    assert len({tuple(point.setting.items()) for point in found[0]}) > 8


def test_another_seed_gives_another_study(tmp_path: Path):
    found = []
    for seed in (1, 2):
        task = synthetic_task({}, seed)
        place, storage, study = opened(str(tmp_path / f"{seed}.journal"), task, 20)
        serve(place, task, synthetic, storage)
        found.append(search.points_of(study))
    assert found[0] != found[1]


def test_workers_at_the_same_time_finish_no_trial_twice(tmp_path: Path):
    task = synthetic_task({"pause": 0.01})
    place, storage, study = opened(str(tmp_path / "study.journal"), task, 30)
    given = (storage, place.name, task, place.total)
    run = functools.partial(synthetic, task)
    with quiet():
        threads = [threading.Thread(target=search.work, args=(*given, run)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(search.points_of(study)) == 30


@pytest.mark.parametrize("text", [STORAGES[0], pytest.param(STORAGES[1], marks=pytest.mark.slow)])
def test_trials_of_killed_workers_are_run_again_and_counted_once(text: str, tmp_path: Path):
    log, total = tmp_path / "log", 16
    task = synthetic_task({"pause": 0.7, "log": str(log)})
    place, _storage, study = opened(text.format(tmp_path), task, total)
    killed: list[int] = []
    with processes(place, task, 4, synthetic) as watch:

        def show() -> None:
            starts = log.read_text().split() if log.exists() else []
            alive = [int(pid) for pid in dict.fromkeys(starts) if int(pid) not in killed]
            if len(killed) < 2 and len(starts) > 4 * (len(killed) + 1) and alive:
                os.kill(alive[0], signal.SIGKILL)
                killed.append(alive[0])

        wait(lambda: len(search.points_of(study)) >= total, watch, show)
    points = search.points_of(study)
    assert len(killed) == 2
    assert len(points) == total
    assert search.lost(study) >= 1
    assert len({point.number for point in points}) == total


def test_workers_end_with_the_search_that_was_killed(tmp_path: Path):
    """Nothing goes on to build that nobody sees."""
    log = tmp_path / "log"
    task = synthetic_task({"pause": 60.0, "log": str(log)})
    place, _storage, _study = opened(str(tmp_path / "study.journal"), task)
    search_process = multiprocessing.get_context("spawn").Process(
        target=_search_on, args=(place, task)
    )
    search_process.start()
    until = time.monotonic() + 60
    while not log.exists() or len(log.read_text().split()) < 2:
        assert time.monotonic() < until
        time.sleep(0.1)
    search_process.kill()
    workers = [int(pid) for pid in log.read_text().split()]
    while any(_runs(pid) for pid in workers):
        assert time.monotonic() < until
        time.sleep(0.1)
    search_process.join()


def _search_on(place: Place, task: Task) -> None:
    with processes(place, task, 2, synthetic) as watch:
        wait(lambda: False, watch, lambda: None)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # nobody waits for the children of a killed process


@pytest.mark.parametrize("text", STORAGES)
def test_a_worker_that_was_taken_for_dead_is_not_counted_twice(text: str, tmp_path: Path):
    """A machine that slept before its first beat: its trial is run again, its result dropped."""
    task = synthetic_task({})
    place, storage, study = opened(text.format(tmp_path), task, 3)
    with pytest.warns(UserWarning, match="Heartbeat"):
        late = study.ask()  # a worker that gives no sign of life
    assert storage._get_stale_trial_ids(study._study_id) == []
    time.sleep(place.beat.grace_s + 0.5)
    serve(place, task, synthetic, storage)
    assert len(search.points_of(study)) == 3
    with pytest.raises(ValueError, match="Cannot tell"):
        study.tell(late, [0.0] * 4)
    assert len(search.points_of(study)) == 3


def test_unlike_studies_are_kept_apart(tmp_path: Path):
    text = str(tmp_path / "study.journal")
    opened(text, synthetic_task({}))
    with pytest.raises(ConfigError, match="holds another study: its options are not the same"):
        opened(text, synthetic_task({}, seed=2))


def test_storages_that_cannot_be_opened(tmp_path: Path):
    with pytest.raises(ConfigError, match="there is no such storage"):
        open_storage(str(tmp_path / "none"), there=True)
    with pytest.raises(ConfigError, match="there is no such storage"):
        open_storage(f"sqlite:///{tmp_path}/none.db", there=True)
    for text in ("nonsense://host/db", f"{tmp_path}/file/study", "://"):
        (tmp_path / "file").touch()
        with pytest.raises(ConfigError, match="cannot be opened"):
            open_storage(text)
    storage = open_storage(str(tmp_path / "empty"))
    with pytest.raises(ConfigError, match="holds no study 'edgec'"):
        search.task_in(storage, "edgec", "empty")


def test_a_machine_that_cannot_build_refuses_nothing(tmp_path: Path):
    """Its trial goes back into the queue, and the search ends with the reason."""
    task = synthetic_task({})
    place, storage, study = opened(str(tmp_path / "study.journal"), task, 2)

    def broken(task: object, setting: object) -> Outcome:
        raise BuildError("the compiler is not on PATH")

    with pytest.raises(BuildError):
        serve(place, task, broken, storage)
    assert search.points_of(study) == ()
    serve(place, task, synthetic, storage)
    first, _ = search.points_of(study)
    assert set(first.setting.values()) == {"net", "nucleo_f446re", "0"}


def test_an_interruption_changes_no_proposal(tmp_path: Path):
    task, found = synthetic_task({}), []
    for ends in ((), (3, 8)):
        place, storage, study = opened(str(tmp_path / f"{len(ends)}.journal"), task, 12)
        begun = 0

        def run(task: Task, setting: object, ends: tuple[int, ...] = ends) -> Outcome:
            nonlocal begun
            begun += 1
            if begun in ends:
                raise SystemExit(1)
            return synthetic(task, setting)

        for _ in ends:
            with pytest.raises(SystemExit):
                serve(place, task, run, storage)
        serve(place, task, run, storage)
        found.append([(each.setting, each.figures) for each in search.points_of(study)])
    assert len(found[0]) == 12
    assert found[0] == found[1]
