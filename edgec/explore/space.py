"""Settings of a search: the knobs, their values, and the options that a value stands for.

A knob has a name and values, all of them texts.  The value `DEFAULT` stands for no option at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.options import (
    CompileOptions,
    Effort,
    Observer,
    Optimize,
    Placement,
    Precision,
    QuantOptions,
    Rows,
    WeightPoolOptions,
)

DEFAULT = "default"
Setting = Mapping[str, str]
"""A value for each knob, by name."""
Space = Mapping[str, tuple[str, ...]]
"""Values of each knob that may be chosen; the first one is that of trial 0."""
_DECIBELS = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,2})?)dB")
_POOL = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class Knob:
    """A choice that holds for a network as a whole.

    Attributes:
        values: the values that are tried where the user names none.
        takes: gives the options of a value as keys of `edgec.toml`; ValueError: no such value.
        help: what it chooses.
    """

    values: tuple[str, ...]
    takes: Callable[[str], Mapping[str, str | float]]
    help: str


def _one_of(option: str, kind: type[Observer | Effort | Optimize | Placement | Rows]) -> Knob:
    values = tuple(str(each.value) for each in kind)

    def takes(value: str) -> Mapping[str, str | float]:
        return {option: str(kind(value).value)}

    return Knob((DEFAULT, *values), takes, f"`--{option}`")


def _precision(value: str) -> Mapping[str, str | float]:
    found = _DECIBELS.fullmatch(value)
    if found is None:
        return {"precision": str(Precision(value).value)}
    return {"precision": Precision.AUTO.value, "target-db": float(found[1])}


def _pool(value: str) -> Mapping[str, str | float]:
    if not _POOL.fullmatch(value):
        raise ValueError(value)
    return {"pool-size": int(value)}


KNOBS: Mapping[str, Knob] = {
    "precision": Knob(
        (DEFAULT, "20dB", "25dB", "30dB", "35dB", "40dB", "int16"),
        _precision,
        "int8, int16, or decibels that `--precision auto --target-db` aims at",
    ),
    "observer": _one_of("observer", Observer),
    "effort": _one_of("effort", Effort),
    "pool": Knob(
        (DEFAULT, "32", "64", "128", "256"), _pool, "vectors of the pool of `edgec compress`"
    ),
    "optimize": _one_of("optimize", Optimize),
    "rows": _one_of("rows", Rows),
    "placement": _one_of("placement", Placement),
}
"""Knob by name, in the order of tables; values that are the default of the option are left out."""
_SAME_AS_DEFAULT = {
    "observer": Observer.MSE.value,
    "effort": Effort.NORMAL.value,
    "optimize": Optimize.SPEED.value,
    "rows": Rows.AUTO.value,
}


def space_of(
    models: Sequence[str], boards: Sequence[str], texts: Sequence[str], *, floats: bool = True
) -> Space:
    """The space of a search.

    Args:
        models: the models by the names that trials call them, one or more.
        boards: the boards, one or more.
        texts: values that the user names, ``KNOB=VALUE/VALUE``; one value fixes a knob.
        floats: the models hold float weights, which can be pooled.

    Raises:
        ConfigError: no such knob or value, a knob twice.
    """
    space: dict[str, tuple[str, ...]] = {"model": tuple(models), "board": tuple(boards)}
    for name, knob in KNOBS.items():
        space[name] = tuple(v for v in knob.values if v != _SAME_AS_DEFAULT.get(name))
    if not floats:
        space["pool"] = (DEFAULT,)
    named = set()
    for text in texts:
        name, _, values = text.partition("=")
        if name not in KNOBS or name in named:
            what = "is given twice" if name in named else "is nothing that is chosen"
            raise ConfigError(
                f"{shown(name)!r} {what}", where="--vary", hint=f"there are {', '.join(KNOBS)}"
            )
        named.add(name)
        space[name] = tuple(dict.fromkeys(values.split("/")))
        for value in space[name]:
            _options(name, value)
    return space


def _options(name: str, value: str) -> Mapping[str, str | float]:
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


def options_of(setting: Setting) -> dict[str, str | float]:
    """Options that a setting stands for, by their key in `edgec.toml`, and `pool-size`."""
    found: dict[str, str | float] = {}
    for name in KNOBS:
        found.update(_options(name, setting.get(name, DEFAULT)))
    return found


def pool_of(setting: Setting) -> WeightPoolOptions | None:
    """The weight pool of a setting; None: weights stay as they are."""
    size = options_of(setting).get("pool-size")
    return None if size is None else WeightPoolOptions(size=int(size))


def compiled_by(setting: Setting, options: CompileOptions) -> CompileOptions:
    """Options of a compilation with those of a setting."""
    found = options_of(setting)
    quant: QuantOptions = options.quant
    if "precision" in found:
        quant = replace(quant, precision=Precision(found["precision"]))
    if "target-db" in found:
        quant = replace(quant, target_db=float(found["target-db"]))
    if "observer" in found:
        quant = replace(quant, observer=Observer(found["observer"]))
    if "effort" in found:
        quant = replace(quant, effort=Effort(found["effort"]))
    options = replace(options, quant=quant)
    if "optimize" in found:
        options = replace(options, optimize=Optimize(found["optimize"]))
    if "rows" in found:
        options = replace(options, rows=Rows(found["rows"]))
    if "placement" in found:
        options = replace(options, placement=Placement(found["placement"]))
    return options


def words_of(setting: Setting) -> list[str]:
    """Options of `edgec compile` that a setting stands for, as words of a command line."""
    words = []
    for key, value in options_of(setting).items():
        if key != "pool-size":
            words += [f"--{key}", f"{value:g}" if isinstance(value, float) else str(value)]
    return words
