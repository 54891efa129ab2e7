"""A small vision transformer for 8x8 images: pre-norm, learned positions, a class token."""

from __future__ import annotations

import torch
from torch import Tensor, nn

PATCH = 3
STRIDE = 2
TOKENS = (8 // STRIDE) ** 2
WIDTH = 32
HEADS = 2
BLOCKS = 2


class Attention(nn.Module):
    """Multi-head attention; queries, keys and values come from one layer."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """x: float32 [N, tokens, WIDTH] -> the same shape."""
        tokens = x.shape[1]
        qkv = self.qkv(x).reshape(-1, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
        return self.out(y.transpose(1, 2).reshape(-1, tokens, WIDTH))


class Block(nn.Module):
    """Attention, then two layers with GELU between them, each after a LayerNorm and added."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor) -> Tensor:
        """x: float32 [N, tokens, WIDTH] -> the same shape."""
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class DigitsViT(nn.Module):
    """18,378 parameters: overlapping patches, 17 tokens of 32 numbers, two blocks of two heads."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, WIDTH, PATCH, STRIDE, padding=1)
        self.token = nn.Parameter(torch.randn(1, 1, WIDTH) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, TOKENS + 1, WIDTH) * 0.02)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x: Tensor) -> Tensor:
        """x: float32 [N, 1, 8, 8] -> logits [N, 10]."""
        patches = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), patches), 1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])
