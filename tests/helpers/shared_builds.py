"""Compilers and PlatformIO in tests: what was built before in a session is not built again.

`edgec.toolchain.process.run` starts every compiler. In tests it takes objects from a cache, builds
projects without PlatformIO (but in tests marked `platformio`), and asks a compiler once for its
version.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from direct_build import DirectBuild
from object_cache import ObjectCache, job_of

from edgec.toolchain import process
from edgec.toolchain.process import Completed, Family

_QUESTIONS = ("--version", "-print-prog-name=", "-print-file-name=")
_PLATFORMIO = ["-m", "platformio", "run", "--silent", "--jobs"]


class SharedBuilds:
    """Runs programs as `process.run` does, or takes their results from the session.

    Args:
        folder: of the cache.

    Attributes:
        platformio: projects are built with PlatformIO.
    """

    def __init__(self, folder: Path) -> None:
        self.platformio = False
        self._cache = ObjectCache(folder)
        self._run = process.run
        self._answers: dict[tuple[object, ...], Completed] = {}

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        timeout_s: float,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        family: Family | None = None,
    ) -> Completed:
        """Takes the place of `process.run`."""
        run: Callable[[Sequence[str | Path]], Completed] = partial(
            self._run, timeout_s=timeout_s, cwd=cwd, environment=environment, family=family
        )
        words = [str(word) for word in argv]
        if words[1:6] == _PLATFORMIO and not self.platformio and cwd is not None:
            return DirectBuild(cwd.absolute(), partial(self._in_project, timeout_s)).build()
        if len(words) > 1 and words[-1].startswith(_QUESTIONS):
            return self._answer(words, run)
        job = job_of(words, cwd)
        return run(argv) if job is None else self._cache.compile(job, argv, run)

    def _in_project(self, timeout_s: float, argv: list[str | Path], project: Path) -> Completed:
        scratch = project / ".pio" / "tmp"
        scratch.mkdir(parents=True, exist_ok=True)
        environment = process.clean_environment({"TMPDIR": str(scratch)})
        return self.run(argv, timeout_s=timeout_s, cwd=project, environment=environment)

    def _answer(
        self, words: list[str], run: Callable[[Sequence[str | Path]], Completed]
    ) -> Completed:
        """What a program says about itself; asked again when its file has changed."""
        path = process.which(words[0])
        if path is None:
            return run(words)
        status = path.stat()
        key = (*words, os.path.realpath(path), status.st_size, status.st_mtime_ns)
        if key not in self._answers:
            self._answers[key] = run(words)
        return self._answers[key]
