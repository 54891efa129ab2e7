"""Facts of instructions: what capstone leaves out, and refusals."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgec.base.errors import ConfigError, SimulationError
from edgec.timing.decode import FLAGS, FP_FLAGS, PC, Address, Branch, Instruction, decode_block
from edgec.timing.decode_kinds import FP_KINDS, LOADS, MULTIPLIES, OPERATIONS, STORES, Kind

AT = 0x0800_0000
S = 32  # number of s0


def one(code: str, address: int = AT) -> Instruction:
    """The instruction of these bytes in memory order."""
    (instruction,) = decode_block(bytes.fromhex(code), address)
    return instruction


@pytest.mark.parametrize(
    ("code", "text", "kind", "reads", "writes"),
    [
        ("5118", "adds r1, r2, r1", Kind.ALU, {1, 2}, {1, FLAGS}),
        ("4141", "adcs r1, r0", Kind.ALU, {0, 1, FLAGS}, {1, FLAGS}),
        ("8842", "cmp r0, r1", Kind.ALU, {0, 1}, {FLAGS}),
        ("40f2d240", "movw r0, #0x4d2", Kind.ALU, set(), {0}),
        ("c0f2d240", "movt r0, #0x4d2", Kind.ALU, {0}, {0}),
        ("4843", "muls r0, r1, r0", Kind.MULTIPLY, {0, 1}, {0, FLAGS}),
        ("01fb0230", "mla r0, r1, r2, r3", Kind.MULTIPLY_ADD, {1, 2, 3}, {0}),
        ("c2fb0301", "smlal r0, r1, r2, r3", Kind.LONG_MULTIPLY_ADD, {0, 1, 2, 3}, {0, 1}),
        ("82fb0301", "smull r0, r1, r2, r3", Kind.LONG_MULTIPLY, {2, 3}, {0, 1}),
        ("b1fbf2f0", "udiv r0, r1, r2", Kind.DIVIDE, {1, 2}, {0}),
        ("01f30700", "ssat r0, #8, r1", Kind.SATURATE, {1}, {0}),
        ("41fa82f0", "sxtab r0, r1, r2", Kind.EXTEND_ADD, {1, 2}, {0}),
        ("0868", "ldr r0, [r1]", Kind.LOAD, {1}, {0}),
        ("8850", "str r0, [r1, r2]", Kind.STORE, {0, 1, 2}, set()),
        ("51f8040b", "ldr r0, [r1], #4", Kind.LOAD, {1}, {0, 1}),
        ("0fc8", "ldm r0, {r0, r1, r2, r3}", Kind.LOAD_MULTIPLE, {0}, {0, 1, 2, 3}),
        ("10b5", "push {r4, lr}", Kind.STORE_MULTIPLE, {4, 13, 14}, {13}),
        ("10bd", "pop {r4, pc}", Kind.LOAD_MULTIPLE, {13}, {4, 13, PC}),
        ("30ee810a", "vadd.f32 s0, s1, s2", Kind.FP_ARITHMETIC, {S + 1, S + 2}, {S}),
        ("a0ee810a", "vfma.f32 s0, s1, s2", Kind.FP_MULTIPLY_ADD, {S, S + 1, S + 2}, {S}),
        ("b4ee600a", "vcmp.f32 s0, s1", Kind.FP_COMPARE, {S, S + 1}, {FP_FLAGS}),
        ("f1ee10fa", "vmrs apsr_nzcv, fpscr", Kind.FP_STATUS, {FP_FLAGS}, {FLAGS}),
        ("51ec100b", "vmov r0, r1, d0", Kind.FP_CORE_MOVE, {S, S + 1}, {0, 1}),
        ("b0ee600a", "vmov.f32 s0, s1", Kind.FP_MOVE, {S + 1}, {S}),
    ],
)
def test_registers(code: str, text: str, kind: Kind, reads: set[int], writes: set[int]) -> None:
    instruction = one(code)
    assert (instruction.text, instruction.kind) == (text, kind)
    assert (set(instruction.reads), set(instruction.writes)) == (reads, writes)


def test_roles_of_operands() -> None:
    mla = one("01fb0230")
    assert mla.addends == {3}
    smlal = one("c2fb0301")
    assert smlal.addends == {0, 1}
    sxtab = one("41fa82f0")
    assert (sxtab.addends, sxtab.early) == ({1}, {2})
    shifted = one("01eb8200")  # add.w r0, r1, r2, lsl #2
    assert (shifted.early, shifted.has_shift) == ({2}, True)
    plain = one("01eb0200")  # add.w r0, r1, r2
    assert (plain.early, plain.has_shift) == (set(), False)
    store = one("8850")
    assert (store.stored, store.address_registers) == ({0}, {1, 2})


def test_addresses() -> None:
    assert one("51f8040b").memory == Address(1, None, 0, writes_base=True)
    assert one("51f8040f").memory == Address(1, None, 4, writes_base=True)
    assert one("8850").memory == Address(1, 2, 0, writes_base=False)
    literal = one("0148")  # ldr r0, [pc, #4]
    assert literal.memory == Address(PC, None, 4, writes_base=False)
    assert literal.address_registers == set()
    assert one("10b5").memory == Address(13, None, 0, writes_base=True)
    assert one("0fc8").memory == Address(0, None, 0, writes_base=False)


@pytest.mark.parametrize(
    ("code", "words", "is_word"),
    [
        ("0868", 1, True),
        ("0878", 1, False),  # ldrb
        ("d2e90201", 2, True),  # ldrd
        ("0fc8", 4, True),
        ("10b5", 2, True),
    ],
)
def test_sizes_of_transfers(code: str, words: int, is_word: bool) -> None:
    assert (one(code).words, one(code).is_word) == (words, is_word)


@pytest.mark.parametrize(
    ("code", "branch", "conditional", "links", "target"),
    [
        ("fee7", Branch.DIRECT, False, False, AT),
        ("fed0", Branch.DIRECT, True, False, AT),
        ("08b1", Branch.DIRECT, True, False, AT + 6),  # cbz
        ("fff7feff", Branch.DIRECT, False, True, AT),
        ("7047", Branch.REGISTER, False, False, None),
        ("9847", Branch.REGISTER, False, True, None),
        ("f746", Branch.REGISTER, False, False, None),  # mov pc, lr
        ("10bd", Branch.LOADED, False, False, None),
        ("5df804fb", Branch.LOADED, False, False, None),  # ldr pc, [sp], #4
        ("dfe800f0", Branch.TABLE, False, False, None),
        ("0868", Branch.NONE, False, False, None),
    ],
)
def test_branches(
    code: str, branch: Branch, conditional: bool, links: bool, target: int | None
) -> None:
    found = one(code)
    assert (found.branch, found.is_conditional) == (branch, conditional)
    assert (found.links, found.target) == (links, target)


@pytest.mark.parametrize(
    ("code", "is_rotated"),
    [
        ("81f4fe50", True),  # eor r0, r1, #0x1fc0
        ("81f01b30", False),  # eor r0, r1, #0x1b1b1b1b
        ("01f1ff00", False),  # add.w r0, r1, #255
        ("01f27b00", False),  # addw r0, r1, #123
        ("40f2d240", False),  # movw
    ],
)
def test_constants_that_are_rotated(code: str, is_rotated: bool) -> None:
    assert one(code).has_shift is is_rotated


def test_conditional_execution() -> None:
    it, add, plain = decode_block(bytes.fromhex("08bf 0132 0133"), AT)  # it eq; addeq; adds
    assert (it.kind, it.is_conditional) == (Kind.IF_THEN, False)
    assert add.is_conditional and FLAGS in add.reads and FLAGS not in add.writes
    assert not plain.is_conditional and FLAGS in plain.writes


def test_empty_block() -> None:
    assert decode_block(b"", AT) == ()


@pytest.mark.parametrize("code", ["00", "5118ff", "ffffffff", "00eb"])
def test_bytes_that_are_no_instruction(code: str) -> None:
    with pytest.raises(SimulationError, match="not a Thumb instruction") as caught:
        decode_block(bytes.fromhex(code), AT)
    assert caught.value.where.startswith("0x080000")


def test_instruction_without_a_model_is_named() -> None:
    with pytest.raises(SimulationError, match=r"no cycle model.*'mcr p15, #0, r0,") as caught:
        one("00ee100f")
    assert caught.value.where == "0x08000000"
    with pytest.raises(SimulationError, match=r"no cycle model.*'vadd.i32 q0, q1, q2'"):
        one("22ef4408")


@given(st.binary(min_size=2, max_size=8))
def test_any_bytes_decode_or_are_refused(code: bytes) -> None:
    try:
        block = decode_block(code, AT)
    except SimulationError:
        return
    assert sum(instruction.size_bytes for instruction in block) == len(code)
    for instruction in block:
        assert instruction.early | instruction.addends | instruction.stored <= instruction.reads


def test_groups_of_kinds() -> None:
    assert not LOADS & STORES
    assert {kind for kind, _ in OPERATIONS.values()} == set(Kind) - {Kind.FP_CORE_MOVE}  # VMOV
    assert Kind.FP_LOAD in FP_KINDS & LOADS
    assert not MULTIPLIES & FP_KINDS


def test_capstone_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "edgec.timing.decode_capstone", raising=False)
    monkeypatch.setitem(sys.modules, "capstone", None)
    with pytest.raises(ConfigError, match="pip install unicorn capstone"):
        one("0868")


def test_capstone_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capstone.cs_version", lambda: (4, 0, 1024))
    with pytest.raises(ConfigError, match=r"capstone>=5"):
        one("0868")
