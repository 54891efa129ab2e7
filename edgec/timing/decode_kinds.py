"""Kinds of instructions, and the roles of their operands.

Names are capstone's instruction names without condition, `s` and width.  The tables list what
Cortex-M0 to M33 can execute; a name that is missing is an error where it is met, so nothing is
ever priced by a guess.
"""

from __future__ import annotations

from enum import Enum, auto


class Kind(Enum):
    """Effect of an instruction, as far as cycle models tell instructions apart."""

    ALU = auto()
    SHIFT = auto()
    EXTEND = auto()
    EXTEND_ADD = auto()
    BITFIELD = auto()
    REVERSE = auto()
    COUNT = auto()
    PACK = auto()
    SATURATE = auto()
    SIMD = auto()
    SATURATING_ADD = auto()
    MULTIPLY = auto()
    MULTIPLY_ADD = auto()
    LONG_MULTIPLY = auto()
    LONG_MULTIPLY_ADD = auto()
    DIVIDE = auto()
    LOAD = auto()
    STORE = auto()
    LOAD_DOUBLE = auto()
    STORE_DOUBLE = auto()
    LOAD_MULTIPLE = auto()
    STORE_MULTIPLE = auto()
    LOAD_EXCLUSIVE = auto()
    STORE_EXCLUSIVE = auto()
    PRELOAD = auto()
    BRANCH = auto()
    TABLE_BRANCH = auto()
    IF_THEN = auto()
    HINT = auto()
    DATA_BARRIER = auto()
    INSTRUCTION_BARRIER = auto()
    STATUS = auto()
    TRAP = auto()
    FP_ARITHMETIC = auto()
    FP_MULTIPLY = auto()
    FP_MULTIPLY_ADD = auto()
    FP_DIVIDE = auto()
    FP_ROOT = auto()
    FP_COMPARE = auto()
    FP_MOVE = auto()
    FP_HALF_MOVE = auto()
    FP_CORE_MOVE = auto()
    FP_STATUS = auto()
    FP_LOAD = auto()
    FP_STORE = auto()
    FP_LOAD_MULTIPLE = auto()
    FP_STORE_MULTIPLE = auto()


class Form(Enum):
    """Roles of an instruction's operands.

    Attributes:
        RESULT: the first is written (and read where it is also a source), the others are read.
        EARLY_LAST: like RESULT, but the last register goes through the shifter first.
        COMPARE: all are read.
        ADD_LAST: like RESULT, but the last register is added to a product.
        LONG: the first two are written, the others are read.
        LONG_ADD: like LONG, but the first two are also added to the product.
        ADD_FIRST: the first is read, added to and written.
        DATA: registers to load or store, then an address.
        LIST: an address register, then registers to load or store.
        STACK: registers to push or pop.
        OTHER: registers are read, none is written.
    """

    RESULT = auto()
    EARLY_LAST = auto()
    COMPARE = auto()
    ADD_LAST = auto()
    LONG = auto()
    LONG_ADD = auto()
    ADD_FIRST = auto()
    DATA = auto()
    LIST = auto()
    STACK = auto()
    OTHER = auto()


def _names(text: str, kind: Kind, form: Form) -> dict[str, tuple[Kind, Form]]:
    return dict.fromkeys(text.split(), (kind, form))


_LANES = [
    f"{sign}{operation}"
    for sign in ("s", "u", "q", "uq", "sh", "uh")
    for operation in ("add16", "add8", "sub16", "sub8", "asx", "sax")
]
_HALVES = [f"{x}{y}" for x in "bt" for y in "bt"]

OPERATIONS: dict[str, tuple[Kind, Form]] = {
    **_names("add adc sub sbc rsb and orr orn eor bic mov movs mvn movw movt adr addw subw neg",
             Kind.ALU, Form.RESULT),
    **_names("cmp cmn tst teq", Kind.ALU, Form.COMPARE),
    **_names("lsl lsr asr ror rrx", Kind.SHIFT, Form.RESULT),
    **_names("sxtb sxth uxtb uxth sxtb16 uxtb16", Kind.EXTEND, Form.RESULT),
    **_names("sxtab sxtah uxtab uxtah sxtab16 uxtab16", Kind.EXTEND_ADD, Form.EARLY_LAST),
    **_names("ubfx sbfx bfi bfc", Kind.BITFIELD, Form.EARLY_LAST),
    **_names("rev rev16 revsh rbit", Kind.REVERSE, Form.EARLY_LAST),
    **_names("clz", Kind.COUNT, Form.RESULT),
    **_names("pkhbt pkhtb", Kind.PACK, Form.EARLY_LAST),
    **_names("ssat usat ssat16 usat16", Kind.SATURATE, Form.EARLY_LAST),
    **_names(" ".join([*_LANES, "sel usad8"]), Kind.SIMD, Form.RESULT),
    **_names("usada8", Kind.SIMD, Form.ADD_LAST),
    **_names("qadd qsub qdadd qdsub", Kind.SATURATING_ADD, Form.RESULT),
    **_names("mul smmul smmulr smulwb smulwt smuad smuadx smusd smusdx", Kind.MULTIPLY,
             Form.RESULT),
    **_names(" ".join(f"smul{xy}" for xy in _HALVES), Kind.MULTIPLY, Form.RESULT),
    **_names("mla mls smmla smmlar smmls smmlsr smlad smladx smlsd smlsdx smlawb smlawt",
             Kind.MULTIPLY_ADD, Form.ADD_LAST),
    **_names(" ".join(f"smla{xy}" for xy in _HALVES), Kind.MULTIPLY_ADD, Form.ADD_LAST),
    **_names("smull umull", Kind.LONG_MULTIPLY, Form.LONG),
    **_names("smlal umlal umaal smlald smlaldx smlsld smlsldx", Kind.LONG_MULTIPLY_ADD,
             Form.LONG_ADD),
    **_names(" ".join(f"smlal{xy}" for xy in _HALVES), Kind.LONG_MULTIPLY_ADD, Form.LONG_ADD),
    **_names("udiv sdiv", Kind.DIVIDE, Form.RESULT),
    **_names("ldr ldrb ldrh ldrsb ldrsh ldrt ldrbt ldrht ldrsbt ldrsht", Kind.LOAD, Form.DATA),
    **_names("str strb strh strt strbt strht", Kind.STORE, Form.DATA),
    **_names("ldrd", Kind.LOAD_DOUBLE, Form.DATA),
    **_names("strd", Kind.STORE_DOUBLE, Form.DATA),
    **_names("ldm ldmdb", Kind.LOAD_MULTIPLE, Form.LIST),
    **_names("stm stmdb", Kind.STORE_MULTIPLE, Form.LIST),
    **_names("pop", Kind.LOAD_MULTIPLE, Form.STACK),
    **_names("push", Kind.STORE_MULTIPLE, Form.STACK),
    **_names("ldrex ldrexb ldrexh lda ldab ldah", Kind.LOAD_EXCLUSIVE, Form.DATA),
    **_names("strex strexb strexh stl stlb stlh", Kind.STORE_EXCLUSIVE, Form.DATA),
    **_names("pld pldw pli", Kind.PRELOAD, Form.DATA),
    **_names("b bl bx blx cbz cbnz bxns blxns", Kind.BRANCH, Form.OTHER),
    **_names("tbb tbh", Kind.TABLE_BRANCH, Form.OTHER),
    **_names("it", Kind.IF_THEN, Form.OTHER),
    **_names("hint nop clrex wfi wfe sev", Kind.HINT, Form.OTHER),
    **_names("dmb dsb", Kind.DATA_BARRIER, Form.OTHER),
    **_names("isb", Kind.INSTRUCTION_BARRIER, Form.OTHER),
    **_names("cps msr", Kind.STATUS, Form.OTHER),
    **_names("mrs", Kind.STATUS, Form.RESULT),
    **_names("bkpt svc udf", Kind.TRAP, Form.OTHER),
    **_names("vadd vsub vabs vneg vmaxnm vminnm vcvt vcvtr vcvtb vcvtt vcvta vcvtm vcvtn vcvtp",
             Kind.FP_ARITHMETIC, Form.RESULT),
    **_names("vrinta vrintm vrintn vrintp vrintr vrintx vrintz", Kind.FP_ARITHMETIC, Form.RESULT),
    **_names("vmul vnmul", Kind.FP_MULTIPLY, Form.RESULT),
    **_names("vmla vmls vnmla vnmls vfma vfms vfnma vfnms", Kind.FP_MULTIPLY_ADD, Form.ADD_FIRST),
    **_names("vdiv", Kind.FP_DIVIDE, Form.RESULT),
    **_names("vsqrt", Kind.FP_ROOT, Form.RESULT),
    **_names("vcmp vcmpe", Kind.FP_COMPARE, Form.COMPARE),
    **_names("vmov fconsts fconstd vseleq vselge vselgt vselvs", Kind.FP_MOVE, Form.RESULT),
    **_names("fmdhr fmdlr", Kind.FP_HALF_MOVE, Form.ADD_FIRST),
    **_names("vmrs vmsr fmstat", Kind.FP_STATUS, Form.RESULT),
    **_names("vldr", Kind.FP_LOAD, Form.DATA),
    **_names("vstr", Kind.FP_STORE, Form.DATA),
    **_names("vldmia vldmdb", Kind.FP_LOAD_MULTIPLE, Form.LIST),
    **_names("vstmia vstmdb", Kind.FP_STORE_MULTIPLE, Form.LIST),
    **_names("vpop", Kind.FP_LOAD_MULTIPLE, Form.STACK),
    **_names("vpush", Kind.FP_STORE_MULTIPLE, Form.STACK),
}  # fmt: skip
"""Kind and form by name.  Source: Armv7-M and Armv8-M Architecture Reference Manuals
(Arm DDI 0403E chapter A7, DDI 0553B chapter C2)."""

LOADS = frozenset(
    {
        *(Kind.LOAD, Kind.LOAD_DOUBLE, Kind.LOAD_MULTIPLE, Kind.LOAD_EXCLUSIVE),
        *(Kind.FP_LOAD, Kind.FP_LOAD_MULTIPLE),
    }
)
"""Kinds that write registers from memory."""

STORES = frozenset(
    {
        *(Kind.STORE, Kind.STORE_DOUBLE, Kind.STORE_MULTIPLE, Kind.STORE_EXCLUSIVE),
        *(Kind.FP_STORE, Kind.FP_STORE_MULTIPLE),
    }
)
"""Kinds that write memory."""

FP_KINDS = frozenset(kind for kind in Kind if kind.name.startswith("FP_"))
"""Kinds that need a floating-point unit."""

MULTIPLIES = frozenset(
    {Kind.MULTIPLY, Kind.MULTIPLY_ADD, Kind.LONG_MULTIPLY, Kind.LONG_MULTIPLY_ADD}
)
"""Kinds that use the integer multiplier."""
