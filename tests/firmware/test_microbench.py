"""Every rule of the core models on a loop that runs: cycles derived by hand from the documents.

A list gives the cycles of each instruction of a loop's body, in the order in which they run (see
the files in `microbench/`); the documents are named in the docstrings of the models.  The frame
around the body (`loop.inc`) runs once, its `subs, bne` ten times, its branch taken nine times.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from microbench_harness import Program, assemble, price, run

from edgec.target.cores import Core, Fpu
from edgec.timing.core import core_model
from edgec.timing.core_model import CoreModel

PASSES = 10


@dataclass(frozen=True)
class Frame:
    """Hand-derived cycles of loop.inc: before the loop, `subs, bne`, its last pass, `bx`."""

    before: int
    again: int
    last: int
    after: int

    def total(self, body: list[int]) -> int:
        return self.before + PASSES * sum(body) + 9 * self.again + self.last + self.after


@dataclass(frozen=True)
class Suite:
    source: str
    core: Core
    fpu: Fpu
    flags: tuple[str, ...]
    cpu_model: str
    frame: Frame
    bodies: dict[str, list[int]]

    @property
    def model(self) -> CoreModel:
        return core_model(self.core, self.fpu)


# Armv6-M: mov 1, movs 1, b 3 (M0+: 2) | subs 1, bne 3 (2), not taken 1 | bx 3 (2).
M0_FRAME = Frame(before=1 + 1 + 3, again=1 + 3, last=1 + 1, after=3)
M0PLUS_FRAME = Frame(before=1 + 1 + 2, again=1 + 2, last=1 + 1, after=2)

ARMV6M = {
    "alu": [1, 1, 1, 1, 1],
    "multiply": [1],  # both chips have the single-cycle multiplier
    "load": [2, 2, 2, 2],
    "store": [2, 2, 2],
    "load_multiple": [1 + 3, 1],
    "store_multiple": [1 + 3, 1],
    "push_pop": [1 + 3, 1 + 3],
    "branch_not_taken": [1, 1],
}
M0 = {
    **ARMV6M,
    "call_leaf": [4, 3],  # bl, bx
    "call_frame": [4, 1 + 2, 4 + 2],  # bl, push, pop with pc
    "call_register": [2, 3, 3],  # ldr, blx, bx
    "branch_taken": [1, 3],
    "branch_always": [3],
    "special": [4, 4, 4, 1],
}
M0PLUS = {
    **ARMV6M,
    "call_leaf": [3, 2],
    "call_frame": [3, 1 + 2, 3 + 2],
    "call_register": [2, 2, 2],
    "branch_taken": [1, 2],
    "branch_always": [2],
    "special": [3, 3, 3, 1],
}

# Armv7-M: mov 1, movs 1, b 1 + 1 | subs 1, bne 1 + 1, not taken 1 | bx r9 1 + 2.
ARMV7M_FRAME = Frame(before=1 + 1 + 2, again=1 + 2, last=1 + 1, after=3)

ARMV7M = {
    "alu": [1] * 8,
    "load_load": [2, 1, 1],  # pipelined behind the first
    "load_alu_load": [2, 1, 2],  # not behind an ADD
    "load_chain": [2, 2],  # the first one's result is the second one's address
    "address_stall": [1, 1 + 2],  # address from the instruction before
    "address_stall_store": [1, 1 + 2],
    "no_address_stall": [1, 1, 2],  # one instruction between
    "store_store": [1, 1],
    "store_load": [1, 2],  # nothing pipelines behind a store
    "load_store": [2, 1],
    "load_store_index": [2, 1],  # 3 in total, as in the manual's example
    "store_index": [1, 2],
    "doubles": [1 + 2, 1 + 2],
    "multiples": [1 + 4, 1 + 4],
    "push_pop": [1 + 4, 1 + 4],
    "update_same_base": [2, 2, 1],
    "literal_load": [2],
    "exclusive": [2, 1],  # both behave as loads
    "divide": [1, 1, 2 + 2],  # 2 + ceil(10 * 4 bits / 32)
    "it_folded": [1, 0, 1],  # onto a 16-bit CMP
    "it_behind_wide": [1, 1, 1],
    "branch_not_taken": [1, 1],
    "branch_taken": [1, 1 + 1],  # P = 1: address known in decode
    "branch_to_split_wide": [1 + 2, 1],  # P = 2: two fetches bring the target
    "branch_to_split_narrow": [1 + 1, 1],
    "compare_branch": [1, 1 + 2, 1],  # movs, cbz taken (P = 2: in execute), cbnz not taken
    "call_leaf": [1 + 1, 1 + 1],  # bl, bx lr: known in decode
    "call_fresh_lr": [1 + 1, 1, 1 + 2],  # bl, mov lr, bx lr: just written, in execute
    "call_register": [2, 1 + 2, 1 + 1],  # ldr, blx r1 (in execute), bx lr
    "call_frame": [1 + 1, 1 + 2, 1 + 2 + 3],  # bl, push, pop with pc: P = 3
    "call_frame_load": [1 + 1, 1, 2 + 3],  # bl, str, ldr pc: at least five
    "table_branch": [1, 2 + 1 + 3],  # load, add, reload
    "special": [2, 1, 4],  # mrs, dsb, isb
}
M3 = {
    **ARMV7M,
    "updates": [2, 2, 1, 1],  # loads with base update are not chained
    "multiply": [1, 2, 2],
    "multiply_long": [5, 5, 7, 7],  # the most
}
M4 = {
    **ARMV7M,
    "updates": [2, 1, 1, 1],
    "multiply": [1, 1, 1],
    "multiply_long": [1, 1, 1, 1],
}
M4_DSP = {
    "dsp": [1] * 9,
    "vfp_independent": [1, 1, 1],
    "vfp_dependent": [1 + 1, 1],  # one longer when the next needs it
    "vfp_multiply_add": [3, 3],
    "vfp_divide": [14, 14],
    "vfp_memory": [2, 2, 1 + 2, 1 + 4, 1 + 4, 1 + 4],
    "vfp_moves": [1, 2, 2, 2, 1, 1, 1],
}

# Cortex-M33: mov 1, movs 1, b folds 1 | subs 1, bne 2, not taken folds 0 | bx alone 2.
M33_FRAME = Frame(before=1 + 1 + 1, again=1 + 2, last=1 + 0, after=2)

M33 = {
    "alu_single": [1, 1, 1],  # two ALU operations never issue together
    "load_use": [1, 1 + 1],  # result after 2
    "load_free": [1, 1, 1],
    "load_addend": [1, 1],  # as an addend after 1
    "load_factor": [1, 1 + 1],
    "load_store": [1, 1],
    "load_load": [1, 1, 1],
    "address_free": [1, 1],
    "multiply_chain": [1, 1],
    "multiply_use": [1, 1 + 1],
    "multiply_store": [1, 1],
    "multiply_flags": [2],
    "shifted_use": [1, 1 + 1],
    "extend_add": [1, 1, 1 + 1],  # chained as the addend, not through the shifter
    "rotated_flags": [2, 1],
    "lists": [2, 2, 4, 4, 4],
    "it_folded": [1, 0, 1],
    "it_behind_wide": [1, 1, 1],
    "branch_not_taken": [1, 0],
    "divide": [1, 1, 2 + 2],  # 2 + ceil(9 * 4 bits / 32)
    "call_frame": [2, 2, 2 + 2],  # bl, push, pop with pc
    "fused": [1, 1 + 2],  # no FP instruction for 2 cycles after the first
}
# `subs, add, bne`: the branch folds onto an instruction that does not make its condition.
M33_FOLDS = Frame(before=3, again=1 + 1 + 1, last=1 + 1 + 0, after=2)

# Cortex-M7: {mov, movs} {b} | the body's groups, `subs, bne` among them | {bx}.
# The last pass of a loop is mispredicted: 8 cycles.
M7_FRAME = Frame(before=2, again=0, last=8, after=1)

M7 = {  # one number a cycle that issues: how many cycles until the next one does
    "alu_pairs": [1, 1, 1],  # {add, add} {add, add} {subs, bne}
    "alu_chain": [1, 1, 1],  # {add} {add, subs} {bne}
    "shifted_pair": [1, 1, 1],  # one shifter for operands
    "shifted_late": [2, 1, 1],  # {add, nop} - {add, subs} {bne}: needed one stage earlier
    "simd_pair": [1, 1, 1],  # one SIMD unit
    "simd_second": [1, 1, 1, 1],  # {add} {sxtb16, add} {nop, subs} {bne}: older slot only
    "load_use": [1, 1, 1],  # {ldr} {add, subs} {bne}
    "load_byte_use": [2, 1, 1],  # bytes come a cycle later
    "load_multiply": [2, 1, 1],
    "load_chain": [2, 1, 1],  # {ldr, nop} - {ldr, subs} {bne}
    "load_store": [1, 1],  # {ldr, str} {subs, bne}: stores take results of the same cycle
    "two_banks": [1, 1],  # {ldr, ldr} {subs, bne}
    "same_bank": [1, 1, 1],  # {ldr} {ldr, subs} {bne}
    "store_pair": [1, 1, 1],
    "address_late": [2, 1, 1],  # {adds, nop} - {ldr, subs} {bne}
    "update_address": [1, 1, 1],  # {ldr} {ldr, subs} {subs, bne}: base from address generation
    "multiply_chain": [1, 1, 1],  # {mla} {mla, subs} {bne}: addend a stage later
    "multiply_pair": [1, 1, 1],  # one multiplier
    "multiply_use": [2, 1, 1],  # {mla} - {add, subs} {bne}
    "multiply_store": [1, 1, 1],  # a multiply never issues with a store
    "lists": [2, 2, 1, 1],  # ldm and stm of four, ldrd, {subs, bne}
    "divide": [1, 2 + 2, 1],  # {movs, movs} {udiv} {subs, bne}: 2 + ceil(10 * 4 bits / 32)
    "branch_not_taken": [1, 1],  # {cmp, beq} {subs, bne}
    "call_frame": [1, 1, 1, 1],  # {bl} {push} {pop} {subs, bne}
}
# {subs, add} {add} {add} {add, bne}: flags 3 cycles old, misprediction costs 6.
M7_EARLY = Frame(before=2, again=4, last=4 + 6, after=1)

HARD4 = ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
HARD33 = ("-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard")

SUITES = {
    "m0": Suite("armv6m.S", Core.CORTEX_M0, Fpu.NONE, ("-mcpu=cortex-m0",), "CORTEX_M0",
                M0_FRAME, M0),
    "m0plus": Suite("armv6m.S", Core.CORTEX_M0PLUS, Fpu.NONE, ("-mcpu=cortex-m0plus",),
                    "CORTEX_M0", M0PLUS_FRAME, M0PLUS),
    "m3": Suite("armv7m.S", Core.CORTEX_M3, Fpu.NONE, ("-mcpu=cortex-m3",), "CORTEX_M3",
                ARMV7M_FRAME, M3),
    "m4": Suite("armv7m.S", Core.CORTEX_M4, Fpu.NONE, ("-mcpu=cortex-m4",), "CORTEX_M4",
                ARMV7M_FRAME, M4),
    "m4_dsp": Suite("dsp.S", Core.CORTEX_M4, Fpu.SINGLE, HARD4, "CORTEX_M4",
                    ARMV7M_FRAME, M4_DSP),
    "m33": Suite("m33.S", Core.CORTEX_M33, Fpu.SINGLE, HARD33, "CORTEX_M33", M33_FRAME, M33),
    "m33_folds": Suite("m33.S", Core.CORTEX_M33, Fpu.SINGLE, HARD33, "CORTEX_M33",
                       M33_FOLDS, {"branch_folds": []}),
    "m7": Suite("m7.S", Core.CORTEX_M7, Fpu.NONE, ("-mcpu=cortex-m7",), "CORTEX_M7",
                M7_FRAME, M7),
    "m7_early": Suite("m7.S", Core.CORTEX_M7, Fpu.NONE, ("-mcpu=cortex-m7",), "CORTEX_M7",
                      M7_EARLY, {"early_flags": []}),
}  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    return {
        name: assemble(suite.source, suite.flags, suite.cpu_model, tmp_path_factory.mktemp(name))
        for name, suite in SUITES.items()
    }


@pytest.mark.parametrize(
    ("suite", "rule"), [(name, rule) for name, suite in SUITES.items() for rule in suite.bodies]
)
def test_rule(programs: dict[str, Program], suite: str, rule: str) -> None:
    chosen = SUITES[suite]
    edges = run(programs[suite], rule)
    assert price(programs[suite], edges, chosen.model) == chosen.frame.total(chosen.bodies[rule])


def test_every_loop_is_checked(programs: dict[str, Program]) -> None:
    for source in {suite.source for suite in SUITES.values()}:
        names = [name for name, suite in SUITES.items() if suite.source == source]
        checked = {rule for name in names for rule in SUITES[name].bodies}
        assert checked == set(programs[names[0]].functions) - {
            name for name in programs[names[0]].functions if name.startswith("_")
        }


@pytest.mark.parametrize("suite", SUITES)
def test_a_run_prices_the_same_twice(programs: dict[str, Program], suite: str) -> None:
    rule = next(iter(SUITES[suite].bodies))
    model = SUITES[suite].model
    totals = [price(programs[suite], run(programs[suite], rule), model) for _ in range(2)]
    assert totals[0] == totals[1]
