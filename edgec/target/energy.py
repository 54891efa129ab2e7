"""The table of a board file on energy."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from edgec.target.memory_map import STRICT, Text


@dataclass(frozen=True, slots=True, config=STRICT)
class Energy:
    """Energy of the microcontroller while it computes: measured a cycle, or from its data sheet.

    Attributes:
        source: document, table and conditions.
        run_ma: typical current in milliamperes at the board's clock, code running from flash,
            peripherals off.
        volts: supply voltage of that figure.
        nj_per_cycle: nanojoules of a core cycle, measured while networks ran.
        idle_mw: milliwatts while the core waits for the next run, measured; None: not known.
    """

    source: Text
    run_ma: Annotated[float, Field(gt=0, le=10_000)] | None = None
    volts: Annotated[float, Field(gt=0, le=12)] | None = None
    nj_per_cycle: Annotated[float, Field(gt=0, le=1_000)] | None = None
    idle_mw: Annotated[float, Field(gt=0, le=100_000)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Energy:
        if (self.run_ma is None) != (self.volts is None):
            raise ValueError("run_ma and volts go together")
        if (self.run_ma is None) == (self.nj_per_cycle is None):
            raise ValueError("needs run_ma with volts, or nj_per_cycle")
        return self

    def nanojoules(self, clock_hz: int) -> float:
        """Energy of a cycle at a clock, in nanojoules."""
        if self.nj_per_cycle is not None:
            return self.nj_per_cycle
        assert self.run_ma is not None and self.volts is not None
        return self.run_ma * 1e6 * self.volts / clock_hz

    @property
    def words(self) -> str:
        """The figure that it is computed from."""
        if self.nj_per_cycle is not None:
            return f"{self.nj_per_cycle:g} nJ a cycle, measured"
        return f"{self.run_ma:g} mA at {self.volts:g} V"
