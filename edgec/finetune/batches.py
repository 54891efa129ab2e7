"""Training samples as batches of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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

    def shuffled(
        self, batch: int, generator: torch.Generator, augmentation: Augmentation | None
    ) -> Iterator[Batch]:
        """An epoch in random order."""
        order = torch.randperm(self.count, generator=generator)
        for index in order.split(batch)[: self.steps(batch)]:
            inputs, labels = self._batch(index)
            yield self._moved(_all_varied(inputs, augmentation, generator)), labels.to(self._device)

    def ordered(self) -> Iterator[Batch]:
        """All samples as they are."""
        for index in torch.arange(self.count).split(_EVALUATED):
            inputs, labels = self._batch(index)
            yield self._moved(inputs), labels.to(self._device)

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
            inputs, _ = self._batch(index)
            yield self._moved(_all_varied(inputs, augmentation, generator))

    def _batch(self, index: torch.Tensor) -> Batch:
        return {name: x[index] for name, x in self._inputs.items()}, self._labels[index]

    def _moved(self, inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {name: x.to(self._device) for name, x in inputs.items()}


def varied(x: torch.Tensor, augmentation: Augmentation, generator: torch.Generator) -> torch.Tensor:
    """Images [N, H, W, C], each mirrored or not and shifted by its own number of pixels."""
    count, height, width, _ = x.shape
    shift = augmentation.shift
    padded = functional.pad(x, (0, 0, shift, shift, shift, shift))
    down, right = torch.randint(0, 2 * shift + 1, (2, count, 1), generator=generator)
    mirrored = torch.rand(count, 1, generator=generator) < (0.5 if augmentation.mirror else 0.0)
    column = torch.arange(width)
    rows = down + torch.arange(height)
    columns = right + torch.where(mirrored, width - 1 - column, column)
    each = torch.arange(count)[:, None, None]
    return padded[each, rows[:, :, None], columns[:, None, :]]


def _all_varied(
    inputs: dict[str, torch.Tensor],
    augmentation: Augmentation | None,
    generator: torch.Generator,
) -> dict[str, torch.Tensor]:
    if augmentation is None:
        return inputs
    return {
        name: varied(x, augmentation, generator) if x.ndim == IMAGE_AXES else x
        for name, x in inputs.items()
    }


def _tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(array if array.flags.writeable else array.copy())
