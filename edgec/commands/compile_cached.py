"""Compiling what was compiled before: the finished output folder is taken from a cache.

Loads nothing of the compiler where it finds something, so that an unchanged build takes no time.

Equal keys mean equal output, byte for byte.  A key covers the program (edgec's own files, Python,
its packages, compilers, emulators), the board, the options, and what the files hold that a user
names.  Where they lie is no part of it, apart from the name of the model, which is in the generated
code.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edgec.base.digests import canonical_digest, digest_of_files, file_digest
from edgec.base.errors import ConfigError, EdgecError
from edgec.base.main_program import main_files
from edgec.base.options import CompileOptions, Progress, no_progress
from edgec.base.output_dir import staged_output
from edgec.base.resources import data_dir, licence
from edgec.base.result_cache import (
    PackedFolder,
    ResultCache,
    cache_folder,
    cache_limit_bytes,
    pack,
    read_packed,
)
from edgec.base.samples import SampleFile
from edgec.base.samples.file import FOLDER_SUFFIXES
from edgec.commands.output_folder import default_folder
from edgec.report.model import Report
from edgec.target.board import Board, load_board
from edgec.toolchain.identity import toolchain_identity

_SCHEMA = 3
_PACKAGE = Path(__file__).resolve().parent.parent


def compile_key(
    model: Path, board: Board, samples: SampleFile | None, options: CompileOptions
) -> str | None:
    """The key, 64 hexadecimal digits; None where a file cannot be read.

    Files that a model keeps some of its weights in are no part of it: only the importer knows them.

    Args:
        model: the file.
        board: the target.
        samples: calibration data.
        options: how to compile; those that say how to write the output folder play no part.
    """
    try:
        found = (
            _SCHEMA,
            program_digest(),
            digest_of_files(data_dir("firmware"), _is_source),
            licence(),
            toolchain_identity(board),
            board,
            dataclasses.replace(options, force=False, dump_ir=None, labels=None, main=None),
            None if options.labels is None else file_digest(options.labels),
            None if options.main is None else _sources(options.main),
            model.name,
            file_digest(model),
            None if samples is None else _samples(samples),
        )
    except (OSError, ValueError, ConfigError):  # ValueError: no path at all
        return None
    return canonical_digest(found)


def program_digest() -> str:
    """Digest of edgec's own files.

    Raises:
        OSError: one cannot be read.
    """
    return digest_of_files(_PACKAGE, _is_source)


def _is_source(path: Path) -> bool:
    """Whether a file of the package, by its path in there, is one of those that edgec consists of.

    Python's copies are not, nor is the data folder of a wheel, of which a compilation reads the
    board, the firmware and the licence.
    """
    return "__pycache__" not in path.parts and path.parts[0] != "_data"


def _samples(samples: SampleFile) -> tuple[object, ...]:
    path = samples.path
    if path.is_dir():
        # Messages on what is in a folder name it.
        return (samples.normalize, samples.resample, str(path), _folder(path))
    return (samples.normalize, samples.resample, path.suffix, file_digest(path))


def _sources(main: Path) -> tuple[tuple[str, str], ...]:
    """Names and digests of the files of a main program."""
    return tuple((each.name, file_digest(each)) for each in main_files(main))


def _folder(path: Path) -> tuple[tuple[str, str], ...]:
    """Names of what lies in a folder and in its subfolders, and digests of the samples there."""
    entries = sorted(path.iterdir())
    below = [each for entry in entries if entry.is_dir() for each in sorted(entry.iterdir())]
    return tuple(
        (
            each.relative_to(path).as_posix(),
            file_digest(each) if each.suffix.lower() in FOLDER_SUFFIXES and each.is_file() else "",
        )
        for each in (*entries, *below)
    )


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
    """Inputs of a build: model, board, samples, folder and options.

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
        restored = _restored(job, kept)
        if restored is not None:
            return restored
    result, data = _compiled(job, progress, keep=True)
    if data and job.key == key:  # nobody changed a file meanwhile
        _keep(store, key, data)
    return result


def build_cache() -> ResultCache | None:
    """Cache of builds and measured weight pools; None where the user has no home folder.

    Raises:
        ConfigError: the environment says no size for its limit.
    """
    folder, limit = cache_folder(), cache_limit_bytes()
    return None if folder is None else ResultCache(folder / _BUILDS, limit)


def _kept(store: ResultCache, key: str, model: Path) -> PackedFolder | None:
    """Cached build of a key, if the files beside the model have not changed since."""
    data = store.get(key)
    if data is None:
        return None
    try:
        found = read_packed(data)
        same = _digests(model.parent, found.record["beside"]) == found.record["beside"]
        same = same and isinstance(found.record["warnings"], list)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found if same else None


def _restored(job: BuildJob, kept: PackedFolder) -> Built | None:
    """The output folder as it was kept; None where it cannot be unpacked."""
    try:
        with staged_output(job.folder, force=job.options.force) as staging:
            kept.unpack(staging)
    except ValueError as error:
        _log.warning("a build in the cache is not used: %s", error)
        return None
    for warning in kept.record["warnings"]:
        _log.warning("%s", warning)
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
