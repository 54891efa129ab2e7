"""Training samples as batches of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch.nn import functional

from edgec.base.dtypes import Array
from edgec.finetune.options import IMAGE_AXES, Augmentation, TrainingData

Batch = tuple[dict[str, torch.Tensor], torch.Tensor]
_DRAW_SEED = 7
_EVALUATED = 256
"""Samples at a time where nothing is trained."""


class Samples:
    """Training data, moved to a device batch by batch.

    Attributes:
        count: number of samples.
    """

    def __init__(self, data: TrainingData, device: torch.device) -> None:
        self._inputs = {name: _tensor(array) for name, array in data.inputs.items()}
        self._labels = _tensor(data.labels)
        self._device = device
        self.count = len(self._labels)

    def steps(self, batch: int) -> int:
        """Batches of an epoch: complete ones only, unless there is just one."""
        return max(1, self.count // batch)

    def shuffled(self, batch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        """The numbers of the samples of each batch of an epoch, in random order."""
        order = torch.randperm(self.count, generator=generator)
        yield from order.split(batch)[: self.steps(batch)]

    def moves(
        self, count: int, augmentation: Augmentation | None, generator: torch.Generator
    ) -> dict[str, Moves]:
        """How `count` samples are varied, by input; nothing for inputs that are not."""
        images = [name for name, x in self._inputs.items() if x.ndim == IMAGE_AXES]
        if augmentation is None:
            return {}
        return {name: Moves.drawn(count, augmentation, generator) for name in images}

    def batch(self, index: torch.Tensor, moves: Mapping[str, Moves]) -> Batch:
        """Samples by their numbers [N], varied as `moves` says of these N."""
        inputs = {name: x[index] for name, x in self._inputs.items()}
        inputs |= {name: moved(inputs[name], each) for name, each in moves.items()}
        found = {name: x.to(self._device) for name, x in inputs.items()}
        return found, self._labels[index].to(self._device)

    def ordered(self) -> Iterator[Batch]:
        """All samples as they are."""
        for index in torch.arange(self.count).split(_EVALUATED):
            yield self.batch(index, {})

    def drawn(
        self, limit: int, augmentation: Augmentation | None
    ) -> Iterator[dict[str, torch.Tensor]]:
        """The inputs of up to `limit` samples, the same ones each time.

        Varied as in training: normalizations measured on other images cost 4 points of ResNet-8.
        """
        generator = torch.Generator().manual_seed(_DRAW_SEED)
        count = min(limit, self.count)
        batch = min(_EVALUATED, count)
        order = torch.randperm(self.count, generator=generator)[: count // batch * batch]
        for index in order.split(batch):
            yield self.batch(index, self.moves(len(index), augmentation, generator))[0]


@dataclass(frozen=True, slots=True)
class Moves:
    """How each of N images is moved.

    Attributes:
        shift: the most pixels that one is shifted by.
        down, right: int64 [N, 1], how far each is shifted, plus `shift`.
        mirrored: bool [N, 1], left and right are exchanged.
    """

    shift: int
    down: torch.Tensor
    right: torch.Tensor
    mirrored: torch.Tensor

    @classmethod
    def drawn(cls, count: int, augmentation: Augmentation, generator: torch.Generator) -> Moves:
        """Moves of `count` images, drawn at random."""
        shift = augmentation.shift
        down, right = torch.randint(0, 2 * shift + 1, (2, count, 1), generator=generator)
        share = 0.5 if augmentation.mirror else 0.0
        return cls(shift, down, right, torch.rand(count, 1, generator=generator) < share)

    def of(self, index: torch.Tensor) -> Moves:
        """The moves of some of the images, by their numbers."""
        return Moves(self.shift, self.down[index], self.right[index], self.mirrored[index])


def moved(x: torch.Tensor, moves: Moves) -> torch.Tensor:
    """Images [N, H, W, C], each moved as it is said of it; zeros take the free places."""
    count, height, width, _ = x.shape
    shift = moves.shift
    padded = functional.pad(x, (0, 0, shift, shift, shift, shift))
    column = torch.arange(width)
    rows = moves.down + torch.arange(height)
    columns = moves.right + torch.where(moves.mirrored, width - 1 - column, column)
    each = torch.arange(count)[:, None, None]
    return padded[each, rows[:, :, None], columns[:, None, :]]


def _tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(array if array.flags.writeable else array.copy())
