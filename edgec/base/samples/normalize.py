"""`--normalize`: how pixels and recordings become the numbers that a model takes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError

EXAMPLE = "scale=1/255,mean=0.485:0.456:0.406,std=0.229:0.224:0.225"
_OPTION = "--normalize"
_NUMBER = re.compile(r"[+-]?([0-9]{1,9}\.?[0-9]{0,12}|\.[0-9]{1,12})([eE][+-]?[0-9]{1,2})?")


@dataclass(frozen=True, slots=True)
class Normalize:
    """A number v of a file becomes (v * scale - mean) / std.

    Attributes:
        scale: factor of every number.
        mean, std: one number, or one for each channel.
    """

    scale: float = 1.0
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)

    @classmethod
    def parse(cls, text: str, option: str = _OPTION, between: str = ":") -> Normalize:
        """A text like ``scale=1/255`` or ``scale=1/255,mean=0.5:0.4:0.4,std=0.2:0.2:0.2``.

        Args:
            text: the text.
            option: what the text is the value of, for messages.
            between: what stands between the numbers of channels.

        Raises:
            ConfigError: not of that form, or a division by zero.
        """
        refused = partial(_unreadable, option=option, between=between)
        # A sign follows an e or nothing, not a digit.
        apart = re.compile(rf"(?<=[0-9.]){re.escape(between)}")
        found: dict[str, tuple[float, ...]] = {}
        for part in text.split(","):
            key, _, values = part.strip().partition("=")
            if key not in {"scale", "mean", "std"} or key in found:
                raise refused(part)
            numbers = [_number(value) for value in apart.split(values)]
            if not all(map(math.isfinite, numbers)):
                raise refused(part)
            found[key] = tuple(numbers)
        scale = found.get("scale", (1.0,))
        if len(scale) != 1 or scale[0] == 0:
            raise refused(text)
        result = cls(scale[0], found.get("mean", (0.0,)), found.get("std", (1.0,)))
        if 0 in result.std:
            raise refused(text)
        return result

    def __str__(self) -> str:
        """The text that `parse` reads."""
        mean, std = (":".join(f"{number:.9g}" for number in each) for each in (self.mean, self.std))
        return f"scale={self.scale:.9g},mean={mean},std={std}"

    def fits(self, channels: int) -> bool:
        """Whether mean and deviation are one number, or one for each of the channels."""
        return {len(self.mean), len(self.std)} <= {1, channels}

    def check(self, channels: int, option: str = _OPTION, between: str = ":") -> None:
        """Refuse a mean or deviation of another number of channels.

        Args:
            channels: how many the model has.
            option: what this is the value of, for messages.
            between: what stands between the numbers of channels there.

        Raises:
            ConfigError: neither one number nor one for each channel.
        """
        for name, values in (("mean", self.mean), ("std", self.std)):
            if len(values) not in (1, channels):
                raise ConfigError(
                    f"{name} has {len(values)} numbers; the model has {channels} channels",
                    where=option,
                    hint=f"give one number, or one for each channel: {_example(between)}",
                )

    def apply(self, values: Array) -> Array:
        """Numbers [..., channels] as float32 of the same shape."""
        scaled = values.astype(np.float64) * self.scale
        result: Array = (scaled - np.array(self.mean)) / np.array(self.std)
        return result.astype(np.float32)


def _number(text: str) -> float:
    """A decimal number, or a quotient of two like 1/255; NaN for any other text."""
    top, separator, bottom = text.partition("/")
    if not _NUMBER.fullmatch(top) or (separator and not _NUMBER.fullmatch(bottom)):
        return math.nan
    divisor = float(bottom) if separator else 1.0
    return float(top) / divisor if divisor else math.nan


def _unreadable(text: str, option: str, between: str) -> ConfigError:
    hint = f"like scale=1/255, or {_example(between)}"
    return ConfigError(f"cannot read {text[:60]!r}", where=option, hint=hint)


def _example(between: str) -> str:
    return EXAMPLE.replace(":", between)
