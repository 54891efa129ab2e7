"""DeiT-Tiny's architecture with random weights, as an ONNX file.

    python networks/deit.py deit_tiny.onnx

12 blocks of 192 numbers and 3 heads; 196 patches of 16 x 16 pixels and a class token; 5.7 million
parameters.  Source: H. Touvron et al., Training data-efficient image transformers & distillation
through attention, 2021.  It shows what compiles, what it takes and that integers agree; it
classifies nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import nn

IMAGE = 224
PATCH = 16
WIDTH = 192
HEADS = 3
BLOCKS = 12
TOKENS = (IMAGE // PATCH) ** 2 + 1
SEED = 1


class Attention(nn.Module):
    """Multi-head attention; queries, keys and values come from one layer."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, TOKENS, WIDTH] to the same shape."""
        qkv = self.qkv(x).reshape(-1, TOKENS, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        weights = ((q * (WIDTH // HEADS) ** -0.5) @ k.transpose(-2, -1)).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(-1, TOKENS, WIDTH))


class Block(nn.Module):
    """Attention, then two layers with GELU between them, each after a LayerNorm and added."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH, 1e-6), Attention()
        self.norm2 = nn.LayerNorm(WIDTH, 1e-6)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Maps float [N, TOKENS, WIDTH] to the same shape."""
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class DeiT(nn.Module):
    """Patches by a convolution, a class token in front, positions, blocks, and a layer."""

    def __init__(self, blocks: int = BLOCKS, classes: int = 1000) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.positions = nn.Parameter(torch.randn(1, TOKENS, WIDTH) * 0.2)
        self.blocks = nn.Sequential(*(Block() for _ in range(blocks)))
        self.norm = nn.LayerNorm(WIDTH, 1e-6)
        self.head = nn.Linear(WIDTH, classes)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Maps float [N, 3, IMAGE, IMAGE] to logits [N, classes]."""
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


def export(path: Path, blocks: int = BLOCKS) -> None:
    """Write the network with random weights, the same every time.

    Args:
        path: ONNX file.
        blocks: how many of the 12 blocks it has.
    """
    torch.manual_seed(SEED)
    torch.onnx.export(
        DeiT(blocks).eval(),
        (torch.zeros(1, 3, IMAGE, IMAGE),),
        path,
        input_names=["image"],
        output_names=["logits"],
        opset_version=17,
        dynamo=False,
    )


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, help="where the ONNX file goes")
    export(parser.parse_args().path)


if __name__ == "__main__":
    main()
