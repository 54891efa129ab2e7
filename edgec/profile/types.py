"""Records of a profile, as frozen data and as JSON."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from edgec.timing.types import MemoryMode

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Counts:
    """Executed instructions of a part of a run, and the model's estimate of its cycles.

    Attributes:
        cycles: core clock cycles, waiting for flash included.
        ideal_cycles: the same with memory that never makes the core wait.
        instructions: executed instructions.
        loads, stores: executed instructions that read or write memory (LDM and STM once each).
        branches: executed branch instructions, taken or not.
        fetch_stalls, data_stalls: cycles waited for instructions and for data from flash.
    """

    cycles: int = 0
    ideal_cycles: int = 0
    instructions: int = 0
    loads: int = 0
    stores: int = 0
    branches: int = 0
    fetch_stalls: int = 0
    data_stalls: int = 0

    @property
    def flash_stalls(self) -> int:
        """Cycles waited for the flash."""
        return self.fetch_stalls + self.data_stalls

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            *(
                getattr(self, field.name) + getattr(other, field.name)
                for field in dataclasses.fields(self)
            )
        )


@dataclass(frozen=True, slots=True)
class FunctionProfile:
    """A C function's share of a layer or of the whole run.

    Attributes:
        name: its symbol.
        counts: without the functions that it calls.
    """

    name: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class LayerProfile:
    """One step of the program.

    Attributes:
        name: edgec's name for its output, untrusted.
        sources: ONNX nodes it stands for, untrusted.
        macs: multiply-accumulates.
        moved_bytes: its weights, inputs and output, each byte once a call.
        functions: what ran in it, most cycles first.
        measured_cycles: what a board measured; None when that is not known.
    """

    name: str
    op: str
    sources: tuple[str, ...]
    output_shape: tuple[int, ...]
    kernel: str
    macs: int
    moved_bytes: int
    counts: Counts
    functions: tuple[FunctionProfile, ...]
    measured_cycles: int | None = None

    @property
    def title(self) -> str:
        """The first ONNX node that the layer stands for."""
        return next(iter(self.sources), self.name)

    @property
    def cycles_per_mac(self) -> float | None:
        """Cycles per multiply-accumulate; None for a layer without any."""
        return self.counts.cycles / self.macs if self.macs else None


@dataclass(frozen=True, slots=True)
class CoreModelFacts:
    """Cycle model of an estimate, with its known error.

    Attributes:
        known_error: in words, from comparison with published figures.
        sources: documents that the rules come from.
    """

    name: str
    known_error: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EnergyEstimate:
    """Energy of one inference: an estimate from one number of the board, never a measurement.

    Attributes:
        microjoules: cycles x energy of a cycle.
        nanojoules_per_cycle: energy of a cycle.
        words: the figure that this comes from.
        source: its document and conditions.
        idle_milliwatts: power between runs; None: not known.
    """

    microjoules: float
    nanojoules_per_cycle: float
    words: str
    source: str
    idle_milliwatts: float | None = None


@dataclass(frozen=True, slots=True)
class DutyEstimate:
    """Power of a board that runs the network again and again, and how long a battery lasts.

    Attributes:
        runs_per_second: how often it runs.
        share: part of the time in which it computes, 0 to 1.
        milliwatts: mean power, of computing and, where it is known, of waiting.
        waits: the power of waiting is in it.
        battery: the battery, in words; "" without one.
        days: days that the battery lasts; None without one.
    """

    runs_per_second: float
    share: float
    milliwatts: float
    waits: bool
    battery: str = ""
    days: float | None = None


@dataclass(frozen=True, slots=True)
class Floor:
    """Lower bound of the core's cycles.

    Attributes:
        cycles_per_mac: cycles that multiply-accumulate instructions alone take.
        bytes_per_cycle: bytes that loads can bring in a cycle at best.
        reason: both in words.
    """

    cycles_per_mac: float
    bytes_per_cycle: int
    reason: str


_MEMORY_WORDS = {
    "flash": "code and weights in flash",
    "sram": "code and weights supposed in SRAM",
    "ideal": "memory supposed without wait states",
}


@dataclass(frozen=True, slots=True)
class Profile:
    """One inference on one board.

    Attributes:
        digest: digest of the program, as in `report.json`.
        board: its name.
        board_title: its name in words.
        core: the processor core.
        clock_hz: core clock.
        memory: "flash", "sram" or "ideal": where code and weights were supposed to be.
        input: what was run, in words.
        layers: in order of execution.
        outside: calls between the layers; in the totals, in no layer.
        functions: the functions of the whole run, most cycles first.
        total: all layers and `outside`.
        macs: multiply-accumulates.
        stack_bytes: most stack in use, whole firmware, as its paint shows; None: not measured.
        stack_limit_bytes: what the board file reserves.
        arena_bytes: size of the arena.
        arena_touched_bytes: from the first to the last byte that the run wrote.
        energy: None where the board file has no figure.
        duty: power when it runs again and again; None where nobody asked.
        model: the cycle model.
        floor: what the core could do at best.
        measured_cycles: sum of what a board measured; None without a measurement.
        ram_weights: which weights lie in RAM, in words; "": none.
    """

    schema: int
    model_name: str
    digest: str
    board: str
    board_title: str
    core: str
    clock_hz: int
    memory: str
    input: str
    layers: tuple[LayerProfile, ...]
    outside: Counts
    functions: tuple[FunctionProfile, ...]
    total: Counts
    macs: int
    stack_bytes: int | None
    stack_limit_bytes: int
    arena_bytes: int
    arena_touched_bytes: int
    energy: EnergyEstimate | None
    model: CoreModelFacts
    floor: Floor
    measured_cycles: int | None = None
    ram_weights: str = ""
    duty: DutyEstimate | None = None

    @property
    def memory_words(self) -> str:
        """Places of code and weights, real or assumed, in words."""
        if self.memory == MemoryMode.FLASH.value and self.ram_weights:
            return f"code in flash, {self.ram_weights}"
        return _MEMORY_WORDS[self.memory]

    @property
    def total_cycles(self) -> int:
        """Cycles of one inference."""
        return self.total.cycles

    @property
    def ideal_cycles(self) -> int:
        """Cycles of one inference with memory that never makes the core wait."""
        return self.total.ideal_cycles

    @property
    def time_ms(self) -> float:
        """Time of one inference at the board's clock."""
        return 1e3 * self.total_cycles / self.clock_hz

    @property
    def clock_mhz(self) -> float:
        """Core clock in megahertz."""
        return self.clock_hz / 1e6

    @property
    def cycles_per_mac(self) -> float | None:
        """Cycles per multiply-accumulate; None for a model without any."""
        return self.total_cycles / self.macs if self.macs else None

    @property
    def cycles_per_instruction(self) -> float:
        """Cycles per executed instruction."""
        return self.total.cycles / self.total.instructions

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; totals and the counts of layers are flat."""
        data = dataclasses.asdict(self)
        total = data.pop("total")
        data["layers"] = [_layer_json(layer, self.clock_hz) for layer in self.layers]
        data["functions"] = [_function_json(function) for function in self.functions]
        data["energy"] = data["energy"] and {"estimate": True, **data["energy"]}
        return {
            **data,
            **total,
            "flash_stalls": self.total.flash_stalls,
            "total_cycles": self.total_cycles,
            "time_ms": self.time_ms,
            "cycles_per_instruction": self.cycles_per_instruction,
            "cycles_per_mac": self.cycles_per_mac,
        }


def _layer_json(layer: LayerProfile, clock_hz: int) -> dict[str, Any]:
    data = dataclasses.asdict(layer)
    counts = data.pop("counts")
    return {
        **data,
        **counts,
        "flash_stalls": layer.counts.flash_stalls,
        "cycles_per_mac": layer.cycles_per_mac,
        "time_ms": 1e3 * layer.counts.cycles / clock_hz,
        "functions": [_function_json(function) for function in layer.functions],
    }


def _function_json(function: FunctionProfile) -> dict[str, Any]:
    return {
        "name": function.name,
        **dataclasses.asdict(function.counts),
        "flash_stalls": function.counts.flash_stalls,
    }
