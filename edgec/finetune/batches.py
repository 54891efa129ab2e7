"""Training samples as batches of tensors.

Samples lie on the device that trains, as far as its memory holds them, and are varied there, a
batch at a time.  A teacher that is larger than the student takes most of the time of a training.
Where samples are varied in a few ways only, epoch after epoch in turn, it is asked once for each;
new ways may take the place of old ones as the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import torch

from edgec.base.dtypes import Array
from edgec.base.options import Progress, no_progress
from edgec.finetune.options import IMAGE_AXES, Augmentation, Recipe, TrainingData, check_views
from edgec.finetune.parallel import Part

Batch = tuple[dict[str, torch.Tensor], torch.Tensor]
_DRAW_SEED = 7
_EVALUATED = 256
"""Samples at a time where nothing is trained."""


class Samples:
    """Training data on a device.

    Attributes:
        count: number of samples.
        device: where batches are.
    """

    def __init__(self, data: TrainingData, device: torch.device) -> None:
        found = {name: _tensor(array) for name, array in data.inputs.items()}
        place = device if fits(found.values(), device) else torch.device("cpu")
        self._inputs = {name: x.to(place) for name, x in found.items()}
        self._labels = _tensor(data.labels).to(device)
        self.device = device
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
        """Random shifts and mirrorings of `count` samples, for each input of images."""
        images = [name for name, x in self._inputs.items() if x.ndim == IMAGE_AXES]
        if augmentation is None:
            return {}
        return {name: Moves.drawn(count, augmentation, generator) for name in images}

    def batch(self, index: torch.Tensor, moves: Mapping[str, Moves]) -> Batch:
        """Samples by their numbers [N], varied as `moves` says of these N."""
        inputs = {
            name: moved(x, index, moves[name]) if name in moves else x[index.to(x.device)]
            for name, x in self._inputs.items()
        }
        found = {name: x.to(self.device) for name, x in inputs.items()}
        return found, self._labels[index.to(self.device)]

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
    """Shift and mirroring of each of N images.

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


def moved(x: torch.Tensor, index: torch.Tensor, moves: Moves) -> torch.Tensor:
    """Some of the images [M, H, W, C], each shifted and mirrored by its own entry.

    Args:
        x: all images.
        index: int64 [N], which.
        moves: how each of the N chosen images is varied.

    Returns:
        [N, H, W, C] on the device of `x`; zeros fill the edges.
    """
    _, height, width, channels = x.shape
    column = torch.arange(width)
    rows = moves.down - moves.shift + torch.arange(height)
    columns = moves.right - moves.shift
    columns = columns + torch.where(moves.mirrored, width - 1 - column, column)
    index, rows, columns = (each.to(x.device) for each in (index, rows, columns))
    high, wide = (rows >= 0) & (rows < height), (columns >= 0) & (columns < width)
    line = index[:, None] * height + rows.clamp(0, height - 1)
    pixel = line[:, :, None] * width + columns.clamp(0, width - 1)[:, None, :]
    found = x.reshape(-1, channels).index_select(0, pixel.reshape(-1))
    found = found.reshape(len(index), height, width, channels)
    return found.masked_fill_(~(high[:, :, None] & wide[:, None, :])[..., None], 0.0)


def _tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def fits(tensors: Iterable[torch.Tensor], device: torch.device) -> bool:
    """Whether samples take no more than half of what is free on a device."""
    if device.type != "cuda":
        return True
    free, _ = torch.cuda.mem_get_info(device)
    return 2 * sum(x.numel() * x.element_size() for x in tensors) <= free


_SEEDS = 1_000_033
_BATCH = 256
_PLAIN = -1

Answer = Callable[[Mapping[str, torch.Tensor]], torch.Tensor]


@dataclass(frozen=True, slots=True)
class View:
    """One variant of all N samples.

    Attributes:
        samples: what is varied.
        moves: by input, how it is.
        logits: float32 [N, classes], what the teacher says, on the samples' device.
    """

    samples: Samples
    moves: Mapping[str, Moves]
    logits: torch.Tensor

    def batch(self, index: torch.Tensor) -> Batch:
        """Samples by their numbers."""
        return self.samples.batch(
            index, {name: each.of(index) for name, each in self.moves.items()}
        )


class Views:
    """The variants that a run sees in turn; each is made when its first epoch comes."""

    def __init__(
        self, samples: Samples, recipe: Recipe, answer: Answer, classes: int, part: Part
    ) -> None:
        """No variants yet.

        Args:
            samples: what is trained on.
            recipe: how many variants there are, 1 or more, how they are drawn and renewed.
            answer: the teacher's logits for a batch.
            classes: logits of a sample.
            part: what this process asks for; the others do the rest.

        Raises:
            ConfigError: what the teacher says would not fit 4 GiB.
        """
        check_views(recipe.views, samples.count, classes)
        self._samples, self._recipe, self._answer = samples, recipe, answer
        self._classes, self._part = classes, part
        self._known: dict[int, tuple[int, View]] = {}

    def of(self, epoch: int, progress: Progress = no_progress) -> View:
        """The variant of an epoch, from 0.  It depends on the recipe's seed and the epoch alone."""
        recipe = self._recipe
        augmentation = recipe.augmentation_in(epoch)
        place, number = _PLAIN, _PLAIN
        if augmentation is not None:
            place = epoch % recipe.views
            number = drawing(epoch, recipe.views) if recipe.renew else place
        if place not in self._known or self._known[place][0] != number:
            self._known[place] = number, self._made(number, augmentation, progress)
        return self._known[place][1]

    def _made(self, number: int, augmentation: Augmentation | None, progress: Progress) -> View:
        samples = self._samples
        generator = torch.Generator().manual_seed(self._recipe.seed * _SEEDS + number + 1)
        moves = samples.moves(samples.count, augmentation, generator)
        logits = torch.zeros(samples.count, self._classes)
        view = View(samples, moves, logits)
        # The same batches whenever it is made: a run that goes on gets the same numbers.
        for index in torch.arange(samples.count).split(_BATCH * self._part.count):
            progress("asking the teacher", int(index[0]), samples.count)
            mine = self._part.of(index)
            logits[mine] = self._answer(view.batch(mine)[0]).cpu()
        self._part.add_up(logits)
        return replace(view, logits=logits.to(samples.device))


def drawing(epoch: int, views: int) -> int:
    """The number of the drawing that an epoch sees, where one of the views is drawn anew each time
    that all have been seen, each in its turn.

    The first drawings, 0 to views - 1, are those of the first epochs.
    """
    turn, place = divmod(epoch, views)
    latest = turn - (turn - 1 - place) % views
    return place if latest < 1 else views + latest - 1
