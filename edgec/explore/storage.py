"""Storages of trials: a journal file, or any database that SQLAlchemy opens.

Workers show that they live by a heartbeat.  Each process times the signs of the others by its own
clock, so that the clocks of machines need not agree.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import ExperimentalWarning, UpdateFinishedTrialError
from optuna.storages import BaseStorage, RDBStorage, RetryHeartbeatStaleTrialCallback
from optuna.storages._heartbeat import BaseHeartbeat
from optuna.storages.journal import JournalFileBackend, JournalStorage
from optuna.trial import TrialState

from edgec.base.errors import ConfigError

_RETRIES = 3
"""Times that the trial of a killed worker is run again: one that kills its workers must end."""
_BEAT = "edgec:beat"


@dataclass(frozen=True, slots=True)
class Beat:
    """Times by which a lost worker is recognized.

    Attributes:
        interval_s: seconds between two signs of life.
        grace_s: seconds without one after which a trial is run again.
    """

    interval_s: int = 5
    grace_s: int = 60


class _Beating(BaseStorage, BaseHeartbeat):
    """Signs of life that a storage keeps with each trial: each beat is another number.

    A worker that is killed between the begin of its trial and its first beat is recognized, too;
    Optuna's own signs of a database begin with the first beat.

    Attributes:
        beat: signs of life; set before the storage is used.
    """

    beat: Beat

    @cached_property
    def _seen(self) -> dict[int, tuple[object, float]]:
        """By trial: its last beat, and since when this process has seen no other one."""
        return {}

    @cached_property
    def _again(self) -> RetryHeartbeatStaleTrialCallback:
        with quiet():
            return RetryHeartbeatStaleTrialCallback(max_retry=_RETRIES)

    def record_heartbeat(self, trial_id: int) -> None:
        """Write one more sign of life of a trial; nothing where the trial has ended."""
        with contextlib.suppress(UpdateFinishedTrialError):
            self.set_trial_system_attr(trial_id, _BEAT, time.time_ns())

    def _get_stale_trial_ids(self, study_id: int) -> list[int]:
        """Numbers of running trials whose last sign of life this process saw long ago."""
        now, stale = time.monotonic(), []
        running = self.get_all_trials(study_id, deepcopy=False, states=(TrialState.RUNNING,))
        for trial in running:
            beat = trial.system_attrs.get(_BEAT)
            last, since = self._seen.get(trial._trial_id, (None, now))
            if last != beat or trial._trial_id not in self._seen:
                self._seen[trial._trial_id] = (beat, now)
            elif now - since > self.beat.grace_s:
                stale.append(trial._trial_id)
        return stale

    def get_heartbeat_interval(self) -> int | None:
        """Seconds between two signs of life."""
        return self.beat.interval_s

    def get_heartbeat_stale_trial_callback(self) -> Callable[..., None] | None:
        """Function that puts a lost trial into the queue once more."""
        return self._again


class BeatingJournal(_Beating, JournalStorage):
    """A journal file with signs of life."""

    def __init__(self, path: Path, beat: Beat) -> None:
        self.beat = beat
        super().__init__(JournalFileBackend(str(path)))


class BeatingDatabase(_Beating, RDBStorage):
    """A database with signs of life."""

    def __init__(self, url: str, beat: Beat) -> None:
        self.beat = beat
        super().__init__(url)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Run without Optuna's remarks on interfaces that may change; once for all threads."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        yield


def is_file(text: str) -> bool:
    """Whether the text of `--storage` names a journal file."""
    return "://" not in text


def open_storage(text: str, beat: Beat | None = None, *, there: bool = False) -> BaseStorage:
    """Open the storage that `--storage` names.

    Args:
        text: a file's path, or a URL of SQLAlchemy.
        beat: signs of life.
        there: refuse one that does not exist yet.

    Raises:
        ConfigError: it is not there, or cannot be opened.
    """
    beat = beat or Beat()
    path = Path(text) if is_file(text) else _sqlite_file(text)
    if there and path is not None and not path.is_file():
        raise ConfigError(
            "there is no such storage",
            where=text,
            hint="edgec explore MODEL --storage makes it; workers need the same file",
        )
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        with quiet():
            if is_file(text):
                return BeatingJournal(Path(text), beat)
            return BeatingDatabase(text, beat)
    except Exception as error:  # each database has errors of its own
        reason: Any = str(error).strip().splitlines()
        said = reason[0] if reason else type(error).__name__
        raise ConfigError(
            f"cannot be opened: {said[:200]}",
            where=_without_password(text),
            hint="give a path, sqlite:///FILE or the URL of a database whose driver is installed",
        ) from error


def _sqlite_file(text: str) -> Path | None:
    """The file of a URL of SQLite; None of any other database."""
    scheme, _, rest = text.partition(":///")
    return Path(rest) if scheme.startswith("sqlite") and rest else None


def _without_password(text: str) -> str:
    scheme, mark, rest = text.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}" if mark else text
