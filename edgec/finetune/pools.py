"""Pools in training: latent weights, their assignment to vectors, gradients straight through.

A pooled layer keeps latent weights.  Each step computes with the vectors nearest to them, every
filter scaled to a mean square of 1 (the normalization behind it takes the scale up), and the
gradient reaches the latent weights as if they had been used themselves (Li & Gupta, MLSys 2022),
and the vectors too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from edgec.dtypes import Array
from edgec.finetune.layers import Layer
from edgec.ir.pool import WeightPool
from edgec.weightpool.codebook import integer_pool

_ROUNDS = 15
"""Rounds of clustering that fit the first vectors to the scaled filters."""


class TrainedPool(nn.Module):
    """One pool and the layers that use it.

    Attributes:
        vectors: float [S, G], what the codes are rounded from.
        indices: int64 [V], of all layers one after another.
        layers: those layers.
    """

    indices: torch.Tensor

    def __init__(self, pool: WeightPool, layers: Sequence[Layer], *, trained: bool) -> None:
        super().__init__()
        self.layers = tuple(layers)
        self.trained = trained
        self.group = pool.group
        self._sizes = [_vectors(layer, pool.group) for layer in self.layers]
        self.vectors = nn.Parameter(torch.tensor(pool.vectors, dtype=torch.float32))
        self.vectors.requires_grad_(trained)
        self.register_buffer("indices", torch.zeros(sum(self._sizes), dtype=torch.int64))
        for layer in self.layers:
            _scale_filters(layer)
        self._fit(torch.tensor(pool.vectors, dtype=torch.float32))

    def assign(self) -> None:
        """Choose the nearest vector for every part of the latent weights."""
        with torch.no_grad():
            self._choose(self.quantized().detach())

    def apply_to_layers(self) -> None:
        """Give the layers the weights of this step."""
        hard = functional.embedding(self.indices, self.quantized())
        for layer, part in zip(self.layers, hard.split(self._sizes), strict=True):
            latent = self._cut(layer)
            through = part + (latent - latent.detach())
            layer.pooled = self._joined(through, layer)

    def quantized(self) -> torch.Tensor:
        """The vectors as int8 codes times the unit; gradients pass to `vectors`."""
        codes, unit = self.codes()
        exact = torch.from_numpy(codes).to(self.vectors) * unit
        return self.vectors + (exact - self.vectors).detach()

    def codes(self) -> tuple[Array, float]:
        """int8 [S, G] and their unit."""
        vectors = self.vectors.detach().cpu().numpy().astype(np.float64)
        if self.trained:
            return integer_pool(vectors)
        return self._codes, float(np.abs(vectors).max() / max(1, np.abs(self._codes).max()))

    def layer_indices(self) -> list[Array]:
        """For each layer uint16 [O, KH, KW, ceil(I/G)] or [N, ceil(K/G)]."""
        parts = self.indices.cpu().numpy().astype(np.uint16)
        ends = np.cumsum(self._sizes)[:-1]
        return [
            part.reshape(*layer.weight.shape[:-1], -1)
            for layer, part in zip(self.layers, np.split(parts, ends), strict=True)
        ]

    def _fit(self, start: torch.Tensor) -> None:
        """Bring the first vectors to the size of the scaled filters."""
        self._codes = start.numpy().astype(np.int8)
        with torch.no_grad():
            latent = torch.cat([self._cut(layer) for layer in self.layers])
            vectors = start * (latent.pow(2).mean() / start.pow(2).mean().clamp(min=1e-12)).sqrt()
            for _ in range(_ROUNDS):
                self._choose(vectors)
                vectors = self._means(latent, vectors) if self.trained else self._rescaled(
                    latent, vectors
                )  # fmt: skip
            self.vectors.copy_(vectors)
        self.assign()

    def _means(self, latent: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        counts = torch.bincount(self.indices, minlength=len(vectors))[:, None]
        sums = torch.zeros_like(vectors).index_add_(0, self.indices, latent)
        return torch.where(counts > 0, sums / counts.clamp(min=1), vectors)

    def _rescaled(self, latent: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        chosen = vectors[self.indices]
        return vectors * ((latent * chosen).sum() / chosen.pow(2).sum().clamp(min=1e-12))

    def _choose(self, vectors: torch.Tensor) -> None:
        squares = vectors.pow(2)
        found = []
        for layer in self.layers:
            latent = self._cut(layer)
            present = self._present(layer).repeat(len(latent) // self._groups(layer), 1)
            found.append((2 * latent @ vectors.T - present @ squares.T).argmax(1))
        self.indices.copy_(torch.cat(found))

    def _cut(self, layer: Layer) -> torch.Tensor:
        """Latent weights as vectors [V, G]: filters scaled, missing channels zero."""
        weight = layer.weight
        spare = self._groups(layer) * self.group - weight.shape[-1]
        scaled = weight / _filter_sizes(weight.detach())
        return functional.pad(scaled, (0, spare)).reshape(-1, self.group)

    def _joined(self, vectors: torch.Tensor, layer: Layer) -> torch.Tensor:
        shape = layer.weight.shape
        return vectors.reshape(*shape[:-1], -1)[..., : shape[-1]]

    def _groups(self, layer: Layer) -> int:
        return math.ceil(layer.weight.shape[-1] / self.group)

    def _present(self, layer: Layer) -> torch.Tensor:
        """1 for channels that exist, [groups, G]."""
        count = self._groups(layer) * self.group
        exists = torch.arange(count, device=layer.weight.device) < layer.weight.shape[-1]
        return exists.to(layer.weight.dtype).reshape(-1, self.group)


def _scale_filters(layer: Layer) -> None:
    """Bring every filter to a mean square of 1, which the rates are made for."""
    size = _filter_sizes(layer.weight.detach())
    layer.weight.data.div_(size)
    if not layer.is_conv:
        layer.add_scale(size.reshape(-1))


def _filter_sizes(weight: torch.Tensor) -> torch.Tensor:
    """Root mean square of each filter, [O, 1, ...]."""
    axes = tuple(range(1, weight.ndim))
    return weight.pow(2).mean(axes, keepdim=True).sqrt().clamp(min=1e-12)


def _vectors(layer: Layer, group: int) -> int:
    *outer, channels = layer.weight.shape
    return math.prod(outer) * math.ceil(channels / group)
