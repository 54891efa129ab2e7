"""Check of samples against a model's inputs, the same for all formats and for arrays.

There is one array for each model input under the input's name, or a single array "x".  The first
axis counts samples; the others are the model input's shape without its batch axis (a full shape
with batch 1 is accepted too).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from edgec.base.camera import CameraForm
from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN
from edgec.base.samples.request import InputSpec, SensorForm, listing_of

_FRAMES_AT_ONCE = 16
"""Frames that are packed together, so that wider numbers of few of them are in memory."""
_LOUDEST = 1.5
"""Floats beyond it stand for no sound of -1 to 1."""


def check_samples(
    arrays: Mapping[str, ArrayLike],
    inputs: Sequence[InputSpec],
    where: str,
    listing: str = "",
) -> dict[str, Array]:
    """Samples for each input by name, [N, *shape[1:]], out of arrays by name.

    Args:
        arrays: what a file holds, or what a caller of the Python API gives.
        inputs: what the model takes.
        where: the file or argument, for messages.
        listing: what the file holds, for messages; "": the arrays.

    Raises:
        ConfigError: missing or misshapen array, values that are not finite numbers.
    """
    given = {name: _array(array, f"{where}: {name}") for name, array in arrays.items()}
    found: dict[str, Array] = {}
    for spec in inputs:
        key = spec.name if spec.name in given else "x" if len(inputs) == 1 else spec.name
        if key not in given:
            raise ConfigError(
                f"no array for model input {spec.name!r} (given: {listing or _listing(given)})",
                where=where,
                hint=f"give it as {'x or ' if key == 'x' != spec.name else ''}{spec.name!r}, "
                f"shape [N, {', '.join(map(str, spec.shape[1:]))}]",
            )
        found[spec.name] = _checked(given[key], spec, f"{where}: {key}")
    counts = {name: len(array) for name, array in found.items()}
    if len(set(counts.values())) > 1:
        raise ConfigError(f"inputs have different numbers of samples: {counts}", where=where)
    return found


def _array(array: ArrayLike, where: str) -> Array:
    """Numpy array of the caller's data: the Python API takes lists as well."""
    try:
        return np.asarray(array)
    except ValueError as error:
        raise ConfigError(f"is no array: {error}", where=where) from error


def _checked(array: Array, spec: InputSpec, where: str) -> Array:
    if array.dtype.kind == "b" and spec.integers:
        array = array.astype(np.int32)  # a mask
    if array.dtype.kind not in "fiu":
        raise ConfigError(f"holds {array.dtype}, expected numbers", where=where)
    if spec.rate is not None:
        array = _sound(array, spec, where)
    if spec.sensor is not None:
        array = _of_sensor(array, spec, spec.sensor, where)
    if spec.camera is not None:
        array = _of_camera(array, spec.camera, where)
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
    _check_rows(array, spec, where)
    return array


def _sound(array: Array, spec: InputSpec, where: str) -> Array:
    """Recordings [N, L], as long as the input takes them.

    Raises:
        ConfigError: floats that are no numbers of -1 to 1, or whole numbers of more than 16 bits.
    """
    if array.dtype.kind in "iu":
        _check_16_bits(array, where, "give int16, or floats of -1 to 1")
    elif np.max(np.abs(array), initial=0) > _LOUDEST:
        raise ConfigError(
            f"holds sound as floats of up to {np.max(np.abs(array)):.6g}",
            where=where,
            hint="give int16, or floats of -1 to 1",
        )
    return array[:, : spec.shape[1]] if array.ndim == len(spec.shape) else array


def _of_sensor(array: Array, spec: InputSpec, form: SensorForm, where: str) -> Array:
    """Recordings [N, L * axes] or [N, L, axes] as [N, L * axes], as long as the input takes them.

    Raises:
        ConfigError: see `check_sensor`.
    """
    check_sensor(array, form, where, is_whole=array.dtype.kind in "iu")
    if array.ndim == len(spec.shape) + 1 and array.shape[-1] == form.axes:
        array = array.reshape(*array.shape[:-2], -1)
    return array[:, : spec.shape[1]] if array.ndim == len(spec.shape) else array


def check_sensor(array: Array, form: SensorForm, where: str, *, is_whole: bool) -> None:
    """Check numbers of a sensor, any shape.

    Args:
        array: the numbers.
        form: what recordings are taken.
        where: the file or argument, for messages.
        is_whole: they are samples of 16 bits, not numbers of the full scale.

    Raises:
        ConfigError: samples of more than 16 bits, or numbers far beyond the full scale.
    """
    if not np.all(np.isfinite(array)):
        raise ConfigError("holds NaN or infinite values", where=where)
    if is_whole:
        hint = "divide them, or give numbers with a fraction, of the front end's full scale"
        _check_16_bits(array, where, hint)
        return
    most = float(np.max(np.abs(array), initial=0))
    if most > _LOUDEST * form.full_scale:
        raise ConfigError(
            f"holds numbers of up to {most:.6g}, and the full scale is {form.full_scale:g}",
            where=where,
            hint=f"add full-scale={most:.3g} to the front end, or give whole numbers of 16 bits",
        )


def _of_camera(array: Array, form: CameraForm, where: str) -> Array:
    """Frames, uint8 pixels [N, H, W, channels] or [N, H, W] or bytes [N, L], as int8 [N, L].

    Raises:
        ConfigError: they are no bytes, or of other frames.
    """
    if array.dtype == np.int8 and array.shape[1:] == (form.frame_bytes,):
        return array  # as the reader of images gives them
    if array.dtype != np.uint8:
        raise ConfigError(
            f"holds {array.dtype}, and frames of a camera are bytes", where=where, hint="give uint8"
        )
    sides = (form.height, form.width, form.channels)
    if array.shape[1:] == sides or (form.channels == 1 and array.shape[1:] == sides[:2]):
        pixels = array.reshape(len(array), *sides)
        array = np.empty((len(pixels), form.frame_bytes), np.uint8)
        for start in range(0, len(pixels), _FRAMES_AT_ONCE):
            some = slice(start, start + _FRAMES_AT_ONCE)
            array[some] = form.packed(pixels[some])
    elif array.ndim == 0 or array.shape[1:] not in ((form.frame_bytes,), (1, form.frame_bytes)):
        size = f"{form.height}, {form.width}" + (", 3" if form.channels > 1 else "")
        raise ConfigError(
            f"shape {list(array.shape)} holds no frames of {form.width} x {form.height} pixels "
            f"of {form.pixels}",
            where=where,
            hint=f"give uint8 [N, {size}], or [N, {form.frame_bytes}], the bytes of the camera",
        )
    return np.ascontiguousarray(array).view(np.int8)


def _check_16_bits(array: Array, where: str, hint: str) -> None:
    low, high = np.min(array, initial=0), np.max(array, initial=0)
    if low < INT16_MIN or high > INT16_MAX:
        most = high if high > INT16_MAX else low
        raise ConfigError(
            f"holds {most:g}, and samples are whole numbers of 16 bits", where=where, hint=hint
        )


def _check_rows(array: Array, spec: InputSpec, where: str) -> None:
    """Check numbers that name rows of a table."""
    if spec.rows is None:
        return
    low, high = array.min(), array.max()
    if low < 0 or high >= spec.rows:
        raise ConfigError(
            f"holds {low if low < 0 else high:g}, and the model's table has no such row",
            where=where,
            hint=f"give numbers from 0 to {spec.rows - 1}; is the vocabulary another one?",
        )


def _sizes(spec: InputSpec) -> str:
    """The sizes of a sample; of a variable one, its range."""
    sizes = [str(size) for size in spec.shape]
    if spec.length_axis is not None:
        sizes[spec.length_axis] = f"1 to {sizes[spec.length_axis]}"
    return ", ".join(sizes[1:])


def _listing(arrays: Mapping[str, Array]) -> str:
    return listing_of({name: array.shape for name, array in arrays.items()})
