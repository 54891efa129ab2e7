"""Samples as pictures: images and spectrograms as bitmaps inside the page, series as lines.

A bitmap is uncompressed, so that a page has the same bytes whatever compresses on a computer.
"""

from __future__ import annotations

import base64
import struct
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.profile.plot import Curve, curve

_MOST_PIXELS = 96
"""Most pixels of a picture in each direction: means of blocks of larger ones."""
_COLORS = (3, 1)
_MOST_LINES = 6
_MOST_POINTS = 512
_HEAT = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
"""Colours from the least to the most, equally far apart in lightness."""
_FILE_HEADER, _HEADERS = 14, 54
"""Bytes before the rest of the headers, and before the pixels."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A sample to look at.

    Attributes:
        source: address that holds the bitmap itself; "" where it is drawn as lines.
        lines: a line for each channel of a series.
        words: its kind and shape.
    """

    source: str
    lines: tuple[Curve, ...]
    words: str


def picture_of(sample: Array) -> Picture | None:
    """The look of a sample; None where its shape is that of no picture.

    An image has three channels, or one and equal sides; another plane of numbers is a spectrogram,
    its longer side from left to right as time and its other side upwards; one to six rows of
    numbers are a series.

    Args:
        sample: real numbers or integers, without an axis of samples; channels first or last.
    """
    values = np.nan_to_num(np.asarray(sample, np.float64), posinf=0.0, neginf=0.0)
    shape = "×".join(map(str, values.shape))
    # An axis of one element at the front or at the end says nothing, apart from one channel.
    while values.ndim > 2 and values.shape[0] == 1:
        values = values[0]
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    if values.ndim == 3 and values.shape[0] in _COLORS and values.shape[2] not in _COLORS:
        values = values.transpose(1, 2, 0)
    if values.ndim == 3 and values.shape[2] == _COLORS[0]:
        return Picture(_address(_bitmap(_bytes(_small(values)))), (), f"image, {shape}")
    rows = values.reshape(-1, values.shape[-1]) if values.ndim else values.reshape(1, 1)
    if rows.ndim != 2 or values.ndim > 2 or values.size < 2:
        return None
    few = min(rows.shape)
    if few <= _MOST_LINES and few < max(rows.shape):
        series = rows if rows.shape[0] == few else rows.T
        return Picture("", _lines(series), f"series, {shape}")
    if rows.shape[0] == rows.shape[1]:
        gray = np.repeat(_bytes(_small(rows[:, :, None])), 3, axis=2)
        return Picture(_address(_bitmap(gray)), (), f"image, {shape}")
    upright = rows.T if rows.shape[0] > rows.shape[1] else rows
    levels = _bytes(_small(upright[::-1, :, None], alike=False))[:, :, 0]
    return Picture(_address(_bitmap(_heat()[levels])), (), f"spectrogram, {shape}")


def _lines(series: Array) -> tuple[Curve, ...]:
    """A line for each row, all on one scale; of long rows every n-th number."""
    kept = series[:, :: -(-series.shape[1] // _MOST_POINTS)]
    low, high = float(kept.min()), float(kept.max())
    down = 1 - (kept - low) / ((high - low) or 1.0)
    last = max(kept.shape[1] - 1, 1)
    return tuple(curve((i / last, float(y)) for i, y in enumerate(row)) for row in down)


def _small(values: Array, *, alike: bool = True) -> Array:
    """A picture [H, W, C] with sides of at most `_MOST_PIXELS`: means of blocks of a larger one.

    Args:
        values: the picture.
        alike: blocks are as many pixels down as across, so that the picture keeps its proportions;
            a spectrogram of much time keeps all its bands without that.
    """
    height, width, channels = values.shape
    factors = [-(-side // _MOST_PIXELS) for side in (height, width)]
    if alike:
        factors = [max(factors)] * 2
    rows, columns = (
        max(side // factor, 1) for side, factor in zip((height, width), factors, strict=True)
    )
    down, across = height // rows, width // columns
    cut = values[: rows * down, : columns * across]
    return np.asarray(cut.reshape(rows, down, columns, across, channels).mean(axis=(1, 3)))


def _bytes(values: Array) -> Array:
    """Numbers as uint8, from the least one to the greatest."""
    low, high = values.min(), values.max()
    scaled: Array = np.floor(255 * (values - low) / ((high - low) or 1.0) + 0.5)
    return scaled.astype(np.uint8)


def _heat() -> Array:
    """The colour of each of 256 levels: uint8 [256, 3]."""
    at = np.linspace(0, len(_HEAT) - 1, 256)
    stops = np.asarray(_HEAT, np.float64)
    channels = [np.interp(at, np.arange(len(_HEAT)), stops[:, i]) for i in range(3)]
    return np.floor(np.stack(channels, axis=1) + 0.5).astype(np.uint8)


def _bitmap(pixels: Array) -> bytes:
    """A .bmp file of 24 bits a pixel: rows from the bottom, blue first, padded to four bytes.

    Source: BITMAPFILEHEADER and BITMAPINFOHEADER of the Windows API.
    """
    height, width, _ = pixels.shape
    row_bytes = -(-3 * width // 4) * 4
    rows = np.zeros((height, row_bytes), np.uint8)
    rows[:, : 3 * width] = pixels[::-1, :, ::-1].reshape(height, 3 * width)
    size = rows.size
    head = struct.pack("<2sIHHI", b"BM", _HEADERS + size, 0, 0, _HEADERS)
    about = struct.pack(
        "<IiiHHIIiiII", _HEADERS - _FILE_HEADER, width, height, 1, 24, 0, size, 2835, 2835, 0, 0
    )
    return head + about + rows.tobytes()


def _address(data: bytes) -> str:
    return f"data:image/bmp;base64,{base64.b64encode(data).decode('ascii')}"
