"""Which indices an assignment may change.

A new index moves eight weights at once, by far more than a step of the optimizer moves a weight.
So an assignment changes a small share of the indices, those that gain most (after Malinovskii et
al., "PV-Tuning", NeurIPS 2024).  An index that goes back to where it came from, again and again, is
held at the vector that its weights are nearest to on average (after Nagel et al., "Overcoming
Oscillations in Quantization-Aware Training", ICML 2022, which does so with single weights).
"""

from __future__ import annotations

import math

import torch
from torch import nn

_MEMORY = 0.02
"""The share that the last assignment has in averages over assignments."""


class IndexMoves(nn.Module):
    """What is known of the indices of a pool from the assignments so far.

    Attributes:
        before: int64 [V], the index before the present one; -1: there was none.
        returns: float32 [V], how often an assignment went back to it; an average.
        latent: float32 [V, G], the latent weights; an average.
        held: bool [V], indices that change no more.
    """

    before: torch.Tensor
    returns: torch.Tensor
    latent: torch.Tensor
    held: torch.Tensor

    def __init__(self, latent: torch.Tensor, most_changes: float, most_returns: float) -> None:
        """Nothing is known yet.

        Args:
            latent: float [V, G], the latent weights as vectors.
            most_changes: share of the indices that one assignment may change.
            most_returns: returns an assignment from which on an index is held.
        """
        super().__init__()
        count = len(latent)
        self._most_changes = math.ceil(most_changes * count)
        self._most_returns = most_returns
        self.register_buffer("before", torch.full((count,), -1))
        self.register_buffer("returns", torch.zeros(count))
        self.register_buffer("latent", latent.detach().float().clone())
        self.register_buffer("held", torch.zeros(count, dtype=torch.bool))

    def moved(
        self, now: torch.Tensor, wanted: torch.Tensor, gain: torch.Tensor, latent: torch.Tensor
    ) -> torch.Tensor:
        """The indices after an assignment.

        Args:
            now: int64 [V], the present ones.
            wanted: int64 [V], those of the nearest vectors.
            gain: float [V], by how much the squared distance from the latent weights becomes less.
            latent: float [V, G], these weights.

        Returns:
            int64 [V].
        """
        moves = (wanted != now) & ~self.held
        if int(moves.sum()) > self._most_changes:
            best = torch.where(moves, gain, -1.0).topk(self._most_changes).indices
            moves = moves & torch.zeros_like(moves).index_fill(0, best, True)
        self.returns.lerp_((moves & (wanted == self.before)).float(), _MEMORY)
        self.latent.lerp_(latent.float(), _MEMORY)
        self.before.copy_(torch.where(moves, now, self.before))
        return torch.where(moves, wanted, now)

    def newly_held(self) -> torch.Tensor:
        """Bool [V]: indices that go back and forth too often; from now on they are held."""
        found = (self.returns > self._most_returns) & ~self.held
        self.held |= found
        return found
