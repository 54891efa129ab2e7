"""Files that a user names, looked at before anything is loaded that takes time.

Each check says what the reader of the file would say later: it is there, of a kind and of a format
that can be read.  Nothing is read here but names.
"""

from __future__ import annotations

from pathlib import Path

from edgec.base.errors import ConfigError, ImportModelError
from edgec.base.names import printable
from edgec.base.swap import recover

SAMPLE_SUFFIXES = (".npz", ".npy", ".csv", ".wav")
"""Formats of sample files, by the ends of their names."""
SAMPLE_FORMATS = f"{', '.join(SAMPLE_SUFFIXES)}, or a folder of images or of .wav files"
REPORT_JSON = "report.json"
BUNDLE_JSON = "bundle.json"
"""The file that a bundle of several builds has instead."""


def check_model_file(path: Path) -> None:
    """Refuse a model that is not there.

    Raises:
        ImportModelError: it is no file, or a folder above it cannot be read.
    """
    where = printable(str(path))
    try:
        found = path.is_file()
    except (OSError, ValueError) as error:
        raise ImportModelError(f"the model cannot be read: {error}", where=where) from error
    if not found:
        hint = "give the path of an ONNX or TensorFlow Lite file"
        raise ImportModelError("no such model file", where=where, hint=hint)


def check_sample_file(path: Path) -> None:
    """Refuse samples that are not there, or of a format that nobody reads.

    Raises:
        ConfigError: it is neither a folder nor a file of a known format.
    """
    if path.is_dir():
        return
    if not path.is_file():
        raise ConfigError("no such file", where=str(path))
    if path.suffix.lower() not in SAMPLE_SUFFIXES:
        what = f"unknown format {path.suffix[:20]!r}"
        raise ConfigError(what, where=str(path), hint=f"give {SAMPLE_FORMATS}")


def check_build_folder(folder: Path) -> None:
    """Refuse a folder that holds neither a build nor a bundle of several.

    Raises:
        ConfigError: it does not, or what a killed command left there cannot be put back.
    """
    recover(folder)
    if not any((folder / name).is_file() for name in (REPORT_JSON, BUNDLE_JSON)):
        hint = "DIR is the folder that `edgec compile` wrote; compile again if it is damaged"
        raise ConfigError(f"holds no {REPORT_JSON}", where=str(folder), hint=hint)
