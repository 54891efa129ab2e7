"""Input and output of the memory planner.  Lifetimes are half-open steps everywhere."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.base.errors import InternalError

# Offsets are multiples of this: enough for any C type and for Armv7-M's doubleword loads.
ALIGNMENT_BYTES = 8


class Space(enum.Enum):
    """A block of memory that the caller provides.

    ARENA: for a run; several models may use one in turn.
    STATE: between runs, too; each context has its own.
    """

    ARENA = "arena"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that must exist for a while: a tensor (with all its aliases), or scratch of a step.

    A step reads its inputs and writes its outputs, so both are live at it: the tensor made by step
    s and last read by step t lives on ``[s, t + 1)``; scratch of step s on ``[s, s + 1)``.

    Attributes:
        name: unique in a plan; may come from the model, so it is untrusted.
        size_bytes: 0 is allowed; such a buffer never conflicts.
        first_step, end_step: live on ``[first_step, end_step)``, never empty.
        space: where it lies.
    """

    name: str
    size_bytes: int
    first_step: int
    end_step: int
    space: Space = Space.ARENA

    def __post_init__(self) -> None:
        if self.size_bytes < 0 or not 0 <= self.first_step < self.end_step:
            raise InternalError(
                f"bad buffer: {self.size_bytes} bytes on [{self.first_step}, {self.end_step})",
                where=repr(self.name[:80]),
            )


@dataclass(frozen=True, slots=True)
class Overlap:
    """A step's output may lie over one of its inputs: each byte is read before it is written.

    Allowed if ``offset(output) + distance_bytes <= offset(input)``, and only if the step that makes
    the output is the last to read the input: ``input.end_step == output.first_step + steps``.
    Where that does not hold, the entry has no effect.  An output may have entries with several
    inputs; of several entries with one input, the largest distance counts.

    Attributes:
        output, input: names of buffers.
        distance_bytes: 0 for element-wise operators (plain in-place execution); negative is taken
            as 0; the entry gains nothing once it reaches the output's size.
        steps: steps at which both live: several steps that run in turns count as one.
    """

    output: str
    input: str
    distance_bytes: int
    steps: int = 1


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one buffer: bytes ``[offset, offset + size_bytes)`` of its space.

    Attributes:
        offset: bytes from the start of the space.
        size_bytes: size of the buffer, without padding.
        first_step, end_step: the buffer lives on ``[first_step, end_step)``.
        space: where it lies.
    """

    offset: int
    size_bytes: int
    first_step: int
    end_step: int
    space: Space = Space.ARENA

    @property
    def end(self) -> int:
        """Offset of the first byte after the slot."""
        return self.offset + self.size_bytes

    @property
    def lives_for_a_step(self) -> bool:
        """The buffer exists at one step alone."""
        return self.end_step - self.first_step == 1

    def live_at(self, step: int) -> bool:
        """True when the buffer must exist at `step`."""
        return self.first_step <= step < self.end_step


@dataclass(frozen=True, slots=True, eq=False)
class MemoryPlan:
    """A place for every buffer.

    Attributes:
        slots: the slot of each buffer by its name, in the order in which the buffers were given.
        arena_bytes: size of the arena, a multiple of the alignment.
        disjoint_bytes: least arena without overlaps, the largest sum of sizes live at one step; a
            plan that uses overlaps may be below it.
        state_bytes: size of the state, a multiple of the alignment.
    """

    slots: Mapping[str, Slot]
    arena_bytes: int
    disjoint_bytes: int
    state_bytes: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", MappingProxyType(dict(self.slots)))

    @property
    def arena_slots(self) -> Mapping[str, Slot]:
        """The slots in the arena."""
        return {name: slot for name, slot in self.slots.items() if slot.space is Space.ARENA}

    @property
    def steps(self) -> int:
        """Number of steps, from step 0 to the last one at which anything lives."""
        return max((slot.end_step for slot in self.slots.values()), default=0)
