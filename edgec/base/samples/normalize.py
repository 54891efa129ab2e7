"""`--normalize`: how pixels and recordings become the numbers that a model takes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

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
    def parse(cls, text: str, option: str = _OPTION) -> Normalize:
        """A text like ``scale=1/255`` or ``scale=1/255,mean=0.5:0.4:0.4,std=0.2:0.2:0.2``.

        Args:
            text: the text.
            option: what the text is the value of, for messages.

        Raises:
            ConfigError: not of that form, or a division by zero.
        """
        found: dict[str, tuple[float, ...]] = {}
        for part in text.split(","):
            key, _, values = part.strip().partition("=")
            if key not in {"scale", "mean", "std"} or key in found:
                raise _unreadable(part, option)
            found[key] = tuple(_number(value, part, option) for value in values.split(":"))
        scale = found.get("scale", (1.0,))
        if len(scale) != 1 or scale[0] == 0:
            raise _unreadable(text, option)
        result = cls(scale[0], found.get("mean", (0.0,)), found.get("std", (1.0,)))
        if 0 in result.std:
            raise _unreadable(text, option)
        return result

    def __str__(self) -> str:
        """The text that `parse` reads."""
        mean, std = (":".join(f"{number:.9g}" for number in each) for each in (self.mean, self.std))
        return f"scale={self.scale:.9g},mean={mean},std={std}"

    def fits(self, channels: int) -> bool:
        """Whether mean and deviation are one number, or one for each of the channels."""
        return {len(self.mean), len(self.std)} <= {1, channels}

    def check(self, channels: int, option: str = _OPTION) -> None:
        """Refuse a mean or deviation of another number of channels.

        Args:
            channels: how many the model has.
            option: what this is the value of, for messages.

        Raises:
            ConfigError: neither one number nor one for each channel.
        """
        for name, values in (("mean", self.mean), ("std", self.std)):
            if len(values) not in (1, channels):
                raise ConfigError(
                    f"{name} has {len(values)} numbers; the model has {channels} channels",
                    where=option,
                    hint=f"give one number, or one for each channel: {EXAMPLE}",
                )

    def apply(self, values: Array) -> Array:
        """Numbers [..., channels] as float32 of the same shape."""
        scaled = values.astype(np.float64) * self.scale
        result: Array = (scaled - np.array(self.mean)) / np.array(self.std)
        return result.astype(np.float32)


def _number(text: str, part: str, option: str) -> float:
    """A decimal number, or a quotient of two like 1/255."""
    top, separator, bottom = text.partition("/")
    if not _NUMBER.fullmatch(top) or (separator and not _NUMBER.fullmatch(bottom)):
        raise _unreadable(part, option)
    divisor = float(bottom) if separator else 1.0
    value = float(top) / divisor if divisor else math.nan
    if not math.isfinite(value):
        raise _unreadable(part, option)
    return value


def _unreadable(text: str, option: str) -> ConfigError:
    return ConfigError(
        f"cannot read {text[:60]!r}", where=option, hint=f"like scale=1/255, or {EXAMPLE}"
    )
