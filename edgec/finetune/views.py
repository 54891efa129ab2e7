"""What the teacher says of the samples, kept for a fixed number of variants of them.

A teacher that is larger than the student takes most of the time of a training.  Where samples are
varied in a few ways only, epoch after epoch in turn, it is asked once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from edgec.base.options import Progress, no_progress
from edgec.finetune.batches import Batch, Moves, Samples
from edgec.finetune.options import Augmentation, Recipe, check_views
from edgec.finetune.parallel import Part

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
        logits: float32 [N, classes], what the teacher says.
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
            recipe: how many variants there are, 1 or more, and how they are drawn.
            answer: the teacher's logits for a batch.
            classes: logits of a sample.
            part: what this process asks for; the others do the rest.

        Raises:
            ConfigError: what the teacher says would not fit 4 GiB.
        """
        check_views(recipe.views, samples.count, classes)
        self._samples, self._recipe, self._answer = samples, recipe, answer
        self._classes, self._part = classes, part
        self._known: dict[int, View] = {}

    def of(self, epoch: int, progress: Progress = no_progress) -> View:
        """The variant of an epoch, from 0.  It depends on the recipe's seed and the epoch alone."""
        augmentation = self._recipe.augmentation_in(epoch)
        number = _PLAIN if augmentation is None else epoch % self._recipe.views
        if number not in self._known:
            self._known[number] = self._made(number, augmentation, progress)
        return self._known[number]

    def _made(self, number: int, augmentation: Augmentation | None, progress: Progress) -> View:
        samples = self._samples
        generator = torch.Generator().manual_seed(self._recipe.seed * _SEEDS + number + 1)
        moves = samples.moves(samples.count, augmentation, generator)
        view = View(samples, moves, torch.zeros(samples.count, self._classes))
        # The same batches whenever it is made: a run that goes on gets the same numbers.
        for index in torch.arange(samples.count).split(_BATCH * self._part.count):
            progress("asking the teacher", int(index[0]), samples.count)
            mine = self._part.of(index)
            view.logits[mine] = self._answer(view.batch(mine)[0]).cpu()
        self._part.add_up(view.logits)
        return view
