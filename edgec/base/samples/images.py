"""Folders of PNG, JPEG and BMP images, read with Pillow (the extra `images`)."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from edgec.base.camera import MOST_PIXELS, CameraForm
from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, Effect, refuse_without_effect
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

    def check(self, size: tuple[int, int], path: Path) -> None:
        """Refuse an image of another width and height.

        Raises:
            ConfigError: names both.
        """
        width, height = size
        if (height, width) != (self.height, self.width):
            raise ConfigError(
                f"is {width} x {height} pixels; the model takes {self.width} x {self.height}",
                where=str(path),
                hint="scale and crop images as for training, or let a camera's front end do it: "
                "--front-end image",
            )

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
    if spec.camera is not None:
        return _frames(folder, request, spec.camera)
    frame = Frame.of(spec)
    normal = _normalization(request, frame)
    _check_pillow()
    check_size(len(folder.files), spec)
    kind = np.uint8 if normal is None else np.float32
    samples = np.zeros((len(folder.files), frame.height, frame.width, frame.channels), kind)
    for index, path in enumerate(folder.files):
        pixels = _pixels(path, frame.channels, frame.check)
        samples[index] = pixels if normal is None else normal.apply(pixels)
    moved = samples.transpose(0, 3, 1, 2) if frame.channels_first else samples
    x = np.ascontiguousarray(moved).reshape(-1, *spec.sample)
    return Found(folder.labelled(x), folder.listing, folder.why_no_labels)


def _frames(folder: Folder, request: Request, form: CameraForm) -> Found:
    """All images as frames of a camera "x", int8 [N, bytes], their classes as "y"."""
    why = "the front end says it: scale, mean and std of --front-end image"
    refuse_without_effect([Effect("--normalize", request.normalize is not None, False, why)])
    _check_pillow()
    check_size(len(folder.files), request.single, 1)
    x = np.zeros((len(folder.files), form.frame_bytes), np.uint8)
    others = 0
    for index, path in enumerate(folder.files):
        pixels = _pixels(path, form.channels, _check_pixels)
        if pixels.shape[:2] == (form.height, form.width):
            x[index] = form.packed(pixels)
        else:
            x[index] = form.of_image(pixels)
            others += 1
    if others:
        part = form.crop
        _log.warning(
            "%s: %d of %d images are no frames of %d x %d pixels; their middle is resized to the "
            "part of %d x %d that is used",
            *(folder.path, others, len(folder.files), form.width, form.height),
            *(part.width, part.height),
        )
    return Found(folder.labelled(x), folder.listing, folder.why_no_labels)


def _check_pixels(size: tuple[int, int], path: Path) -> None:
    width, height = size
    if width * height > MOST_PIXELS:
        raise ConfigError(
            f"is {width} x {height} pixels",
            where=str(path),
            hint=f"give images of at most {MOST_PIXELS:,} pixels",
        )


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


def _pixels(path: Path, channels: int, check: Callable[[tuple[int, int], Path], None]) -> Array:
    """One image, uint8 [height, width, channels].

    Its size, width and height, is known from its header, and checked before its pixels are decoded.
    """
    from PIL import Image  # noqa: PLC0415  (an extra)

    try:
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(path, formats=("PNG", "JPEG", "BMP")) as image,
        ):
            check(image.size, path)
            if image.mode not in _MODES:
                raise ConfigError(
                    f"has pixels of the kind {image.mode}",
                    where=str(path),
                    hint="give 8 bits a channel",
                )
            found = np.asarray(image.convert("L" if channels == 1 else "RGB"), np.uint8)
    except (ConfigError, MemoryError):
        raise
    except Exception as error:  # Pillow's decoders raise many types, documented nowhere
        raise ConfigError(f"not a readable image ({reason_of(error)})", where=str(path)) from error
    return found.reshape(*found.shape[:2], channels)
