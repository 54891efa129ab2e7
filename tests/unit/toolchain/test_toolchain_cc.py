"""Host compilers and shared libraries."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from edgec.base.errors import BuildError
from edgec.toolchain import cc
from edgec.toolchain.cc import compile_shared, compiler_errors, find_host_compilers

COMPILERS = find_host_compilers()


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "sum.h").write_text("int sum(int a, int b);\nint twice(int a);\n")
    one, two = tmp_path / "one.c", tmp_path / "two.c"
    one.write_text('#include "sum.h"\nint sum(int a, int b) { return a + b + OFFSET; }\n')
    two.write_text('#include "sum.h"\nint twice(int a) { return sum(a, a); }\n')
    return [one, two]


@pytest.mark.parametrize("compiler", COMPILERS, ids=lambda compiler: compiler.name)
def test_shared_library_works(
    tmp_path: Path, sources: list[Path], compiler: cc.HostCompiler
) -> None:
    library = tmp_path / "out" / "libsum.so"
    flags = ("-O2", "-DOFFSET=1", *cc.WARNING_FLAGS)
    compile_shared(sources, [tmp_path / "include"], library, flags, compiler)
    assert ctypes.CDLL(str(library)).twice(20) == 41
    assert [path.name for path in library.parent.iterdir()] == ["libsum.so"]


def test_failure_shows_compiler_lines_and_keeps_the_old_library(
    tmp_path: Path, sources: list[Path]
) -> None:
    if not COMPILERS:
        pytest.skip("no host compiler is installed")
    library = tmp_path / "libsum.so"
    compile_shared(sources, [tmp_path / "include"], library, ("-DOFFSET=0",))
    before = library.read_bytes()
    with pytest.raises(BuildError) as caught:  # OFFSET is not defined
        compile_shared(sources, [tmp_path / "include"], library)
    assert "one.c:2" in str(caught.value)
    assert "OFFSET" in str(caught.value)
    assert library.read_bytes() == before
    assert not list(tmp_path.glob(".cc-*"))


def test_no_compiler_says_how_to_install_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert find_host_compilers() == ()
    with pytest.raises(BuildError, match="apt-get install gcc"):
        cc.host_compiler()


def test_errors_are_picked_out_of_long_output() -> None:
    noise = "\n".join(f"note {i}" for i in range(100))
    text = f"{noise}\nx.c:3: error: bad\n{noise}"
    assert compiler_errors(text) == "x.c:3: error: bad"
    assert len(compiler_errors(noise).splitlines()) == 20
