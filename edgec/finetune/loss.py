"""Training loss: distance from a teacher, and from the labels."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional

from edgec.finetune.network import Network, ends_in_sigmoid
from edgec.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class Loss:
    """Cross entropy of labels and distance from a teacher, both of logits.

    Source: Hinton et al., "Distilling the Knowledge in a Neural Network", arXiv 1503.02531.

    Attributes:
        distillation: share of the distance.
        temperature: logits are divided by it in the distance.
        separate: each class has a probability of its own, by a sigmoid; else they share one, by a
            softmax.
    """

    distillation: float
    temperature: float
    separate: bool = False

    def __call__(
        self, outputs: torch.Tensor, wanted: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        """The mean over a batch.

        Args:
            outputs: logits of the student, float32 [N, classes].
            wanted: logits of the teacher, alike.
            labels: int64 [N].
        """
        distance, hard = (self._sigmoid if self.separate else self._softmax)(
            outputs, wanted, labels
        )
        return self.distillation * self.temperature**2 * distance + (1 - self.distillation) * hard

    def _softmax(
        self, outputs: torch.Tensor, wanted: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        distance = functional.kl_div(
            functional.log_softmax(outputs / self.temperature, 1),
            functional.log_softmax(wanted / self.temperature, 1),
            reduction="batchmean",
            log_target=True,
        )
        return distance, functional.cross_entropy(outputs, labels)

    def _sigmoid(
        self, outputs: torch.Tensor, wanted: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        cross = functional.binary_cross_entropy_with_logits
        soft = wanted / self.temperature
        chances = torch.sigmoid(soft)
        # Without the entropy of the teacher, the distance of equal outputs is 0.
        found = cross(outputs / self.temperature, chances, reduction="sum")
        distance = found - cross(soft, chances, reduction="sum")
        ones = functional.one_hot(labels, outputs.shape[1]).to(outputs.dtype)
        hard = cross(outputs, ones, reduction="sum")
        return distance / len(labels), hard / len(labels)


def loss_of(student: Graph, teacher: Network, distillation: float, temperature: float) -> Loss:
    """The loss for a student and its teacher, by how their classes get probabilities."""
    separate = ends_in_sigmoid(student) and ends_in_sigmoid(teacher.graph)
    return Loss(distillation, temperature, separate)
