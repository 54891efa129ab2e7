"""A training run: distillation from a teacher at one cycle of the learning rate.

What is trained, and by which arithmetic, is the student's; a run knows batches, loss, optimizer
and checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from edgec.base.errors import ConfigError, TrainingError
from edgec.base.options import Progress
from edgec.finetune import checkpoint
from edgec.finetune.batches import Samples, View, Views
from edgec.finetune.loss import Loss
from edgec.finetune.network import Network
from edgec.finetune.options import Recipe
from edgec.finetune.parallel import Part

_WARM_UP = 0.2
"""Share of the steps in which the rate rises."""
_SEEDS = 1_000_003
_ASK_EVERY = 20
"""Steps between two looks at the loss on a GPU, which computes ahead until it is asked."""
Inputs = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Step:
    """A moment of a run.

    Attributes:
        number: steps before it.
        total: steps of the run.
        share: the learning rate's share of its peak.
    """

    number: int
    total: int
    share: float


class Student(Protocol):
    """A network in training."""

    device: torch.device

    def groups(self) -> list[dict[str, Any]]:
        """Groups of parameters for AdamW, each with its rate relative to the recipe's, `share`."""

    def prepare(self, step: Step, generator: torch.Generator, /) -> None:
        """Get ready for the forward pass of a step."""

    def outputs(self, inputs: Inputs, /) -> torch.Tensor:
        """Logits [N, classes], float32."""

    def finish(self, step: Step, /) -> None:
        """Follow the optimizer's step."""

    def state(self) -> dict[str, Any]:
        """State of the run that a checkpoint stores."""

    def restore(self, state: dict[str, Any], /) -> None:
        """Take up what a checkpoint holds."""


class Run:
    """A student, its teacher, and what changes from step to step.

    Attributes:
        steps_an_epoch: steps of each epoch.
        steps: steps of the run.
    """

    def __init__(
        self,
        student: Student,
        teacher: Network,
        samples: Samples,
        recipe: Recipe,
        loss: Loss,
        name: str,
        part: Part | None = None,
    ) -> None:
        """A run before its first step.

        Args:
            student: what is trained.
            teacher: takes the same inputs.
            samples: what is trained on.
            recipe: how.
            loss: what is made smaller.
            name: tells the run from others (`checkpoint.fingerprint`).
            part: what this process does of it; None: all.
        """
        self._student, self._teacher, self._samples = student, teacher, samples
        self._recipe, self._loss, self._name = recipe, loss, name
        self._part = part or Part()
        self.steps_an_epoch = samples.steps(recipe.batch)
        self.steps = recipe.epochs * self.steps_an_epoch
        self._views = (
            Views(samples, recipe, self._wanted, teacher.classes, self._part)
            if recipe.views
            else None
        )
        self._every = 1 if student.device.type == "cpu" else _ASK_EVERY
        self._optimizer = torch.optim.AdamW(
            student.groups(), lr=recipe.rate, fused=student.device.type == "cuda"
        )

    def epoch(self, number: int, progress: Progress, text: str) -> tuple[float, float]:
        """Train on all samples once.

        Args:
            number: the epoch, counted from 0.
            progress: told `text`, and the steps done of all steps of the run.
            text: what is being done.

        Returns:
            The mean loss, and the share of the samples that were told right.

        Raises:
            TrainingError: the loss is no finite number.
        """
        recipe = self._recipe
        generator = torch.Generator().manual_seed(recipe.seed * _SEEDS + number)
        losses = hits = torch.zeros((), dtype=torch.float64, device=self._student.device)
        seen = 0
        view = self._views.of(number, progress) if self._views else None
        first = number * self.steps_an_epoch
        progress(text, first, self.steps)
        numbers = self._samples.shuffled(recipe.batch, generator)
        for at, index in enumerate(numbers, first):
            inputs, labels, wanted = self._batch(number, view, index, generator)
            step = Step(at, self.steps, rate_share(at, self.steps))
            self._student.prepare(step, generator)
            part, right = self._step(step, inputs, labels, wanted)
            losses, hits, seen = losses + part, hits + right, seen + len(labels)
            if at % self._every == 0:
                progress(text, at + 1, self.steps)
        _need_finite(losses, step)
        loss, right_ones = self._part.total(float(losses), float(hits))
        return loss / seen, right_ones / seen

    def save(self, epochs: int, state: Mapping[str, Any] | None = None) -> None:
        """Put the state after a number of epochs, and more of the caller's, into the checkpoint."""
        if self._recipe.checkpoint is None or not self._part.is_first:
            return
        found = {
            **(state or {}),
            **self._student.state(),
            "epochs": epochs,
            "optimizer": self._optimizer.state_dict(),
        }
        checkpoint.save(self._recipe.checkpoint, self._name, found)

    def resumed(self) -> dict[str, Any] | None:
        """Take up the state of the checkpoint; all that it holds, or None if there is none."""
        path = self._recipe.checkpoint
        state = path and checkpoint.load(path, self._name, self._student.device)
        if not state:
            return None
        self._student.restore(state)
        self._optimizer.load_state_dict(state["optimizer"])
        return state

    def judged(self, samples: Samples) -> tuple[float, float]:
        """The loss, and the share told right, of samples that are not trained on."""
        loss = hits = 0.0
        with torch.no_grad():
            for inputs, labels in samples.ordered():
                outputs, wanted = self._student.outputs(inputs), self._wanted(inputs)
                loss += float(self._loss(outputs, wanted, labels)) * len(labels)
                hits += float((outputs.argmax(1) == labels).sum())
        return loss / samples.count, hits / samples.count

    def _batch(
        self, epoch: int, view: View | None, index: torch.Tensor, generator: torch.Generator
    ) -> tuple[Inputs, torch.Tensor, torch.Tensor | None]:
        """Inputs, labels and, if it is kept, what the teacher says of samples by their numbers."""
        if view is None:
            augmentation = self._recipe.augmentation_in(epoch)
            moves = self._samples.moves(len(index), augmentation, generator)
            return (*self._samples.batch(index, moves), None)
        return (*view.batch(index), view.logits[index.to(view.logits.device)])

    def _step(
        self, step: Step, inputs: Inputs, labels: torch.Tensor, wanted: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """One step of the optimizer with this process's part of a batch.

        Args:
            step: where the run is.
            inputs: a batch, by graph input.
            labels: its classes, int64 [N].
            wanted: the teacher's logits; None: it is asked for them.

        Returns:
            The sum of the losses of these samples, float64, and how many were told right.
        """
        count = len(labels)
        inputs = {name: self._part.of(x) for name, x in inputs.items()}
        labels = self._part.of(labels)
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate * step.share * group["share"]
        wanted = self._wanted(inputs) if wanted is None else self._part.of(wanted)
        outputs = self._student.outputs(inputs)
        loss = self._loss(outputs, wanted, labels)
        if step.number % self._every == 0:
            _need_finite(loss.detach(), step)
        self._optimizer.zero_grad()
        # The mean over the parts is that over the batch.
        (loss * (self._part.count * len(labels) / count)).backward()
        self._part.average(p for group in self._optimizer.param_groups for p in group["params"])
        self._optimizer.step()
        self._student.finish(step)
        return loss.detach().double() * len(labels), (outputs.argmax(1) == labels).sum()

    def _wanted(self, inputs: Inputs) -> torch.Tensor:
        with torch.no_grad(), mixed(self._student.device):
            return self._teacher(inputs).float()


def _need_finite(loss: torch.Tensor, step: Step) -> None:
    """Refuse to go on from a loss that is no finite number.

    Raises:
        TrainingError: it is none, in this step or not long before.
    """
    if not math.isfinite(float(loss)):
        raise TrainingError(
            "training diverged: the loss is no finite number",
            where=f"step {step.number + 1} of {step.total}",
            hint="look at the samples and at the teacher; edgec.finetune takes a lower rate",
        )


def chosen_device(name: str, devices: int = 1) -> torch.device:
    """The device of an option; of several, that of this process.

    Raises:
        ConfigError: it is not there, or fewer of them than asked for.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            "there is no GPU that PyTorch can use",
            where="--device",
            hint="leave it out, or give cpu",
        )
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    if devices > torch.cuda.device_count():
        raise ConfigError(
            f"there are {torch.cuda.device_count()} GPUs, not {devices}",
            where="--devices",
            hint="give as many as there are at most",
        )
    return torch.device("cuda")


def mixed(device: torch.device) -> AbstractContextManager[object]:
    """bfloat16 where the device computes it faster than float32."""
    fast = device.type == "cuda" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return torch.autocast(device.type, torch.bfloat16, enabled=fast)


def rate_share(step: int, steps: int) -> float:
    """The learning rate's share of its peak: up in a line, then down a half cosine to 0."""
    up = max(1, int(steps * _WARM_UP))
    if step < up:
        return (step + 1) / up
    return 0.5 * (1 + math.cos(math.pi * (step - up) / max(1, steps - up)))
