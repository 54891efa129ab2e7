"""A Dask cluster builds; this process proposes and writes."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from explore_trials import synthetic, synthetic_task

pytest.importorskip("optuna", reason="the search engine, edgec[explore], is not installed")
pytest.importorskip("distributed", reason="the scheduler, edgec[explore], is not installed")

from distributed import LocalCluster

from edgec.base.errors import ConfigError
from edgec.explore import cluster, search, task
from edgec.explore.cluster import Place, dask_cluster, wait
from edgec.explore.storage import open_storage


@pytest.fixture(scope="module")
def local() -> Iterator[LocalCluster]:
    """Two workers; Dask's own remarks, on sockets that it closes late, are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with found:
            yield found


def searched(address: str, folder: Path, kill: int = 0) -> tuple[search.Point, ...]:
    task = synthetic_task({"pause": 0.1, "log": str(folder / "log")})
    place = Place(str(folder / "study.journal"), "edgec", 16)
    storage = open_storage(place.storage)
    study = search.begin(storage, task, place.name, place.storage, place.total)
    left = kill

    def show() -> None:
        nonlocal left
        log = folder / "log"
        begun = log.read_text().split() if log.exists() else []
        if left and len(begun) > 4:
            os.kill(int(begun[-1]), signal.SIGKILL)
            left -= 1

    with dask_cluster(place, task, address, storage, run=synthetic) as watch:
        wait(lambda: len(search.points_of(study)) >= 16, watch, show)
    assert left == 0
    return search.points_of(study)


def test_a_cluster_does_all_trials_once_although_a_worker_is_killed(
    local: LocalCluster, tmp_path: Path
):
    points = searched(local.scheduler_address, tmp_path, kill=1)
    assert [point.number for point in points] == list(range(16))
    assert {point.refused for point in points} <= {"", "two sevens"}
    assert len((tmp_path / "log").read_text().split()) >= 16


def test_a_worker_with_another_version(
    local: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(task, "__version__", "0.0.1")
    with pytest.raises(ConfigError, match=r"has edgec .*; this is 0\.0\.1"):
        searched(local.scheduler_address, tmp_path)


def test_no_scheduler_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cluster, "_CONNECT_S", 1)
    with pytest.raises(ConfigError, match="no scheduler answers there"):
        searched("tcp://127.0.0.1:9", tmp_path)
    with pytest.raises(ConfigError, match="no scheduler answers there"):
        searched("nowhere://127.0.0.1:9", tmp_path)
