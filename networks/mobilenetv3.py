"""A narrow MobileNetV3-small for 32 x 32 images, in PyTorch: hard swish, squeeze-and-excitation.

Howard et al., "Searching for MobileNetV3", ICCV 2019, table 2, at about a third of the width, with
one step of stride 2 at the start and two on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True, slots=True)
class Step:
    """One block.

    Attributes:
        kernel: side of the depthwise filters.
        inner: channels within the block.
        channels: what it gives.
        gated: whether squeeze-and-excitation is part of it.
        swish: hard swish in place of ReLU.
        stride: of the depthwise layer.
    """

    kernel: int
    inner: int
    channels: int
    gated: bool
    swish: bool
    stride: int


STEM, LAST, HIDDEN = 16, 128, 128
STEPS = (
    Step(3, 16, 16, True, False, 1),
    Step(3, 48, 16, False, False, 1),
    Step(3, 64, 24, False, False, 2),
    Step(5, 72, 24, True, True, 1),
    Step(5, 96, 24, True, True, 1),
    Step(5, 96, 32, True, True, 2),
    Step(5, 96, 32, True, True, 1),
)


def layer(
    inputs: int, outputs: int, kernel: int, stride: int, groups: int, *, swish: bool
) -> nn.Sequential:
    """A convolution, its normalization and its function."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.Hardswish() if swish else nn.ReLU())


class Gate(nn.Module):
    """Squeeze-and-excitation: a factor for each channel, computed from the means of all."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inner = channels // 4
        self.body = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, inner, 1),
            nn.ReLU(),
            nn.Conv2d(inner, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps [N, C, H, W] to the same shape."""
        gates: torch.Tensor = self.body(x)
        return x * gates


class Block(nn.Module):
    """Expansion, depthwise convolution, gate, projection; beside a shortcut where shapes allow."""

    def __init__(self, inputs: int, step: Step) -> None:
        super().__init__()
        self.adds = step.stride == 1 and inputs == step.channels
        inner, swish = step.inner, step.swish
        self.body = nn.Sequential(
            layer(inputs, inner, 1, 1, 1, swish=swish) if inner > inputs else nn.Identity(),
            layer(inner, inner, step.kernel, step.stride, inner, swish=swish),
            Gate(inner) if step.gated else nn.Identity(),
            nn.Conv2d(inner, step.channels, 1, bias=False),
            nn.BatchNorm2d(step.channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, inputs, H, W] to float [N, channels, H / stride, W / stride]."""
        y: torch.Tensor = self.body(x)
        return x + y if self.adds else y


def build(classes: int = 10) -> nn.Module:
    """The network with fresh weights: [N, 3, 32, 32] to logits [N, classes]."""
    layers: list[nn.Module] = [layer(3, STEM, 3, 2, 1, swish=True)]
    channels = STEM
    for step in STEPS:
        layers.append(Block(channels, step))
        channels = step.channels
    layers += [layer(channels, LAST, 1, 1, 1, swish=True), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(
        *layers, nn.Linear(LAST, HIDDEN), nn.Hardswish(), nn.Linear(HIDDEN, classes)
    )
