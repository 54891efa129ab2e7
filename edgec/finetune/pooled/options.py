"""The numbers of the recipe for pooled networks."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.errors import ConfigError
from edgec.finetune.options import Recipe, TrainingData, need_shares


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
        bits: widths of the activations, one of which is drawn for each step.
        validation: told about after each epoch when given; nothing is chosen by it.
    """

    latent_rate: float = 3.0
    pool_rate: float = 0.3
    pull: float = 4e-4
    train_pool: bool = True
    frozen: float = 0.15
    bits: tuple[int, ...] = (8, 8, 4)
    validation: TrainingData | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        Recipe.__post_init__(self)
        need_shares(frozen=self.frozen, pull=self.pull)
        if not self.bits or not all(1 <= bits <= 8 for bits in self.bits):
            raise ConfigError(
                f"activations of {', '.join(map(str, self.bits)) or 'no'} bits",
                where="bits",
                hint="give one or more widths of 1 to 8 bits",
            )
