"""Weights that a step computes with in place of latent ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from edgec.base.dtypes import Array
from edgec.finetune.layers import Layer
from edgec.ir.weight_pool import PooledWeights

LEAST_SCALE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class FoundWeights:
    """Weights of a layer after training.

    Attributes:
        layer: the layer.
        codes: int8, shape of its weights.
        unit: what a code is worth before the factor of its filter (`Layer.folded`).
        pooled: the same as indices into a pool; None: they are whole numbers of few bits.
    """

    layer: Layer
    codes: Array
    unit: float
    pooled: PooledWeights | None = None


class TrainedWeights(nn.Module):
    """Discrete weights of some layers, chosen by latent ones.

    Attributes:
        layers: the layers; their `weight` is latent.
    """

    layers: tuple[Layer, ...]

    @abstractmethod
    def assign(self) -> None:
        """Choose the weights anew by the latent ones."""

    @abstractmethod
    def apply_to_layers(self) -> None:
        """Give the layers the weights of this step."""

    @abstractmethod
    def pull(self, share: float) -> None:
        """Move latent weights a share of the way to those chosen."""

    @abstractmethod
    def found(self) -> Iterator[FoundWeights]:
        """The weights of each layer as they are now."""


def make_latent(layer: Layer, hard: torch.Tensor) -> torch.Tensor:
    """Let a layer's weights be `hard`, its scale [O, 1, ...] a factor after it."""
    weight = layer.weight.detach()
    axes = tuple(range(1, weight.ndim))
    scale = (weight * hard).sum(axes, True) / hard.pow(2).sum(axes, True).clamp(min=1e-12)
    scale = scale.detach().clamp(min=LEAST_SCALE)
    layer.weight.data.copy_(hard.detach())
    if not layer.is_conv:
        layer.add_scale(scale.reshape(-1))
    return scale
