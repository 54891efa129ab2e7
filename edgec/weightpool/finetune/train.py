"""The recipe: distillation from the float network at one cycle of the learning rate.

Straight-through training with a trainable pool.  Indices move while the rate is high; in the last
part they are frozen and what remains is averaged.  For each step a width of the activations is
drawn, so that one network serves all widths.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from edgec.base.errors import ConfigError, WeightPoolError
from edgec.base.options import Progress
from edgec.ir.graph import Graph
from edgec.weightpool.finetune import checkpoint, export
from edgec.weightpool.finetune.average import Average
from edgec.weightpool.finetune.batches import Samples
from edgec.weightpool.finetune.model import Student, mixed
from edgec.weightpool.finetune.network import Network
from edgec.weightpool.finetune.options import FinetuneOptions, TrainingData

_WARM_UP = 0.2
"""Share of the steps in which the rate rises."""
_DECAY = 5e-4
"""Weight decay of weights that are not pooled."""
_ASSIGN_EVERY = 4
"""Steps between two assignments."""
_SEEDS = 1_000_003


def trained_graph(
    graph_float: Graph,
    graph_pooled: Graph,
    data: TrainingData,
    options: FinetuneOptions,
    progress: Progress,
) -> Graph:
    """See `edgec.weightpool.finetune.finetune`."""
    device = chosen_device(options.device)
    teacher = Network(graph_float).to(device).eval().requires_grad_(False)
    classes = math.prod(graph_float.shape(teacher.output))
    data = data.checked(graph_float, classes)
    watched = options.validation and options.validation.checked(graph_float, classes)
    progress("measuring the float network")
    samples = Samples(data, device)
    student = Student(graph_pooled, teacher, samples, options, device)
    run = checkpoint.fingerprint((graph_float, graph_pooled), data, options)
    training = Training(student, teacher, samples, options, run)
    validation = Samples(watched, device) if watched else None
    for number in range(training.resumed(), options.epochs):
        loss, share = training.epoch(number)
        training.settle(number)
        text = f"fine-tuning: loss {loss:.3f}, training {share:.2%}"
        if validation is not None:
            text += training.validated(validation, last=number + 1 == options.epochs)
        progress(text, number + 1, options.epochs)
    with training.average.in_place():
        student.apply_pools()
        student.reestimate()
        return export.trained(graph_pooled, student.network, student.trained_pools)


def chosen_device(name: str) -> torch.device:
    """The device of an option.

    Raises:
        ConfigError: it is not there.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            "there is no GPU that PyTorch can use", where="device", hint="train with device cpu"
        )
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def rate_share(step: int, steps: int) -> float:
    """The learning rate's share of its peak: up in a line, then down a half cosine to 0."""
    up = max(1, int(steps * _WARM_UP))
    if step < up:
        return (step + 1) / up
    return 0.5 * (1 + math.cos(math.pi * (step - up) / max(1, steps - up)))


class Training:
    """A run: what changes from step to step.

    Attributes:
        average: the average of all parameters since the indices were frozen.
    """

    def __init__(
        self,
        student: Student,
        teacher: Network,
        samples: Samples,
        options: FinetuneOptions,
        run: str,
    ) -> None:
        self._student = student
        self._teacher = teacher
        self._samples = samples
        self._options = options
        self._run = run
        self._per_epoch = samples.steps(options.batch)
        self._steps = options.epochs * self._per_epoch
        self._frozen_from = int(self._steps * (1 - options.frozen))
        self._optimizer = torch.optim.AdamW(self._groups(), lr=options.rate)
        self.average = Average(student.parameters())

    def epoch(self, number: int) -> tuple[float, float]:
        """Train on all samples once.

        Returns:
            The mean loss, and the share of the samples that were told right.

        Raises:
            WeightPoolError: the loss is no finite number.
        """
        options = self._options
        generator = torch.Generator().manual_seed(options.seed * _SEEDS + number)
        loss = hits = 0.0
        seen = 0
        batches = self._samples.shuffled(options.batch, generator, options.augmentation)
        for index, (inputs, labels) in enumerate(batches):
            draw = int(torch.randint(len(options.bits), (1,), generator=generator))
            step = number * self._per_epoch + index
            part, right = self._step(step, inputs, labels, options.bits[draw])
            loss, hits, seen = loss + part * len(labels), hits + right, seen + len(labels)
        return loss / seen, hits / seen

    def settle(self, number: int) -> None:
        """After an epoch: statistics and ranges anew, state into the checkpoint."""
        student = self._student
        frozen = (number + 1) * self._per_epoch >= self._frozen_from
        if not frozen:
            student.apply_pools(assign=True)
            student.reestimate()
            student.choose_ranges()
        if self._options.checkpoint is not None:
            checkpoint.save(self._options.checkpoint, self._run, self._state(number + 1))

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

    def resumed(self) -> int:
        """Take up the state of the checkpoint, if there is one; the epochs that are done."""
        path = self._options.checkpoint
        state = path and checkpoint.load(path, self._run, self._student.device)
        if not state:
            return 0
        self._student.network.load_state_dict(state["network"])
        self._student.pools.load_state_dict(state["pools"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.average.restore(**state["average"])
        return int(state["epochs"])

    def _state(self, epochs: int) -> dict[str, Any]:
        return {
            "epochs": epochs,
            "network": self._student.network.state_dict(),
            "pools": self._student.pools.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "average": self.average.state(),
        }

    def _groups(self) -> list[dict[str, Any]]:
        """Parameters by what their rate is relative to `rate`, and their decay."""
        latent = [layer.weight for pool in self._student.trained_pools for layer in pool.layers]
        vectors = [each for each in self._student.pools.parameters() if each.requires_grad]
        known = {id(each) for each in (*latent, *vectors)}
        others = [each for each in self._student.parameters() if id(each) not in known]
        return [
            {"params": latent, "share": self._options.latent_rate, "weight_decay": 0.0},
            {"params": vectors, "share": self._options.pool_rate, "weight_decay": 0.0},
            {"params": [p for p in others if p.ndim > 1], "share": 1.0, "weight_decay": _DECAY},
            {"params": [p for p in others if p.ndim == 1], "share": 1.0, "weight_decay": 0.0},
        ]

    def _step(
        self, step: int, inputs: dict[str, torch.Tensor], labels: torch.Tensor, bits: int
    ) -> tuple[float, float]:
        """One step of the optimizer: (loss, samples told right)."""
        share = rate_share(step, self._steps)
        for group in self._optimizer.param_groups:
            group["lr"] = self._options.rate * share * group["share"]
        frozen = step >= self._frozen_from
        student = self._student
        student.apply_pools(assign=not frozen and step % _ASSIGN_EVERY == 0)
        student.network.train()
        student.network.bits = bits
        with mixed(student.device):
            with torch.no_grad():
                wanted = self._teacher(inputs).float()
            outputs = student.network(inputs).float()
        loss = self._loss(outputs, wanted, labels)
        if not math.isfinite(float(loss.detach())):
            raise WeightPoolError(
                "training diverged: the loss is no finite number",
                where=f"step {step + 1} of {self._steps}",
                hint="take a lower learning rate",
            )
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        student.keep_positive()
        if frozen:
            self.average.update()
        else:
            student.pull(self._options.pull * share)
        return float(loss.detach()), float((outputs.argmax(1) == labels).sum())

    def _loss(
        self, outputs: torch.Tensor, wanted: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        """Cross entropy, and the distance from the teacher (Hinton et al., arXiv 1503.02531)."""
        share, temperature = self._options.distillation, self._options.temperature
        distance = functional.kl_div(
            functional.log_softmax(outputs / temperature, 1),
            functional.log_softmax(wanted / temperature, 1),
            reduction="batchmean",
            log_target=True,
        )
        hard = functional.cross_entropy(outputs, labels)
        return share * temperature**2 * distance + (1 - share) * hard
