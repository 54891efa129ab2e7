"""Capstone's disassembly as `Instruction`s.

What an instruction reads and writes is derived here from its operands and from
`decode_kinds.OPERATIONS`, because capstone 5 misses operands (the accumulators of SMLAL, the last
register of SXTAB and SSAT).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import capstone as _untyped_capstone

from edgec.base.errors import ConfigError, SimulationError
from edgec.timing.decode import FLAGS, FP_BASE, FP_FLAGS, PC, Address, Branch, Instruction
from edgec.timing.decode_kinds import LOADS, OPERATIONS, STORES, Form, Kind

_capstone: Any = _untyped_capstone
_arm: Any = _untyped_capstone.arm

_WORDS = ("ldr", "str", "ldrt", "strt")
_EXTEND_ADDS = ("sxtab", "sxtah", "uxtab", "uxtah", "sxtab16", "uxtab16")


def disassemble(code: bytes, address: int) -> tuple[Instruction, ...]:
    """See `edgec.timing.decode.decode_block`.

    Raises:
        ConfigError: this capstone is too old.
        SimulationError: bytes that are no instruction, or an instruction without a cycle model.
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
    kind, form = _operation(raw, name)
    operands = _operands(raw, form, kind)
    branch = _branch(raw, kind, operands.writes)
    is_conditional = name in ("cbz", "cbnz") or (
        kind is not Kind.IF_THEN and raw.cc not in (_arm.ARM_CC_AL, _arm.ARM_CC_INVALID)
    )
    sets_flags = bool(raw.update_flags) or name == "fmstat"
    flags_out = {FLAGS} if sets_flags else {FP_FLAGS} if kind is Kind.FP_COMPARE else set()
    return Instruction(
        address=raw.address,
        size_bytes=raw.size,
        text=_text(raw),
        name=name,
        kind=kind,
        reads=frozenset(operands.reads | _implied_reads(name, is_conditional)),
        writes=frozenset(operands.writes | flags_out),
        early=frozenset(operands.early),
        addends=frozenset(operands.addends),
        stored=frozenset(operands.stored),
        memory=operands.memory,
        words=operands.words,
        is_word=kind not in (Kind.LOAD, Kind.STORE) or name in _WORDS,
        has_shift=_has_shift(raw, kind),
        is_double=any(_letter(raw, operand) == "d" for operand in raw.operands),
        sets_flags=sets_flags,
        is_conditional=is_conditional,
        branch=branch,
        links=name in ("bl", "blx", "blxns"),
        target=_target(raw) if branch is Branch.DIRECT else None,
    )


def _operation(raw: Any, name: str) -> tuple[Kind, Form]:
    is_vector = any(_letter(raw, operand) == "q" for operand in raw.operands)
    if name not in OPERATIONS or is_vector:
        raise SimulationError(
            f"no cycle model for the instruction {_text(raw)!r}",
            where=f"{raw.address:#010x}",
            hint="please report it with the board's name",
        )
    kind, form = OPERATIONS[name]
    return (_fp_move_kind(raw) if name == "vmov" else kind), form


def _text(raw: Any) -> str:
    return f"{raw.mnemonic} {raw.op_str}".strip()


@dataclass(slots=True)
class _Operands:
    """Registers by role, while they are collected."""

    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)
    early: set[int] = field(default_factory=set)
    addends: set[int] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)
    memory: Address | None = None
    words: int = 0


def _operands(raw: Any, form: Form, kind: Kind) -> _Operands:
    found = _Operands()
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
    results = _result_count(raw, form, [numbers for _, numbers in registers])
    for position, (operand, numbers) in enumerate(registers):
        if position < results:
            found.writes.update(numbers)
        if position >= results or operand.access & _capstone.CS_AC_READ:
            found.reads.update(numbers)
        if operand.shift.type:
            found.early.update(numbers)
    if registers and form is Form.EARLY_LAST:
        found.early.update(registers[-1][1])
    for _, numbers in registers[_addend_positions(raw.insn_name(), form)]:
        found.addends.update(numbers)
    found.reads |= found.addends
    for operand in raw.operands:
        if operand.type == _arm.ARM_OP_MEM and operand.mem.index:  # TBB, TBH
            found.reads.update(_number(raw.reg_name(operand.mem.index)))
    found.reads.discard(PC)


def _result_count(raw: Any, form: Form, registers: list[tuple[int, ...]]) -> int:
    """Number of registers, the first ones, that are written."""
    if raw.insn_name() == "vmov" and len(registers) > 2:
        to_two = len(registers) == 4 or registers[2][0] >= FP_BASE
        return 2 if to_two else 1
    return {Form.COMPARE: 0, Form.OTHER: 0, Form.LONG: 2, Form.LONG_ADD: 2}.get(form, 1)


def _addend_positions(name: str, form: Form) -> slice:
    """Registers that are added to a product or an extended value."""
    if name in _EXTEND_ADDS:
        return slice(1, 2)
    positions = {
        Form.ADD_LAST: slice(-1, None),
        Form.ADD_FIRST: slice(0, 1),
        Form.LONG_ADD: slice(0, 2),
    }
    return positions.get(form, slice(0, 0))


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
        first = {"r": 0, "s": FP_BASE, "d": FP_BASE}[letter]
        if letter == "d":
            return (first + 2 * int(number), first + 2 * int(number) + 1)
        return (first + int(number),)
    return ()  # special registers: order with them is not modelled


def _implied_reads(name: str, is_conditional: bool) -> set[int]:
    needs_flags = is_conditional and name not in ("cbz", "cbnz")
    if needs_flags or name in ("adc", "sbc", "rrx", "sel") or name.startswith("vsel"):
        return {FLAGS}
    return {FP_FLAGS} if name == "fmstat" else set()


def _fp_move_kind(raw: Any) -> Kind:
    """VMOV is four instructions: within the FPU, a half of a double, and from or to the core."""
    registers = _registers(raw)
    if all(group[0] >= FP_BASE for group in registers):
        return Kind.FP_MOVE
    is_half = len(registers) == 2 and any(len(group) == 2 for group in registers)
    return Kind.FP_HALF_MOVE if is_half else Kind.FP_CORE_MOVE


def _has_shift(raw: Any, kind: Kind) -> bool:
    if kind is Kind.ALU and _is_rotated_constant(bytes(raw.bytes)):
        return True
    return any(_is_register(operand) and operand.shift.type for operand in raw.operands)


def _branch(raw: Any, kind: Kind, writes: set[int]) -> Branch:
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
