"""Small transformers in PyTorch, written as the published ones are; random weights.

Imported only where PyTorch is installed.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F


class FusedAttention(nn.Module):
    """timm's: one layer for queries, keys and values, cut by reshape, permute and unbind."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        weights = ((q * self.scale) @ k.transpose(-2, -1)).softmax(dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(b, n, c))


class FlashAttention(FusedAttention):
    """The same through PyTorch's own operator."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, c = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).reshape(b, n, c))


class EinsumAttention(FusedAttention):
    """vit-pytorch's older form."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        dots = torch.einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        y = torch.einsum("b h i j, b h j d -> b h i d", dots.softmax(dim=-1), v)
        return self.proj(y.permute(0, 2, 1, 3).reshape(b, n, c))


class Block(nn.Module):
    def __init__(
        self, width: int, heads: int, attention: type[FusedAttention], act: nn.Module
    ) -> None:
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width), attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), act, nn.Linear(2 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class DeiT(nn.Module):
    """Patches by convolution, class token, position embedding."""

    def __init__(
        self, attention: type[FusedAttention] = FusedAttention, act: nn.Module | None = None
    ) -> None:
        super().__init__()
        width = 24
        self.patch = nn.Conv2d(3, width, 4, 4)
        self.cls = nn.Parameter(torch.randn(1, 1, width))
        self.pos = nn.Parameter(torch.randn(1, 17, width))
        self.blocks = nn.Sequential(
            *(Block(width, 3, attention, act or nn.GELU()) for _ in range(2))
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), dim=1) + self.pos
        return self.head(self.norm(self.blocks(x))[:, 0])


class CCT(nn.Module):
    """Convolutional tokenizer and sequence pooling (Hassani et al. 2021)."""

    def __init__(self) -> None:
        super().__init__()
        width = 16
        self.tokenizer = nn.Sequential(
            nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        self.pos = nn.Parameter(torch.randn(1, 64, width))
        self.blocks = nn.Sequential(Block(width, 2, FusedAttention, nn.GELU()))
        self.norm, self.pool = nn.LayerNorm(width), nn.Linear(width, 1)
        self.head = nn.Linear(width, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.tokenizer(image).flatten(2, 3).transpose(-2, -1) + self.pos
        x = self.norm(self.blocks(x))
        weights = F.softmax(self.pool(x), dim=1).transpose(-1, -2)
        return self.head(torch.matmul(weights, x).squeeze(-2))


class ConvAttention(nn.Module):
    """CvT's: queries, keys and values by depthwise convolutions, keys at half the resolution."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(width)
        self.q = nn.Sequential(
            nn.Conv2d(width, width, 3, 1, 1, groups=width), nn.Conv2d(width, width, 1)
        )
        self.k, self.v = (
            nn.Sequential(
                nn.Conv2d(width, width, 3, 2, 1, groups=width), nn.Conv2d(width, width, 1)
            )
            for _ in range(2)
        )
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, c, h, w = x.shape
        y = self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        q, k, v = (
            layer(y).reshape(b, self.heads, c // self.heads, -1).transpose(2, 3)
            for layer in (self.q, self.k, self.v)
        )
        weights = (torch.matmul(q, k.transpose(2, 3)) / math.sqrt(c // self.heads)).softmax(-1)
        y = torch.matmul(weights, v).transpose(2, 3).reshape(b, c, h, w)
        return x + self.out(y)


class CvT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.attn = nn.Conv2d(3, 16, 3, 2, 1), ConvAttention(16, 2)
        self.head = nn.Linear(16, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(self.attn(self.stem(image)).mean((2, 3)))


class MobileViT(nn.Module):
    """A convolution, patches unfolded into sequences, a transformer, folding, and fusion."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.SiLU()
        )
        self.local, self.out = nn.Conv2d(8, 16, 1), nn.Conv2d(16, 8, 1)
        self.block = Block(16, 2, FusedAttention, nn.SiLU())
        self.fuse = nn.Sequential(nn.Conv2d(16, 8, 3, 1, 1), nn.SiLU())
        self.head = nn.Linear(8, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.stem(image)
        y = self.local(x)
        b, c, h, w = y.shape
        y = y.reshape(b * c * h // 2, 2, w // 2, 2).transpose(1, 2)
        y = y.reshape(b, c, h * w // 4, 4).transpose(1, 3).reshape(b * 4, h * w // 4, c)
        y = self.block(y)
        y = y.reshape(b, 4, h * w // 4, c).transpose(1, 3)
        y = y.reshape(b * c * h // 2, w // 2, 2, 2).transpose(1, 2).reshape(b, c, h, w)
        y = self.fuse(torch.cat((x, self.out(y)), dim=1))
        return self.head(y.mean((2, 3)))


def new_gelu(x: torch.Tensor) -> torch.Tensor:
    """Hugging Face's NewGELUActivation."""
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x.pow(3.0))))


class BertLayer(nn.Module):
    def __init__(self, width: int, heads: int, sdpa: bool) -> None:
        super().__init__()
        self.heads, self.sdpa = heads, sdpa
        self.query, self.key, self.value, self.dense = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def cut(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:-1], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        q, k, v = self.cut(self.query(x)), self.cut(self.key(x)), self.cut(self.value(x))
        if self.sdpa:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
            y = torch.matmul(nn.functional.softmax(scores + mask, dim=-1), v)
        y = y.permute(0, 2, 1, 3).contiguous()
        x = self.norm1(x + self.dense(y.view(*y.shape[:-2], -1)))
        return self.norm2(x + self.down(new_gelu(self.up(x))))


class Bert(nn.Module):
    """Hugging Face's: ids, token types and a mask; positions 0, 1, 2, ..."""

    def __init__(self, sdpa: bool = False) -> None:
        super().__init__()
        width = 16
        self.sdpa = sdpa
        self.words, self.types = nn.Embedding(40, width), nn.Embedding(2, width)
        self.positions = nn.Embedding(12, width)
        self.register_buffer("position_ids", torch.arange(12).expand((1, -1)))
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(BertLayer(width, 2, sdpa) for _ in range(2))
        self.pooler = nn.Linear(width, width)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        length = input_ids.shape[1]
        x = self.words(input_ids) + self.types(token_type_ids)
        x = self.norm(x + self.positions(self.position_ids[:, :length]))
        lowest = torch.finfo(torch.float32).min
        if self.sdpa:
            wide = attention_mask[:, None, None, :].expand(-1, 1, length, length).to(x.dtype)
            inverted = 1.0 - wide
            mask = inverted.masked_fill(inverted.to(torch.bool), lowest)
        else:
            mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * lowest
        for layer in self.layers:
            x = layer(x, mask)
        return torch.tanh(self.pooler(x[:, 0]))


class RmsNorm(nn.Module):
    """Hugging Face's LlamaRMSNorm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + 1e-6)).to(x.dtype)


class GatedEncoder(nn.Module):
    """RMSNorm before each part, a SiLU gate, keys hidden by a boolean mask."""

    def __init__(self) -> None:
        super().__init__()
        width = 16
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.query, self.key, self.value, self.dense = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )
        self.gate, self.up = nn.Linear(width, 24, bias=False), nn.Linear(width, 24, bias=False)
        self.down = nn.Linear(24, width, bias=False)

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x)
        q, k, v = (
            layer(y).view(1, -1, 2, 8).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        logits = (q @ k.transpose(2, 3)) * 8**-0.5
        logits = logits.masked_fill(~keep[:, None, None, :], float("-inf"))
        y = (logits.softmax(-1) @ v).transpose(1, 2).reshape(1, -1, 16)
        x = x + self.dense(y)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class TorchEncoder(nn.Module):
    """PyTorch's own encoder layer."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class PaddedEncoder(TorchEncoder):
    """PyTorch's own encoder with a mask that is true for the keys to ignore."""

    def forward(self, x: torch.Tensor, ignored: torch.Tensor) -> torch.Tensor:
        return self.layers(x, src_key_padding_mask=ignored)


class CausalEncoder(TorchEncoder):
    """Every token sees those before it, and of them the ones that a mask shows."""

    def forward(self, x: torch.Tensor, shown: torch.Tensor) -> torch.Tensor:
        before = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        layer = self.layers.layers[0]
        q, k, v = F.linear(x, layer.self_attn.in_proj_weight).chunk(3, dim=-1)
        q, k, v = (t.view(1, -1, 2, 8).transpose(1, 2) for t in (q, k, v))
        mask = before[None, None] & shown[:, None, None, :]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return layer.norm1(x + y.transpose(1, 2).reshape(x.shape))


class Windows(nn.Module):
    """Swin's attention: windows, biases by relative position, shifted windows cut by -100."""

    def __init__(self, width: int, heads: int, shift: int) -> None:
        super().__init__()
        self.heads, self.shift, self.norm = heads, shift, nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.table = nn.Parameter(torch.randn(49, heads))
        rows, columns = (c.flatten() for c in torch.meshgrid(*[torch.arange(4)] * 2, indexing="ij"))
        places = (rows[:, None] - rows + 3) * 7 + columns[:, None] - columns + 3
        self.register_buffer("places", places.flatten())
        region = torch.zeros(8, 8)
        for i, part in enumerate((slice(0, -4), slice(-4, -2), slice(-2, None))):
            region[part] += 3 * i
            region[:, part] += i
        region = region.reshape(2, 4, 2, 4).permute(0, 2, 1, 3).reshape(4, 16)
        apart = region[:, None, :] != region[:, :, None]
        self.register_buffer("mask", torch.where(apart, -100.0, 0.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.roll(self.norm(x), (-self.shift,) * 2, (1, 2))
        y = y.view(1, 2, 4, 2, 4, -1).permute(0, 1, 3, 2, 4, 5).reshape(4, 16, -1)
        n, length, c = y.shape
        q, k, v = self.qkv(y).reshape(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        logits = q * (c // self.heads) ** -0.5 @ k.transpose(-2, -1)
        bias = self.table[self.places].view(length, length, -1).permute(2, 0, 1)
        logits = logits + bias.unsqueeze(0)
        if self.shift:
            logits = logits.view(1, 4, self.heads, length, length) + self.mask[None, :, None]
            logits = logits.view(-1, self.heads, length, length)
        y = self.proj((logits.softmax(-1) @ v).transpose(1, 2).reshape(n, length, c))
        y = y.view(1, 2, 2, 4, 4, -1).permute(0, 1, 3, 2, 4, 5).reshape(x.shape)
        return x + torch.roll(y, (self.shift,) * 2, (1, 2))


class Swin(nn.Module):
    """Two layers of windows, one of them shifted; probabilities at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 2, 2)
        self.layers = nn.Sequential(Windows(16, 2, 0), Windows(16, 2, 2))
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.layers(self.patch(image).permute(0, 2, 3, 1))
        return self.head(self.norm(x).mean((1, 2))).softmax(-1)


class PooledKeys(nn.Module):
    """Keys and values of an average pool, as in PVT and CvT."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.pool = nn.Conv2d(3, 16, 4, 4), nn.AvgPool2d(3, 2, 1)
        self.norm, self.q, self.kv = nn.LayerNorm(16), nn.Linear(16, 16), nn.Linear(16, 32)
        self.head = nn.Linear(16, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.patch(image)
        few = self.norm(self.pool(x).flatten(2).transpose(1, 2))
        x = x.flatten(2).transpose(1, 2)
        q = self.q(self.norm(x)).view(1, -1, 2, 8).transpose(1, 2)
        k, v = self.kv(few).view(1, -1, 2, 2, 8).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.head((x + y.transpose(1, 2).reshape(x.shape)).mean(1))
