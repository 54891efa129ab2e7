"""A narrow U-Net for pictures of 64 x 64 pixels, in PyTorch.

Ronneberger et al., "U-Net: Convolutional Networks for Biomedical Image Segmentation", MICCAI 2015,
with two steps down in place of four, 8 to 32 channels, and normalization after each convolution.
"""

from __future__ import annotations

import torch
from shapes import CLASSES
from torch import nn

WIDTHS = (8, 16, 32)


def _pair(inputs: int, outputs: int) -> nn.Sequential:
    """Two convolutions, each normalized and followed by a ReLU."""
    layers: list[nn.Module] = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)]
        layers += [nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """From [N, 3, 64, 64] to a logit for each class and pixel: about 30,000 parameters."""

    def __init__(self) -> None:
        super().__init__()
        steps = list(zip((3, *WIDTHS), WIDTHS, strict=False))
        self.down = nn.ModuleList(_pair(*step) for step in steps)
        back = list(zip(WIDTHS[::-1], WIDTHS[-2::-1], strict=False))
        self.rise = nn.ModuleList(nn.ConvTranspose2d(*step, 2, 2) for step in back)
        self.up = nn.ModuleList(_pair(2 * outputs, outputs) for _, outputs in back)
        self.head = nn.Conv2d(WIDTHS[0], 1 + len(CLASSES), 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, 3, H, W] to logits [N, 1 + classes, H, W]."""
        kept: list[torch.Tensor] = []
        for depth, pair in enumerate(self.down):
            x = pair(x if depth == 0 else nn.functional.max_pool2d(x, 2))
            kept.append(x)
        for rise, pair, beside in zip(self.rise, self.up, kept[-2::-1], strict=True):
            x = pair(torch.cat([beside, rise(x)], dim=1))
        logits: torch.Tensor = self.head(x)
        return logits
