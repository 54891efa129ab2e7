"""A small one-stage detector without anchors for pictures of 64 x 64 pixels, in PyTorch.

Inverted residuals of MobileNetV2 down to 1/16 of the picture; what they see at 1/16 is enlarged and
added to what they see at 1/8 (Lin et al., "Feature Pyramid Networks", CVPR 2017); the same head
says for every cell of both the classes and the box (Tian et al., "FCOS: Fully Convolutional
One-Stage Object Detection", ICCV 2019).
"""

from __future__ import annotations

import detection
import torch
from mobilenets import InvertedResidual, layer
from shapes import CLASSES, Scenes
from torch import nn
from torch.nn import functional

WIDTH = 32
_FOCUS = 2.0
_LARGE = 18.0
"""Boxes with a longer side belong to the larger cells."""
_NEAR = 0.75
"""Cells whose middle is this near the box's, in cells, are to find it."""
_BOX_WEIGHT = 2.0
_RARE = -3.0
"""First bias of the scores: shapes are rare."""


class Head(nn.Module):
    """A score for each class and four distances for each cell."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(layer(WIDTH, WIDTH, 3, 1, WIDTH), layer(WIDTH, WIDTH, 1))
        self.scores = nn.Conv2d(WIDTH, len(CLASSES), 1)
        self.distances = nn.Conv2d(WIDTH, 4, 1)
        nn.init.constant_(self.scores.bias, _RARE)
        nn.init.constant_(self.distances.bias, 1.0)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Maps [N, WIDTH, H, W] to logits [N, H * W, classes] and distances [N, H * W, 4]."""
        x = self.body(x)
        logits, distances = self.scores(x), self.distances(x)
        return logits.flatten(2).transpose(1, 2), distances.flatten(2).transpose(1, 2)


class Detector(nn.Module):
    """From [N, 3, 64, 64] to scores and distances of 80 cells: about 50,000 parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.fine = nn.Sequential(
            layer(3, 16, 3, 2),
            InvertedResidual(16, 16, 1, 1),
            InvertedResidual(16, 24, 2, 4),
            InvertedResidual(24, 24, 1, 4),
            InvertedResidual(24, WIDTH, 2, 4),
            InvertedResidual(WIDTH, WIDTH, 1, 4),
        )
        self.coarse = nn.Sequential(
            InvertedResidual(WIDTH, WIDTH, 2, 4), InvertedResidual(WIDTH, WIDTH, 1, 4)
        )
        self.beside = nn.Conv2d(WIDTH, WIDTH, 1)
        self.head = Head()

    def logits(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As `forward`, with the scores before their sigmoid."""
        fine = self.fine(x)
        coarse = self.coarse(fine)
        fine = self.beside(fine) + functional.interpolate(coarse, scale_factor=2.0)
        found = [self.head(fine), self.head(coarse)]
        return torch.cat([s for s, _ in found], 1), torch.cat([d for _, d in found], 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Maps float [N, 3, 64, 64] to `detection.decode`'s scores and distances."""
        logits, distances = self.logits(x)
        return logits.sigmoid(), distances


def targets(scenes: Scenes) -> tuple[torch.Tensor, torch.Tensor]:
    """What the detector is to say: float [N, CELLS, classes] and [N, CELLS, 4] (NaN: no box)."""
    middles, sides = (torch.from_numpy(each) for each in detection.cells())
    scores = torch.zeros(len(scenes.images), len(sides), len(CLASSES))
    boxes = torch.full((len(scenes.images), len(sides), 4), torch.nan)
    for index, (found, classes) in enumerate(zip(scenes.boxes, scenes.classes, strict=True)):
        # Small ones last: they take a cell from a large one.
        order = sorted(range(len(found)), key=lambda i: -float(max(found[i][2:] - found[i][:2])))
        for number in order:
            box = torch.from_numpy(found[number])
            large = bool((box[2:] - box[:2]).max() > _LARGE)
            right_size = sides == detection.STRIDES[int(large)]
            far = ((middles - (box[:2] + box[2:]) / 2).abs().amax(1)) / sides
            near = right_size & (far < _NEAR)
            scores[index, near] = 0
            scores[index, near, int(classes[number])] = 1
            ends = torch.cat([middles[near] - box[:2], box[2:] - middles[near]], dim=1)
            boxes[index, near] = ends / sides[near, None]
    return scores, boxes


def loss(
    logits: torch.Tensor, distances: torch.Tensor, scores: torch.Tensor, boxes: torch.Tensor
) -> torch.Tensor:
    """Focal loss of the scores, and 1 - overlap of the boxes, a cell with a box.

    Source: Lin et al., "Focal Loss for Dense Object Detection", ICCV 2017.
    """
    there = ~boxes[..., 0].isnan()
    wrong = (logits.sigmoid() - scores).abs() ** _FOCUS
    cross = functional.binary_cross_entropy_with_logits(logits, scores, reduction="none")
    found, true = distances[there].clamp(min=0.01), boxes[there].clamp(min=0.0)
    both = torch.minimum(found, true)
    area = (both[:, 0] + both[:, 2]) * (both[:, 1] + both[:, 3])
    areas = [(d[:, 0] + d[:, 2]) * (d[:, 1] + d[:, 3]) for d in (found, true)]
    overlap = area / (areas[0] + areas[1] - area)
    total = (wrong * cross).sum() + _BOX_WEIGHT * (1 - overlap).sum()
    return total / max(int(there.sum()), 1)
