"""`.npz`: arrays by name; one for each model input under its name, or "x"; labels are "y".

A file of `numpy.savez(path, array)` has no name for its array: it is the input of a model with one.
"""

from __future__ import annotations

import io
import itertools
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.limits import MAX_SAMPLE_BYTES
from edgec.base.output_file import write_whole
from edgec.base.samples.npy import header_of, reason_of
from edgec.base.samples.request import Found, Request, listing_of
from edgec.base.streams import RESETS, RESETS_IN_FILES

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of `numpy.savez`; others could ask for gigabytes to unpack a few bytes."""
_MOST_LISTED = 20
"""Arrays that a message lists."""
_UNNAMED = "arr_0"
"""Name that numpy gives to the first array saved without one."""


def read(path: Path, request: Request) -> Found:
    """The arrays that the model needs; of the others only shapes are read, for messages.

    Raises:
        ConfigError: the file cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {
                entry.filename.removesuffix(".npy"): entry
                for entry in archive.infolist()
                if entry.filename.endswith(".npy")
            }
            wanted = _wanted(request, entries)
            listed = itertools.islice(entries.items(), _MOST_LISTED)
            listing = ", ".join(_described(archive, name, entry) for name, entry in listed)
            arrays = {
                name: _array(archive, stored, entries[stored])
                for name, stored in wanted.items()
                if stored in entries
            }
    except MemoryError:
        raise
    except Exception as error:
        # zipfile, the decompressors and numpy raise many types, documented nowhere.
        raise ConfigError(
            f"not a readable .npz file ({reason_of(error)})",
            hint="write it with numpy.savez(path, x=..., y=...)",
        ) from error
    return Found(arrays, listing or "nothing")


def _wanted(request: Request, entries: Mapping[str, object]) -> dict[str, str]:
    """For each array that `check_samples` will use, and for labels, the name in the file."""
    found = {spec.name: spec.name for spec in request.inputs}
    if len(found) == 1 and not found.keys() & entries.keys():
        unnamed = "x" not in entries and _UNNAMED in entries
        found = {"x": _UNNAMED if unnamed else "x"}
    if request.labels:
        found.setdefault("y", "y")
    if RESETS_IN_FILES in entries and RESETS_IN_FILES not in found:
        found[RESETS] = RESETS_IN_FILES
    return found


def _described(archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo) -> str:
    """Name and shape of an array that may be damaged or of no use."""
    if entry.compress_type not in _METHODS:
        return f"{name} (unreadable)"
    try:
        with archive.open(entry) as stream:
            shape, _ = header_of(stream, entry.file_size)
    except Exception:  # it matters only if it is needed, and then it is read
        return f"{name} (unreadable)"
    return listing_of({name: shape})


def _array(archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo) -> Array:
    """An array, after its size has been held against what the file has."""
    if entry.file_size > MAX_SAMPLE_BYTES:
        raise ValueError(f"{entry.filename} of {entry.file_size} bytes is too large")
    if entry.compress_type not in _METHODS:
        raise ValueError(f"{name} is compressed by another method than numpy's")
    with archive.open(entry) as stream:
        try:
            header_of(stream, entry.file_size)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    with archive.open(entry) as stream:
        array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def npz_path(path: Path) -> Path:
    """The path with the suffix .npz, which is added if it has another one."""
    return path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")


def save_npz(path: Path, arrays: Mapping[str, Array]) -> Path:
    """Write arrays by name to a .npz file; an earlier file is replaced as a whole or not at all.

    Returns:
        The file that was written: `path`, with the suffix .npz if it had another one.

    Raises:
        ConfigError: the file cannot be written.
    """
    path = npz_path(path)
    buffer = io.BytesIO()
    # numpy's own savez takes names as keyword arguments, which "file" cannot be.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), data.getvalue())
    write_whole(path, buffer.getvalue())
    return path
