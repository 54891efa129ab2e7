"""Sizes of the functions of kernels, as the compiler gives them."""

from __future__ import annotations

from pathlib import Path

import pytest
from choice_layers import Layer, graph_of

from edgec.base.errors import BuildError
from edgec.base.options import Optimize
from edgec.kernels.family import KernelSpec
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.toolchain.code_sections import code_sections
from edgec.workflow.function_sizes import function_sizes

BOARD = load_board("nucleo_f446re")
SOURCE = """
#include <stdint.h>
static const uint8_t table[] = {1, 2, 3, 4, 5, 6, 7, 8};
static __attribute__((noinline)) int shared(int x) { return table[x] * x; }
int one(int x) { return shared(x) + 1; }
int two(int x) { return shared(x) + 2; }
int alone(int x) { return x + 3; }
"""


def test_a_function_needs_what_it_calls_and_reads(tmp_path: Path) -> None:
    found = code_sections(SOURCE, tmp_path, BOARD, "-O2")
    both = {".text.shared", ".rodata.table"}
    assert set(found["one"]) == {".text.one", *both}
    assert set(found["two"]) == {".text.two", *both}
    assert set(found["alone"]) == {".text.alone"}
    assert found["one"][".rodata.table"] == 8
    assert all(size > 0 and size % 4 == 0 for each in found.values() for size in each.values())


def test_c_with_a_mistake_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="the C compiler failed"):
        code_sections("int f(", tmp_path, BOARD, "-O2")


def specs() -> list[KernelSpec]:
    graph = graph_of([Layer(1, 1, 64, 10), Layer(1, 1, 40, 12), Layer(8, 8, 16, 16, (3, 3))])
    return list(dict.fromkeys(each.spec for each in select_kernels(graph, Target.of(BOARD))))


def test_names_do_not_hang_on_what_is_compiled_beside() -> None:
    every = function_sizes(specs(), BOARD, Optimize.SPEED)
    assert list(every) == specs()
    first = specs()[0]
    alone = function_sizes([first], BOARD, Optimize.SPEED)[first]
    own = min(name for name in every[first] if name.startswith(".text.edgec_"))
    assert own in alone
    assert function_sizes([], BOARD, Optimize.SPEED) == {}


def test_small_code_is_smaller() -> None:
    found = [function_sizes(specs(), BOARD, o) for o in (Optimize.SIZE, Optimize.SPEED)]
    small, fast = (
        sum({n: size for each in f.values() for n, size in each.items()}.values()) for f in found
    )
    assert 100 < small < fast
