"""A compact convolutional transformer for 32 x 32 images, in PyTorch.

Two convolutions with pooling make 64 tokens, learned positions are added, pre-norm blocks follow,
and attention with one learned query mixes the tokens into one (sequence pooling).  Source:
A. Hassani et al., Escaping the Big Data Paradigm with Compact Transformers, 2021.  Batch
normalization in the tokenizer is our addition: it trains faster, and exporters fold it.
"""

from __future__ import annotations

import torch
from torch import nn

STEM = 32
TOKENS = 64
WIDTH = 96
HEADS = 3
BLOCKS = 4


class Attention(nn.Module):
    """Multi-head attention; queries, keys and values come from one layer."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, TOKENS, WIDTH] to the same shape."""
        qkv = self.qkv(x).reshape(-1, TOKENS, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        # Not scaled_dot_product_attention: its bfloat16 backward pass is slow on processors.
        scores = (qkv[0] * (WIDTH // HEADS) ** -0.5) @ qkv[1].transpose(-2, -1)
        y = scores.softmax(-1).to(qkv.dtype) @ qkv[2]
        return self.out(y.transpose(1, 2).reshape(-1, TOKENS, WIDTH))


class Block(nn.Module):
    """Attention, then two layers with GELU between them, each after a LayerNorm and added."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, TOKENS, WIDTH] to the same shape."""
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


def _stage(inputs: int, outputs: int) -> nn.Sequential:
    """A convolution whose result is halved in height and width by overlapping pooling."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, 1, 1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    )


class CCT(nn.Module):
    """64 tokens of 96 numbers, four blocks of three heads: about 336,000 parameters."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.tokenizer = nn.Sequential(_stage(3, STEM), _stage(STEM, WIDTH))
        self.positions = nn.Parameter(torch.randn(1, TOKENS, WIDTH) * 0.02)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.pool = nn.Linear(WIDTH, 1)
        self.head = nn.Linear(WIDTH, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, 3, 32, 32] to logits [N, classes]."""
        x = self.tokenizer(x).flatten(2).transpose(1, 2) + self.positions
        x = self.norm(self.blocks(x))
        weights = self.pool(x).softmax(1).transpose(1, 2)
        return self.head((weights @ x).squeeze(1))
