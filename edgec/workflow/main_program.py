"""Messages of compilers, linker and emulator about a main program of the user's own.

They work on the copies in a project, and the user knows the files that were copied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from edgec.base.errors import BuildError, SimulationError
from edgec.base.main_program import MAIN_FOLDER, MainProgram

_NO_LIBRARY = (
    "firmware has no C library: text.h reads and writes numbers, port.h is the board, "
    "memcpy and memset are there (docs/projects.md)"
)
_PLACE = rf"{MAIN_FOLDER}/(?P<name>[A-Za-z0-9_.-]+):(?P<line>\d+)(?::\d+)?: "
_WRONG = re.compile(_PLACE + r"(?:fatal )?(?:error: )?(?P<text>.*)")
_WARNING = re.compile(_PLACE + r"warning: (?P<text>.*)")
_NO_HEADER = re.compile(r"([\w.-]+\.h): No such file")
_UNDEFINED = "undefined reference"
_ITS_PART = (
    "its main program must pass requests on to console_receive, and leave the arena alone while "
    "they are served; --no-verify leaves this check out (docs/projects.md)"
)


def explained(error: BuildError, main: MainProgram, header: str) -> BuildError:
    """An error of the build in words on the user's files; as it is if it is of others.

    Args:
        error: what the build says.
        main: the main program.
        header: that of the network, for a program that was written for another one.
    """
    lines = str(error).splitlines()
    found = [wrong for line in lines if (wrong := _WRONG.search(line)) and _is_error(line)]
    if found:
        said = dict.fromkeys(
            f"  {main.place(wrong['name'])}:{wrong['line']}: {wrong['text']}" for wrong in found
        )
        text = "the main program cannot be built:\n" + "\n".join(said)
        texts = [wrong["text"] for wrong in found]
        return BuildError(text, where=str(main.path), hint=_hint(texts, main, header))
    if any(_UNDEFINED in line and "main'" in line for line in lines):
        return BuildError("has no function main", where=str(main.path))
    if any(f"{MAIN_FOLDER}/" in line for line in lines):
        return BuildError(error.what, where=str(main.path), hint=error.hint)
    return error


def _hint(texts: Sequence[str], main: MainProgram, header: str) -> str:
    """Remedy for the errors of a main program; "" where they say all."""
    missing = [found[1] for text in texts if (found := _NO_HEADER.match(text))]
    if any(name.startswith("edgec_") for name in missing):
        return f"the header of this network is {header}"
    if main.path.is_file() and any((main.path.parent / name).is_file() for name in missing):
        return (
            f"name the folder in place of the file, and its headers come along: {main.path.parent}"
        )
    return _NO_LIBRARY if any(_UNDEFINED in text for text in texts) else ""


def checked_with(error: SimulationError, main: MainProgram) -> SimulationError:
    """An error of firmware that was run, with the part that its main program has in it."""
    error.where = error.where or str(main.path)
    error.hint = _ITS_PART
    return error


def warnings(output: str) -> tuple[str, ...]:
    """Warnings of a compiler in a main program, by the names of its files, each once."""
    found = (_WARNING.search(line) for line in output.splitlines())
    texts = (f"{each['name']}:{each['line']}: {each['text']}" for each in found if each)
    return tuple(dict.fromkeys(texts))


def _is_error(line: str) -> bool:
    return "error:" in line or _UNDEFINED in line
