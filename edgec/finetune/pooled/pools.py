"""Pools in training: latent weights, their assignment to vectors, gradients straight through.

A pooled layer keeps latent weights.  Each step computes with the vectors nearest to them (the
normalization after the layer takes up the scale of its filters), and the gradient reaches the
latent weights as if they had been used themselves (Li & Gupta, MLSys 2022), and the vectors too.
Latent weights start as near to the float weights as their indices allow: in the middle of its cell
a vector takes many epochs to change.  Left alone, they end up between two vectors, and thousands of
indices flip back and forth in every epoch.  So each step also pulls them back a little: later an
index changes only where gradients agree over many steps.

Where a vector of a layer is the sum of several of the pool, each of these *terms* is chosen as if
it were alone, for what the others leave of the latent weights.

Choice of the pool indices that an assignment may change.

A new index moves eight weights at once, by far more than a step of the optimizer moves a weight.
So an assignment can be held to a small share of the indices, those that gain most, and to a small
change of all weights, a trust ratio (both after Malinovskii et al., "PV-Tuning", NeurIPS 2024).  An
index that goes back to where it came from, again and again, is held at the vector that its weights
are nearest to on average (after Nagel et al., "Overcoming Oscillations in Quantization-Aware
Training", ICML 2022, which does so with single weights).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from edgec.base.dtypes import Array
from edgec.finetune.layers import Layer
from edgec.finetune.pooled.options import MoveLimits
from edgec.finetune.pooled.weights import FoundWeights, TrainedWeights, make_latent
from edgec.ir.weight_pool import PooledWeights, WeightPool, added_up
from edgec.weightpool.codebook import integer_pool

_MEMORY = 0.02
"""The share that the last assignment has in averages over assignments."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Changes of indices that the latent weights ask of an assignment.

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
    """Statistics of a pool's indices over the assignments so far.

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


_LEAN = 0.95
"""Share of the way to the border of a vector's cell that latent weights start at most."""
_FAR = 1e9


class TrainedPool(TrainedWeights):
    """One pool and the layers that use it.

    Weights are in units in which those of all layers have a mean square of 1 at the start.

    Attributes:
        vectors: float [S, G], what the codes are rounded from.
        indices: int64 [E], of all layers one after another; terms of a vector are neighbours.
        layers: those layers.
    """

    indices: torch.Tensor

    def __init__(
        self,
        users: Mapping[Layer, PooledWeights],
        originals: Mapping[Layer, torch.Tensor],
        *,
        trained: bool,
        limits: MoveLimits,
    ) -> None:
        """Start with the weights that the layers have.

        Args:
            users: layers and their pooled weights, which share one pool.
            originals: the weights that were pooled.
            trained: False: the codes stay as they are.
            limits: what an assignment may change.
        """
        super().__init__()
        self.layers = tuple(users)
        pool = next(iter(users.values())).pool
        self.group = pool.group
        self._terms = [each.terms for each in users.values()]
        self._sizes = [each.indices.size for each in users.values()]
        self._fixed = None if trained else pool.vectors
        indices = np.concatenate([each.indices.reshape(-1) for each in users.values()])
        codes = pool.vectors.astype(np.float32)
        self._unit = _unit(users.values())
        self.vectors = nn.Parameter(torch.tensor(codes * self._unit), requires_grad=trained)
        self.register_buffer("indices", torch.tensor(indices.astype(np.int64)))
        looked_up = self._looked_up(self.quantized())
        for layer, part, terms in zip(self.layers, self._hard(), looked_up, strict=True):
            scale = make_latent(layer, part)
            self._lean(layer, originals[layer] / scale, terms)
        self.moves = IndexMoves(self._wanted(self.quantized(), self._presents()), limits)

    def assign(self) -> None:
        """Choose the nearest vectors for the latent weights, as far as indices may change."""
        with torch.no_grad():
            vectors, present = self.quantized(), self._presents()
            for turn in range(max(self._terms)):
                wish = self._wish(self._in_turn(turn), vectors, present)
                self.indices.copy_(self.moves.moved(self.indices, wish))
            held = self.moves.newly_held()
            if bool(held.any()):
                nearest = _nearness(self.moves.latent, vectors, present).argmax(1)
                self.indices.copy_(torch.where(held, nearest, self.indices))

    def apply_to_layers(self) -> None:
        """Give the layers the weights of this step."""
        for layer, hard in zip(self.layers, self._hard(), strict=True):
            layer.pooled = hard + (layer.weight - layer.weight.detach())

    def pull(self, share: float) -> None:
        """Move latent weights a share of the way to their vectors."""
        with torch.no_grad():
            for layer, hard in zip(self.layers, self._hard(), strict=True):
                layer.weight.lerp_(hard, share)

    def quantized(self) -> torch.Tensor:
        """The vectors as int8 codes times the unit; gradients pass to `vectors`."""
        codes, unit = self.codes()
        exact = torch.tensor(codes).to(self.vectors) * unit
        return self.vectors + (exact - self.vectors).detach()

    def codes(self) -> tuple[Array, float]:
        """int8 [S, G] and their unit."""
        if self._fixed is not None:
            return self._fixed, self._unit
        vectors = self.vectors.detach().cpu().numpy().astype(np.float64)
        return integer_pool(vectors, max(self._terms))

    def found(self) -> Iterator[FoundWeights]:
        """The weights of each layer, with a pool of the present codes."""
        vectors, unit = self.codes()
        pool = WeightPool(vectors)
        parts = self.indices.cpu().numpy().astype(np.uint16)
        ends = np.cumsum(self._sizes)[:-1]
        for layer, part, terms in zip(self.layers, np.split(parts, ends), self._terms, strict=True):
            weights = PooledWeights(pool, part.reshape(*layer.weight.shape[:-1], -1), terms)
            yield FoundWeights(layer, weights.expand(layer.weight.shape[-1]), unit, weights)

    def _in_turn(self, turn: int) -> torch.Tensor:
        """Bool [E]: the terms with this number among those of their vectors."""
        return torch.cat(
            [
                torch.arange(size, device=self.indices.device) % terms == turn
                for size, terms in zip(self._sizes, self._terms, strict=True)
            ]
        )

    def _looked_up(self, pool: torch.Tensor) -> list[torch.Tensor]:
        """The terms of each layer's vectors, [V, terms, G], out of a pool [S, G]."""
        parts = functional.embedding(self.indices, pool).split(self._sizes)
        return [
            part.reshape(-1, terms, self.group)
            for part, terms in zip(parts, self._terms, strict=True)
        ]

    def _wanted(self, vectors: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        """Target of each term, given the latent weights and the other terms: [E, G]."""
        found = []
        for layer, terms in zip(self.layers, self._looked_up(vectors), strict=True):
            others = terms.sum(1, keepdim=True) - terms
            found.append((self._cut(layer)[:, None] - others).reshape(-1, self.group))
        return (torch.cat(found) * present).detach()

    def _wish(self, asked: torch.Tensor, vectors: torch.Tensor, present: torch.Tensor) -> Wish:
        """Changes that the latent weights ask of the terms `asked`, bool [E].

        `vectors` are the pool's, [S, G], `present` is 1 for channels that exist, [E, G].
        """
        latent = self._wanted(vectors, present)
        nearness = _nearness(latent, vectors, present)
        best, nearest = nearness.max(1)
        index = torch.where(asked, nearest, self.indices)
        now = vectors[self.indices]
        return Wish(
            asked=asked,
            index=index,
            gain=best - nearness.gather(1, self.indices[:, None])[:, 0],
            step=((vectors[index] - now).pow(2) * present).sum(1),
            total=float((now.pow(2) * present).sum()),
            latent=latent,
        )

    def _presents(self) -> torch.Tensor:
        """1 for channels that exist, [E, G]."""
        return torch.cat(
            [
                self._present(layer, terms).repeat(size // (self._groups(layer) * terms), 1)
                for layer, size, terms in zip(self.layers, self._sizes, self._terms, strict=True)
            ]
        )

    def _hard(self) -> list[torch.Tensor]:
        """Weights that the layers' indices select from the pool, in each layer's shape."""
        return [
            terms.sum(1).reshape(*layer.weight.shape[:-1], -1)[..., : layer.weight.shape[-1]]
            for layer, terms in zip(self.layers, self._looked_up(self.quantized()), strict=True)
        ]

    def _lean(self, layer: Layer, original: torch.Tensor, terms: torch.Tensor) -> None:
        """Move latent weights from the sums of their terms towards others, within their cells.

        In the cell of a sum no vector of the pool is nearer in the place of one of its terms.

        Args:
            layer: the layer.
            original: weights to lean towards, in the units of the pool.
            terms: [V, terms, G].
        """
        with torch.no_grad():
            count, vectors, start = terms.shape[1], self.quantized(), self._cut(layer)
            way = self._cut(layer, original) - start
            present = self._present(layer, 1).repeat(len(start) // self._groups(layer), 1)
            own = (terms * present[:, None]).reshape(-1, self.group)
            present, each = (x.repeat_interleave(count, 0) for x in (present, way))
            apart = present @ vectors.pow(2).T + own.pow(2).sum(1, True) - 2 * own @ vectors.T
            nearer = 2 * (each @ vectors.T - (each * own).sum(1, True))
            # Half of the distance to each vector, in units of the way; backwards does not matter.
            border = torch.where(
                (nearer > 1 / _FAR) & (apart > 1 / _FAR), apart / nearer.clamp(min=1 / _FAR), _FAR
            )
            nearest = border.amin(1).reshape(-1, count).amin(1, keepdim=True)
            self._set(layer, start + (_LEAN * nearest).clamp(max=1.0) * way)

    def _set(self, layer: Layer, vectors: torch.Tensor) -> None:
        """Latent weights from vectors [V, G]."""
        joined = vectors.reshape(*layer.weight.shape[:-1], -1)
        layer.weight.copy_(joined[..., : layer.weight.shape[-1]])

    def _cut(self, layer: Layer, weight: torch.Tensor | None = None) -> torch.Tensor:
        """Latent or other weights of a layer as vectors [V, G], missing channels zero."""
        spare = self._groups(layer) * self.group - layer.weight.shape[-1]
        latent = layer.weight if weight is None else weight
        return functional.pad(latent, (0, spare)).reshape(-1, self.group)

    def _groups(self, layer: Layer) -> int:
        return math.ceil(layer.weight.shape[-1] / self.group)

    def _present(self, layer: Layer, terms: int) -> torch.Tensor:
        """1 for channels that exist, [groups * terms, G]."""
        count = self._groups(layer) * self.group
        exists = torch.arange(count, device=layer.weight.device) < layer.weight.shape[-1]
        present = exists.to(layer.weight.dtype).reshape(-1, self.group)
        return present.repeat_interleave(terms, 0)


def _nearness(latent: torch.Tensor, vectors: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """[E, S]: what a vector's squared distance from weights [E, G] lacks of their own square."""
    return 2 * latent @ vectors.T - present @ vectors.pow(2).T


def _unit(users: Collection[PooledWeights]) -> float:
    """Factor that gives all weights a mean square of 1."""
    vectors = [added_up(each.pool.vectors, each.indices, each.terms) for each in users]
    group = vectors[0].shape[-1]
    weights = np.concatenate([each.reshape(-1, group) for each in vectors]).astype(np.float32)
    return float(1 / max(np.sqrt((weights**2).mean()), 1e-6))
