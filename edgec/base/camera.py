"""Frames of cameras: bytes and pixels, and integer arithmetic that resizes them.

The definition that `ir.qops.QFrame` computes by; files of images become frames by it as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array

GRAY, RGB888, BGR888, RGB565 = "gray", "rgb888", "bgr888", "rgb565"
YUYV, UYVY = "yuyv", "uyvy"
BYTES_OF_PIXEL = {RGB565: 2, RGB888: 3, BGR888: 3, YUYV: 2, UYVY: 2, GRAY: 1}
"""Pixel formats by name, with their sizes."""
YUV = {YUYV: (0, 1, 3), UYVY: (1, 0, 2)}
"""Formats of two pixels in four bytes: the places of the first Y, of U and of V among these."""
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
        pixels: `GRAY`, one byte; `RGB888`, red, green and blue; `BGR888`, blue first; `RGB565`, two
            bytes: 5 bits of red, the highest ones, 6 of green and 5 of blue; `YUYV` or `UYVY`, two
            bytes, of which two pixels side by side have U and V in common.
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
        """Numbers of a pixel: 1 (gray) or 3 (colours)."""
        return 1 if self.pixels == GRAY else 3

    @property
    def is_yuv(self) -> bool:
        """Whether pixels are Y, U and V in place of red, green and blue."""
        return self.pixels in YUV

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
            uint8 [..., height, width, channels] of `crop`: gray; red, green, blue; or Y, U, V.
        """
        each = BYTES_OF_PIXEL[self.pixels]
        whole = frames.reshape(*frames.shape[:-1], self.height, self.width, each)
        c = self.crop
        x = whole[..., c.top : c.top + c.height, c.left : c.left + c.width, :]
        if self.is_yuv:
            y, u, v = YUV[self.pixels]
            pairs = whole.reshape(*whole.shape[:-2], self.width // 2, 4)
            chroma = pairs[..., (u, v)].repeat(2, axis=-2)
            chroma = chroma[..., c.top : c.top + c.height, c.left : c.left + c.width, :]
            return np.concatenate([x[..., y : y + 1], chroma], axis=-1)
        if self.pixels != RGB565:
            return x[..., ::-1] if self.pixels == BGR888 else x
        first, second = (x[..., 0], x[..., 1]) if self.order == BIG else (x[..., 1], x[..., 0])
        red, green, blue = first >> 3, (first & 7) << 3 | second >> 5, second & 31
        parts = (red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2)
        return np.stack(parts, axis=-1)

    def packed(self, pixels: Array) -> Array:
        """Whole frames as bytes.

        `RGB565` keeps the upper bits of each channel; of `YUYV` and `UYVY` two pixels side by side
        get the means of their U and V, halves rounded up.

        Args:
            pixels: uint8 [..., height, width, channels], gray or red, green, blue.

        Returns:
            uint8 [..., `frame_bytes`].
        """
        x = pixels
        if self.is_yuv:
            found = yuv_of(pixels).reshape(*pixels.shape[:-2], self.width // 2, 2, 3)
            y, u, v = YUV[self.pixels]
            x = np.empty((*found.shape[:-2], 4), np.uint8)
            x[..., (y, y + 2)] = found[..., 0]
            x[..., (u, v)] = (found[..., 1:].astype(np.int64).sum(axis=-2) + 1) >> 1
        elif self.pixels == BGR888:
            x = pixels[..., ::-1]
        elif self.pixels == RGB565:
            red, green, blue = pixels[..., 0] >> 3, pixels[..., 1] >> 2, pixels[..., 2] >> 3
            both = (red << 3 | green >> 3, (green & 7) << 5 | blue)
            x = np.stack(both if self.order == BIG else both[::-1], axis=-1)
        return np.ascontiguousarray(x).reshape(*pixels.shape[:-3], self.frame_bytes)

    def image(self, frames: Array, height: int, width: int, channels: int, method: str) -> Array:
        """The part that is used as an image of some size.

        Pixels are `resized`; what comes of them is made gray by `brightness`, or coloured by
        `rgb_of`, then.  Y is the gray of Y, U and V; gray is all three colours of a gray camera.

        Args:
            frames: uint8 [..., `frame_bytes`].
            height, width: rows and columns of the image.
            channels: 1, a gray image, or 3, red, green and blue.
            method: see `resized`.

        Returns:
            uint8 [..., height, width, channels].
        """
        pixels = self.unpacked(frames)
        if self.is_yuv:
            found = resized(pixels[..., :channels], height, width, method)
            return rgb_of(found) if channels > 1 else found
        found = resized(pixels, height, width, method)
        if channels < self.channels:
            return brightness(found)
        return found.repeat(channels // self.channels, axis=-1)

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


def rgb_of(yuv: Array) -> Array:
    """Colours of Y, U and V of 0 to 255.

    ``r = y + 91881 v' / 2^16``, ``g = y - (22554 u' + 46802 v') / 2^16``,
    ``b = y + 116130 u' / 2^16``, with ``u' = u - 128``, each rounded once, halves up, and limited
    to 0 to 255.  Source: ITU-T T.871 (JFIF), section 7.

    Args:
        yuv: uint8 [..., 3].

    Returns:
        uint8 [..., 3], red, green and blue.
    """
    y, u, v = np.moveaxis(yuv.astype(np.int64), -1, 0)
    u, v = u - 128, v - 128
    sums = (y << 16) + np.stack([91881 * v, -22554 * u - 46802 * v, 116130 * u])
    found = np.clip((sums + (1 << 15)) >> 16, 0, 255)
    return np.asarray(np.moveaxis(found, 0, -1).astype(np.uint8))


def yuv_of(rgb: Array) -> Array:
    """Y, U and V of colours: Y is their `brightness`.

    ``u = 128 + (-11059 r - 21709 g + 32768 b) / 2^16``,
    ``v = 128 + (32768 r - 27439 g - 5329 b) / 2^16``, rounded, halves up, and at most 255.  Source:
    ITU-T T.871 (JFIF), section 7.

    Args:
        rgb: uint8 [..., 3].

    Returns:
        uint8 [..., 3].
    """
    red, green, blue = np.moveaxis(rgb.astype(np.int64), -1, 0)
    u = -11059 * red - 21709 * green + 32768 * blue
    v = 32768 * red - 27439 * green - 5329 * blue
    chroma = np.minimum((np.stack([u, v], axis=-1) + (257 << 15)) >> 16, 255).astype(np.uint8)
    return np.concatenate([brightness(rgb), chroma], axis=-1)
