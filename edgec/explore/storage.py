"""Storages of trials: a journal file, or any database that SQLAlchemy opens.

Workers show that they live by a heartbeat, which Optuna has for databases.  `BeatingJournal` gives
a journal file the same; it counts beats, and each process times them by its own clock, so that the
clocks of machines need not agree.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
_BEATS = "edgec:beats"


@dataclass(frozen=True, slots=True)
class Beat:
    """Times by which a lost worker is recognized.

    Attributes:
        interval_s: seconds between two signs of life.
        grace_s: seconds without one after which a trial is run again.
    """

    interval_s: int = 5
    grace_s: int = 60


class BeatingJournal(JournalStorage, BaseHeartbeat):
    """A journal with signs of life."""

    def __init__(self, path: Path, beat: Beat) -> None:
        super().__init__(JournalFileBackend(str(path)))
        self._beat, self._beats = beat, 0
        self._seen: dict[int, tuple[object, float]] = {}
        self._again = _again()

    def record_heartbeat(self, trial_id: int) -> None:
        """Write one more sign of life of a trial; nothing where the trial has ended."""
        self._beats += 1
        with contextlib.suppress(UpdateFinishedTrialError):
            self.set_trial_system_attr(trial_id, _BEATS, self._beats)

    def _get_stale_trial_ids(self, study_id: int) -> list[int]:
        """Numbers of running trials whose last sign of life this process saw long ago."""
        now, stale = time.monotonic(), []
        running = self.get_all_trials(study_id, deepcopy=False, states=(TrialState.RUNNING,))
        for trial in running:
            beats = trial.system_attrs.get(_BEATS)
            last, since = self._seen.get(trial._trial_id, (None, now))
            if last != beats or trial._trial_id not in self._seen:
                self._seen[trial._trial_id] = (beats, now)
            elif now - since > self._beat.grace_s:
                stale.append(trial._trial_id)
        return stale

    def get_heartbeat_interval(self) -> int | None:
        """Seconds between two signs of life."""
        return self._beat.interval_s

    def get_heartbeat_stale_trial_callback(self) -> Callable[..., None] | None:
        """Function that puts a lost trial into the queue once more."""
        return self._again


def _again() -> RetryHeartbeatStaleTrialCallback:
    with quiet():
        return RetryHeartbeatStaleTrialCallback(max_retry=_RETRIES)


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
            return RDBStorage(
                text,
                heartbeat_interval=beat.interval_s,
                grace_period=beat.grace_s,
                heartbeat_stale_trial_callback=_again(),
            )
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
