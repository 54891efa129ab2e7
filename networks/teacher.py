"""A trained network whose outputs another one learns: a teacher, asked once for each image.

An epoch sees all training images in one of a few views, each image mirrored and shifted at random
but the same way whenever its view comes again.  So the teacher is asked once a view, and not in
every step.
"""

from __future__ import annotations

from pathlib import Path

import cifar10
import torch

from edgec.base.options import IntegerOptions
from edgec.finetune.network import Network
from edgec.finetune.run import mixed
from edgec.workflow.integer import real_model

_AT_ONCE = 500
_SEEDS = 1000


class Views:
    """Training images in a few variants, with what a teacher says of each.

    Unlike those of `edgec.finetune.batches`, whose images are normalised before they are shifted:
    what comes in at an edge is a black pixel here, as everywhere in this folder, and 0 there.

    Attributes:
        count: variants; epoch e sees number e modulo `count`.
    """

    def __init__(
        self, teacher: Path, images: cifar10.Images, count: int, seed: int, device: str
    ) -> None:
        """No variants yet.

        Args:
            teacher: float ONNX file of a classifier of CIFAR-10.
            images: the training images.
            count: variants.
            seed: tells other variants apart.
            device: where the teacher computes.

        Raises:
            EdgecError: the file cannot be read, or an operator of it cannot be trained through.
        """
        graph = real_model(teacher, None, IntegerOptions()).graph
        self._network = Network(graph).to(device).eval().requires_grad_(False)
        self._input = graph.only_input
        self._images, self._seed, self._device = images, seed, torch.device(device)
        self.count = count
        self._known: dict[int, torch.Tensor] = {}

    def of(self, epoch: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Images uint8 [N, 3, 32, 32] as an epoch sees them, and the teacher's float32 [N, 10].

        They depend on the seed and on the epoch alone.
        """
        number = epoch % self.count
        generator = torch.Generator().manual_seed(self._seed * _SEEDS + number)
        parts = self._images.x.split(_AT_ONCE)
        varied = torch.cat([cifar10.augment(part, generator) for part in parts])
        if number not in self._known:
            self._known[number] = torch.cat([self._asked(x) for x in varied.split(_AT_ONCE)])
        return varied, self._known[number]

    def _asked(self, x: torch.Tensor) -> torch.Tensor:
        images = cifar10.normalise(x.to(self._device)).permute(0, 2, 3, 1)
        with torch.no_grad(), mixed(self._device):
            return self._network({self._input: images}).float().cpu()
