"""Measured cycles of each part of a kernel on a core: `prices.toml`, read and checked.

Scripts of benchmarks/ write the tables of families (choice_prices.py, camera_prices.py,
sound_prices.py), that of pools for NEON (pool_neon_prices.py) and the table `pool`
(pool_prices.py); int16_prices.py prints `products`.
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from edgec.base.errors import ConfigError

T = TypeVar("T")
PRICES_FILE = Path(__file__).with_name("prices.toml")
_HINT = "install edgec again, or write the file: python benchmarks/choice_prices.py fit"
_STRICT = ConfigDict(extra="forbid")
_Price = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, config=_STRICT)
class Products:
    """Cycles of a multiply-accumulate, for layers whose parts nobody counts.

    Source: benchmarks/int16_prices.py.

    Attributes:
        dense: in layers of one group with int8 activations.
        depthwise: in layers of more groups with int8 activations.
        dense16, depthwise16: in the same layers with int16 activations; depthwise ones in plain C.
    """

    dense: _Price
    depthwise: _Price
    dense16: _Price
    depthwise16: _Price


@dataclass(frozen=True, slots=True, config=_STRICT)
class CorePrices:
    """The prices of some cores.

    Attributes:
        cores: the cores, as targets call them (`Target.price_key`).
        measured_on: the board whose firmware was run.
        families: cycles of a part, with memory that never waits, by family and part; executed
            instructions on Cortex-A cores, which have no cycle model.
        products: for layers whose parts nobody counts; None: unknown.
    """

    cores: Annotated[tuple[str, ...], Field(min_length=1)]
    measured_on: str
    families: dict[str, dict[str, _Price]]
    products: Products | None = None


@dataclass(frozen=True, slots=True, config=_STRICT)
class _File:
    prices: tuple[CorePrices, ...]


def core_prices(key: str, path: Path = PRICES_FILE) -> CorePrices:
    """The prices of a core.

    Args:
        key: the core (`Target.price_key`).
        path: the file.

    Raises:
        ConfigError: the file cannot be read, does not say what it has to, names a core twice, or
            has no prices of this one.
    """
    found = {core: table for table in price_tables(path) for core in table.cores}
    if key not in found:
        raise ConfigError(f"no prices of {key}", where=path.name, hint=_HINT)
    return found[key]


@functools.cache
def price_tables(path: Path = PRICES_FILE) -> tuple[CorePrices, ...]:
    """The prices in a file.

    Raises:
        ConfigError: the file cannot be read, does not say what it has to, or names a core twice.
    """
    tables = read_data(path, TypeAdapter(_File), "prices", _HINT).prices
    cores = [core for table in tables for core in table.cores]
    if len(cores) != len(set(cores)):
        raise ConfigError("a core has two tables of prices", where=path.name, hint=_HINT)
    return tables


def read_data(path: Path, kind: TypeAdapter[T], what: str, hint: str) -> T:
    """The content of a file.

    Args:
        path: the file.
        kind: the type of what it holds.
        what: what the file holds, for the message.
        hint: what helps if it is damaged.

    Raises:
        ConfigError: it cannot be read, or does not hold this type.
    """
    try:
        return kind.validate_python(tomllib.loads(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read {what}: {error}", where=path.name, hint=hint) from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{key}: {first['msg']}", where=path.name, hint=hint) from error
