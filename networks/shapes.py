"""Scenes of discs, squares and triangles, drawn by a seed: data for segmentation and detection.

A scene is a picture of 64 x 64 pixels: a background of smooth colours, one to four shapes of any
colour that can be told from it, some of them hardly, turned at random and partly over each other,
and noise.  Every split has seeds of its own, and no two scenes are equal.  This module needs no
PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

SIZE = 64
CLASSES = ("disc", "square", "triangle")
SEEDS = MappingProxyType({"train": 1, "calibration": 2, "validation": 3, "test": 4})
"""First number of the seeds of each split's scenes; the second is the scene's own."""

_MOST_SHAPES = 4
_RADII = (4.0, 14.0)
_CONTRAST = 40.0
"""Least distance of a shape's colour from the background's mean, of 255 a channel."""
_NOISE = (6.0, 24.0)
_OVERLAP = 0.2
"""Largest share of a shape's box that lies in the box of an earlier one."""
_TRIES = 10

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Scenes:
    """Pictures and what is in them.

    Attributes:
        images: uint8 [N, 3, SIZE, SIZE].
        masks: uint8 [N, SIZE, SIZE]: 0 for background, else 1 + class of the shape seen there.
        boxes: for each scene float32 [M, 4]: left, top, right, bottom in pixels.
        classes: for each scene int64 [M].
    """

    images: Bytes
    masks: Bytes
    boxes: tuple[Floats, ...]
    classes: tuple[Integers, ...]

    @property
    def x(self) -> Floats:
        """The pictures as the networks take them: pixel / 127.5 - 1."""
        return self.images.astype(np.float32) / np.float32(127.5) - np.float32(1)


def scenes(split: str, count: int, first: int = 0) -> Scenes:
    """Scenes number `first` to `first + count` of a split."""
    found = [_scene(np.random.default_rng((SEEDS[split], first + i))) for i in range(count)]
    images, masks, boxes, classes = zip(*found, strict=True)
    return Scenes(np.stack(images), np.stack(masks), boxes, classes)


def _scene(rng: np.random.Generator) -> tuple[Bytes, Bytes, Floats, Integers]:
    picture = _background(rng)
    around = picture.mean(axis=(1, 2))
    mask = np.zeros((SIZE, SIZE), np.uint8)
    boxes: list[Floats] = []
    classes: list[int] = []
    for _ in range(rng.integers(1, _MOST_SHAPES + 1)):
        kind = int(rng.integers(len(CLASSES)))
        inside = _placed(rng, kind, boxes)
        if inside is None:
            continue
        picture[:, inside] = _colour(rng, around)[:, None]
        mask[inside] = 1 + kind
        boxes.append(_box(inside))
        classes.append(kind)
    noisy = picture + rng.uniform(*_NOISE) * rng.standard_normal(picture.shape)
    image = np.clip(np.rint(noisy), 0, 255).astype(np.uint8)
    return image, mask, np.stack(boxes), np.asarray(classes, np.int64)


def _background(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Smooth colours: a grid of 3 x 3 random ones and straight lines between them, [3, H, W]."""
    corners = rng.uniform(40, 215, 3)[:, None, None] + rng.uniform(-40, 40, (3, 3, 3))
    place = np.linspace(0, 2, SIZE)
    weights = np.maximum(0, 1 - np.abs(place[:, None] - np.arange(3)))
    return np.einsum("hi,cij,wj->chw", weights, corners, weights)


def _colour(rng: np.random.Generator, around: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """A colour that differs from the background's mean in some channel."""
    while True:
        colour = rng.uniform(0, 255, 3)
        if np.abs(colour - around).max() > _CONTRAST:
            return colour


def _placed(
    rng: np.random.Generator, kind: int, boxes: list[Floats]
) -> npt.NDArray[np.bool_] | None:
    """The pixels of a shape that hides little of the earlier ones; None where none is found.

    The first shape of a scene finds its place at once.
    """
    for _ in range(_TRIES):
        radius = rng.uniform(*_RADII)
        centre = rng.uniform(radius, SIZE - radius, 2)
        inside = _inside(kind, centre, radius, rng.uniform(0, 2 * np.pi))
        if all(_shared(_box(inside), box) < _OVERLAP for box in boxes):
            return inside
    return None


def _inside(
    kind: int, centre: npt.NDArray[np.float64], radius: float, angle: float
) -> npt.NDArray[np.bool_]:
    """Which pixels have their centre in a shape within a circle of `radius`, bool [H, W]."""
    y, x = np.mgrid[:SIZE, :SIZE] + 0.5
    right, down = x - centre[0], y - centre[1]
    if CLASSES[kind] == "disc":
        return np.asarray(right**2 + down**2 <= (0.85 * radius) ** 2)
    sides = 4 if CLASSES[kind] == "square" else 3
    turned = angle + 2 * np.pi * np.arange(sides) / sides
    along = right[..., None] * np.cos(turned) + down[..., None] * np.sin(turned)
    return np.asarray((along <= radius * np.cos(np.pi / sides)).all(axis=-1))


def _box(inside: npt.NDArray[np.bool_]) -> Floats:
    """Left, top, right, bottom of some pixels; the last two are one more than their last ones."""
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    ends = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)
    return np.asarray(ends, np.float32)


def _shared(box: Floats, other: Floats) -> float:
    """Share of the smaller of two boxes that lies in the other."""
    sides = np.minimum(box[2:], other[2:]) - np.maximum(box[:2], other[:2])
    areas = [np.prod(each[2:] - each[:2]) for each in (box, other)]
    return float(np.prod(np.maximum(sides, 0)) / min(areas))
