"""A narrow MobileViT for 32 x 32 images, in PyTorch: convolutions, and attention between patches.

Mehta and Rastegari, "MobileViT: Light-weight, General-purpose, and Mobile-friendly Vision
Transformer", ICLR 2022: inverted residuals with SiLU, and one block in which the pixels that have
the same place in their 2 x 2 patches attend to each other.
"""

from __future__ import annotations

import torch
from torch import nn

CHANNELS, WIDTH, HEADS, LAYERS, PATCH = 32, 40, 2, 2, 2
LAST = 160


def layer(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Module:
    """A convolution, its normalization and SiLU."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.SiLU())


class Residual(nn.Module):
    """An inverted residual; beside a shortcut where shapes allow one."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        inner = 3 * inputs
        self.adds = stride == 1 and inputs == outputs
        self.body = nn.Sequential(
            layer(inputs, inner, 1),
            layer(inner, inner, 3, stride, inner),
            nn.Conv2d(inner, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, inputs, H, W] to float [N, outputs, H / stride, W / stride]."""
        y: torch.Tensor = self.body(x)
        return x + y if self.adds else y


class Encoder(nn.Module):
    """Attention, then two layers with SiLU between them, each after a LayerNorm and added."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.qkv = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
        self.out, self.norm2 = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 2 * WIDTH), nn.SiLU(), nn.Linear(2 * WIDTH, WIDTH)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, tokens, WIDTH] to the same shape."""
        tokens, each = x.shape[1], WIDTH // HEADS
        qkv = self.qkv(self.norm1(x)).reshape(-1, tokens, 3, HEADS, each).permute(2, 0, 3, 1, 4)
        scores = (qkv[0] * each**-0.5) @ qkv[1].transpose(-2, -1)
        mixed = scores.softmax(-1).to(qkv.dtype) @ qkv[2]
        x = x + self.out(mixed.transpose(1, 2).reshape(-1, tokens, WIDTH))
        y: torch.Tensor = x + self.mlp(self.norm2(x))
        return y


class MobileViTBlock(nn.Module):
    """Convolutions around a transformer over patches, joined with what came in."""

    def __init__(self) -> None:
        super().__init__()
        self.near = nn.Sequential(
            layer(CHANNELS, CHANNELS, 3), nn.Conv2d(CHANNELS, WIDTH, 1, bias=False)
        )
        self.far = nn.Sequential(*(Encoder() for _ in range(LAYERS)), nn.LayerNorm(WIDTH))
        self.back = layer(WIDTH, CHANNELS, 1)
        self.join = layer(2 * CHANNELS, CHANNELS, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps [N, CHANNELS, H, W] to the same shape."""
        rows, columns = x.shape[2] // PATCH, x.shape[3] // PATCH
        y = self.near(x).reshape(-1, WIDTH, rows, PATCH, columns, PATCH)
        # One sequence for each place in a patch.
        y = y.permute(0, 3, 5, 2, 4, 1).reshape(-1, rows * columns, WIDTH)
        y = self.far(y).reshape(-1, PATCH, PATCH, rows, columns, WIDTH)
        y = y.permute(0, 5, 3, 1, 4, 2).reshape(-1, WIDTH, rows * PATCH, columns * PATCH)
        joined: torch.Tensor = self.join(torch.cat([x, self.back(y)], dim=1))
        return joined


def build(classes: int = 10) -> nn.Module:
    """The network with fresh weights: [N, 3, 32, 32] to logits [N, classes]."""
    return nn.Sequential(
        layer(3, 16, 3, 2),
        Residual(16, 16, 1),
        Residual(16, CHANNELS, 2),
        Residual(CHANNELS, CHANNELS, 1),
        MobileViTBlock(),
        Residual(CHANNELS, 48, 2),
        layer(48, LAST, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(LAST, classes),
    )
