"""Compiles and runs small C programs on this computer: every compiler, level and sanitizer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from edgec.base.resources import data_dir
from edgec.toolchain import process
from edgec.toolchain.cc import WARNING_FLAGS, find_host_compilers

RUNTIME_INCLUDE = data_dir("firmware") / "runtime" / "include"
SANITIZE = ("-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""What is undefined is found before it is optimized; lines for reports, no variables."""


@dataclass(frozen=True)
class Build:
    """A compiler and its options."""

    compiler: str
    flags: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.compiler}{''.join(self.flags)}"

    def compile(self, sources: list[Path], includes: list[Path], output: Path) -> Path:
        """Compile a program with all warnings as errors; skips when the compiler is missing."""
        found = {compiler.name: compiler for compiler in find_host_compilers()}
        if self.compiler not in found:
            pytest.skip(f"{self.compiler} is not installed")
        if "-m32" in self.flags:
            _need_32_bits(found[self.compiler].path, output.with_name("empty"))
        options = ["-std=c11", *WARNING_FLAGS, *self.flags, *(f"-I{folder}" for folder in includes)]
        return build_program([found[self.compiler].path, *options], sources, output)


def build_program(
    command: Sequence[str | Path],
    sources: Sequence[Path],
    output: Path,
    link: Sequence[str | Path] = (),
    folder: Path | None = None,
) -> Path:
    """Compile sources one by one and link them; fails with what the compiler says.

    Args:
        command: compiler and options.
        sources: C or assembler.
        output: the program; objects lie beside it.
        link: what the linker gets beside these options.
        folder: where compiler and linker run.
    """
    objects = output.with_name(f"{output.name}.objects")
    objects.mkdir(exist_ok=True)
    targets = [objects / f"{number}.o" for number in range(len(sources))]
    for source, target in zip(sources, targets, strict=True):
        _must(process.run([*command, "-c", source, "-o", target], timeout_s=300, cwd=folder))
    _must(process.run([*command, *targets, *link, "-o", output], timeout_s=300, cwd=folder))
    return output


def _must(done: process.Completed) -> None:
    assert done.returncode == 0, done.stderr


BUILDS = tuple(
    Build(compiler, flags)
    for compiler in ("gcc", "clang")
    for flags in (("-O0",), ("-O2",), ("-O2", "-m32"), SANITIZE)
)


def _need_32_bits(compiler: Path, output: Path) -> None:
    """Skip where the 32-bit C library is missing."""
    source = output.with_suffix(".c")
    source.write_text("int main(void) { return 0; }\n")
    if process.run([compiler, "-m32", source, "-o", output], timeout_s=60).returncode != 0:
        pytest.skip("no C library for -m32 (Debian: libc6-dev-i386 and lib32gcc-12-dev)")


def run_program(program: Path, *arguments: Path | str) -> None:
    """Run a program that must succeed and write nothing to standard error."""
    done = process.run([program, *arguments], timeout_s=300)
    assert done.returncode == 0 and not done.stderr, done.stderr[-4000:]
