"""The key of a compilation: equal keys mean equal output, byte for byte.

It covers the program (edgec's own files, Python, its packages, compilers, emulators), the board,
the options, and what the files hold that a user names.  Where they lie is no part of it, apart from
the name of the model, which is in the generated code.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from edgec.base.canonical import canonical_digest
from edgec.base.errors import ConfigError
from edgec.base.file_digest import digest_of_files, file_digest
from edgec.base.main_program import main_files
from edgec.base.options import CompileOptions
from edgec.base.resources import data_dir, licence
from edgec.base.samples import SampleFile
from edgec.base.samples.file import FOLDER_SUFFIXES
from edgec.target.board import Board
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
        return (samples.normalize, str(path), _folder(path))
    return (samples.normalize, path.suffix, file_digest(path))


def _sources(main: Path) -> tuple[tuple[str, str], ...]:
    """Names and digests of the files of a main program."""
    return tuple((each.name, file_digest(each)) for each in main_files(main))


def _folder(path: Path) -> tuple[tuple[str, str], ...]:
    """Names of what lies in a folder and in its subfolders, and digests of the samples there."""
    entries = sorted(path.iterdir())
    below = [each for entry in entries if entry.is_dir() for each in sorted(entry.iterdir())]
    return tuple(
        (
            str(each.relative_to(path)),
            file_digest(each) if each.suffix.lower() in FOLDER_SUFFIXES and each.is_file() else "",
        )
        for each in (*entries, *below)
    )
