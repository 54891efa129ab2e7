"""What all core models promise; single rules run in tests/firmware/test_microbench.py."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgec.base.errors import ConfigError, SimulationError
from edgec.target.cores import Core
from edgec.timing.core import core_model
from edgec.timing.core_model import CoreModel
from edgec.timing.decode import decode_block

AT = 0x0800_0000
MODELS: dict[str, CoreModel] = {
    f"{core.value}-{fpu.value}": core_model(core, fpu)
    for core in Core
    if core is not Core.HOST and not core.is_cortex_a
    for fpu in core.possible_fpus
}
DIVIDERS = [name for name in MODELS if "m0" not in name]

LOOP = "0968 0132 013f fcd1"  # ldr r1, [r1]; adds r2, #1; subs r7, #1; bne -4


def cost(model: CoreModel, code: str, taken: bool = False) -> int:
    return model.cost(decode_block(bytes.fromhex(code), AT), taken)


@pytest.mark.parametrize("name", MODELS)
def test_says_what_it_is(name: str) -> None:
    model = MODELS[name]
    assert model.name.startswith("Arm Cortex-M")
    assert model.sources and all(model.sources)
    assert "not checked on silicon by us" in model.known_error.lower()


def test_host_has_none() -> None:
    with pytest.raises(ConfigError, match="no cycle model of 'host'"):
        core_model(Core.HOST)


@pytest.mark.parametrize("name", MODELS)
def test_same_block_same_cycles(name: str) -> None:
    assert cost(MODELS[name], LOOP, True) == cost(MODELS[name], LOOP, True)


@pytest.mark.parametrize(
    ("name", "taken", "not_taken"),
    [
        ("cortex-m0-none", 2 + 1 + 1 + 3, 2 + 1 + 1 + 1),
        ("cortex-m0plus-none", 2 + 1 + 1 + 2, 2 + 1 + 1 + 1),
        ("cortex-m3-none", 2 + 1 + 1 + 2, 2 + 1 + 1 + 1),
        ("cortex-m4-single", 2 + 1 + 1 + 2, 2 + 1 + 1 + 1),
        ("cortex-m33-single", 1 + 1 + 1 + 2, 1 + 1 + 1 + 0),
        ("cortex-m7-double", 1 + 1, 1 + 1 + 8),  # {ldr, adds} {subs, bne}
    ],
)
def test_a_loop(name: str, taken: int, not_taken: int) -> None:
    assert cost(MODELS[name], LOOP, True) == taken
    assert cost(MODELS[name], LOOP, False) == not_taken


@pytest.mark.parametrize("name", MODELS)
def test_unconditional_branch_to_the_next_address_is_taken(name: str) -> None:
    block = "0132 ffe7"  # adds r2, #1; b .+2
    assert cost(MODELS[name], block, False) == cost(MODELS[name], block, True)


@pytest.mark.parametrize("name", DIVIDERS)
def test_divide_is_outside_of_blocks(name: str) -> None:
    model = MODELS[name]
    assert cost(model, "b1fbf2f0") == 0
    cycles = [model.divide_cycles(bits) for bits in range(33)]
    assert cycles == sorted(cycles)
    assert (cycles[0], cycles[-1]) == (2, 11 if "m33" in name else 12)


@given(st.integers(0, 32))
def test_divide_steps_are_even(bits: int) -> None:
    exact = 2 + 10 * bits / 32
    assert 0 <= MODELS["cortex-m4-none"].divide_cycles(bits) - exact < 1


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("code", ["00be", "01df", "01de"])  # bkpt, svc, udf
def test_exceptions_are_refused(name: str, code: str) -> None:
    with pytest.raises(SimulationError, match="an exception has no cycle model") as caught:
        cost(MODELS[name], code)
    assert caught.value.where == "0x08000000"


@pytest.mark.parametrize("name", [name for name in MODELS if name.endswith("none")])
def test_floating_point_needs_a_unit(name: str) -> None:
    with pytest.raises(SimulationError, match=r"'vadd.f32 s0, s1, s2'.*no floating-point unit"):
        cost(MODELS[name], "30ee810a")


@pytest.mark.parametrize("name", ["cortex-m4-single", "cortex-m33-single", "cortex-m7-single"])
def test_double_precision_needs_a_unit(name: str) -> None:
    with pytest.raises(SimulationError, match="single-precision"):
        cost(MODELS[name], "31ee020b")
    assert cost(MODELS["cortex-m7-double"], "31ee020b") == 2


@pytest.mark.parametrize("name", ["cortex-m0-none", "cortex-m0plus-none"])
@pytest.mark.parametrize("code", ["c1f3c300", "01fb0230", "b1fbf2f0", "08bf"])
def test_armv6m_has_no_more_than_its_table(name: str, code: str) -> None:
    """UBFX, MLA, UDIV, IT."""
    with pytest.raises(SimulationError, match="does not have it"):
        cost(MODELS[name], code)


def test_refill_depends_on_the_target() -> None:
    model = MODELS["cortex-m4-none"]
    block = decode_block(bytes.fromhex("fee7"), AT)
    wide, narrow = bytes.fromhex("01eb0200"), bytes.fromhex("5118")
    split = decode_block(wide, AT + 0x102)[0]
    whole = decode_block(wide, AT + 0x100)[0]
    half = decode_block(narrow, AT + 0x102)[0]
    assert model.cost(block, True, split) == 3
    assert model.cost(block, True, whole) == model.cost(block, True, half) == 2
    assert model.cost(block, True) == 2


def test_a_loop_knows_its_own_start() -> None:
    block = decode_block(bytes.fromhex("01eb0200 fce7"), AT + 2)  # add.w; b to it
    assert block[1].target == AT + 2
    assert MODELS["cortex-m4-none"].cost(block, True) == 1 + 3
