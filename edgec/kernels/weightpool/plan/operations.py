"""What an event of a kernel with a weight pool takes: how many of the operations that have a price.

`operations.toml` holds the numbers.  Assembly (`edgec/pool_gather.h`, `pool_products.h`,
`pool_rows.h`, `tile_4x2.h`) is counted instruction by instruction.  Of C, the instructions are
counted that GCC makes of it, rounded: those of Armv7-M where nothing else is said.  An instruction
that loads counts for about two there, so that the price of a compiled instruction is near one cycle
on a core that does one thing at a time.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from edgec.kernels.common.events import Event
from edgec.kernels.common.form import KernelForm
from edgec.kernels.weightpool.plan.data_file import read_data

OPERATIONS_FILE = Path(__file__).with_name("operations.toml")
_PARTS: Mapping[KernelForm, tuple[str, ...]] = MappingProxyType(
    {
        KernelForm.ARMV6M: ("compiled", "armv6m"),
        KernelForm.ARMV7M: ("compiled", "thumb2", "gather", "armv7m"),
        KernelForm.ARMV7EM: ("compiled", "thumb2", "gather", "dsp"),
        KernelForm.ARMV7A: ("compiled", "thumb2", "armv7a"),
        KernelForm.A64: ("compiled", "a64"),
    }
)
"""The tables of the file that hold for each form; a later one replaces what an earlier one says."""


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class Operations:
    """Numbers of operations, or a price for each of them.

    Attributes:
        load: a word or an entry of a list loaded by assembly.
        step: another instruction of assembly.
        product: a multiply-accumulate instruction.
        turn: a branch of assembly that is taken.
        compiled: an instruction of compiled C.
        mac: a multiply-accumulate of the layer, in a loop in C for one pixel at a time.
        tile_mac: the same in the loops of the dense kernels for several rows and filters.
        output: a sum requantized and stored.
    """

    load: float = 0
    step: float = 0
    product: float = 0
    turn: float = 0
    compiled: float = 0
    mac: float = 0
    tile_mac: float = 0
    output: float = 0

    def priced(self, prices: Operations) -> float:
        """What these cost."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(prices), strict=True)
        return float(sum(number * price for number, price in pairs))


_EventName = Annotated[Event, BeforeValidator(lambda name: Event.__members__.get(name, name))]
_Tables = dict[str, dict[_EventName, Operations]]


def operations_of(form: KernelForm) -> dict[Event, Operations]:
    """What each event takes in a form of the kernels; events that it does not have are missing.

    Raises:
        ConfigError: the file of operations is damaged.
    """
    tables, found = _tables(), dict[Event, Operations]()
    for part in _PARTS[form]:
        found.update(tables[part])
    return found


@functools.cache
def _tables() -> _Tables:
    return read_data(OPERATIONS_FILE, TypeAdapter(_Tables), "operations", "install edgec again")
