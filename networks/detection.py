"""From the numbers of the detector to boxes, and how good they are: numpy alone.

The detector divides a picture into cells of 8 and of 16 pixels.  For each cell it says how likely
a shape of each class has its centre there, and how far the sides of that shape's box are from the
middle of the cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapes
from shapes import Floats, Integers

STRIDES = (8, 16)
"""Sides of the cells, in pixels: first all cells of the first kind, row by row, then the others."""
_LEAST_SCORE = 0.02
_SAME_SHAPE = 0.5
"""Overlap of two boxes of a class of which the one with the lower score is dropped."""
_MOST_BOXES = 20
MATCH = 0.5
"""Overlap with a true box from which a box counts as right."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Boxes in one picture, the best first.

    Attributes:
        boxes: float32 [M, 4]: left, top, right, bottom in pixels.
        scores: float32 [M].
        classes: int64 [M].
    """

    boxes: Floats
    scores: Floats
    classes: Integers

    def above(self, score: float) -> Found:
        """The boxes with a higher score."""
        sure = self.scores > score
        return Found(self.boxes[sure], self.scores[sure], self.classes[sure])


def cells() -> tuple[Floats, Floats]:
    """The middle (x, y) of each cell, float32 [CELLS, 2], and its side, float32 [CELLS]."""
    middles, sides = [], []
    for stride in STRIDES:
        count = shapes.SIZE // stride
        y, x = np.mgrid[:count, :count].astype(np.float32) * stride + np.float32(stride / 2)
        middles.append(np.stack([x.ravel(), y.ravel()], axis=1))
        sides.append(np.full(count * count, stride, np.float32))
    return np.concatenate(middles), np.concatenate(sides)


def decode(scores: Floats, distances: Floats) -> list[Found]:
    """Boxes of each picture, of which no two of a class overlap by more than a half.

    Args:
        scores: float32 [N, CELLS, classes], probabilities.
        distances: float32 [N, CELLS, 4]: from the middle to left, top, right, bottom, in cells.
    """
    return [_decoded(*pair) for pair in zip(scores, distances, strict=True)]


def _decoded(scores: Floats, distances: Floats) -> Found:
    middles, sides = cells()
    reach = np.maximum(distances, 0) * sides[:, None]
    boxes = np.concatenate([middles - reach[:, :2], middles + reach[:, 2:]], axis=1)
    kept: list[tuple[float, int, int]] = []
    for kind in range(scores.shape[1]):
        order = np.argsort(-scores[:, kind], kind="stable")
        left = order[scores[order, kind] > _LEAST_SCORE]
        while len(left):
            best, left = int(left[0]), left[1:]
            kept.append((-float(scores[best, kind]), kind, best))
            left = left[overlaps(boxes[best : best + 1], boxes[left])[0] <= _SAME_SHAPE]
    kept = sorted(kept)[:_MOST_BOXES]
    index = [cell for _, _, cell in kept]
    return Found(
        boxes[index],
        np.asarray([-score for score, _, _ in kept], np.float32),
        np.asarray([kind for _, kind, _ in kept], np.int64),
    )


def overlaps(first: Floats, second: Floats) -> Floats:
    """Intersection over union of boxes [M, 4] with boxes [K, 4]: float32 [M, K]."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    both = np.prod(np.maximum(high - low, 0), axis=-1)
    areas = [np.prod(np.maximum(b[:, 2:] - b[:, :2], 0), axis=-1) for b in (first, second)]
    whole = areas[0][:, None] + areas[1][None] - both
    return np.asarray(both / np.maximum(whole, 1e-6), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Which boxes of one picture are right.

    Attributes:
        scores: of the boxes found, float32 [M].
        right: whether a box is the first that meets a true box of its class, bool [M].
        classes: of the boxes found, int64 [M].
        truths: number of true boxes of each class, int64 [classes].
    """

    scores: Floats
    right: np.ndarray
    classes: Integers
    truths: Integers


def matched(found: Found, boxes: Floats, classes: Integers) -> Matches:
    """The boxes found in a picture beside its true ones."""
    table = overlaps(found.boxes, boxes)
    table = np.where(found.classes[:, None] == classes[None], table, 0)
    taken = np.zeros(len(boxes), bool)
    right = np.zeros(len(found.boxes), bool)
    for index, row in enumerate(table if len(boxes) else ()):
        best = int(np.argmax(np.where(taken, 0, row)))
        if row[best] >= MATCH and not taken[best]:
            taken[best] = right[index] = True
    truths = np.bincount(classes, minlength=len(shapes.CLASSES))
    return Matches(found.scores, right, found.classes, truths)


def mean_average_precision(pictures: Sequence[Matches]) -> float:
    """Mean over the classes of the area under precision over recall, at an overlap of a half.

    Precision is the highest at a recall or any larger one.  Source: M. Everingham et al., The
    PASCAL Visual Object Classes Challenge: A Retrospective, 2015 (the area since 2010).
    """
    scores = np.concatenate([p.scores for p in pictures])
    right = np.concatenate([p.right for p in pictures])
    classes = np.concatenate([p.classes for p in pictures])
    truths = np.sum([p.truths for p in pictures], axis=0)
    values = [_area(scores[classes == k], right[classes == k], int(truths[k]))
              for k in range(len(shapes.CLASSES))]  # fmt: skip
    return float(np.mean(values))


def _area(scores: Floats, right: np.ndarray, truths: int) -> float:
    hits = np.cumsum(right[np.argsort(-scores, kind="stable")])
    precision = hits / np.arange(1, len(hits) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    recall = np.concatenate([[0.0], hits / truths])
    return float(np.sum(np.diff(recall) * best))
