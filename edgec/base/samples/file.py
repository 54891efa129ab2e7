"""The one way to the samples of a file, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.base.given_files import check_sample_file
from edgec.base.samples import csv_rows, images, npy, npz, recordings, wav
from edgec.base.samples.checks import check_samples
from edgec.base.samples.folder import Folder, open_folder
from edgec.base.samples.normalize import Normalize
from edgec.base.samples.request import Found, InputSpec, Request
from edgec.base.streams import RESETS, resets_of

_READERS: dict[str, Callable[[Path, Request], Found]] = {
    ".npz": npz.read,
    ".npy": npy.read,
    ".csv": csv_rows.read,
    ".wav": wav.read,
}
_FOLDER_READERS: dict[frozenset[str], Callable[[Folder, Request], Found]] = {
    images.SUFFIXES: images.read_folder,
    wav.SUFFIXES: wav.read_folder,
    recordings.SUFFIXES: recordings.read_folder,
}
_ARRAYS = frozenset({".npz", ".npy"})
_OF_SENSORS = "recordings of a sensor (.csv) need a model with --front-end sensor"
FOLDER_SUFFIXES = frozenset().union(*_FOLDER_READERS)
"""Suffixes of the files that are read in folders, in small letters."""


@dataclass(frozen=True, slots=True)
class SampleFile:
    """Samples on disk.

    Attributes:
        path: a file, or a folder of images or recordings.
        normalize: how their numbers become the model's; None: not said.
        resample: bring recordings of another rate to that of a front end.
    """

    path: Path
    normalize: Normalize | None
    resample: bool

    def __init__(
        self, path: Path | str, normalize: Normalize | None = None, *, resample: bool = False
    ) -> None:
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "normalize", normalize)
        object.__setattr__(self, "resample", resample)

    @classmethod
    def of(cls, given: Samples) -> SampleFile:
        """The file that a path or a SampleFile names."""
        return given if isinstance(given, SampleFile) else cls(given)


Samples = SampleFile | Path | str
"""Samples on disk: a file with options, or its path."""


def load_samples(
    source: Samples, inputs: Sequence[InputSpec], *, steps: bool = False
) -> dict[str, Array]:
    """Samples for each input by name, [N, *shape[1:]]; N equal for all and at least 1.

    Args:
        source: samples on disk.
        inputs: what the model takes.
        steps: the samples are steps of streams; `RESETS` among the arrays says where these begin.

    Raises:
        ConfigError: unreadable file, missing or misshapen array, values that are not finite.
    """
    file = SampleFile.of(source)
    request = Request(tuple(inputs), normalize=file.normalize, resample=file.resample)
    found = _read(file, request)
    samples = check_samples(found.arrays, inputs, str(file.path), found.listing)
    return samples | _resets(found, samples) if steps else samples


def _resets(found: Found, samples: Mapping[str, Array]) -> dict[str, Array]:
    """The first samples of streams, as flags."""
    count = len(next(iter(samples.values())))
    return {RESETS: resets_of(found.arrays.get(RESETS), count)}


def load_labelled(
    source: Samples,
    inputs: Sequence[InputSpec],
    classes: Sequence[str] = (),
    *,
    steps: bool = False,
) -> tuple[dict[str, Array], Array]:
    """Samples as `load_samples` gives them, and the label of each, int64 [N].

    Args:
        source: samples on disk.
        inputs: what the model takes.
        classes: names of the model's classes, in its order, where its file has them.
        steps: see `load_samples`.

    Raises:
        ConfigError: as `load_samples`; no labels, not integers, or not one for each sample.
    """
    file = SampleFile.of(source)
    request = Request(tuple(inputs), True, file.normalize, tuple(classes), file.resample)
    found = _read(file, request)
    samples = check_samples(found.arrays, inputs, str(file.path), found.listing)
    if steps:
        samples |= _resets(found, samples)
    return samples, _labels(found, len(next(iter(samples.values()))), file.path)


def load_given(
    source: Samples, inputs: Sequence[InputSpec], classes: Sequence[str] = ()
) -> tuple[dict[str, Array], Array | None]:
    """Samples as `load_labelled` gives them, with None for labels that the file does not have.

    An array "y" that is an input of the model holds no labels.

    Args:
        source: samples on disk.
        inputs: what the model takes.
        classes: names of the model's classes, in its order, where its file has them.

    Raises:
        ConfigError: as `load_samples`; labels that are no integers, or not one for each sample.
    """
    file = SampleFile.of(source)
    request = Request(tuple(inputs), True, file.normalize, tuple(classes), file.resample)
    found = _read(file, request)
    samples = check_samples(found.arrays, inputs, str(file.path), found.listing)
    if "y" not in found.arrays or "y" in samples:
        return samples, None
    return samples, _labels(found, len(next(iter(samples.values()))), file.path)


def _labels(found: Found, count: int, path: Path) -> Array:
    if "y" not in found.arrays:
        missing = f"array 'y' is missing (the file holds {found.listing})"
        raise ConfigError(
            f"no labels: {found.why_no_labels or missing}",
            where=str(path),
            hint="store the class numbers as 'y' of a .npz file, one integer for each sample",
        )
    labels = found.arrays["y"]
    if labels.dtype.kind not in "iu" or labels.shape != (count,):
        raise ConfigError(
            f"labels 'y' are {labels.dtype} {list(labels.shape)}, expected integers [{count}]",
            where=str(path),
        )
    return labels.astype(np.int64)


def _read(file: SampleFile, request: Request) -> Found:
    """Read the arrays of a file or folder; every refusal names the path.

    Raises:
        ConfigError: no such file, an unknown format, or one that cannot be read.
    """
    path = file.path
    try:
        if path.is_dir():
            return _read_folder(path, request)
        check_sample_file(path)
        suffix = path.suffix.lower()
        if suffix not in _ARRAYS and any(each.camera for each in request.inputs):
            raise ConfigError(
                "holds no frames of a camera", hint="give a folder of images, or .npz"
            )
        _refuse_idle(request, suffix in wav.SUFFIXES)
        if suffix in recordings.SUFFIXES and any(each.sensor for each in request.inputs):
            return recordings.read(path, request)
        return _READERS[suffix](path, request)
    except ConfigError as error:
        if error.where:
            raise
        raise ConfigError(error.what, where=str(path), hint=error.hint) from error


def _read_folder(path: Path, request: Request) -> Found:
    taken, hint = FOLDER_SUFFIXES - recordings.SUFFIXES, _OF_SENSORS
    if any(each.sensor for each in request.inputs):
        taken, hint = recordings.SUFFIXES, ""
    elif any(each.camera for each in request.inputs):
        taken, hint = images.SUFFIXES, ""
    folder = open_folder(path, taken, hint).in_order_of(request.classes)
    kinds = {file.suffix.lower() for file in folder.files}
    for suffixes, read in _FOLDER_READERS.items():
        if kinds <= suffixes:
            _refuse_idle_resample(request, suffixes == wav.SUFFIXES)
            return read(folder, request)
    raise ConfigError("holds files of several kinds", hint="give a folder of one kind")


def _refuse_idle(request: Request, takes: bool) -> None:
    why = "arrays hold the model's own numbers; images and recordings alone are normalized"
    refuse_without_effect([Effect("--normalize", request.normalize is not None, takes, why)])
    _refuse_idle_resample(request, takes)


def _refuse_idle_resample(request: Request, takes: bool) -> None:
    why = "recordings (.wav) alone have a rate"
    refuse_without_effect([Effect("--resample", request.resample, takes, why)])
