"""How good the classes of pixels are: intersection over union, in numpy alone."""

from __future__ import annotations

import numpy as np
from shapes import CLASSES, Bytes, Floats, Integers

_KINDS = len(CLASSES) + 1


def confusions(logits: Floats, masks: Bytes) -> Integers:
    """How often a pixel of one class gets each class, picture by picture.

    Args:
        logits: float [N, 1 + classes, H, W].
        masks: uint8 [N, H, W].

    Returns:
        int64 [N, 1 + classes, 1 + classes]: true class, then the one given.
    """
    given = logits.argmax(axis=1)
    pairs = (masks.astype(np.int64) * _KINDS + given).reshape(len(masks), -1)
    counts = [np.bincount(row, minlength=_KINDS**2) for row in pairs]
    return np.stack(counts).reshape(-1, _KINDS, _KINDS)


def mean_iou(counts: Integers) -> float:
    """Mean over the classes, background among them, of pixels in both over pixels in either.

    Args:
        counts: from `confusions`, for all pictures that are judged together.
    """
    table = counts.sum(axis=0)
    both = np.diagonal(table)
    either = table.sum(axis=0) + table.sum(axis=1) - both
    return float(np.mean(both / np.maximum(either, 1)))
