"""The networks that `networks/` trains, their samples, and how good their outputs are.

Rules: calibration on training images or on scenes of their own; whatever is chosen is chosen on the
validation part; the test part is read for the numbers reported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from data_folder import needed_data_folder
from public_data import Array, cifar_part, normalised_pixels

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "networks"))

import detection  # noqa: E402
import segmentation  # noqa: E402
import shapes  # noqa: E402

CALIBRATION = 256
SCENES = 1000
IMAGES = 5000
_SURE = 0.5
"""Score from which a box of the detector counts as a decision."""

Outputs = Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Samples and what is true of them.

    Attributes:
        x: float32 [N, 3, H, W].
        truth: labels int64 [N], or `shapes.Scenes`.
    """

    x: Array
    truth: Any


@dataclass(frozen=True, slots=True)
class Task:
    """One network, and how it is judged.

    Attributes:
        model: the ONNX file.
        measure: what the score is.
        samples: reads a part, "calibration", "validation" or "test", up to a number of samples.
        judged: a record for each sample, of outputs beside the truth.
        score: of some records, 0 to 1.
        changed: share of decisions that differ between two networks' outputs.
    """

    model: Path
    measure: str
    samples: Callable[[str, int], Split]
    judged: Callable[[Outputs, Any], Sequence[Any]]
    score: Callable[[Sequence[Any]], float]
    changed: Callable[[Outputs, Outputs], float]


def _cifar(part: str, most: int) -> Split:
    files = {"calibration": "cifar10_train_0", "validation": "cifar10_train_1"}
    count = CALIBRATION if part == "calibration" else IMAGES
    name = files.get(part, "cifar10_test_5000")
    images = cifar_part(needed_data_folder() / "data", name, min(count, most))
    return Split(normalised_pixels(images.x), images.y)


def _scenes(part: str, most: int) -> Split:
    count = CALIBRATION if part == "calibration" else SCENES
    found = shapes.scenes(part, min(count, most))
    return Split(found.x, found)


def _right(outputs: Outputs, labels: Array) -> list[bool]:
    return list(outputs["logits"].argmax(axis=1) == labels)


def _classes_changed(first: Outputs, second: Outputs) -> float:
    one, other = (each["logits"].argmax(axis=1) for each in (first, second))
    return float(np.mean(one != other))


def _share(right: Sequence[bool]) -> float:
    return float(np.mean(right))


def _confusions(outputs: Outputs, scenes: shapes.Scenes) -> list[Array]:
    return list(segmentation.confusions(outputs["logits"], scenes.masks))


def _iou(counts: Sequence[Array]) -> float:
    return segmentation.mean_iou(np.stack(counts))


def _found(outputs: Outputs) -> list[detection.Found]:
    return detection.decode(outputs["scores"], outputs["distances"])


def _matches(outputs: Outputs, scenes: shapes.Scenes) -> list[detection.Matches]:
    triples = zip(_found(outputs), scenes.boxes, scenes.classes, strict=True)
    return [detection.matched(*triple) for triple in triples]


def _boxes_changed(first: Outputs, second: Outputs) -> float:
    """Share of the boxes of either that the other has not (class and half of the area)."""
    either = both = 0
    for pair in zip(_found(first), _found(second), strict=True):
        one, other = (each.above(_SURE) for each in pair)
        same = int(detection.matched(one, other.boxes, other.classes).right.sum())
        both += same
        either += len(one.boxes) + len(other.boxes) - same
    return 1 - both / max(either, 1)


def _classifier(name: str) -> Task:
    model = ROOT / "networks" / f"{name}_cifar10.onnx"
    return Task(model, "top-1", _cifar, _right, _share, _classes_changed)


_UNET, _DETECTOR = (ROOT / "networks" / f"{n}_shapes.onnx" for n in ("unet", "detector"))
_CLASSIFIERS = (
    *("mobilenetv2", "mobilenetv3", "shufflenetv2", "mobilevit", "efficientnet_lite"),
    *("resnet8_narrow", "resnet10_narrow"),
)

TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "unet": Task(_UNET, "mean IoU", _scenes, _confusions, _iou, _classes_changed),
        "detector": Task(
            _DETECTOR, "mAP@0.5", _scenes, _matches,
            detection.mean_average_precision, _boxes_changed,
        ),
        **{name: _classifier(name) for name in _CLASSIFIERS},
    }
)  # fmt: skip
