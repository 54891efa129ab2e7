"""The course of a training in integers: epochs, the choice among them, and a last check."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import Progress
from edgec.finetune import checkpoint
from edgec.finetune.batches import Samples
from edgec.finetune.integers.network import IntegerNetwork
from edgec.finetune.integers.options import IntegerRecipe, Trained, TrainingReport
from edgec.finetune.loss import loss_of
from edgec.finetune.network import Network, equal_classes
from edgec.finetune.options import TrainingData
from edgec.finetune.run import Inputs, Run, Step, chosen_device
from edgec.interp import run_graph
from edgec.ir.graph import Graph
from edgec.quant import to_integer
from edgec.quant.scales.known import calibrated_groups

_LEAST_HELD = 16
"""Fewer samples than this choose no epoch."""
_CHECKED = 32
"""Samples that are computed a second time in the end."""


def trained(
    annotated: Graph,
    real: Graph,
    teacher: Graph,
    data: TrainingData,
    recipe: IntegerRecipe,
    progress: Progress,
) -> Trained:
    """See `edgec.finetune.integers.finetune`."""
    device = chosen_device(recipe.device)
    open_values = [group.members for group in calibrated_groups(real)]
    network = IntegerNetwork(annotated, real, open_values).to(device)
    judge = Network(teacher).to(device).eval().requires_grad_(False)
    classes = equal_classes(math.prod(annotated.shape(network.output)), judge)
    data = data.checked(annotated, classes)
    run_data, held_data = _parts(data, recipe)
    held = Samples(held_data, device)
    name = checkpoint.fingerprint((annotated, teacher), data, recipe)
    student = _Student(network, recipe, device)
    loss = loss_of(annotated, judge, recipe.distillation, recipe.temperature)
    run = Run(student, judge, Samples(run_data, device), recipe, loss, name)
    course = _Course(network, run, held)
    course.follow(recipe.epochs, progress)
    network.load_state_dict(course.best)
    network.convert()
    progress("checking the integers")
    report = TrainingReport(
        epochs=recipe.epochs,
        epoch=course.epoch,
        trained=len(run_data.labels),
        held_back=held.count,
        teacher=_share(judge, held),
        before=course.start[0],
        after=course.score[0],
        loss_before=-course.start[1],
        loss_after=-course.score[1],
        **_checked(network, held_data),
    )
    return Trained(network.annotated() if course.epoch else annotated, report)


class _Student:
    """An integer network as a run trains it."""

    def __init__(
        self, network: IntegerNetwork, recipe: IntegerRecipe, device: torch.device
    ) -> None:
        self._network, self._recipe = network, recipe
        self.device = device

    def groups(self) -> list[dict[str, Any]]:
        """See `run.Student`."""
        network, recipe = self._network, self._recipe
        shares = (
            (network.latents(), 1.0),
            (network.biases(), recipe.bias_rate),
            (network.scales(), recipe.scale_rate),
        )
        return [
            {"params": parameters, "share": share, "weight_decay": 0.0}
            for parameters, share in shares
        ]

    def prepare(self, _step: Step, _generator: torch.Generator) -> None:
        """The integer graph follows the parameters after each step; nothing is left to do."""

    def outputs(self, inputs: Inputs) -> torch.Tensor:
        """See `run.Student`."""
        found: torch.Tensor = self._network(inputs)
        return found

    def finish(self, _step: Step) -> None:
        """Let the integer graph follow the parameters."""
        self._network.keep_within()
        self._network.convert()

    def state(self) -> dict[str, Any]:
        """See `run.Student`."""
        return {"network": self._network.state_dict()}

    def restore(self, state: dict[str, Any]) -> None:
        """See `run.Student`."""
        self._network.load_state_dict(state["network"])
        self._network.convert()


class _Course:
    """The epochs of a run and the best of them.

    Attributes:
        start, score: (share told right, loss with a minus) of the samples held back: at the start,
            and of what is kept.
        epoch: the epoch that is kept, 0 for the start.
        best: its parameters.
    """

    def __init__(self, network: IntegerNetwork, run: Run, held: Samples) -> None:
        self._network, self._run, self._held = network, run, held
        self.start = self.score = self._judged()
        self.epoch = 0
        self.best = copy.deepcopy(network.state_dict())

    def follow(self, epochs: int, progress: Progress) -> None:
        """Train, or go on training."""
        state = self._run.resumed()
        if state:
            self.epoch, self.score = state["best_epoch"], tuple(state["best_score"])
            self.best = state["best"]
        text = f"training in integers: {self.start[0]:.2%} of the samples held back at the start"
        done = state["epochs"] if state else 0
        progress(text, done * self._run.steps_an_epoch, self._run.steps)
        for number in range(done, epochs):
            loss, _ = self._run.epoch(number, progress, text)
            score = self._judged()
            if score > self.score:
                self.score, self.epoch = score, number + 1
                self.best = copy.deepcopy(self._network.state_dict())
            kept = {"best": self.best, "best_epoch": self.epoch, "best_score": list(self.score)}
            self._run.save(number + 1, kept)
            text = f"training in integers: loss {loss:.3f}, {score[0]:.2%} of the samples held back"
            progress(text, (number + 1) * self._run.steps_an_epoch, self._run.steps)

    def _judged(self) -> tuple[float, float]:
        loss, share = self._run.judged(self._held)
        return share, -loss


def _parts(data: TrainingData, recipe: IntegerRecipe) -> tuple[TrainingData, TrainingData]:
    """Split data into samples to train on and samples held back."""
    count = len(data.labels)
    held = max(round(count * recipe.held_back), _LEAST_HELD)
    if count < 2 * held:
        raise ConfigError(
            f"{count} samples are too few: {held} of them would be held back to choose the epoch",
            where="training data",
            hint=f"give {2 * _LEAST_HELD} samples or more, best some thousand",
        )
    generator = torch.Generator().manual_seed(recipe.seed)
    order = torch.randperm(count, generator=generator).numpy()
    # In their order: where the file has several samples of an object side by side, they stay so.
    return _some(data, np.sort(order[held:])), _some(data, np.sort(order[:held]))


def _some(data: TrainingData, index: Array) -> TrainingData:
    return TrainingData({n: x[index] for n, x in data.inputs.items()}, data.labels[index])


def _share(judge: Network, samples: Samples) -> float:
    """Share of samples that the float network tells right."""
    hits = 0
    with torch.no_grad():
        for inputs, labels in samples.ordered():
            hits += int((judge(inputs).argmax(1) == labels).sum())
    return hits / samples.count


def _checked(network: IntegerNetwork, held: TrainingData) -> Mapping[str, int]:
    """Counts of codes compared with the oracle on the returned graph, and of unequal ones."""
    few = {name: x[:_CHECKED] for name, x in held.inputs.items()}
    device = network.spread.device
    with torch.no_grad():
        inputs = {name: torch.from_numpy(x).to(device) for name, x in few.items()}
        found = network.codes(inputs).cpu().numpy().astype(np.int64)
    graph = network.annotated()
    integer = to_integer(graph)
    codes = {name: graph.quant(name).quantize(x) for name, x in few.items()}
    unequal = 0
    for index, row in enumerate(found):
        one = {name: x[index : index + 1] for name, x in codes.items()}
        wanted = run_graph(integer, one)[network.output].astype(np.int64).reshape(-1)
        zero = graph.quant(network.output).tensor_zero_point
        unequal += int((wanted - zero != row).sum())
    return {"checked": found.size, "unequal": unequal}
