"""`.wav`: recordings for models that take a waveform, such as [1, 16000].

A recording becomes numbers from -1 to 1.  One that is longer than the model's input becomes several
samples, one after the other, and what is left at its end is not used; one that is shorter gets
silence at its end.  No channels are mixed, and nothing is resampled unless that is asked for.
"""

from __future__ import annotations

import re
import wave
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.base.fixedpoint import INT16_MIN
from edgec.base.samples.folder import Folder
from edgec.base.samples.request import Found, InputSpec, Request, check_size
from edgec.base.samples.resample import resampled, resampled_length

SUFFIXES = frozenset({".wav"})
_HINT = "convert it first: sox IN.wav -c 1 -b 16 -r RATE OUT.wav"
_SOUND_BYTES = 2
"""Bytes of a sample that a front end takes."""
_FORMAT = re.compile(r"unknown format: (\d+)")
_FORMATS = {
    "3": "it holds floating-point numbers",
    "6": "it holds A-law",
    "7": "it holds mu-law",
    "65534": "it has an extensible header",
}
"""Formats of .wav files that are not read, by their numbers."""
_NO_RATE = "a model without a front end has no rate of its own"
_RATES = (1000, 384_000)
"""Rates that are resampled."""


@dataclass(frozen=True, slots=True)
class _Recording:
    """Sample rate, sample width and length of a recording, from the header of its file.

    Attributes:
        rate: samples a second.
        width: bytes of a sample.
        frames: how many samples there are.
        heard_at: samples a second that it is resampled to; None: its own.
    """

    path: Path
    rate: int
    width: int
    frames: int
    heard_at: int | None = None

    def windows(self, length: int) -> int:
        """Samples of the model that the recording makes."""
        heard = resampled_length(self.frames, self.rate, self.heard_at or self.rate)
        return max(heard // length, 1)

    def sound(self) -> Array:
        """All samples, of 16 bits: int16 [L]."""
        with wave.open(str(self.path), "rb") as file:
            found = np.frombuffer(file.readframes(self.frames), "<i2").astype(np.int16)
        return resampled(found, self.rate, self.heard_at or self.rate)


def read(path: Path, request: Request) -> Found:
    """The windows of one recording as "x".

    Raises:
        ConfigError: see `read_folder`.
    """
    return read_folder(Folder(path, (path,)), request)


def read_folder(folder: Folder, request: Request) -> Found:
    """The windows of all recordings as "x", their classes as "y".

    Raises:
        ConfigError: a file cannot be read, has more than one channel or another rate than the
            first, the model takes no waveform, or there are too many recordings.
    """
    spec = request.single
    _check_waveform(spec)
    found = [_header(path) for path in folder.files]
    if spec.rate is None:
        _check_rates(found)
        refuse_without_effect([Effect("--resample", request.resample, False, _NO_RATE)])
    else:
        found = [_at(each, spec.rate, resample=request.resample) for each in found]
    counts = [each.windows(spec.elements) for each in found]
    check_size(sum(counts), spec)
    samples = np.zeros((sum(counts), spec.elements), np.float32)
    start = 0
    for each, count in zip(found, counts, strict=True):
        samples[start : start + count] = _windows(each, count, spec.elements)
        start += count
    if request.normalize is not None:
        request.normalize.check(1)
        samples = request.normalize.apply(samples[..., None])[..., 0]
    arrays = {"x": samples.reshape(-1, *spec.sample)}
    if folder.classes:
        arrays["y"] = np.repeat(np.array(folder.labels, np.int64), counts)
    return Found(arrays, folder.listing, folder.why_no_labels)


def read_sound(path: Path, rate: int, *, resample: bool = False) -> Array:
    """The samples of one recording as a front end takes them, int16 [L].

    Args:
        path: the file.
        rate: samples a second of the result, which it must have itself if it is not resampled.
        resample: bring a recording of another rate to this one.

    Raises:
        ConfigError: it cannot be read, or has another rate, width or number of channels.
    """
    return _at(_header(path), rate, resample=resample).sound()


def _check_waveform(spec: InputSpec) -> None:
    if spec.sensor is not None:
        raise ConfigError(
            "is sound, and this front end takes samples of a sensor",
            hint="give a .csv file, a line for each time, or arrays (.npz)",
        )
    if max(spec.sample, default=0) != spec.elements or spec.length_axis is not None:
        raise ConfigError(
            f"a recording is no sample of the model's input {list(spec.shape)}",
            hint="a model for .wav takes a waveform, like [1, 16000]; compute what others take "
            "(MFCC, spectrograms) yourself and give a .npz file",
        )


def _header(path: Path) -> _Recording:
    """Header of a recording, checked against the size of the file."""
    try:
        with wave.open(str(path), "rb") as file:
            channels, width = file.getnchannels(), file.getsampwidth()
            found = _Recording(path, file.getframerate(), width, file.getnframes())
    except (wave.Error, EOFError, OSError, ValueError) as error:
        reason = str(error) or "it ends too early"
        number = _FORMAT.fullmatch(reason)
        if number is not None:
            reason = _FORMATS.get(number[1], reason)
        raise ConfigError(
            f"not a readable .wav file ({reason[:200]})",
            where=str(path),
            hint="give uncompressed PCM of 8, 16, 24 or 32 bits",
        ) from error
    if channels != 1:
        raise ConfigError(f"has {channels} channels, not one", where=str(path), hint=_HINT)
    if found.frames * width > path.stat().st_size:
        raise ConfigError("is shorter than its header says", where=str(path))
    if found.frames == 0:
        raise ConfigError("holds no samples", where=str(path))
    return found


def _check_rates(found: list[_Recording]) -> None:
    for each in found:
        if each.rate != found[0].rate:
            raise ConfigError(
                f"has {each.rate} samples a second, {found[0].path.name} has {found[0].rate}",
                where=str(each.path),
                hint=f"without a front end nothing is resampled; {_HINT}",
            )


def _at(found: _Recording, rate: int, *, resample: bool) -> _Recording:
    """A recording as a front end takes it.

    Raises:
        ConfigError: it has another rate and is not to be resampled, or other than 16 bits.
    """
    where = str(found.path)
    if found.rate != rate and not resample:
        raise ConfigError(
            f"has {found.rate} samples a second, the front end takes {rate}",
            where=where,
            hint=f"add --resample, or {_HINT.replace('RATE', str(rate))}",
        )
    if not _RATES[0] <= found.rate <= _RATES[1]:
        hint = f"{_RATES[0]} to {_RATES[1]} can be resampled"
        raise ConfigError(f"has {found.rate} samples a second", where=where, hint=hint)
    if found.width != _SOUND_BYTES:
        raise ConfigError(
            f"has {8 * found.width} bits a sample, the front end takes 16", where=where, hint=_HINT
        )
    return replace(found, heard_at=rate)


def _windows(found: _Recording, count: int, length: int) -> Array:
    """Numbers of -1 to 1, float32 [count, length]; silence where the recording is too short."""
    result = np.zeros(count * length, np.float32)
    if found.heard_at is not None:
        sound = found.sound()[: count * length]
        result[: len(sound)] = sound / np.float32(-INT16_MIN)
        return result.reshape(count, length)
    with wave.open(str(found.path), "rb") as file:
        data = file.readframes(min(found.frames, count * length))
    values = _values(data, found.width)
    result[: len(values)] = values
    return result.reshape(count, length)


def _values(data: bytes, width: int) -> Array:
    """PCM as numbers of -1 to 1; 8 bits are unsigned, others signed, little endian."""
    raw = np.frombuffer(data[: len(data) // width * width], np.uint8).reshape(-1, width)
    if width == 1:
        return (raw[:, 0].astype(np.float32) - 128) / 128
    codes = np.zeros((len(raw), 4), np.uint8)
    codes[:, 4 - width :] = raw
    return (codes.view("<i4")[:, 0] / 2.0**31).astype(np.float32)
