"""Folders of PNG, JPEG and BMP images, read with Pillow (the extra `images`)."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.samples.folder import Folder
from edgec.base.samples.normalize import Normalize
from edgec.base.samples.npy import reason_of
from edgec.base.samples.request import Found, InputSpec, Request, check_size

_log = logging.getLogger(__name__)
SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp"})
_MODES = frozenset({"1", "L", "P", "RGB", "LA", "RGBA", "CMYK", "YCbCr"})
"""Pixel formats of at most 8 bits a channel."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The images that a model takes.

    Attributes:
        height, width: in pixels.
        channels: 1 (grey) or 3 (red, green, blue).
        channels_first: the model's shape is [1, channels, height, width].
    """

    height: int
    width: int
    channels: int
    channels_first: bool

    @classmethod
    def of(cls, spec: InputSpec) -> Frame:
        """The images that an input takes.

        Raises:
            ConfigError: it takes no images.
        """
        sample = spec.sample
        if len(sample) == 3 and sample[0] in (1, 3):
            return cls(sample[1], sample[2], sample[0], channels_first=True)
        if len(sample) == 3 and sample[2] in (1, 3):
            return cls(sample[0], sample[1], sample[2], channels_first=False)
        if len(sample) == 2:
            return cls(sample[0], sample[1], 1, channels_first=False)
        raise ConfigError(
            f"an image is no sample of the model's input {list(spec.shape)}",
            hint="images are for inputs [1, 3, H, W], [1, H, W, 3], with 1 for 3, or [1, H, W]; "
            "for others give a .npz file",
        )

    @classmethod
    def found(cls, spec: InputSpec) -> Frame | None:
        """The images that an input takes; None: it takes none."""
        try:
            return cls.of(spec)
        except ConfigError:
            return None

    @property
    def channel_axis(self) -> int | None:
        """Axis of the channels in the model's shape; None where that has none or one."""
        return None if self.channels == 1 else 1 if self.channels_first else 3


def holds_images(path: Path) -> bool:
    """Whether a path is a folder of images, in itself or in its subfolders."""
    files = (file for pattern in ("*", "*/*") for file in path.glob(pattern))
    return path.is_dir() and any(file.suffix.lower() in SUFFIXES for file in files)


def read_folder(folder: Folder, request: Request) -> Found:
    """All images as "x", their classes as "y".

    Pixels are 0 to 255; `Request.normalize` makes them the model's numbers.

    Raises:
        ConfigError: Pillow is missing, an image cannot be read or has another size than the model
            takes, it is not said how to normalize, or there are too many images.
    """
    spec = request.single
    frame = Frame.of(spec)
    normal = _normalization(request, frame)
    _check_pillow()
    check_size(len(folder.files), spec)
    kind = np.uint8 if normal is None else np.float32
    samples = np.zeros((len(folder.files), frame.height, frame.width, frame.channels), kind)
    for index, path in enumerate(folder.files):
        pixels = _pixels(path, frame)
        samples[index] = pixels if normal is None else normal.apply(pixels)
    moved = samples.transpose(0, 3, 1, 2) if frame.channels_first else samples
    x = np.ascontiguousarray(moved).reshape(-1, *spec.sample)
    return Found(folder.labelled(x), folder.listing, folder.why_no_labels)


def _normalization(request: Request, frame: Frame) -> Normalize | None:
    """Normalization of pixels: from the user's option, else from the model's own file."""
    if request.normalize is not None:
        request.normalize.check(frame.channels)
        return request.normalize
    known = request.single.normalize
    if known is not None:
        _log.warning(
            "pixels are normalized as the model's file or its build says: --normalize %s", known
        )
    elif not request.single.integers:
        raise ConfigError(
            "it is not said which numbers the model takes for pixels of 0 to 255",
            hint="add --normalize scale=1/255 for 0 to 1, scale=1 for 0 to 255, "
            "or scale=1/255,mean=...,std=... as in training",
        )
    return known


def _check_pillow() -> None:
    if find_spec("PIL") is None:
        raise ConfigError(
            "reading images needs Pillow, which is not installed",
            hint="pip install '.[images]' in the checkout of edgec, or pip install pillow",
        )


def _pixels(path: Path, frame: Frame) -> Array:
    """One image, uint8 [height, width, channels].

    Its size is known from its header, and checked before its pixels are decoded.
    """
    from PIL import Image  # noqa: PLC0415  (an extra)

    try:
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(path, formats=("PNG", "JPEG", "BMP")) as image,
        ):
            _check_image(image.size, image.mode, path, frame)
            found = np.asarray(image.convert("L" if frame.channels == 1 else "RGB"), np.uint8)
    except (ConfigError, MemoryError):
        raise
    except Exception as error:  # Pillow's decoders raise many types, documented nowhere
        raise ConfigError(f"not a readable image ({reason_of(error)})", where=str(path)) from error
    return found.reshape(frame.height, frame.width, frame.channels)


def _check_image(size: tuple[int, int], mode: str, path: Path, frame: Frame) -> None:
    width, height = size
    if (height, width) != (frame.height, frame.width):
        raise ConfigError(
            f"is {width} x {height} pixels; the model takes {frame.width} x {frame.height}",
            where=str(path),
            hint="edgec does not resize: scale and crop images as for training",
        )
    if mode not in _MODES:
        raise ConfigError(
            f"has pixels of the kind {mode}", where=str(path), hint="give 8 bits a channel"
        )
