"""The residual networks of the weight-pool paper for 32 x 32 images, in PyTorch.

ResNet-8 is MLPerf Tiny's (stages of 16, 32 and 64 channels, one basic block each).  ResNet-10 and
ResNet-14 are stacks of ResNet-18's basic blocks (64-128, and 64-128-256 channels, two blocks a
stage) whose first convolution has stride 2, so that their activations fit a microcontroller.
ResNet-18 keeps all pixels in its first stage and is a teacher for the others.
The narrow ones have as many bytes in int8 as the others with pooled weights, and a few more: they
tell what pools are worth beside fewer channels.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut, which is a 1x1 convolution where shapes change."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, inputs, H, W] to float [N, outputs, H / stride, W / stride]."""
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


@dataclass(frozen=True, slots=True)
class Shape:
    """What tells one network of the family from another.

    Attributes:
        stem_stride: stride of the first convolution.
        stages: (channels, blocks, stride of the first block) a stage.
    """

    stem_stride: int
    stages: tuple[tuple[int, int, int], ...]


SHAPES = {
    "resnet8": Shape(1, ((16, 1, 1), (32, 1, 2), (64, 1, 2))),
    "resnet10": Shape(2, ((64, 2, 1), (128, 2, 2))),
    "resnet8_narrow": Shape(1, ((6, 1, 1), (12, 1, 2), (20, 1, 2))),
    "resnet10_narrow": Shape(2, ((21, 2, 1), (40, 2, 2))),
    "resnet14": Shape(2, ((64, 2, 1), (128, 2, 2), (256, 2, 2))),
    "resnet18": Shape(1, ((64, 2, 1), (128, 2, 2), (256, 2, 2), (512, 2, 2))),
}


def build(name: str, classes: int = 10) -> nn.Module:
    """A network of SHAPES with fresh weights; raises KeyError for another name."""
    shape = SHAPES[name]
    channels = shape.stages[0][0]
    layers: list[nn.Module] = [
        nn.Conv2d(3, channels, 3, shape.stem_stride, 1, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
    ]
    for width, blocks, stride in shape.stages:
        for block in range(blocks):
            layers.append(BasicBlock(channels, width, stride if block == 0 else 1))
            channels = width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]
    return nn.Sequential(*layers)
