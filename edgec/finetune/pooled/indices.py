"""Which indices an assignment may change.

A new index moves eight weights at once, by far more than a step of the optimizer moves a weight.
So an assignment can be held to a small share of the indices, those that gain most, and to a small
change of all weights, a trust ratio (both after Malinovskii et al., "PV-Tuning", NeurIPS 2024).  An
index that goes back to where it came from, again and again, is held at the vector that its weights
are nearest to on average (after Nagel et al., "Overcoming Oscillations in Quantization-Aware
Training", ICML 2022, which does so with single weights).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn

from edgec.finetune.pooled.options import MoveLimits

_MEMORY = 0.02
"""The share that the last assignment has in averages over assignments."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the latent weights ask of an assignment.

    A vector of a layer has one index, or several (its terms).  E is their number.

    Attributes:
        asked: bool [E], the indices that this assignment is about.
        index: int64 [E], the nearest vectors; where nothing is asked, the present ones.
        gain: float [E], by how much the squared distance from the latent weights becomes less.
        step: float [E], the squared distance of these vectors from the present ones.
        total: squared length of all present vectors.
        latent: float [E, G], what the vectors should be: the latent weights, without other terms.
    """

    asked: torch.Tensor
    index: torch.Tensor
    gain: torch.Tensor
    step: torch.Tensor
    total: float
    latent: torch.Tensor


class IndexMoves(nn.Module):
    """What is known of the indices of a pool from the assignments so far.

    Attributes:
        before: int64 [E], the index before the present one; -1: there was none.
        returns: float32 [E], how often an assignment went back to it; an average.
        latent: float32 [E, G], `Wish.latent`; an average.
        held: bool [E], indices that change no more.
    """

    before: torch.Tensor
    returns: torch.Tensor
    latent: torch.Tensor
    held: torch.Tensor

    def __init__(self, latent: torch.Tensor, limits: MoveLimits) -> None:
        """Nothing is known yet.

        Args:
            latent: float [E, G], the first `Wish.latent`.
            limits: what one assignment may change.
        """
        super().__init__()
        count = len(latent)
        self._limits = limits
        self.register_buffer("before", torch.full((count,), -1))
        self.register_buffer("returns", torch.zeros(count))
        self.register_buffer("latent", latent.detach().float().clone())
        self.register_buffer("held", torch.zeros(count, dtype=torch.bool))

    def moved(self, now: torch.Tensor, wish: Wish) -> torch.Tensor:
        """The indices after an assignment.

        Args:
            now: int64 [E], the present ones.
            wish: what the latent weights ask for.

        Returns:
            int64 [E].
        """
        moves = self._allowed((wish.index != now) & ~self.held, wish)
        share = _MEMORY * wish.asked.float()
        self.returns.lerp_((moves & (wish.index == self.before)).float(), share)
        self.latent.lerp_(wish.latent.float(), share[:, None])
        self.before.copy_(torch.where(moves, now, self.before))
        return torch.where(moves, wish.index, now)

    def newly_held(self) -> torch.Tensor:
        """Bool [E]: indices that go back and forth too often; from now on they are held."""
        found = (self.returns > self._limits.most_returns) & ~self.held
        self.held |= found
        return found

    def _allowed(self, moves: torch.Tensor, wish: Wish) -> torch.Tensor:
        """The moves, bool [E], that gain most, as far as the limits reach."""
        order = torch.where(moves, wish.gain, -torch.inf).argsort(descending=True, stable=True)
        first = torch.arange(len(order), device=order.device)
        near = first < math.ceil(self._limits.most_changes * len(order))
        if math.isfinite(self._limits.trust_ratio):
            length = wish.step[order].double().cumsum(0)
            near &= length <= self._limits.trust_ratio**2 * wish.total
        return moves & torch.zeros_like(moves).index_put((order,), near)
