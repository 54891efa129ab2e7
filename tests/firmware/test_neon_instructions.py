"""The object code of a transformer on Cortex-A: no data of more than 32 bits, and no float.

What counts as data: everything in the SIMD registers, and on A64 every product of 64 bits in a
general register that is no part of an address.  Such a product is part of an address if it is only
added to, compared, moved or stored as a whole, or used as a base or index of a load or store; one
whose lower half is read, or that is shifted, is data.  Addresses have 64 bits there.
"""

import re
from pathlib import Path

import pytest
from cross import MACHINES, Machine, library_for, linked
from disassembly import reachable
from neon_layers import convolutional, others, products
from random_transformer import OPERATORS, operators

from edgec.codegen.cnames import library_names
from edgec.ir import Graph

GRAPHS = {
    "products": lambda: products(5, 12),
    "others": lambda: others(5),
    "every operator": lambda: operators(5, list(OPERATORS), 1),
}
_NEON = re.compile("neon|dense_4x4_s8_neon")
_MEMORY = re.compile(r"^_*mem(cpy|move|set)")
"""Functions of the C library that move bytes."""
_PRODUCT_64 = re.compile(r"^([us]mull|[us]m(add|sub|neg)l|m(ul|add|sub|neg))\tx(?P<register>\d+)")
_LONG = {
    "a53": re.compile(
        r"^([us]mulh\t|[us]div\tx"
        r"|(sq|u|s)[a-z]*m(ul|la|ls)[a-z0-9]*\t.*\.2d"  # products of lanes to 64 bits
        r"|(sq|uq|s|u)?r?sh[lr][a-z0-9]*\t.*(\.2d|\bd\d+))"  # shifts of such lanes
    ),
    "a7": re.compile(
        r"^([us]mull|[us]mlal\t|[us]mlal\.|umaal|smlald|smlsld|smmul|smmla|smmls"
        r"|v[a-z]*\.[su]32\tq\d+, d\d+, d|vq?dm[a-z]*\.s32|v[a-z]*(shr|shl|shrn|add|sub)\.[sui]64)"
    ),
}
_FLOAT = {
    "a53": re.compile(r"^(f(?!mov\b)[a-z0-9]+|[us]cvtf)\t"),
    "a7": re.compile(r"^v[a-z0-9.]*\.(f16|f32|f64)"),
}
_WIDE_CALLS = re.compile(r"^(__aeabi_(l|ul|[fd]|i2|ui2)|__(mul|div|udiv|mod|umod)(d|t)i3)")
_AS_A_WHOLE = re.compile(r"^(add|sub|subs|adds|cmp|cmn|mov|csel|stp|str|neg|cbz|cbnz|madd)\t")


def data_products(lines: list[str]) -> list[str]:
    """Products of 64 bits in general registers of A64 code that are no part of an address."""
    return [
        line
        for at, line in enumerate(lines)
        if (found := _PRODUCT_64.match(line)) and _is_data(found["register"], lines[at + 1 :])
    ]


def _is_data(register: str, following: list[str]) -> bool:
    """Whether the register's lower half is read, or it is shifted, before it is written again."""
    half, whole = (re.compile(rf"\b{kind}{register}\b") for kind in "wx")
    for line in following:
        name, _, operands = line.partition("\t")
        written, _, read = operands.partition(",")
        if name in ("str", "stp", "cmp", "cmn", "cbz", "cbnz") or name.startswith(("str", "b")):
            written, read = "", operands
        if half.search(read):
            return True
        if whole.search(re.sub(r"\[.*\]", "", read)) and not _AS_A_WHOLE.match(line):
            return True
        if half.search(written) or whole.search(written):
            return False
    return False


def run_code(machine: Machine, graph: Graph, folder: Path) -> dict[str, list[str]]:
    """The functions that a model's run function reaches, without those that move bytes."""
    program = library_for(machine.core, graph, folder / "library")
    elf = linked(machine, folder / "library", folder / "program")
    machine.tool("objdump")
    prefix = library_names(program.name).prefix
    found = reachable(elf, f"{prefix}_run", machine.core.gcc_prefix)
    assert f"{prefix}_run" in found
    return {name: lines for name, lines in found.items() if not _MEMORY.match(name)}


def long_instructions(name: str, code: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Those that compute with data of more than 32 bits, and with floats."""
    found = [
        (function, line)
        for function, lines in code.items()
        for line in lines
        if _LONG[name].match(line) or _FLOAT[name].match(line)
    ]
    if name == "a53":
        for function, lines in code.items():
            found += [(function, line) for line in data_products(lines)]
    return found


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_a_transformer_computes_with_32_bits(name: str, kind: str, tmp_path: Path) -> None:
    code = run_code(MACHINES[name], GRAPHS[kind](), tmp_path)
    assert any(_NEON.search(function) for function in code)
    assert not [function for function in code if _WIDE_CALLS.match(function)]
    assert long_instructions(name, code) == []


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", MACHINES)
def test_longer_products_of_other_networks_are_seen(name: str, tmp_path: Path) -> None:
    """The 31-bit multiplier of convolutional networks takes products of 64 bits."""
    code = run_code(MACHINES[name], convolutional(5, 1), tmp_path)
    found = long_instructions(name, code)
    assert any(_NEON.search(function) for function, _ in found)
    assert any(not _NEON.search(function) for function, _ in found)


@pytest.mark.parametrize(
    ("following", "expected"),
    [
        (["add\tx3, x3, #0x10", "ldr\tw1, [x3]"], False),
        (["ldrsb\tw3, [x2, x3]", "add\tw1, w3, w3"], False),
        (["asr\tx3, x3, #32"], True),
        (["add\tw1, w3, w2"], True),
        (["mov\tx3, x1", "lsr\tx3, x3, #3"], False),
    ],
)
def test_a_product_is_data_if_not_all_of_it_makes_an_address(following, expected) -> None:
    assert bool(data_products(["smull\tx3, w1, w2", *following])) is expected
