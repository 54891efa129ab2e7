"""Tables of numbers as string literals: the same bytes, and nothing else replaced."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from edgec.codegen.cliterals import c_array
from edgec.toolchain.cc import HostCompiler, compile_shared, find_host_compilers
from edgec.toolchain.quick_tables import with_quick_tables


def _table(codes: np.ndarray, length: int) -> str:
    return f"_Alignas(4) const int8_t table[{length}] = {{\n{c_array(codes)}\n}};\n"


@pytest.mark.parametrize("compiler", find_host_compilers(), ids=lambda found: found.path.name)
def test_the_bytes_are_the_same(compiler: HostCompiler, tmp_path: Path) -> None:
    # Long enough for `compile_shared` to replace it, with every code after every other.
    codes = np.arange(1 << 16).astype(np.uint16).view(np.int8)
    source = tmp_path / "src" / "table.c"
    source.parent.mkdir()
    (source.parent / "own.h").write_text("#include <stdint.h>\n")
    source.write_text(f'#include "own.h"\n{_table(codes, len(codes))}')
    assert '"\\000\\000' in with_quick_tables(source.read_text())

    compile_shared([source], [], tmp_path / "table.so", ("-Werror",), compiler)

    found = (ctypes.c_int8 * len(codes)).in_dll(ctypes.CDLL(str(tmp_path / "table.so")), "table")
    assert np.array_equal(np.array(found, np.int8), codes)


@pytest.mark.parametrize(
    "source",
    [
        _table(np.array([1, 2, 300], np.int16), 3),
        _table(np.array([1, 2, 3], np.int8), 4),
        "const int8_t table[2] = {\n1 -2,\n};",
        "const int8_t table[2] = {\n010, 2,\n};",
        "const int8_t table[2] = {\n1--2, 3\n};",
        "const int32_t table[2] = {\n1, 2\n};",
        "const int8_t table[2] = {\nONE, 2\n};",
    ],
)
def test_other_tables_stay(source: str) -> None:
    assert with_quick_tables(source) == source
