"""Frames of cameras: bytes and pixels, and integer arithmetic that resizes them.

The definition that `ir.qops.QFrame` computes by; files of images become frames by it as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array

GRAY, RGB888, RGB565 = "gray", "rgb888", "rgb565"
BYTES_OF_PIXEL = {GRAY: 1, RGB888: 3, RGB565: 2}
"""Pixel formats by name, with their sizes."""
BIG, LITTLE = "big", "little"
AREA, NEAREST = "area", "nearest"
MOST_SIDE = 4096
MOST_PIXELS = 1 << 23
"""Pixels of a rectangle that is resized: sums of their bytes stay below 2^31."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A part of a frame, in pixels from its upper left corner."""

    height: int
    width: int
    top: int
    left: int


@dataclass(frozen=True, slots=True)
class CameraForm:
    """The frames of a camera, rows from top to bottom without gaps.

    Attributes:
        height, width: in pixels.
        pixels: `GRAY`, one byte; `RGB888`, red, green and blue; or `RGB565`, two bytes: 5 bits of
            red, the highest ones, 6 of green and 5 of blue.
        order: `BIG`, the byte with red comes first, or `LITTLE`; of two bytes alone.
        crop: the part that is used.
    """

    height: int
    width: int
    pixels: str
    order: str
    crop: Rectangle

    @property
    def channels(self) -> int:
        """Numbers of a pixel: 1 (gray) or 3 (red, green, blue)."""
        return 1 if self.pixels == GRAY else 3

    @property
    def frame_bytes(self) -> int:
        """Bytes of a frame."""
        return self.height * self.width * BYTES_OF_PIXEL[self.pixels]

    def unpacked(self, frames: Array) -> Array:
        """The pixels of the part that is used, with 8 bits a channel.

        Bits of `RGB565` are repeated below: ``r << 3 | r >> 2``, ``g << 2 | g >> 4``.

        Args:
            frames: uint8 [..., `frame_bytes`].

        Returns:
            uint8 [..., height, width, channels] of `crop`.
        """
        each = BYTES_OF_PIXEL[self.pixels]
        whole = frames.reshape(*frames.shape[:-1], self.height, self.width, each)
        c = self.crop
        x = whole[..., c.top : c.top + c.height, c.left : c.left + c.width, :]
        if self.pixels != RGB565:
            return x
        first, second = (x[..., 0], x[..., 1]) if self.order == BIG else (x[..., 1], x[..., 0])
        red, green, blue = first >> 3, (first & 7) << 3 | second >> 5, second & 31
        parts = (red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2)
        return np.stack(parts, axis=-1)

    def packed(self, pixels: Array) -> Array:
        """Whole frames as bytes; `RGB565` keeps the upper bits of each channel.

        Args:
            pixels: uint8 [..., height, width, channels].

        Returns:
            uint8 [..., `frame_bytes`].
        """
        x = pixels
        if self.pixels == RGB565:
            red, green, blue = pixels[..., 0] >> 3, pixels[..., 1] >> 2, pixels[..., 2] >> 3
            both = (red << 3 | green >> 3, (green & 7) << 5 | blue)
            x = np.stack(both if self.order == BIG else both[::-1], axis=-1)
        return np.ascontiguousarray(x).reshape(*pixels.shape[:-3], self.frame_bytes)

    def of_image(self, pixels: Array) -> Array:
        """A frame for an image of another size, uint8 [`frame_bytes`].

        The largest part of it in the middle that has the shape of `crop` is resized to that, by
        the nearest pixels where it becomes larger, else by areas; what lies around is black.

        Args:
            pixels: uint8 [H, W, channels].
        """
        c = self.crop
        found = np.zeros((self.height, self.width, self.channels), np.uint8)
        part = middle(pixels.shape[0], pixels.shape[1], c.height, c.width)
        x = pixels[part.top : part.top + part.height, part.left : part.left + part.width]
        method = NEAREST if part.height * part.width < c.height * c.width else AREA
        sized = resized(x, c.height, c.width, method)
        found[c.top : c.top + c.height, c.left : c.left + c.width] = sized
        return self.packed(found)


def middle(height: int, width: int, like_height: int, like_width: int) -> Rectangle:
    """The largest part in the middle of an image that has the shape of another one, sides rounded
    down, at least one pixel.
    """
    wide = max(1, min(width, height * like_width // like_height))
    tall = max(1, min(height, width * like_height // like_width))
    return Rectangle(tall, wide, (height - tall) // 2, (width - wide) // 2)


def resized(pixels: Array, height: int, width: int, method: str) -> Array:
    """Images of another size.

    `NEAREST`: pixel i of n, of a side of m, is number ``((2 i + 1) m) // (2 n)``.  `AREA`: the mean
    over the area that a pixel covers, ``(sum w p + M // 2) // M``, where w is the area of each
    pixel within it in parts of 1 / (height * width), and M is their sum.

    Args:
        pixels: uint8 [..., H, W, channels], H W at most `MOST_PIXELS`.
        height, width: rows and columns of the result.
        method: `NEAREST` or `AREA`.

    Returns:
        uint8 [..., height, width, channels].
    """
    tall, wide = pixels.shape[-3:-1]
    if method == NEAREST:
        rows = (2 * np.arange(height) + 1) * tall // (2 * height)
        columns = (2 * np.arange(width) + 1) * wide // (2 * width)
        return np.asarray(pixels[..., rows, :, :][..., columns, :])
    # Sums stay below 2^31: products of float64 are exact, and faster than those of integers.
    x = pixels.astype(np.float64)
    for size, parts, axis in ((wide, width, -2), (tall, height, -3)):
        shares = _shares(size, parts).astype(np.float64)
        x = np.moveaxis(np.tensordot(x, shares, axes=(axis, 1)), -1, axis)
    area = tall * wide
    return np.asarray(((x.astype(np.int64) + area // 2) // area).astype(np.uint8))


def _shares(size: int, parts: int) -> Array:
    """The share of each of `size` pixels that lies in each of some parts: int64 [parts, size]."""
    pixel, part = np.arange(size) * parts, np.arange(parts)[:, None] * size
    end = np.minimum(pixel + parts, part + size)
    return np.asarray(np.maximum(end - np.maximum(pixel, part), 0))


def brightness(pixels: Array) -> Array:
    """Gray of red, green and blue, ``(19595 r + 38470 g + 7471 b + 2^15) >> 16``.

    Source: Rec. ITU-R BT.601, with the integers that Pillow's mode "L" has.

    Args:
        pixels: uint8 [..., 3].

    Returns:
        uint8 [..., 1].
    """
    red, green, blue = np.moveaxis(pixels.astype(np.int64), -1, 0)
    found = (19595 * red + 38470 * green + 7471 * blue + (1 << 15)) >> 16
    return np.asarray(found.astype(np.uint8)[..., None])
