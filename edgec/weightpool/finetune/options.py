"""What a user trains with: samples, and the numbers of the recipe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.floatrun.activations import checked_calibration
from edgec.ir.graph import Graph


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
        if low == high:
            raise ConfigError(
                f"all {count} samples are of class {low}: nothing can be learned from them",
                where=where,
                hint="give samples of all classes",
            )
        return TrainingData(inputs, labels.astype(np.int64))


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How images [H, W, C] are varied at random.

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
class FinetuneOptions:
    """The recipe.

    Attributes:
        epochs: passes over the training data.
        batch: samples a step.
        rate: peak learning rate (AdamW).
        latent_rate: that of pooled weights, which have a mean square of 1, relative to `rate`.
        pool_rate: that of the pool's vectors, relative to `rate`.
        pull: share of the way to their vectors that latent weights are moved by each step, at the
            peak rate; less as the rate is less.
        train_pool: False leaves the vectors as they are, for a pool that networks share.
        distillation: share of the loss that is the distance from the float network's outputs.
        temperature: both outputs are divided by it for that.
        frozen: indices stay as they are in this last share of the steps; weights are averaged.
        bits: widths of the activations, one of which is drawn for each step.
        augmentation: None: the data as they are.
        seed: seed of the order of the samples and of all that is drawn at random.
        device: "auto" (a GPU if there is one), "cpu" or "cuda".
        checkpoint: the file that keeps the state after each epoch; a run that finds its own there
            goes on from it.  None: there is none.  The caller removes the file after the run.
        validation: told about after each epoch when given; nothing is chosen by it.
    """

    epochs: int = 40
    batch: int = 128
    rate: float = 2e-3
    latent_rate: float = 3.0
    pool_rate: float = 0.3
    pull: float = 4e-4
    train_pool: bool = True
    distillation: float = 0.9
    temperature: float = 4.0
    frozen: float = 0.15
    bits: tuple[int, ...] = (8, 8, 4)
    augmentation: Augmentation | None = None
    seed: int = 0
    device: str = "auto"
    checkpoint: Path | None = None
    validation: TrainingData | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        whole = {"epochs": self.epochs, "batch": self.batch}
        shares = {"distillation": self.distillation, "frozen": self.frozen, "pull": self.pull}
        positive = {"rate": self.rate, "temperature": self.temperature}
        for name, number in whole.items():
            if number < 1:
                raise ConfigError(f"{name} is {number}", where=name, hint="give 1 or more")
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise ConfigError(f"{share:g} is no share", where=name, hint="give 0 to 1")
        for name, real in positive.items():
            if not (math.isfinite(real) and real > 0):
                raise ConfigError(f"{name} is {real:g}", where=name, hint="give more than 0")
        if not self.bits or not all(1 <= bits <= 8 for bits in self.bits):
            raise ConfigError(
                f"activations of {', '.join(map(str, self.bits)) or 'no'} bits",
                where="bits",
                hint="give one or more widths of 1 to 8 bits",
            )
        if self.device not in ("auto", "cpu", "cuda"):
            raise ConfigError(
                f"there is no device {self.device!r}", where="device", hint="auto, cpu or cuda"
            )
