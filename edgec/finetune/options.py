"""Training samples, and the numbers that every recipe has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import check_seed
from edgec.floatrun.activations import checked_calibration
from edgec.ir.graph import Graph

IMAGE_AXES = 4
"""Axes of a batch of images [N, H, W, C]."""
_MOST_VIEW_BYTES = 1 << 32
_LOGIT_BYTES, _MOVE_BYTES = 4, 17


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData:
    """Samples and the number of the class of each.

    Attributes:
        inputs: for each graph input float32 [N, ...], in the graph's order of axes.
        labels: integers [N], from 0.
    """

    inputs: Mapping[str, Array]
    labels: Array

    def checked(self, graph: Graph, classes: int) -> TrainingData:
        """This data as float32 and int64, if it fits a network.

        Raises:
            ConfigError: inputs that do not fit, labels beyond the classes, a single class.
        """
        inputs = checked_calibration(graph, self.inputs)
        labels = np.asarray(self.labels)
        count = len(next(iter(inputs.values())))
        where = "training labels"
        if labels.dtype.kind not in "iu" or labels.shape != (count,):
            raise ConfigError(
                f"the labels are {labels.dtype} {list(labels.shape)}, expected integers [{count}]",
                where=where,
            )
        low, high = int(labels.min()), int(labels.max())
        if low < 0 or high >= classes:
            raise ConfigError(
                f"the labels go from {low} to {high}, but the network has {classes} classes",
                where=where,
                hint=f"number the classes from 0 to {classes - 1}",
            )
        need_classes(labels, where)
        return TrainingData(inputs, labels.astype(np.int64))


@dataclass(frozen=True, slots=True)
class Augmentation:
    """Random variations of images [H, W, C].

    Attributes:
        mirror: left and right are exchanged for half of them.
        shift: the most pixels that they are moved by; zeros take the free places.
    """

    mirror: bool = True
    shift: int = 4

    def __post_init__(self) -> None:
        if not 0 <= self.shift <= 64:
            raise ConfigError(
                f"images cannot be shifted by {self.shift} pixels",
                where="augmentation",
                hint="give 0 to 64",
            )


@dataclass(frozen=True, slots=True)
class Recipe:
    """Hyperparameters of a training, common to float, pooled and integer networks.

    Attributes:
        epochs: passes over the training data.
        batch: samples a step.
        rate: peak learning rate (AdamW).
        distillation: share of the loss that is the distance from the teacher's outputs.
        temperature: both outputs are divided by it for that.
        augmentation: None: the data as they are.
        views: ways in which the samples are varied, epoch after epoch in turn; the teacher is asked
            once for each.  0: they are varied anew, and the teacher is asked, in each epoch.
        renew: each time that all views have been seen, one of them is drawn anew.
        plain: the data are as they are in this last share of the epochs, too.
        seed: seed of the order of the samples and of all that is drawn at random.
        device: "auto" (a GPU if there is one), "cpu" or "cuda".
        checkpoint: the file that keeps the state after each epoch; a run that finds its own there
            goes on from it.  None: there is none.  The caller removes the file after the run.
    """

    epochs: int = 40
    batch: int = 128
    rate: float = 2e-3
    distillation: float = 0.9
    temperature: float = 4.0
    augmentation: Augmentation | None = None
    views: int = 0
    renew: bool = False
    plain: float = 0.0
    seed: int = 0
    device: str = "auto"
    checkpoint: Path | None = None

    def __post_init__(self) -> None:
        need_whole(epochs=self.epochs, batch=self.batch)
        need_shares(distillation=self.distillation, plain=self.plain)
        need_positive(rate=self.rate, temperature=self.temperature)
        check_seed(self.seed)
        if self.views < 0:
            raise ConfigError(f"views is {self.views}", where="--views", hint="give 0 or more")
        if self.device not in ("auto", "cpu", "cuda"):
            raise ConfigError(
                f"there is no device {self.device!r}",
                where="--device",
                hint="give auto, cpu or cuda",
            )

    def augmentation_in(self, epoch: int) -> Augmentation | None:
        """Augmentation of the data in an epoch, counted from 0."""
        return self.augmentation if epoch < self.epochs * (1 - self.plain) else None


def check_views(views: int, samples: int, classes: int) -> None:
    """Refuse more views of the samples than can be kept.

    Args:
        views: variants of all samples; 0: none is kept.
        samples: how many there are.
        classes: logits of a sample.

    Raises:
        ConfigError: what the teacher says of them would not fit 4 GiB.
    """
    size = views * samples * (_LOGIT_BYTES * classes + _MOVE_BYTES)
    if size > _MOST_VIEW_BYTES:
        raise ConfigError(
            f"{views} views of {samples:,} samples with {classes} classes take "
            f"{size / 2**30:.1f} GiB",
            where="--views",
            hint=f"give {max(1, views * _MOST_VIEW_BYTES // size)} or fewer, or leave it out",
        )


def need_classes(labels: Array, where: str) -> None:
    """Refuse labels [N] that are all the same.

    Raises:
        ConfigError: they are; `where` says of what data.
    """
    if len(np.unique(labels)) == 1:
        raise ConfigError(
            f"all {len(labels)} samples are of class {labels[0]}: nothing can be learned from them",
            where=where,
            hint="give samples of all classes",
        )


def need_whole(**numbers: int) -> None:
    """Refuse numbers below 1; ConfigError names the first."""
    for name, number in numbers.items():
        if number < 1:
            raise ConfigError(f"{name} is {number}", where=name, hint="give 1 or more")


def need_shares(**numbers: float) -> None:
    """Refuse numbers that are not between 0 and 1; ConfigError names the first."""
    for name, share in numbers.items():
        if not 0 <= share <= 1:
            raise ConfigError(f"{share:g} is no share", where=name, hint="give 0 to 1")


def need_positive(**numbers: float) -> None:
    """Refuse numbers that are not above 0; ConfigError names the first."""
    for name, real in numbers.items():
        if not (math.isfinite(real) and real > 0):
            raise ConfigError(f"{name} is {real:g}", where=name, hint="give more than 0")
