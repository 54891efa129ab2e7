"""A narrow MobileNetV2 and a narrow EfficientNet-lite for 32 x 32 images, in PyTorch.

Both are made of inverted residuals with depthwise layers and ReLU6.  Sandler et al., "MobileNetV2:
Inverted Residuals and Linear Bottlenecks", CVPR 2018, at about a quarter of the width; and Tan and
Le, "EfficientNet", ICML 2019, in the form "lite" without squeeze-and-excitation and swish, whose
depthwise filters have 3 x 3 or 5 x 5 weights.  The first convolution has stride 2, as for large
images: 16 x 16 pixels are the most that an expanded tensor has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True, slots=True)
class Stage:
    """Blocks of one width.

    Attributes:
        expansion: channels within a block, relative to those that it reads.
        channels: what a block gives.
        blocks: how many.
        stride: of the first block.
        kernel: side of the depthwise filters.
    """

    expansion: int
    channels: int
    blocks: int
    stride: int
    kernel: int = 3


STEM, LAST = 16, 160
MOBILENETV2 = (
    Stage(1, 8, 1, 1),
    Stage(6, 12, 2, 1),
    Stage(6, 24, 3, 2),
    Stage(6, 32, 2, 2),
    Stage(6, 48, 1, 1),
)
EFFICIENTNET_LITE = (
    Stage(1, 8, 1, 1),
    Stage(6, 12, 2, 1),
    Stage(6, 20, 2, 2, 5),
    Stage(6, 24, 2, 1),
    Stage(6, 32, 2, 2, 5),
    Stage(6, 40, 1, 1),
)


def layer(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """A convolution, its normalization and a ReLU6."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.ReLU6())


class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution, projection; beside a shortcut where shapes allow one."""

    def __init__(
        self, inputs: int, outputs: int, stride: int, expansion: int, kernel: int = 3
    ) -> None:
        super().__init__()
        inner = inputs * expansion
        self.adds = stride == 1 and inputs == outputs
        self.body = nn.Sequential(
            layer(inputs, inner, 1) if expansion > 1 else nn.Identity(),
            layer(inner, inner, kernel, stride, inner),
            nn.Conv2d(inner, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, inputs, H, W] to float [N, outputs, H / stride, W / stride]."""
        y: torch.Tensor = self.body(x)
        return x + y if self.adds else y


def build(stages: Sequence[Stage] = MOBILENETV2, classes: int = 10) -> nn.Module:
    """A network with fresh weights: [N, 3, 32, 32] to logits [N, classes]."""
    layers: list[nn.Module] = [layer(3, STEM, 3, 2)]
    channels = STEM
    for stage in stages:
        for block in range(stage.blocks):
            stride = stage.stride if block == 0 else 1
            layers.append(
                InvertedResidual(channels, stage.channels, stride, stage.expansion, stage.kernel)
            )
            channels = stage.channels
    layers += [layer(channels, LAST, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(LAST, classes))
