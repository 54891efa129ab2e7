"""The recipe for pooled networks: straight-through training with a trainable pool.

Indices move while the rate is high; in the last part they are frozen and what remains is averaged.
For each step a width of the activations is drawn, so that one network serves all widths.

The average of parameters over the last steps of training.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from edgec.base.options import Progress
from edgec.finetune import checkpoint
from edgec.finetune.batches import Samples
from edgec.finetune.loss import loss_of
from edgec.finetune.network import Network, equal_classes
from edgec.finetune.options import TrainingData
from edgec.finetune.parallel import Part, in_parts
from edgec.finetune.pooled import export
from edgec.finetune.pooled.model import Student
from edgec.finetune.pooled.options import FinetuneOptions
from edgec.finetune.run import Inputs, Run, Step, chosen_device, mixed
from edgec.ir.graph import Graph

_LEAST_SHARE = 0.002
"""A step's share of the average once it is an exponential one."""


class Average:
    """Averages tensors; meaningful once the indices are frozen.

    Attributes:
        count: steps averaged so far.
        values: the averages; empty before the first step.
    """

    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        self._parameters = list(parameters)
        self.count = 0
        self.values: list[torch.Tensor] = []

    def update(self) -> None:
        """Take the parameters of a step in."""
        self.count += 1
        current = [parameter.detach() for parameter in self._parameters]
        if self.count == 1:
            self.values = [value.clone() for value in current]
            return
        share = max(_LEAST_SHARE, 1 / self.count)
        for value, new in zip(self.values, current, strict=True):
            value.lerp_(new, share)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Lets the parameters be their averages for a while."""
        if not self.values:
            yield
            return
        own = [parameter.detach().clone() for parameter in self._parameters]
        self._set(self.values)
        try:
            yield
        finally:
            self._set(own)

    def state(self) -> dict[str, int | list[torch.Tensor]]:
        """The state that a checkpoint holds."""
        return {"count": self.count, "values": self.values}

    def restore(self, count: int, values: Sequence[torch.Tensor]) -> None:
        """Take up the state of a checkpoint."""
        self.count, self.values = count, list(values)

    def _set(self, values: Sequence[torch.Tensor]) -> None:
        with torch.no_grad():
            for parameter, value in zip(self._parameters, values, strict=True):
                parameter.copy_(value)


_DECAY = 5e-4
"""Weight decay of weights that are not pooled."""
_SECOND_BETA = 0.999
_ASSIGN_EVERY = 4
"""Steps between two assignments."""


def trained_graph(
    graph_float: Graph,
    graph_pooled: Graph,
    data: TrainingData,
    options: FinetuneOptions,
    progress: Progress,
    teacher_graph: Graph | None,
) -> Graph:
    """See `edgec.finetune.pooled.finetune`."""
    device = chosen_device(options.device, options.devices).type
    work = functools.partial(_trained, graph_float, graph_pooled, data, options, teacher_graph)
    return in_parts(options.devices, device, work, progress)


def _trained(
    graph_float: Graph,
    graph_pooled: Graph,
    data: TrainingData,
    options: FinetuneOptions,
    teacher_graph: Graph | None,
    part: Part,
    progress: Progress,
) -> Graph:
    """Train as `trained_graph` does, in one process that computes its part of each batch."""
    device = chosen_device(options.device)
    original = Network(graph_float).to(device).eval().requires_grad_(False)
    teacher, graphs = original, [graph_float, graph_pooled]
    if teacher_graph is not None:
        teacher = Network(teacher_graph).to(device).eval().requires_grad_(False)
        graphs.append(teacher_graph)
    classes = equal_classes(math.prod(graph_float.shape(original.output)), teacher)
    data = data.checked(graph_float, classes)
    watched = options.validation and options.validation.checked(graph_float, classes)
    progress("measuring the float network")
    samples = Samples(data, device)
    student = Student(graph_pooled, original, samples, options, device)
    name = checkpoint.fingerprint(graphs, data, options)
    trained = _Trained(student, options)
    objective = loss_of(graph_float, teacher, options.distillation, options.temperature)
    run = Run(trained, teacher, samples, options, objective, name, part)
    state = run.resumed()
    validation = Samples(watched, device) if watched else None
    text, done = "fine-tuning", state["epochs"] if state else 0
    for number in range(done, options.epochs):
        student.augmentation = options.augmentation_in(number)
        loss, share = run.epoch(number, progress, text)
        trained.settle((number + 1) * run.steps_an_epoch, run.steps)
        run.save(number + 1)
        text = f"fine-tuning: loss {loss:.3f}, training {share:.2%}"
        if validation is not None:
            text += trained.validated(validation, last=number + 1 == options.epochs)
        progress(text, (number + 1) * run.steps_an_epoch, run.steps)
    student.augmentation = options.augmentation_in(options.epochs - 1)
    with trained.average.in_place():
        student.apply_pools()
        student.reestimate()
        return export.trained(graph_pooled, student.network, student.trained_pools)


class _Trained:
    """A pooled network as a run trains it.

    Attributes:
        average: the average of all parameters since the indices were frozen.
    """

    def __init__(self, student: Student, options: FinetuneOptions) -> None:
        self._student, self._options = student, options
        self.device = student.device
        self.average = Average(student.parameters())

    def groups(self) -> list[dict[str, Any]]:
        """See `run.Student`."""
        options, betas = self._options, (self._options.latent_momentum, _SECOND_BETA)
        latent = [layer.weight for pool in self._student.trained_pools for layer in pool.layers]
        vectors = [each for each in self._student.pools.parameters() if each.requires_grad]
        known = {id(each) for each in (*latent, *vectors)}
        others = [each for each in self._student.parameters() if id(each) not in known]
        return [
            {"params": latent, "share": options.latent_rate, "weight_decay": 0.0, "betas": betas},
            {"params": vectors, "share": options.pool_rate, "weight_decay": 0.0},
            {"params": [p for p in others if p.ndim > 1], "share": 1.0, "weight_decay": _DECAY},
            {"params": [p for p in others if p.ndim == 1], "share": 1.0, "weight_decay": 0.0},
        ]

    def prepare(self, step: Step, generator: torch.Generator) -> None:
        """Draw a width, and choose the indices anew now and then."""
        widths, student = self._options.bits, self._student
        draw = int(torch.randint(len(widths), (1,), generator=generator))
        moves = not self._is_frozen(step.number, step.total)
        student.apply_pools(assign=moves and step.number % _ASSIGN_EVERY == 0)
        student.network.train()
        student.network.bits = widths[draw]

    def outputs(self, inputs: Inputs) -> torch.Tensor:
        """See `run.Student`."""
        with mixed(self.device):
            return self._student.network(inputs).float()

    def finish(self, step: Step) -> None:
        """Average the step, or move latent weights towards their vectors."""
        self._student.keep_positive()
        if self._is_frozen(step.number, step.total):
            self.average.update()
        else:
            self._student.pull(self._options.pull * step.share)

    def settle(self, done: int, total: int) -> None:
        """After an epoch, `done` of `total` steps: statistics and ranges anew."""
        if not self._is_frozen(done, total):
            self._student.apply_pools(assign=True)
            self._student.reestimate()
            self._student.choose_ranges()

    def validated(self, samples: Samples, *, last: bool) -> str:
        """Accuracy at 8 bits, `last` also at other widths; of the averages if there are any."""
        student = self._student
        with self.average.in_place():
            student.apply_pools()
            student.reestimate()
            widths = sorted({8, *self._options.bits}, reverse=True) if last else [8]
            found = [f"{student.accuracy(samples, bits):.2%} ({bits} bits)" for bits in widths]
        student.apply_pools()
        return ", validation " + ", ".join(found)

    def state(self) -> dict[str, Any]:
        """See `run.Student`."""
        return {
            "network": self._student.network.state_dict(),
            "pools": self._student.pools.state_dict(),
            "average": self.average.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """See `run.Student`."""
        self._student.network.load_state_dict(state["network"])
        self._student.pools.load_state_dict(state["pools"])
        self.average.restore(**state["average"])

    def _is_frozen(self, step: int, steps: int) -> bool:
        return step >= int(steps * (1 - self._options.frozen))
