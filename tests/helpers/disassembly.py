"""What a linked Arm program consists of: its functions, and which of them call which."""

import re
import subprocess
from pathlib import Path

_FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:$")
_INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\t(?P<text>.+)$")
_TARGET = re.compile(r"^b[a-z.]*\t[0-9a-f]+ <(?P<name>[^>+]+)(\+0x[0-9a-f]+)?>")


def functions(elf: Path, prefix: str = "arm-none-eabi-") -> dict[str, list[str]]:
    """The instructions of every function as text, by the function's name.

    Static functions of one name are taken together.  `prefix`: of the name of objdump.
    """
    argv = [f"{prefix}objdump", "-d", "--no-show-raw-insn", "--section=.text", elf]
    text = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if start := _FUNCTION.match(line):
            lines = found.setdefault(start["name"], [])
        elif instruction := _INSTRUCTION.match(line):
            lines.append(instruction["text"])
    return found


def reachable(elf: Path, prefix: str, tools: str = "arm-none-eabi-") -> dict[str, list[str]]:
    """The functions whose name starts with `prefix`, and all that they call, directly or not."""
    known = functions(elf, tools)
    waiting = [name for name in known if name.startswith(prefix)]
    found: dict[str, list[str]] = {}
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = known[name]
        targets = (_TARGET.match(line) for line in known[name])
        waiting += [target["name"] for target in targets if target and target["name"] in known]
    return found


def symbols(elf: Path) -> set[str]:
    """Every symbol of a program."""
    argv = ["arm-none-eabi-nm", elf]
    lines = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines}
