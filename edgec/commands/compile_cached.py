"""Compiling what was compiled before: the finished output folder is taken from a cache.

Loads nothing of the compiler where it finds something, so that an unchanged build takes no time.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edgec.base.cache_folder import cache_folder, cache_limit_bytes
from edgec.base.errors import ConfigError, EdgecError
from edgec.base.file_digest import file_digest
from edgec.base.options import CompileOptions, Progress, no_progress
from edgec.base.output_dir import staged_output
from edgec.base.packed_folder import PackedFolder, pack, read_packed
from edgec.base.result_cache import ResultCache
from edgec.base.samples import SampleFile
from edgec.commands.compile_key import compile_key
from edgec.commands.output_folder import default_folder
from edgec.report.model import Report
from edgec.target.board import Board, load_board

_log = logging.getLogger(__name__)
_BUILDS = "builds"


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build.

    Attributes:
        folder: the output folder.
        report: what its `report.json` says.
    """

    folder: Path
    report: Report


@dataclass(frozen=True, slots=True)
class BuildJob:
    """What is to be built.

    Attributes:
        model: ONNX or TensorFlow Lite file.
        board: the target.
        samples: calibration data.
        folder: the output folder.
        options: how to compile it.
    """

    model: Path
    board: Board
    samples: SampleFile | None
    folder: Path
    options: CompileOptions

    @property
    def key(self) -> str | None:
        """Its key in the cache; None where a file cannot be read."""
        return compile_key(self.model, self.board, self.samples, self.options)


def build(
    model: Path,
    board: str,
    *,
    samples: SampleFile | None = None,
    out: Path | None = None,
    options: CompileOptions | None = None,
    progress: Progress = no_progress,
    cache: bool = True,
) -> Built:
    """Compile a model for a board, or take the same output from an earlier time.

    Args:
        model: ONNX or TensorFlow Lite file.
        board: a board's name or alias, or its TOML file.
        samples: calibration data.
        out: output folder; default build/<model>-<board>.
        options: see `CompileOptions`.
        progress: told what is being done.
        cache: look for the output among those that were kept, and keep it.

    Raises:
        EdgecError: any of its kinds; the output folder is then as it was.
    """
    target = load_board(board)
    folder = default_folder(model, target) if out is None else out
    job = BuildJob(model, target, samples, folder, options or CompileOptions())
    store = build_cache() if cache and job.options.dump_ir is None else None
    key = job.key if store is not None and store.limit_bytes else None
    if store is None or key is None:
        return _compiled(job, progress)[0]
    kept = _kept(store, key, model)
    if kept is not None:
        progress("unchanged: taken from the cache")
        return _restored(job, kept)
    result, data = _compiled(job, progress, keep=True)
    if data and job.key == key:  # nobody changed a file meanwhile
        _keep(store, key, data)
    return result


def build_cache() -> ResultCache | None:
    """Where builds and measured weight pools are kept; None where the user has no home folder.

    Raises:
        ConfigError: the environment says no size for its limit.
    """
    folder, limit = cache_folder(), cache_limit_bytes()
    return None if folder is None else ResultCache(folder / _BUILDS, limit)


def _kept(store: ResultCache, key: str, model: Path) -> PackedFolder | None:
    """What is kept under a key, if the files beside the model are those of then."""
    data = store.get(key)
    if data is None:
        return None
    try:
        found = read_packed(data)
        same = _digests(model.parent, found.record["beside"]) == found.record["beside"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found if same else None


def _restored(job: BuildJob, kept: PackedFolder) -> Built:
    for warning in kept.record["warnings"]:
        _log.warning("%s", warning)
    with staged_output(job.folder, force=job.options.force) as staging:
        kept.unpack(staging)
    return Built(job.folder, Report.read(job.folder))


def _compiled(job: BuildJob, progress: Progress, *, keep: bool = False) -> tuple[Built, bytes]:
    """Compile; with `keep` also what the cache keeps of it."""
    from edgec.commands.compile import compile_model  # noqa: PLC0415  (takes seconds)

    packed = b""
    before = _beside(job.model) if keep else None

    def finished(staging: Path) -> None:
        nonlocal packed
        if before is not None and _beside(job.model) == before:
            with contextlib.suppress(OSError):  # the build is finished, kept or not
                packed = pack(staging, {"beside": before, "warnings": heard.messages})

    with _Warnings() as heard:
        result = compile_model(
            job.model,
            job.board,
            calibration=job.samples,
            out=job.folder,
            options=job.options,
            progress=progress,
            finished=finished,
        )
    return Built(result.folder, result.report), packed


def _keep(store: ResultCache, key: str, data: bytes) -> None:
    try:
        store.put(key, data)
    except ConfigError as error:
        _log.warning("%s: the build is not kept for the next time: %s", store.folder, error.what)


def _beside(model: Path) -> dict[str, str] | None:
    """Digests of the files that hold some of a model's weights; None where one cannot be read."""
    from edgec.importers.formats import files_beside  # noqa: PLC0415  (takes seconds)

    try:
        return _digests(model.parent, dict.fromkeys(files_beside(model)))
    except (OSError, EdgecError):
        return None


def _digests(folder: Path, names: Mapping[str, object]) -> dict[str, str]:
    return {name: file_digest(folder / name) for name in names}


class _Warnings(logging.Handler):
    """Remembers the warnings that edgec logs, which belong to a result as well."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())

    def __enter__(self) -> _Warnings:
        logging.getLogger("edgec").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("edgec").removeHandler(self)
