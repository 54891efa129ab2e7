"""Inputs of a model that the user fixes to numbers, e.g. a sample rate that chooses a branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.names import shown

Values = Mapping[str, tuple[int | float, ...]]
"""Numbers by input."""
NO_VALUES: Values = MappingProxyType({})
_OPTION = "--value"


def check_fixed(values: Values, inputs: Sequence[str], kept: Mapping[str, str]) -> None:
    """Refuse numbers for what is no input or state, and for all inputs at once.

    Args:
        values: numbers by input.
        inputs: all inputs of the model.
        kept: output by input of those that are kept from run to run.

    Raises:
        ConfigError: with the inputs that there are.
    """
    for name in values:
        if name not in inputs:
            known = ", ".join(shown(each) for each in inputs)
            raise ConfigError(
                f"the model has no input {shown(name)!r}", where=_OPTION, hint=f"inputs: {known}"
            )
        if name in kept:
            raise ConfigError(
                f"the input is state: it takes the output {shown(kept[name])} of the run before",
                where=f"{_OPTION} {shown(name)}",
                hint="leave out its value; or make ordinary inputs of all states: --state none",
            )
    if all(name in values for name in inputs):
        raise ConfigError("no input is left", where=_OPTION, hint="give values to fewer inputs")


def fixed_value(
    name: str, dtype: np.dtype[Any], shape: Sequence[int], numbers: Sequence[int | float]
) -> Array:
    """The tensor that an input is fixed to.

    Args:
        name: the input.
        dtype: type of its elements: real, whole or bool.
        shape: its shape.
        numbers: one for all elements, or as many as its last axis has.

    Returns:
        Array of this type and shape.

    Raises:
        ConfigError: the type or the shape does not hold these numbers.
    """
    where = f"{_OPTION} {shown(name)}"
    if dtype.kind not in "fiub":
        raise ConfigError(f"the input has elements of type {dtype.name}", where=where)
    last = shape[-1] if shape else 1
    if len(numbers) not in (1, last):
        raise ConfigError(
            f"{len(numbers)} numbers do not fit the input, which is [{', '.join(map(str, shape))}]",
            where=where,
            hint="give one number" if last == 1 else f"give one number, or {last}",
        )
    held = [_held(number, dtype) for number in numbers]
    for number, fits in zip(numbers, held, strict=True):
        if not fits:
            raise ConfigError(f"{number} is no {dtype.name}, which the input takes", where=where)
    found = np.asarray(numbers, np.float64 if dtype.kind == "f" else object).astype(dtype)
    return np.ascontiguousarray(np.broadcast_to(found if shape else found.reshape(()), shape))


def _held(number: float, dtype: np.dtype[Any]) -> bool:
    """Whether a type holds a number, real numbers rounded."""
    if dtype.kind == "f":
        return abs(number) <= float(np.finfo(dtype).max)
    if dtype.kind == "b":
        return number in (0, 1)
    limits = np.iinfo(dtype)
    return number == int(number) and limits.min <= number <= limits.max


def fixed_text(values: Values) -> str:
    """One line for the user."""
    listed = (f"{shown(name)} = {','.join(map(str, each))}" for name, each in values.items())
    return f"fixed inputs: {'; '.join(listed)}"
