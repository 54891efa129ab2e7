"""One case in a process of its own: limits of time and memory, its output in a file."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path

from .campaign import Campaign, Case, Outcome
from .family import adopt_orphans, end_descendants

OUTPUT = "output.txt"
"""What the case printed."""
_RESULT = ".outcome.json"
_FILE_BYTES = 1 << 30


class CaseProcess:
    """A case that is running."""

    def __init__(self, campaign: Campaign, case: Case) -> None:
        self.case = case
        self._seconds = campaign.seconds
        self._deadline = time.monotonic() + campaign.seconds
        sys.stdout.flush()
        sys.stderr.flush()
        self._pid = os.fork()
        if self._pid == 0:
            _run_and_exit(campaign, case)

    def poll(self) -> Outcome | None:
        """How the case ended; None while it runs.  Ends a case that takes too long."""
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid:
            return self._outcome(status)
        if time.monotonic() < self._deadline:
            return None
        self.end()
        return Outcome("took too long", f"not finished within {self._seconds:.0f} s")

    def end(self) -> None:
        """Kill the case and what it started."""
        # Stopped first, so that it starts nothing while its family is counted.
        os.kill(self._pid, signal.SIGSTOP)
        end_descendants(self._pid)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def _outcome(self, status: int) -> Outcome:
        result = self.case.folder / _RESULT
        if result.is_file():
            found = Outcome(**json.loads(result.read_text("utf-8")))
            result.unlink()
            return found
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            name = signal.Signals(-code).name
            return Outcome(f"ended by {name}", f"the process was ended by {name}")
        return Outcome("ended", f"the process ended with exit code {code} and no outcome")


def _run_and_exit(campaign: Campaign, case: Case) -> None:
    """The whole life of a case's process."""
    code = 1
    try:
        _confine(campaign, case.folder)
        outcome = _tried(campaign, case)
        data = {"kind": outcome.kind, "finding": outcome.finding}
        scratch = case.folder / f"{_RESULT}.tmp"
        scratch.write_text(json.dumps(data), "utf-8")
        scratch.rename(case.folder / _RESULT)
        code = 0
    finally:
        end_descendants(os.getpid())
        os._exit(code)


def _confine(campaign: Campaign, folder: Path) -> None:
    os.setsid()
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_AS, (campaign.memory_bytes, campaign.memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(folder / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    # A test runner may have put something else there.
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _tried(campaign: Campaign, case: Case) -> Outcome:
    try:
        return campaign.run(case)
    except BaseException as error:  # whatever it is, it is what the campaign looks for
        text = "".join(traceback.format_exception(error))
        return Outcome(f"raised {type(error).__name__}", text[-8000:])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
