"""Seeds of random numbers."""

from __future__ import annotations

from edgec.base.errors import ConfigError

LARGEST_SEED = 2**32 - 1
"""What every generator takes."""


def check_seed(seed: int) -> None:
    """Refuse a number that is no seed.

    Raises:
        ConfigError: not 0 to `LARGEST_SEED`.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise ConfigError(
            "the number is too small" if seed < 0 else "the number is too large",
            where="--seed",
            hint=f"give 0 to {LARGEST_SEED}",
        )
