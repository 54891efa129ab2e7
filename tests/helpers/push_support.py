"""Programs that push samples of sound to a library with a front end."""

from __future__ import annotations

import subprocess
from pathlib import Path

from c_programs import Build

from edgec.codegen.cnames import library_names
from edgec.commands.compile import CompileResult
from edgec.workflow.session import LIBRARY_DIR

_PUSH = Path(__file__).resolve().with_name("push_sound.c")


def push_program(result: CompileResult, folder: Path, build: Build) -> Path:
    """Build a program that pushes the samples of a file to a library.

    Args:
        result: a build with a front end.
        folder: where the program may lie.
        build: compiler and flags.
    """
    names = library_names(result.program.name)
    main = folder / "main.c"
    macros = f"#define NAME(f) {names.prefix}_##f\n#define SIZE(m) {names.macro}_##m\n"
    main.write_text(f'#include "{names.header}"\n{macros}{_PUSH.read_text()}')
    library = result.folder / LIBRARY_DIR
    sources = [main, *sorted((library / "src").glob("*.c"))]
    return build.compile(sources, [library / "include"], folder / "push")


def pushed(program: Path, pcm: Path, most: int) -> list[list[int]]:
    """The results that the program prints for a file of samples, `most` of them at a time."""
    done = subprocess.run([program, pcm, str(most)], capture_output=True, text=True, check=True)
    return [[int(code) for code in line.split()] for line in done.stdout.splitlines()]
