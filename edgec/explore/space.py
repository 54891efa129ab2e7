"""Settings of a search: the knobs, their values, and the options that a value stands for.

A knob has a name and values, all of them texts.  The value `DEFAULT` stands for no option at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.options import (
    CompileOptions,
    Effort,
    FitLimits,
    Observer,
    Optimize,
    OptionValue,
    Placement,
    PoolKernel,
    PoolKernelRule,
    Precision,
    Rows,
    WeightPoolOptions,
    option_words,
)

DEFAULT = "default"
Setting = Mapping[str, str]
"""A value for each knob, by name."""
Space = Mapping[str, tuple[str, ...]]
"""Values of each knob that may be chosen; the first one is that of trial 0."""
_DECIBELS = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,2})?)dB")
_POOL = re.compile(r"([0-9]{1,4})(?:\+([a-z]+))?")
Options = Mapping[str, OptionValue]
"""Options of `edgec compile` by their name, and `pool-size` of `edgec compress`."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A choice that holds for a network as a whole.

    Attributes:
        values: the values that are tried where the user names none.
        takes: gives the options of a value; ValueError: no such value.
        help: what it chooses.
    """

    values: tuple[str, ...]
    takes: Callable[[str], Options]
    help: str


_Option = Observer | Effort | Optimize | Placement | Rows


def _one_of(option: str, kind: type[_Option], order: Sequence[_Option] = ()) -> Knob:
    """A knob of an option with few values, in their own order or in another one."""
    values = tuple(str(each.value) for each in order or kind)

    def takes(value: str) -> Options:
        return {option: str(kind(value).value)}

    return Knob((DEFAULT, *values), takes, f"`--{option}`")


def _precision(value: str) -> Options:
    found = _DECIBELS.fullmatch(value)
    if found is None:
        return {"precision": str(Precision(value).value)}
    return {"precision": Precision.AUTO.value, "target-db": float(found[1])}


def _pool(value: str) -> Options:
    found = _POOL.fullmatch(value)
    if found is None:
        raise ValueError(value)
    size: Options = {"pool-size": int(found[1])}
    return size if found[2] is None else {**size, "pool-kernel": [PoolKernel(found[2]).value]}


def _fit(value: str) -> Options:
    FitLimits.parse(value, "--vary")
    return {"fit": value}


KNOBS: Mapping[str, Knob] = {
    "precision": Knob(
        (DEFAULT, "20dB", "25dB", "30dB", "35dB", "40dB", "int16"),
        _precision,
        "int8, int16, or decibels that `--precision auto --target-db` aims at",
    ),
    "observer": _one_of("observer", Observer),
    "effort": _one_of("effort", Effort),
    "pool": Knob(
        (DEFAULT, "64", "256+decode", "128+decode", "64+decode", "32+decode"),
        _pool,
        "vectors of the pool of `edgec compress`, and what `--pool-kernel` says",
    ),
    "optimize": _one_of("optimize", Optimize, (Optimize.SPEED, Optimize.BALANCED, Optimize.SIZE)),
    "rows": _one_of("rows", Rows),
    "placement": _one_of("placement", Placement),
    "fit": Knob((DEFAULT,), _fit, "limits of a search of its own, `--fit`: tensors of int16"),
}
"""Knob by name, in the order of tables; values that are the default of the option are left out."""
_CHOSEN_BY_FIT = ("precision", "rows")
"""Knobs that `--fit` chooses itself, and does not go with."""
_ALL: Mapping[str, tuple[str, ...]] = {}
ON_LINUX = {"optimize": (DEFAULT,), "placement": (DEFAULT,), "rows": (DEFAULT, Rows.ALWAYS.value)}
"""Values that mean something on boards with Linux: what code takes is no figure there, the system
places it, and a network fits without turns of a few rows."""
_REFUSED_ON_LINUX = {
    "placement": "the system loads all of a program into RAM",
    "fit": "its limits are of microcontrollers, whose cycles are known",
}
_SAME_AS_DEFAULT = {
    "observer": Observer.MSE.value,
    "effort": Effort.NORMAL.value,
    "optimize": Optimize.SPEED.value,
    "rows": Rows.AUTO.value,
}


def space_of(
    models: Sequence[str],
    boards: Sequence[str],
    texts: Sequence[str],
    fewer: Mapping[str, tuple[str, ...]] = _ALL,
) -> Space:
    """The space of a search.

    Args:
        models: the models by the names that trials call them, one or more.
        boards: the boards, one or more.
        texts: values that the user names, ``KNOB=VALUE/VALUE``; one value fixes a knob.  Where
            `fit` has values, knobs that it chooses itself stay as they are, unless they are named.
        fewer: values of knobs of which not all mean something here, unless they are named.

    Raises:
        ConfigError: no such knob or value, a knob twice.
    """
    space: dict[str, tuple[str, ...]] = {"model": tuple(models), "board": tuple(boards)}
    for name, knob in KNOBS.items():
        values = fewer.get(name, knob.values)
        space[name] = tuple(v for v in values if v != _SAME_AS_DEFAULT.get(name))
    named = set()
    for text in texts:
        name, _, given = text.partition("=")
        if name not in KNOBS or name in named:
            what = "is given twice" if name in named else "is nothing that is chosen"
            raise ConfigError(
                f"{shown(name)!r} {what}", where="--vary", hint=f"there are {', '.join(KNOBS)}"
            )
        named.add(name)
        space[name] = tuple(dict.fromkeys(given.split("/")))
        for value in space[name]:
            _options(name, value)
    if "fit" in named:
        space |= {name: (DEFAULT,) for name in _CHOSEN_BY_FIT if name not in named}
    return space


def check_on_linux(space: Space) -> None:
    """Refuse values of knobs that no board with Linux has.

    Args:
        space: one of `space_of`, with the values `ON_LINUX`.

    Raises:
        ConfigError: the user named such a value.
    """
    for name, why in _REFUSED_ON_LINUX.items():
        value = next((each for each in space[name] if each != DEFAULT), None)
        if value is not None:
            raise ConfigError(
                f"{name}={shown(value)} is nothing for boards with Linux: {why}",
                where="--vary",
                hint="leave it out",
            )


def switches(space: Space) -> list[Setting]:
    """Settings with one knob changed from its first value: by turns to the farthest value of each
    knob, to the nearest one, and to those between, so that a few trials see how far a knob reaches.
    """
    usual = {knob: values[0] for knob, values in space.items()}
    others = {knob: (*values[:0:-1][:1], *values[1:-1]) for knob, values in space.items()}
    most = max(map(len, others.values()))
    return [
        {**usual, knob: values[place]}
        for place in range(most)
        for knob, values in others.items()
        if place < len(values)
    ]


def _options(name: str, value: str) -> Options:
    if value == DEFAULT:
        return {}
    try:
        return KNOBS[name].takes(value)
    except ValueError:
        raise ConfigError(
            f"{shown(value)!r} is no value of {name}",
            where="--vary",
            hint=f"like --vary {name}={'/'.join(KNOBS[name].values)}",
        ) from None


def options_of(setting: Setting) -> dict[str, OptionValue]:
    """Options that a setting stands for, by their name, and `pool-size`."""
    found: dict[str, OptionValue] = {}
    for name in KNOBS:
        found.update(_options(name, setting.get(name, DEFAULT)))
    return found


def pool_of(setting: Setting) -> WeightPoolOptions | None:
    """The weight pool of a setting; None: weights stay as they are."""
    size = options_of(setting).get("pool-size")
    return WeightPoolOptions(size=size) if isinstance(size, int) else None


def limits_of(setting: Setting) -> FitLimits | None:
    """Limits of a setting's own search; None: it has none."""
    text = options_of(setting).get("fit")
    return FitLimits.parse(text, "--vary") if isinstance(text, str) else None


def _number(value: Any) -> float:
    return float(value)


def compiled_by(setting: Setting, options: CompileOptions) -> CompileOptions:
    """Options of a compilation with those of a setting, before any search within limits."""
    found = options_of(setting)
    quant: dict[str, Any] = {
        name: kind(found[key])
        for key, name, kind in (
            ("precision", "precision", Precision),
            ("target-db", "target_db", _number),
            ("observer", "observer", Observer),
            ("effort", "effort", Effort),
        )
        if key in found
    }
    whole: dict[str, Any] = {
        key: kind(found[key])
        for key, kind in (("optimize", Optimize), ("rows", Rows), ("placement", Placement))
        if key in found
    }
    if "pool-kernel" in found:
        kernels = found["pool-kernel"]
        rules = tuple(map(PoolKernelRule.parse, kernels if isinstance(kernels, list) else ()))
        whole["pool"] = replace(options.pool, rules=rules)
    return replace(options, quant=replace(options.quant, **quant), **whole)


def words_of(setting: Setting) -> list[str]:
    """Options of `edgec compile` that a setting stands for, as words of a command line."""
    return option_words({k: v for k, v in options_of(setting).items() if k != "pool-size"})
