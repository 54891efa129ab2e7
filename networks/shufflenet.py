"""A narrow ShuffleNetV2 for 32 x 32 images, in PyTorch: channels split, joined and shuffled.

Ma et al., "ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design", ECCV 2018,
with a first convolution of stride 1, no pooling after it, and two or three units a stage.
"""

from __future__ import annotations

import torch
from torch import nn

STEM, LAST = 16, 192
STAGES = ((48, 3), (96, 4), (128, 2))
"""Channels of a stage, and its units; the first of them has stride 2."""


def _depthwise(channels: int, stride: int) -> list[nn.Module]:
    conv = nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False)
    return [conv, nn.BatchNorm2d(channels)]


def _pointwise(inputs: int, outputs: int) -> list[nn.Module]:
    return [nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def shuffled(x: torch.Tensor) -> torch.Tensor:
    """Channels of the two halves in turn; [N, C, H, W]."""
    channels, height, width = x.shape[1:]
    pairs = x.reshape(-1, 2, channels // 2, height, width).transpose(1, 2)
    return pairs.reshape(-1, channels, height, width)


class Unit(nn.Module):
    """Half of the channels pass, the others go through three convolutions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.half = half
        self.body = nn.Sequential(
            *_pointwise(half, half), *_depthwise(half, 1), *_pointwise(half, half)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps [N, C, H, W] to the same shape."""
        kept, changed = x.split(self.half, dim=1)
        return shuffled(torch.cat([kept, self.body(changed)], dim=1))


class Down(nn.Module):
    """Two branches with stride 2, each with half of the channels that come out."""

    def __init__(self, inputs: int, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.short = nn.Sequential(*_depthwise(inputs, 2), *_pointwise(inputs, half))
        self.long = nn.Sequential(
            *_pointwise(inputs, half), *_depthwise(half, 2), *_pointwise(half, half)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps [N, inputs, H, W] to [N, channels, H / 2, W / 2]."""
        return shuffled(torch.cat([self.short(x), self.long(x)], dim=1))


def build(classes: int = 10) -> nn.Module:
    """The network with fresh weights: [N, 3, 32, 32] to logits [N, classes]."""
    stem = nn.Conv2d(3, STEM, 3, 1, 1, bias=False)
    layers: list[nn.Module] = [stem, nn.BatchNorm2d(STEM), nn.ReLU()]
    channels = STEM
    for width, units in STAGES:
        layers += [Down(channels, width), *(Unit(width) for _ in range(units - 1))]
        channels = width
    layers += [*_pointwise(channels, LAST), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(LAST, classes))
