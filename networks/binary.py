"""A binary residual network for 32 x 32 images, in PyTorch.

Stages of 64 and 128 channels like those of ResNet-10 (`resnets.py`), but with two and three 3x3
convolutions, all of which multiply signs by signs.  As in Bi-Real Net (Liu et al. 2018, arXiv
1808.00278) each of them has a shortcut of its own, and signs of activations have the gradient of a
piecewise quadratic function; as in ReActNet (Liu et al. 2020, arXiv 2003.03488) each channel's sign
has a learned threshold.  The first and the last layer and the 1x1 convolution where the number of
channels changes stay as they are: they become int8.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

STAGES = ((64, 2), (128, 3))
"""(channels, binary convolutions) of each stage; the second begins with stride 2."""


class ApproximateSign(torch.autograd.Function):
    """1 where x >= 0, else -1; the gradient is Bi-Real Net's: 2 - 2 |x| where |x| < 1, else 0."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """Signs of x, of its shape and dtype."""
        ctx.save_for_backward(x)
        return x.ge(0).to(x.dtype).mul_(2).sub_(1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        """The gradient with respect to x."""
        (x,) = ctx.saved_tensors
        return x.abs().neg_().add_(1).clamp_min_(0).mul_(2).mul_(gradients[0])


class Sign(nn.Module):
    """Signs of x + shift, with a shift for each channel that is learned."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(1, channels, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Float [N, channels, H, W] of 1 and -1."""
        x = x + self.shift
        if self.training:
            signs: torch.Tensor = ApproximateSign.apply(x)
            return signs
        return torch.where(x >= 0, 1.0, -1.0)


class BinaryConv(nn.Conv2d):
    """A convolution with weights of plus or minus the mean magnitude of each filter's weights."""

    def binary_weight(self) -> torch.Tensor:
        """Weights [outputs, inputs, H, W]; their gradient is that of the magnitude times the sign
        (straight through, where a latent weight is between -1 and 1).
        """
        w = self.weight
        scale = w.detach().abs().mean(dim=(1, 2, 3), keepdim=True)
        hard = torch.where(w >= 0, scale, -scale)
        # The second term is 0, and exactly so: the weights are two numbers a filter.
        soft = w.clamp(-1, 1)
        return hard.detach() + (soft - soft.detach())

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Maps signs [N, inputs, H, W] to float [N, outputs, H / stride, W / stride]."""
        return functional.conv2d(input, self.binary_weight(), None, self.stride, self.padding)


class BinaryBlock(nn.Module):
    """A binary 3x3 convolution beside a shortcut.

    Where shapes change, the shortcut is an average of pixels and a 1x1 convolution.
    """

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.sign = Sign(inputs)
        self.conv: nn.Conv2d = BinaryConv(inputs, outputs, 3, stride, 1, bias=False)
        self.bn = nn.BatchNorm2d(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.AvgPool2d(stride), nn.Conv2d(inputs, outputs, 1, bias=False),
                nn.BatchNorm2d(outputs),
            )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, inputs, H, W] to float [N, outputs, H / stride, W / stride]."""
        y: torch.Tensor = self.bn(self.conv(self.sign(x))) + self.shortcut(x)
        return y


def build(classes: int = 10) -> nn.Module:
    """The network with fresh weights."""
    channels = STAGES[0][0]
    layers: list[nn.Module] = [
        nn.Conv2d(3, channels, 3, 2, 1, bias=False),
        nn.BatchNorm2d(channels),
    ]
    for width, count in STAGES:
        for _ in range(count):
            layers.append(BinaryBlock(channels, width, 1 if channels == width else 2))
            channels = width
    layers += [nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]
    return nn.Sequential(*layers)


def hardened(model: nn.Module) -> nn.Module:
    """The same network, its binary convolutions made ordinary ones of two weights a filter.

    So the file holds the weights and not what they are computed from.  Changes `model`.
    """
    for block in model.modules():
        if isinstance(block, BinaryBlock):
            old = block.conv
            assert isinstance(old, BinaryConv)
            new = nn.Conv2d(old.in_channels, old.out_channels, 3, old.stride[0], 1, bias=False)
            new.weight = nn.Parameter(old.binary_weight().detach())
            block.conv = new
    return model.eval()
