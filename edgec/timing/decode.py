"""Machine code of one basic block as facts that cycle models read: `decode_block`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from edgec.base.errors import ConfigError
from edgec.timing.decode_kinds import Kind

PC = 15
FLAGS = 16
FP_FLAGS = 17
FP_BASE = 32
"""Number of s0; d0 is s0 and s1."""

_NONE: frozenset[int] = frozenset()


class Branch(Enum):
    """Way in which an instruction changes the program counter.

    Attributes:
        NONE: it does not.
        DIRECT: to an address in the instruction.
        REGISTER: to an address in a register.
        LOADED: to an address in memory.
        TABLE: to an offset in a table.
    """

    NONE = auto()
    DIRECT = auto()
    REGISTER = auto()
    LOADED = auto()
    TABLE = auto()


@dataclass(frozen=True, slots=True)
class Address:
    """Registers and offset from which a load or store computes its address.

    Attributes:
        base: register number; `PC` for a literal.
        index: register number, or None for an immediate offset.
        offset: bytes added to the base before the access; 0 with an index.
        writes_base: the base is updated.
    """

    base: int
    index: int | None
    offset: int
    writes_base: bool

    @property
    def registers(self) -> frozenset[int]:
        """Registers that must be ready when the address is computed."""
        read = {self.base} if self.index is None else {self.base, self.index}
        return frozenset(read - {PC})


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.  Registers are numbers: r0-r15, `FLAGS`, `FP_FLAGS`, 32 + n for s<n>.

    Attributes:
        address: address of its first byte.
        size_bytes: 2 or 4.
        text: assembler text.
        name: capstone's name, without condition and width.
        kind: what it does.
        reads: all registers it needs, those of the address included.
        writes: all registers it changes.
        early: registers that pass a shifter before they are used (shifted operands, bit fields).
        addends: registers that are added to a product or to an extended value.
        stored: registers whose value goes to memory.
        memory: its address; None if it does not access memory (or is a push or pop).
        words: 32-bit words that it moves from or to memory.
        is_word: a load or store of whole words (not of bytes or halfwords).
        has_shift: one operand is shifted, or is a constant that the decoder must rotate.
        is_double: works on double-precision registers.
        sets_flags: changes the condition flags.
        is_conditional: executed, or branches, only under a condition.
        branch: how it changes the program counter.
        links: writes a return address.
        target: where a direct branch goes; None otherwise.
    """

    address: int
    size_bytes: int
    text: str
    name: str
    kind: Kind
    reads: frozenset[int]
    writes: frozenset[int]
    early: frozenset[int] = _NONE
    addends: frozenset[int] = _NONE
    stored: frozenset[int] = _NONE
    memory: Address | None = None
    words: int = 0
    is_word: bool = True
    has_shift: bool = False
    is_double: bool = False
    sets_flags: bool = False
    is_conditional: bool = False
    branch: Branch = Branch.NONE
    links: bool = False
    target: int | None = None

    @property
    def is_16_bit(self) -> bool:
        """Encoded in 16 bits."""
        return self.size_bytes == 2

    @property
    def address_registers(self) -> frozenset[int]:
        """Registers that must be ready when the address is computed."""
        return self.memory.registers if self.memory is not None else _NONE


def decode_block(code: bytes, address: int) -> tuple[Instruction, ...]:
    """The instructions of one basic block.

    Args:
        code: Thumb machine code, all of the block.
        address: address of its first byte, without the Thumb bit.

    Raises:
        ConfigError: capstone is not installed or too old.
        SimulationError: bytes that are no instruction, or an instruction without a cycle model;
            the text names it and its address.
    """
    try:
        from edgec.timing.decode_capstone import disassemble  # noqa: PLC0415  (optional extra)
    except ModuleNotFoundError as error:
        if error.name != "capstone":
            raise
        raise ConfigError(
            "a profile needs capstone, which is not installed", hint="pip install unicorn capstone"
        ) from error
    return disassemble(code, address)
