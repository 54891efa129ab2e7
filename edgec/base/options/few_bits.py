"""Options of weights of few bits (`edgec compress --bits`)."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from edgec.base.errors import ConfigError
from edgec.base.options.pools import LARGEST_POOL, LEAST_POOL, MAX_ACTIVATION_BITS
from edgec.base.options.quant import check_seed

_LEVELS = {"4": (-8, 7), "3": (-4, 3), "2": (-2, 1), "ternary": (-1, 1)}
_POOL = re.compile(r"pool([1-9][0-9]{0,3})(\+decode)?")


class WeightTypes(enum.Enum):
    """The narrowest element type that weights of an exported file may have.

    INT8: all of them (any opset).  INT4, INT2: each weight has the narrowest type, down to this
    one, that holds its codes; codes and scales are the same.
    """

    INT8 = "int8"
    INT4 = "int4"
    INT2 = "int2"


class WeightBits(enum.Enum):
    """The whole numbers that weights are, times a scale for each output channel.

    FOUR, THREE and TWO: all that this many bits hold in two's complement.  TERNARY: -1, 0 and 1,
    which take two bits.
    """

    FOUR = "4"
    THREE = "3"
    TWO = "2"
    TERNARY = "ternary"

    @property
    def levels(self) -> tuple[int, int]:
        """The least and the largest number."""
        return _LEVELS[self.value]

    @property
    def stored_bits(self) -> int:
        """Bits of a weight in flash."""
        low, high = self.levels
        return (high - low).bit_length()

    @property
    def title(self) -> str:
        """Such weights in words."""
        return "ternary weights" if self is WeightBits.TERNARY else f"weights of {self.value} bits"

    @classmethod
    def parse(cls, text: str) -> WeightBits:
        """One of the values.

        Raises:
            ConfigError: it is none; of 1 bit it says why.
        """
        if text in _LEVELS:
            return cls(text)
        if text in ("1", "binary"):
            raise ConfigError(
                "weights of 1 bit cost too much accuracy in a network that was not built for them",
                where=f"--bits {text}",
                hint="give ternary, or train a binary network, which edgec compiles "
                "(docs/few-bits.md)",
            )
        raise ConfigError(
            f"weights of {text[:20]!r} bits are not known",
            where="--bits",
            hint="give 4, 3, 2 or ternary",
        )


@dataclass(frozen=True, slots=True)
class InPool:
    """Weights that are indices into a pool, which all layers with this size share.

    Attributes:
        size: vectors of the pool, of 8 weights each.
        decode: the layer's kernel is the small one, which expands weights while it runs, wherever
            that can compute it; otherwise the board's planner chooses.
    """

    size: int
    decode: bool = False

    @property
    def value(self) -> str:
        """The text that asks for it."""
        return f"pool{self.size}{'+decode' if self.decode else ''}"

    @property
    def title(self) -> str:
        """Such weights in words."""
        return f"weights in a pool of {self.size} vectors"


Numbers = WeightBits | InPool
"""The numbers that weights of a layer are."""


@dataclass(frozen=True, slots=True)
class LayerBits:
    """Layers of a build whose weights have few bits.

    Attributes:
        layers: name of a layer, or a pattern (``*``, ``?``) of names of layers, weights or the
            model's nodes.
        bits: the numbers that their weights are.
    """

    layers: str
    bits: Numbers

    @classmethod
    def parse(cls, text: str) -> LayerBits:
        """Layers and bits like ``conv2=4`` or ``conv2=pool64``; the last ``=`` ends the name.

        Raises:
            ConfigError: not of that form.
        """
        layers, _, bits = text.rpartition("=")
        numbers = _numbers(bits)
        if not layers or numbers is None:
            raise ConfigError(
                f"cannot read {text[:60]!r}",
                where="--weight-bits",
                hint="like --weight-bits conv2=4; bits are 4, 3, 2, ternary, or pool2 to pool1024, "
                "which +decode may follow",
            )
        return cls(layers, numbers)

    def __str__(self) -> str:
        return f"{self.layers}={self.bits.value}"


def _numbers(text: str) -> Numbers | None:
    """The numbers that a text asks for; None: it is none of those known."""
    if text in _LEVELS:
        return WeightBits(text)
    pool = _POOL.fullmatch(text)
    if pool is None or not LEAST_POOL <= int(pool[1]) <= LARGEST_POOL:
        return None
    return InPool(int(pool[1]), decode=bool(pool[2]))


@dataclass(frozen=True, slots=True)
class FewBitsOptions:
    """Options of a network with weights of few bits.

    Attributes:
        bits: the numbers that weights are.
        layers: patterns (``*``, ``?``) of names of layers, weights or the model's nodes; what
            matches gets few bits, the rest does not.  Empty: every layer for which it pays but the
            first and the last.
        keep: patterns of layers that stay as they are.
        seed: seed of the choice of output elements that are looked at.
        activation_bits: width of the numbers that layers with such weights read, 1 to 8.
    """

    bits: WeightBits
    layers: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    seed: int = 0
    activation_bits: int = MAX_ACTIVATION_BITS

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not 1 <= self.activation_bits <= MAX_ACTIVATION_BITS:
            raise ConfigError(
                f"activations of {self.activation_bits} bits are not known",
                where="--activation-bits",
                hint=f"give 1 to {MAX_ACTIVATION_BITS}",
            )
