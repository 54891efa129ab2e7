"""Operations, each with a price, in every part of a kernel with a weight pool.

There are too many parts to measure each by itself: what one takes follows from a few operations.
`pool_operations.toml` holds their numbers, `pool_prices.toml` what one takes on a core.  Assembly
(`edgec/weight_pool/gather.h`, `weight_pool/products.h`, `weight_pool/rows.h`) is counted
instruction by instruction.  Of C, the instructions are counted that GCC makes of it, rounded: those
of Armv7-M where nothing else is said.  An instruction that loads counts for about two there, so
that the price of a compiled instruction is near one cycle on a core that does one thing at a time.
"""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edgec.kernels.common.layer_end import KernelForm
from edgec.kernels.weightpool.events import Event

PRICES_FILE = Path(__file__).with_name("pool_prices.toml")
_OPERATIONS_FILE = Path(__file__).with_name("pool_operations.toml")
_TABLES: Mapping[KernelForm, tuple[str, ...]] = {
    KernelForm.ARMV6M: ("compiled", "armv6m"),
    KernelForm.ARMV7M: ("compiled", "thumb2", "gather", "armv7m"),
    KernelForm.ARMV7EM: ("compiled", "thumb2", "gather", "dsp"),
    KernelForm.ARMV7A: ("compiled", "thumb2", "armv7a"),
    KernelForm.A64: ("compiled", "a64"),
}
"""The tables of the file that hold for each form; a later one replaces what an earlier one says."""
FORMS: Mapping[str, tuple[KernelForm, ...]] = {
    "m0plus": (KernelForm.ARMV6M,),
    "m3": (KernelForm.ARMV7M,),
    "m4": (KernelForm.ARMV7EM,),
    "m7": (KernelForm.ARMV7EM,),
    "m33": (KernelForm.ARMV7M, KernelForm.ARMV7EM),
    "a7": (KernelForm.ARMV7A,),
    "a53": (KernelForm.A64,),
}
"""The forms of the kernels that a core may run: a Cortex-M33 is made with DSP and without."""
FITTED = ("compiled", "mac", "tile_mac", "output")
"""Prices that are fitted; the others follow from the cycle model of the core."""


@dataclass(frozen=True, slots=True)
class Operations:
    """Numbers of operations, or a price for each of them.

    Attributes:
        load: a word or an entry of a list loaded by assembly.
        step: another instruction of assembly.
        product: a multiply-accumulate instruction.
        turn: a branch of assembly that is taken.
        compiled: an instruction of compiled C.
        mac: a multiply-accumulate of the layer, in a loop in C for one pixel at a time.
        tile_mac: the same in a loop for several rows and filters.
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
        """Cost of these operations."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(prices), strict=True)
        return float(sum(number * price for number, price in pairs))


def operations_of(form: KernelForm) -> dict[Event, Operations]:
    """Operations of each part in a form of the kernels; parts that it does not have are missing."""
    tables = _read(_OPERATIONS_FILE)
    found = {name: each for table in _TABLES[form] for name, each in tables[table].items()}
    return {Event[name]: Operations(**each) for name, each in found.items()}


def stored_prices() -> dict[str, Operations]:
    """Prices of operations by core, a key of `FORMS`."""
    return {core: Operations(**prices) for core, prices in _read(PRICES_FILE).items()}


def part_prices(core: str, prices: Operations) -> dict[str, float]:
    """What a run of each part takes on a core."""
    found = {event: each for form in FORMS[core] for event, each in operations_of(form).items()}
    return {str(event): round(found[event].priced(prices), 6) for event in sorted(found)}


@functools.cache
def _read(path: Path) -> Mapping[str, Mapping[str, dict[str, float]]]:
    return tomllib.loads(path.read_text("utf-8"))
