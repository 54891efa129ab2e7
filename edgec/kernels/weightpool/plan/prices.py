"""What an operation costs on each core: `prices.toml`, read and checked.

benchmarks/pool_prices.py writes the file.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from edgec.base.errors import ConfigError
from edgec.kernels.common.events import Event
from edgec.kernels.common.form import KernelForm
from edgec.kernels.weightpool.plan.data_file import read_data
from edgec.kernels.weightpool.plan.operations import Operations, operations_of
from edgec.target.target import Target

PRICES_FILE = Path(__file__).with_name("prices.toml")
_HINT = "install edgec again, or write the file: python benchmarks/pool_prices.py fit"
_STRICT = ConfigDict(extra="forbid")
_Price = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, config=_STRICT)
class DerivedPrices:
    """Prices that follow from the cycle model of the core: see `Operations`."""

    load: _Price
    step: _Price
    product: _Price
    turn: _Price


@dataclass(frozen=True, slots=True, config=_STRICT)
class FittedPrices:
    """Prices that were fitted to kernels run in the emulator: see `Operations`."""

    compiled: _Price
    mac: _Price
    tile_mac: _Price
    output: _Price


@dataclass(frozen=True, slots=True, config=_STRICT)
class CorePrices:
    """The prices of some cores.

    Attributes:
        cores: the cores, as targets call them (`Target.price_key`).
        measured_on: the board whose firmware was run.
        derived, fitted: cycles of an operation; executed instructions on Cortex-A cores.
    """

    cores: Annotated[tuple[str, ...], Field(min_length=1)]
    measured_on: str
    derived: DerivedPrices
    fitted: FittedPrices

    @property
    def operations(self) -> Operations:
        """All prices."""
        d, f = self.derived, self.fitted
        return Operations(
            load=d.load,
            step=d.step,
            product=d.product,
            turn=d.turn,
            compiled=f.compiled,
            mac=f.mac,
            tile_mac=f.tile_mac,
            output=f.output,
        )


@dataclass(frozen=True, slots=True, config=_STRICT)
class _File:
    prices: tuple[CorePrices, ...]


Prices = Mapping[Event, float]
"""What each event of a kernel costs."""


def prices_of(target: Target, path: Path = PRICES_FILE) -> Prices:
    """Cycles of each event on a target; executed instructions on a Cortex-A.

    Raises:
        ConfigError: the file of prices is damaged, or has none of this target.
    """
    return _prices_of(KernelForm.of(target), target.price_key, path)


@functools.cache
def _prices_of(form: KernelForm, key: str, path: Path) -> Prices:
    stored = core_prices(path)
    if key not in stored:
        raise ConfigError(f"no prices of {key}", where=path.name, hint=_HINT)
    prices = stored[key].operations
    found = {event: taken.priced(prices) for event, taken in operations_of(form).items()}
    return MappingProxyType(found)


@functools.cache
def core_prices(path: Path = PRICES_FILE) -> Mapping[str, CorePrices]:
    """The prices in a file, by core.

    Raises:
        ConfigError: the file cannot be read, does not say what it has to, or names a core
            twice.
    """
    tables = read_data(path, TypeAdapter(_File), "prices", _HINT).prices
    found = {core: table for table in tables for core in table.cores}
    if sum(len(table.cores) for table in tables) != len(found):
        raise ConfigError("a core has two tables of prices", where=path.name, hint=_HINT)
    return MappingProxyType(found)
