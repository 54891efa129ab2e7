"""What a run of each part of a kernel takes on a core: `prices.toml`, read and checked.

benchmarks/choice_prices.py writes the file.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from edgec.base.errors import ConfigError
from edgec.kernels.weightpool.plan.data_file import read_data

PRICES_FILE = Path(__file__).with_name("prices.toml")
_HINT = "install edgec again, or write the file: python benchmarks/choice_prices.py fit"
_STRICT = ConfigDict(extra="forbid")
_Price = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, config=_STRICT)
class CorePrices:
    """The prices of some cores.

    Attributes:
        cores: the cores, as targets call them (`Target.price_key`).
        measured_on: the board whose firmware was run.
        families: cycles of a part, with memory that never waits, by family and part.
    """

    cores: Annotated[tuple[str, ...], Field(min_length=1)]
    measured_on: str
    families: dict[str, dict[str, _Price]]


@dataclass(frozen=True, slots=True, config=_STRICT)
class _File:
    prices: tuple[CorePrices, ...]


@functools.cache
def core_prices(path: Path = PRICES_FILE) -> Mapping[str, CorePrices]:
    """The prices in a file, by core.

    Raises:
        ConfigError: the file cannot be read, does not say what it has to, or names a core twice.
    """
    tables = read_data(path, TypeAdapter(_File), "prices", _HINT).prices
    found = {core: table for table in tables for core in table.cores}
    if sum(len(table.cores) for table in tables) != len(found):
        raise ConfigError("a core has two tables of prices", where=path.name, hint=_HINT)
    return found
