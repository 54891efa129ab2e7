"""The numbers of the recipe for training in integers, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.finetune.options import Recipe, need_positive, need_shares
from edgec.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class IntegerRecipe(Recipe):
    """The recipe; what is not listed here is that of `Recipe`.

    Attributes:
        epochs: fewer than for pools, since rounding to 8 bits changes little.
        rate: peak learning rate of the weights, in codes.
        bias_rate: that of biases, in steps of the layer's output, relative to `rate`.
        scale_rate: that of the logarithms of scales, relative to `rate`.
        held_back: share of the samples that are not trained on, and choose the epoch.
    """

    epochs: int = 10
    rate: float = 0.05
    bias_rate: float = 0.4
    scale_rate: float = 0.02
    held_back: float = 0.1

    def __post_init__(self) -> None:
        Recipe.__post_init__(self)
        need_shares(held_back=self.held_back)
        need_positive(bias_rate=self.bias_rate, scale_rate=self.scale_rate)


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """Result of a training in integers.

    Shares are of the samples held back whose largest output is their label.

    Attributes:
        epochs: epochs that were trained.
        epoch: the one that was kept, from 1; 0: none was better than the start.
        trained, held_back: numbers of samples.
        teacher: share of the teacher, in float.
        before: share of the integers that training started from.
        after: share of the integers that were kept.
        loss_before, loss_after: their losses on the samples held back.
        checked: outputs of the kept network that were computed a second time by the definition of
            its integer operators.
        unequal: how many of them came out as other codes.
    """

    epochs: int
    epoch: int
    trained: int
    held_back: int
    teacher: float
    before: float
    after: float
    loss_before: float
    loss_after: float
    checked: int
    unequal: int


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A network trained in integers.

    Attributes:
        graph: ANNOTATED stage.
        report: what happened.
    """

    graph: Graph
    report: TrainingReport
