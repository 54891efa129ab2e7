"""Machine code of one basic block as facts that cycle models read: `decode_block`.

Capstone disassembles; what an instruction reads and writes is derived here from the operands and
`decode_kinds.OPERATIONS`, because capstone 5 misses operands (the accumulators of SMLAL, the last
register of SXTAB and SSAT).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import capstone as _untyped_capstone

from edgec.errors import ConfigError, SimulationError
from edgec.timing.decode_kinds import LOADS, OPERATIONS, STORES, Form, Kind

_capstone: Any = _untyped_capstone
_arm: Any = _untyped_capstone.arm

PC = 15
FLAGS = 16
FP_FLAGS = 17
_FP_BASE = 32  # s0; d0 is s0 and s1
_NONE: frozenset[int] = frozenset()
_SINGLES = (Kind.LOAD, Kind.STORE)
_EXTEND_ADDS = ("sxtab", "sxtah", "uxtab", "uxtah", "sxtab16", "uxtab16")


class Branch(Enum):
    """How an instruction changes the program counter.

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
    """What a load or store computes its address from.

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
        address: where it is.
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
    def is_narrow(self) -> bool:
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
        address: of its first byte, without the Thumb bit.

    Raises:
        ConfigError: this capstone is too old.
        SimulationError: bytes that are no instruction, or an instruction without a cycle model;
            the text names it and its address.
    """
    if _capstone.cs_version()[0] < 5:
        raise ConfigError("capstone is too old", hint='pip install "capstone>=5"')
    mode = _capstone.CS_MODE_THUMB | _capstone.CS_MODE_MCLASS
    disassembler = _capstone.Cs(_capstone.CS_ARCH_ARM, mode)
    disassembler.detail = True
    decoded = []
    end = address
    for raw in disassembler.disasm(code, address):
        decoded.append(_instruction(raw))
        end = raw.address + raw.size
    if end != address + len(code):
        left = code[end - address :][:4].hex(" ")
        raise SimulationError(f"not a Thumb instruction: {left}", where=f"{end:#010x}")
    return tuple(decoded)


def _instruction(raw: Any) -> Instruction:
    name = raw.insn_name()
    text = f"{raw.mnemonic} {raw.op_str}".strip()
    is_vector = any(_letter(raw, operand) == "q" for operand in raw.operands)
    if name not in OPERATIONS or is_vector:
        raise SimulationError(
            f"no cycle model for the instruction {text!r}",
            where=f"{raw.address:#010x}",
            hint="please report it with the board's name",
        )
    kind, form = OPERATIONS[name]
    kind = _fp_move_kind(kind, name, raw)
    operands = _operands(raw, form, kind)
    branch = _branch(raw, name, kind, operands.writes)
    is_compare = form is Form.COMPARE and kind is Kind.ALU
    sets_flags = bool(raw.update_flags) or is_compare or name == "fmstat"
    flags_out = {FLAGS} if sets_flags else {FP_FLAGS} if kind is Kind.FP_COMPARE else set()
    is_conditional = kind is not Kind.IF_THEN and (
        raw.cc not in (_arm.ARM_CC_AL, _arm.ARM_CC_INVALID) or name in ("cbz", "cbnz")
    )
    has_shift = any(o.shift.type for o in raw.operands if o.type == _arm.ARM_OP_REG)
    return Instruction(
        address=raw.address,
        size_bytes=raw.size,
        text=text,
        name=name,
        kind=kind,
        reads=frozenset(operands.reads | _implied_reads(name, is_conditional)),
        writes=frozenset(operands.writes | flags_out),
        early=frozenset(operands.early),
        addends=frozenset(operands.addends),
        stored=frozenset(operands.stored),
        memory=operands.memory,
        words=operands.words,
        is_word=kind not in _SINGLES or name in ("ldr", "str", "ldrt", "strt"),
        has_shift=has_shift or (kind is Kind.ALU and _is_rotated_constant(bytes(raw.bytes))),
        is_double=any(_letter(raw, o) == "d" for o in raw.operands),
        sets_flags=sets_flags,
        is_conditional=is_conditional,
        branch=branch,
        links=name in ("bl", "blx", "blxns"),
        target=_target(raw) if branch is Branch.DIRECT else None,
    )


@dataclass(slots=True)
class _Operands:
    """Registers by role, while they are collected."""

    reads: set[int]
    writes: set[int]
    early: set[int]
    addends: set[int]
    stored: set[int]
    memory: Address | None = None
    words: int = 0


def _operands(raw: Any, form: Form, kind: Kind) -> _Operands:
    found = _Operands(set(), set(), set(), set(), set())
    if form is Form.DATA:
        _transfer(found, raw, kind, _registers(raw))
    elif form is Form.LIST:
        base = _number(raw.reg_name(raw.operands[0].reg))
        listed = _registers(raw)[1:]
        found.memory = Address(base[0], None, 0, bool(raw.writeback))
        _transfer(found, raw, kind, listed)
    elif form is Form.STACK:
        found.memory = Address(13, None, 0, True)
        _transfer(found, raw, kind, _registers(raw))
    else:
        _compute(found, raw, form)
    return found


def _transfer(found: _Operands, raw: Any, kind: Kind, registers: list[tuple[int, ...]]) -> None:
    """Loads, stores and preloads: registers to memory or back, and the address."""
    if kind is Kind.STORE_EXCLUSIVE and raw.insn_name().startswith("strex"):
        found.writes.update(registers.pop(0))
    moved = {number for group in registers for number in group}
    if kind in LOADS:
        found.writes |= moved
    elif kind in STORES:
        found.stored |= moved
        found.reads |= moved
    found.words = sum(len(group) for group in registers)
    if found.memory is None:
        found.memory = _address(raw)
    found.reads |= found.memory.registers
    if found.memory.writes_base:
        found.writes.add(found.memory.base)


def _compute(found: _Operands, raw: Any, form: Form) -> None:
    """Everything without an access to memory."""
    registers = [(o, _number(raw.reg_name(o.reg))) for o in raw.operands if _is_register(o)]
    results = {Form.COMPARE: 0, Form.OTHER: 0, Form.LONG: 2, Form.LONG_ADD: 2}.get(form, 1)
    if raw.insn_name() == "vmov" and len(registers) > 2:
        results = 2 if len(registers) == 4 or registers[2][1][0] >= _FP_BASE else 1
    for position, (operand, numbers) in enumerate(registers):
        if position < results:
            found.writes.update(numbers)
            if not operand.access & _capstone.CS_AC_READ and form is not Form.LONG_ADD:
                continue
        found.reads.update(numbers)
        if operand.shift.type:
            found.early.update(numbers)
    if registers and form is Form.EARLY_LAST:
        found.early.update(registers[-1][1])
    added = {Form.ADD_LAST: registers[-1:], Form.LONG_ADD: registers[:2]}
    added[Form.ADD_FIRST] = registers[:1]
    if raw.insn_name() in _EXTEND_ADDS:
        added[form] = registers[1:2]
    for _, numbers in added.get(form, []):
        found.addends.update(numbers)
    found.reads |= found.addends
    for operand in raw.operands:
        if operand.type == _arm.ARM_OP_MEM and operand.mem.index:  # TBB, TBH
            found.reads.update(_number(raw.reg_name(operand.mem.index)))
    found.reads.discard(PC)


def _address(raw: Any) -> Address:
    for operand in raw.operands:
        if operand.type == _arm.ARM_OP_MEM:
            index = raw.reg_name(operand.mem.index) if operand.mem.index else None
            return Address(
                base=_number(raw.reg_name(operand.mem.base))[0],
                index=_number(index)[0] if index else None,
                offset=operand.mem.disp,
                writes_base=bool(raw.writeback),
            )
    # A literal: capstone gives some as an absolute address.
    return Address(PC, None, 0, False)


def _registers(raw: Any) -> list[tuple[int, ...]]:
    return [_number(raw.reg_name(o.reg)) for o in raw.operands if _is_register(o)]


def _is_register(operand: Any) -> bool:
    return bool(operand.type == _arm.ARM_OP_REG)


def _letter(raw: Any, operand: Any) -> str:
    return str(raw.reg_name(operand.reg))[0] if _is_register(operand) else ""


def _number(name: str) -> tuple[int, ...]:
    """Our numbers of a register; two for a double-precision one."""
    special = {"sb": 9, "sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14, "pc": PC}
    if name in special:
        return (special[name],)
    if name.startswith(("fpscr", "apsr")):
        return (FP_FLAGS,) if name.startswith("f") else (FLAGS,)
    letter, number = name[:1], name[1:]
    if letter in ("r", "s", "d") and number.isdecimal():
        first = {"r": 0, "s": _FP_BASE, "d": _FP_BASE}[letter]
        if letter == "d":
            return (first + 2 * int(number), first + 2 * int(number) + 1)
        return (first + int(number),)
    return ()  # special registers: order with them is not modelled


def _implied_reads(name: str, is_conditional: bool) -> set[int]:
    needs_flags = is_conditional and name not in ("cbz", "cbnz")
    if needs_flags or name in ("adc", "sbc", "rrx", "sel") or name.startswith("vsel"):
        return {FLAGS}
    return {FP_FLAGS} if name == "fmstat" else set()


def _fp_move_kind(kind: Kind, name: str, raw: Any) -> Kind:
    """VMOV is four instructions: within the FPU, a half of a double, and from or to the core."""
    if name != "vmov":
        return kind
    registers = _registers(raw)
    if all(group[0] >= _FP_BASE for group in registers):
        return Kind.FP_MOVE
    is_half = len(registers) == 2 and any(len(group) == 2 for group in registers)
    return Kind.FP_HALF_MOVE if is_half else Kind.FP_CORE_MOVE


def _branch(raw: Any, name: str, kind: Kind, writes: set[int]) -> Branch:
    if kind is Kind.TABLE_BRANCH:
        return Branch.TABLE
    if kind is Kind.BRANCH:
        is_direct = any(o.type == _arm.ARM_OP_IMM for o in raw.operands)
        return Branch.DIRECT if is_direct else Branch.REGISTER
    if PC not in writes:
        return Branch.NONE
    return Branch.LOADED if kind in LOADS else Branch.REGISTER


def _target(raw: Any) -> int:
    return int(next(o.imm for o in raw.operands if o.type == _arm.ARM_OP_IMM)) & 0xFFFF_FFFE


def _is_rotated_constant(code: bytes) -> bool:
    """A modified immediate constant that is a rotated byte, not a byte or a pattern of bytes.

    Source: Arm DDI 0403E, A5.3.1 "Data processing (modified immediate)" and A5.3.2.
    """
    if len(code) != 4:
        return False
    first = int.from_bytes(code[:2], "little")
    second = int.from_bytes(code[2:], "little")
    if first & 0xFA00 != 0xF000 or second & 0x8000:
        return False
    return ((first >> 10 & 1) << 3 | second >> 12 & 7) >= 4
