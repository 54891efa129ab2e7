"""The numbers of the recipe for networks with pooled weights, or weights of few bits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from edgec.base.errors import ConfigError
from edgec.finetune.options import Recipe, TrainingData, need_shares


@dataclass(frozen=True, slots=True)
class MoveLimits:
    """Limits of the changes that one assignment of indices makes.

    Attributes:
        most_changes: share of the indices of a pool.
        most_returns: how often an index may go back to where it came from, in assignments; from
            there on it is held.
        trust_ratio: the length of the change of all weights of a pool, relative to their own
            length (both are roots of sums of squares).
    """

    most_changes: float = 1.0
    most_returns: float = 1.0
    trust_ratio: float = math.inf

    def __post_init__(self) -> None:
        need_shares(most_changes=self.most_changes, most_returns=self.most_returns)
        if not self.trust_ratio > 0:
            raise ConfigError(
                f"trust_ratio is {self.trust_ratio:g}", where="trust_ratio", hint="give more than 0"
            )


@dataclass(frozen=True, slots=True)
class FinetuneOptions(Recipe):
    """The recipe; what is not listed here is that of `Recipe`.

    Attributes:
        latent_rate: that of pooled weights, which have a mean square of 1, relative to `rate`.
        pool_rate: that of the pool's vectors, relative to `rate`.
        pull: share of the way to their vectors that latent weights are moved by each step, at the
            peak rate; less as the rate is less.
        train_pool: False leaves the vectors as they are, for a pool that networks share.
        frozen: indices stay as they are in this last share of the steps; weights are averaged.
        latent_momentum: AdamW's first beta for latent weights.
        limits: what an assignment of indices, every fourth step, may change.
        bits: widths of the activations, one of which is drawn for each step.
        levels: the least and the largest whole number that weights are; None: they are pooled.
        devices: how many devices share each batch; of "cpu", how many processes.
        validation: told about after each epoch when given; nothing is chosen by it.
    """

    latent_rate: float = 3.0
    latent_momentum: float = 0.9
    pool_rate: float = 0.3
    pull: float = 4e-4
    train_pool: bool = True
    frozen: float = 0.15
    limits: MoveLimits = MoveLimits()
    bits: tuple[int, ...] = (8, 8, 4)
    levels: tuple[int, int] | None = None
    devices: int = 1
    validation: TrainingData | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        Recipe.__post_init__(self)
        if not 1 <= self.devices <= self.batch:
            raise ConfigError(
                f"{self.devices} devices cannot share {self.batch} samples",
                where="--devices",
                hint=f"give 1 to {self.batch}",
            )
        need_shares(frozen=self.frozen, pull=self.pull)
        if not 0 <= self.latent_momentum < 1:
            raise ConfigError(
                f"latent_momentum is {self.latent_momentum:g}",
                where="latent_momentum",
                hint="give 0 or more, and less than 1",
            )
        if not self.bits or not all(1 <= bits <= 8 for bits in self.bits):
            raise ConfigError(
                f"activations of {', '.join(map(str, self.bits)) or 'no'} bits",
                where="bits",
                hint="give one or more widths of 1 to 8 bits",
            )
