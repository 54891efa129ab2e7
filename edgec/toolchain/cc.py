"""The host's C compilers, and shared libraries made with them."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from edgec.base.errors import BuildError
from edgec.base.system import LIBRARY_SUFFIX
from edgec.toolchain import process
from edgec.toolchain.quick_tables import QUIET, quick_parts

INSTALL_HINT = "install one: apt-get install gcc, or pip install ziglang on any system"

_PIC = () if sys.platform == "win32" else ("-fPIC",)
STANDARD_FLAGS = ("-std=c11", *_PIC, "-ffunction-sections", "-fdata-sections", "-fno-common")

WARNING_FLAGS = (
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wcast-align",
    "-Wcast-qual",
    "-Wundef",
    "-Wdouble-promotion",
    "-Wvla",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
)
"""Warnings that all C of edgec passes; tests use them, builds for users do not (-Werror)."""

_COMPILE_TIMEOUT_S = 300.0
_FILE_LIMIT = ("File size limit exceeded", "File too large")
"""Messages of tools whose program the system ended, or refused a write, for this limit."""


@dataclass(frozen=True, slots=True)
class HostCompiler:
    """A C compiler for this computer.

    Attributes:
        name: "gcc", "clang", "cc" or "zig".
        path: the program.
        version: first line of its --version.
        words: arguments that make it a C compiler.
    """

    name: str
    path: Path
    version: str
    words: tuple[str, ...] = ()


def find_host_compilers() -> tuple[HostCompiler, ...]:
    """The C compilers on PATH, gcc first; without gcc and clang, what else there is.

    That is `cc` of another maker, or Zig, of PyPI's package `ziglang` or on PATH.
    """
    named = (_compiler(name, process.which(name)) for name in ("gcc", "clang"))
    found = tuple(compiler for compiler in named if compiler)
    if not found:
        other = _compiler("cc", process.which("cc")) or _compiler("zig", _zig(), _ZIG_WORDS)
        found = (other,) if other else ()
    return found


_ZIG_WORDS = ("cc", "-mcpu=baseline")
"""Code for any processor of this kind, as GCC and Clang make it; Zig's own choice is this one."""


def _compiler(name: str, path: Path | None, words: tuple[str, ...] = ()) -> HostCompiler | None:
    version = program_version(path, words[:1]) if path else None
    return HostCompiler(name, path, version, words) if path and version else None


def _zig() -> Path | None:
    """Zig's program, of the Python package if it is installed."""
    package = importlib.util.find_spec("ziglang")
    for folder in package.submodule_search_locations or () if package else ():
        for name in ("zig", "zig.exe"):
            if (program := Path(folder) / name).is_file():
                return program
    return process.which("zig")


def program_version(path: Path, words: Sequence[str] = ()) -> str | None:
    """First line that `path WORDS --version` prints; None if it does not run."""
    try:
        done = process.run([path, *words, "--version"], timeout_s=20)
    except BuildError:
        return None
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if done.returncode == 0 and lines else None


def host_compiler() -> HostCompiler:
    """The compiler to use for the host.

    Raises:
        BuildError: none is installed.
    """
    compilers = find_host_compilers()
    if not compilers:
        raise BuildError("no C compiler for this computer is on PATH", hint=INSTALL_HINT)
    return compilers[0]


def compile_shared(
    sources: Sequence[Path],
    include_dirs: Sequence[Path],
    output: Path,
    flags: Sequence[str] = ("-O2",),
    compiler: HostCompiler | None = None,
) -> None:
    """Compile C files into the shared library `output`, using all processors.

    The library appears in one step: an interrupted or failed build leaves the old one in place.

    Args:
        sources: C files.
        include_dirs: folders for -I.
        output: the library to write; its folder is created.
        flags: options beside `STANDARD_FLAGS`, for compiling and linking.
        compiler: default `host_compiler()`.

    Raises:
        BuildError: no compiler, or it reports errors.
    """
    chosen = compiler or host_compiler()
    output.parent.mkdir(parents=True, exist_ok=True)
    includes = [f"-I{folder}" for folder in include_dirs]
    options = [*STANDARD_FLAGS, *flags, *includes]
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".cc-") as folder:
        objects = [Path(folder) / f"{index}.o" for index in range(len(sources))]
        jobs = [
            [chosen.path, *chosen.words, *options, *_quick(source, target), "-o", target]
            for source, target in zip(sources, objects, strict=True)
        ]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool, process.Family() as family:
            for _ in pool.map(lambda argv: _compile(argv, Path(folder), family), jobs):
                pass
        library = Path(folder) / f"library{LIBRARY_SUFFIX}"
        _compile(
            [chosen.path, *chosen.words, "-shared", *flags, *objects, "-o", library], Path(folder)
        )
        library.replace(output)


_LONG_SOURCE = 1 << 16
"""Bytes of a C file from which reading its tables may be what takes long."""


def _quick(source: Path, target: Path) -> list[str | Path]:
    """Options that compile a C file, beside its object file: as it is, or with quick tables."""
    if source.stat().st_size < _LONG_SOURCE:
        return ["-c", source]
    quick = target.with_suffix(".c")
    with source.open(encoding="utf-8") as lines, quick.open("w", encoding="utf-8") as written:
        written.write(QUIET)
        written.writelines(quick_parts(lines))
    return ["-iquote", source.parent, "-c", quick]


def _compile(
    argv: Sequence[str | Path], scratch: Path, family: process.Family | None = None
) -> None:
    # A compiler that is killed leaves its temporary files.
    environment = process.clean_environment(process.temporary_variables(scratch))
    done = process.run(argv, timeout_s=_COMPILE_TIMEOUT_S, environment=environment, family=family)
    if done.returncode != 0:
        raise build_failed("the C compiler failed", done, Path(argv[0]).name)


def build_failed(what: str, done: process.Completed, where: str) -> BuildError:
    """The error of a program that builds: the lines that say why, or how it ended.

    Args:
        what: what failed.
        done: the program's end.
        where: the program, or the folder that is built.
    """
    output = f"{done.stdout}\n{done.stderr}"
    lines = compiler_errors(output) or f"  {done.ending}, and printed nothing"
    limit = _file_limit()
    if limit is None:
        return BuildError(f"{what}:\n{lines}", where=where)
    if done.ended_by(signal.SIGXFSZ) or any(mark in output for mark in _FILE_LIMIT):
        what = f"{what}: the limit on the size of files is reached"
    hint = f"files may have {limit:,} bytes here; raise the limit, ulimit -f unlimited"
    return BuildError(f"{what}:\n{lines}", where=where, hint=hint)


def _file_limit() -> int | None:
    """The most bytes that the system lets a file have; None: any number."""
    try:
        import resource  # noqa: PLC0415  (not on Windows)
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if limit == resource.RLIM_INFINITY else limit


def compiler_errors(output: str, limit: int = 20) -> str:
    """The lines of a compiler's or linker's output that say what is wrong, at most `limit`."""
    marks = ("error", "undefined reference", "overflowed", "will not fit", "multiple definition")
    lines = output.strip().splitlines()
    chosen = [line for line in lines if any(mark in line for mark in marks)]
    return "\n".join((chosen or lines)[-limit:])
