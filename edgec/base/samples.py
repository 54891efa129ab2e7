"""Sample files: calibration data, inputs to run, labelled data to evaluate.

A file is .npz with one array per model input under the input's name, or a single array under "x";
labels, where needed, are under "y".  The first axis counts samples; the others are the model
input's shape without its batch axis (a full shape with batch 1 is accepted too).
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.output_file import write_whole

MAX_SAMPLE_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class InputSpec:
    """What a model takes under one name.

    Attributes:
        shape: the model's own input shape, batch axis (1) included.
        length_axis: axis of `shape` on which samples may be shorter: tokens.
    """

    name: str
    shape: tuple[int, ...]
    length_axis: int | None = None

    def of_length(self, shape: tuple[int, ...]) -> InputSpec:
        """The input in a run that is as long as samples of the shape [N, ...]."""
        if self.length_axis is None or len(shape) < len(self.shape):
            return self
        sizes = list(self.shape)
        given = shape[self.length_axis - len(sizes)]
        sizes[self.length_axis] = min(max(given, 1), sizes[self.length_axis])
        return InputSpec(self.name, tuple(sizes))


def load_samples(path: Path, inputs: Sequence[InputSpec]) -> dict[str, Array]:
    """Samples for each input by name, [N, *shape[1:]]; N equal for all and at least 1.

    Raises:
        ConfigError: unreadable file, missing or misshapen array, values that are not finite.
    """
    return check_samples(_read_npz(path), inputs, str(path))


def check_samples(
    arrays: Mapping[str, ArrayLike], inputs: Sequence[InputSpec], where: str
) -> dict[str, Array]:
    """Samples for each input by name, [N, *shape[1:]], out of arrays by name.

    Args:
        arrays: what a file holds, or what a caller of the Python API gives.
        inputs: what the model takes.
        where: the file or argument, for messages.

    Raises:
        ConfigError: missing or misshapen array, values that are not finite numbers.
    """
    given = {name: _array(array, f"{where}: {name}") for name, array in arrays.items()}
    found: dict[str, Array] = {}
    for spec in inputs:
        key = spec.name if spec.name in given else "x" if len(inputs) == 1 else spec.name
        if key not in given:
            raise ConfigError(
                f"no array for model input {spec.name!r} (given: {_listing(given)})",
                where=where,
                hint=f"give it as {'x or ' if key == 'x' != spec.name else ''}{spec.name!r}, "
                f"shape [N, {', '.join(map(str, spec.shape[1:]))}]",
            )
        found[spec.name] = _checked(given[key], spec, f"{where}: {key}")
    counts = {name: len(array) for name, array in found.items()}
    if len(set(counts.values())) > 1:
        raise ConfigError(f"inputs have different numbers of samples: {counts}", where=where)
    return found


def load_labels(path: Path, count: int) -> Array:
    """Integer labels "y" of a data file, int64 [count].

    Raises:
        ConfigError: no "y", not integers, or not one per sample.
    """
    arrays = _read_npz(path)
    if "y" not in arrays:
        raise ConfigError(
            f"no labels: array 'y' is missing (the file holds {_listing(arrays)})",
            where=str(path),
            hint="store the class numbers as 'y', one integer per sample",
        )
    labels = arrays["y"]
    if labels.dtype.kind not in "iu" or labels.shape != (count,):
        raise ConfigError(
            f"labels 'y' are {labels.dtype} {list(labels.shape)}, expected integers [{count}]",
            where=str(path),
        )
    return labels.astype(np.int64)


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


def _read_npz(path: Path) -> Mapping[str, Array]:
    if not path.is_file():
        raise ConfigError("no such file", where=str(path))
    hint = "write it with numpy.savez(path, x=..., y=...)"
    try:
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as data:
            return {key: np.asarray(data[key]) for key in data.files}
    except MemoryError:
        raise
    except Exception as error:
        # zipfile, the decompressors and numpy raise many types, documented nowhere.
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise ConfigError(
            f"not a readable .npz file ({reason})", where=str(path), hint=hint
        ) from error


def _check_sizes(path: Path) -> None:
    """Compare what each array claims to hold with the bytes it has, before allocating anything."""
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.file_size > MAX_SAMPLE_BYTES:
                raise ValueError(f"{entry.filename} of {entry.file_size} bytes is too large")
            with archive.open(entry) as stream:
                version = np.lib.format.read_magic(stream)
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = read(stream)
            if math.prod(shape) * dtype.itemsize > entry.file_size:
                raise ValueError(f"{entry.filename} is shorter than its shape {list(shape)}")


def _array(array: ArrayLike, where: str) -> Array:
    """What numpy makes of it: the Python API takes lists as well."""
    try:
        return np.asarray(array)
    except ValueError as error:
        raise ConfigError(f"is no array: {error}", where=where) from error


def _checked(array: Array, spec: InputSpec, where: str) -> Array:
    if array.dtype.kind not in "fiu":
        raise ConfigError(f"holds {array.dtype}, expected numbers", where=where)
    longest, spec = spec, spec.of_length(array.shape)
    sample = spec.shape[1:]
    if array.shape[1:] == spec.shape and spec.shape[0] == 1:
        array = array.reshape((len(array), *sample))
    if array.ndim == 0 or array.shape[1:] != sample:
        raise ConfigError(
            f"shape {list(array.shape)} does not fit the model's input {list(longest.shape)}",
            where=where,
            hint=f"expected [N, {_sizes(longest)}]",
        )
    if len(array) == 0:
        raise ConfigError("holds no samples", where=where)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # a value beyond float32 becomes infinite: caught below
            array = array.astype(np.float32)
        if not np.all(np.isfinite(array)):
            raise ConfigError("holds NaN or infinite values", where=where)
    return array


def _sizes(spec: InputSpec) -> str:
    """The sizes of a sample; of a variable one, its range."""
    sizes = [str(size) for size in spec.shape]
    if spec.length_axis is not None:
        sizes[spec.length_axis] = f"1 to {sizes[spec.length_axis]}"
    return ", ".join(sizes[1:])


def _listing(arrays: Mapping[str, Array]) -> str:
    return ", ".join(f"{k} {list(v.shape)}" for k, v in arrays.items()) or "nothing"
