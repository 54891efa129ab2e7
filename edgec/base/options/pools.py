"""Options of weight pools: how they are made, and the kernels that compute with them."""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.base.limits import MAX_TERMS
from edgec.base.options.quant import Precision, check_drop, check_seed
from edgec.base.options.sizes import parse_bytes

MAX_ACTIVATION_BITS = 8
DEFAULT_MAX_DROP = 0.5
LEAST_POOL, LARGEST_POOL = 2, 1024
"""Vectors of a pool."""


class PoolSharing(enum.Enum):
    """Sets of layers that share one weight pool.

    NETWORK: all of them.  STAGE: those whose outputs have equally many pixels.  LAYER: each has its
    own.
    """

    NETWORK = "network"
    STAGE = "stage"
    LAYER = "layer"


def _rule(text: str, choices: Sequence[str], option: str, form: str) -> tuple[str, str]:
    """The pattern and the choice of a rule ``CHOICE`` (of all layers) or ``PATTERN=CHOICE``.

    Raises:
        ConfigError: it is neither; names the option, the choices and the second form.
    """
    pattern, separator, choice = text.rpartition("=")
    if choice not in choices or (separator and not pattern):
        raise ConfigError(
            f"cannot read {text[:60]!r}",
            where=option,
            hint=f"give {', '.join(choices)}, or {form}",
        )
    return pattern or "*", choice


@dataclass(frozen=True, slots=True)
class TermsRule:
    """Number of pool vectors that are added up to one weight vector, for some layers.

    Attributes:
        pattern: pattern of names of layers, weights or the model's nodes, with ``*`` and ``?``.
        terms: the number, 1 to 4.
    """

    pattern: str
    terms: int

    @classmethod
    def parse(cls, text: str) -> TermsRule:
        """A rule like ``2`` (all layers) or ``block1*=2``.

        Raises:
            ConfigError: not of that form.
        """
        numbers = [str(number) for number in range(1, MAX_TERMS + 1)]
        pattern, number = _rule(text, numbers, "--terms", "PATTERN=NUMBER like 'block1*=2'")
        return cls(pattern, int(number))


@dataclass(frozen=True, slots=True)
class WeightPoolOptions:
    """Options of weight-pool compression (`edgec compress`).

    Attributes:
        size: number of vectors in the pool, S; in a pool of few layers at most.
        group: number of weights in a vector, G: 4, 8 or 16.
        layers: patterns (``*``, ``?``) of names of layers, weights or the model's nodes; what
            matches is pooled, the rest is not.  Empty: every layer for which it pays.
        sharing: which layers share a pool.
        signed: the second half of the pool is the negative of the first: an index then holds a
            sign, and only half of the responses have to be computed.
        terms: vectors of the pool that are added up to one of a layer; the last rule holds whose
            pattern matches.  Layers without a rule have one, or what `ratio` gives them.
        ratio: how many times smaller than in int8 everything stored must be at least; what is left
            is spent on terms.  None: nothing is.
        rounds: times that assignments and pool are refined in turn.
        range_bits: width of activations for which the ranges of the ReLUs before pooled layers are
            chosen; 8 leaves them as they are.
        seed: seed of the clustering.
    """

    size: int = 64
    group: int = 8
    layers: tuple[str, ...] = ()
    sharing: PoolSharing = PoolSharing.NETWORK
    signed: bool = False
    terms: tuple[TermsRule, ...] = ()
    ratio: float | None = None
    rounds: int = 3
    range_bits: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        if not LEAST_POOL <= self.size <= LARGEST_POOL or (self.signed and self.size % 2):
            even = "even " if self.signed else ""
            raise ConfigError(
                f"a pool cannot have {self.size} vectors",
                where="--pool-size",
                hint=f"give {f'an {even}' if even else 'a '}number from {LEAST_POOL} to "
                f"{LARGEST_POOL}; 64 is usual",
            )
        if self.group not in (4, 8, 16):
            raise ConfigError(
                f"a vector cannot have {self.group} weights",
                where="--group",
                hint="give 4, 8 or 16; 8 is usual",
            )
        if self.ratio is not None and not (math.isfinite(self.ratio) and self.ratio > 0):
            raise ConfigError(
                f"{self.ratio:g} is no ratio", where="--ratio", hint="give a number above 0, like 8"
            )
        if self.rounds < 1:
            raise ConfigError(f"{self.rounds} rounds are too few", hint="give 1 or more")
        if not 1 <= self.range_bits <= 8:
            raise ConfigError(f"{self.range_bits} bits of activations", hint="give 1 to 8")
        check_seed(self.seed)


class PoolKernel(enum.Enum):
    """Kernel that computes a layer of pooled weights."""

    RESPONSES = "responses"
    DIRECT = "direct"
    DECODE = "decode"
    EXPAND = "expand"


@dataclass(frozen=True, slots=True)
class PoolKernelRule:
    """The user's choice of kernel for some layers.

    Attributes:
        pattern: pattern of the names of layers or of the model's nodes, with ``*`` and ``?``.
        kernel: the kernel that computes these layers.
    """

    pattern: str
    kernel: PoolKernel

    @classmethod
    def parse(cls, text: str) -> PoolKernelRule:
        """A rule like ``responses`` (all layers) or ``block1*=decode``.

        Raises:
            ConfigError: not of that form.
        """
        kinds = [kernel.value for kernel in PoolKernel]
        form = "PATTERN=KERNEL like 'block1*=decode'"
        pattern, kind = _rule(text, kinds, "--pool-kernel", form)
        return cls(pattern, PoolKernel(kind))


@dataclass(frozen=True, slots=True)
class PoolKernelOptions:
    """Kernels, activation bits and memory of layers with pooled weights, and of no others.

    Attributes:
        activation_bits: bits that such a layer sees of each activation, 1 to 8; "auto": for each
            layer as few as the calibration data allow.
        max_drop: for "auto": percentage points of class agreement with 8 bits (of output energy,
            for a model that names no class) that may be lost on the calibration data.
        runtime_bits: the width can be lowered while the firmware runs.
        rules: kernels that the user chose; the last rule whose pattern matches a layer holds.
        table_bytes: table space, the most SRAM that the kernel of one layer works in (its table of
            responses, list of offsets and sums, or its decoded filters); None: as much as fits.
        decoded: names of layers that the small kernel, `PoolKernel.DECODE`, computes wherever it
            can and no rule says otherwise.
    """

    activation_bits: int | Literal["auto"] = MAX_ACTIVATION_BITS
    max_drop: float = DEFAULT_MAX_DROP
    runtime_bits: bool = False
    rules: tuple[PoolKernelRule, ...] = ()
    table_bytes: int | None = None
    decoded: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        bits = self.activation_bits
        if bits != "auto" and not 1 <= bits <= MAX_ACTIVATION_BITS:
            raise ConfigError(
                f"{bits} is no width of activations",
                where="--activation-bits",
                hint=f"give 1 to {MAX_ACTIVATION_BITS}, or auto",
            )
        check_drop(self.max_drop)
        if self.table_bytes is not None and self.table_bytes < 1:
            raise ConfigError("a table needs memory", where="--pool-table", hint="like 32K")

    @classmethod
    def parse(
        cls,
        activation_bits: str,
        max_drop: float | None,
        runtime_bits: bool,
        rules: Sequence[str],
        table: str | None,
        precision: Precision | None = None,
    ) -> PoolKernelOptions:
        """The options of the command line; None: not given.

        Args:
            activation_bits, max_drop, runtime_bits, rules, table: as the user gave them.
            precision: that of other activations, which may be chosen by `max_drop`, too.

        Raises:
            ConfigError: one of them cannot be read.
        """
        if activation_bits != "auto" and not re.fullmatch("[0-9]{1,3}", activation_bits):
            raise ConfigError(
                f"cannot read {activation_bits[:40]!r}",
                where="--activation-bits",
                hint=f"give 1 to {MAX_ACTIVATION_BITS}, or auto",
            )
        refuse_without_effect(
            [
                Effect(
                    "--max-drop",
                    max_drop is not None,
                    activation_bits == "auto" or precision is Precision.AUTO,
                    "nothing is chosen by it",
                    "it belongs to --precision auto, and to --activation-bits auto",
                )
            ]
        )
        return cls(
            activation_bits="auto" if activation_bits == "auto" else int(activation_bits),
            max_drop=DEFAULT_MAX_DROP if max_drop is None else max_drop,
            runtime_bits=runtime_bits,
            rules=tuple(PoolKernelRule.parse(rule) for rule in rules),
            table_bytes=None if table is None else parse_bytes(table, "--pool-table"),
        )
