"""Campaign `boards`: damaged board files, loaded; what is accepted is compiled for.

A finding is an exception that is no `EdgecError`, exit code 70, a file outside of the output
folder, or time and memory beyond the limits.
"""

from __future__ import annotations

import logging
import os
import random
import re
import tempfile
from pathlib import Path

from .campaign import Campaign, Case, Outcome
from .command_line import left_behind, run_command
from .model_damage import NAMES, damaged_bytes

_TEXTS: list[str] = []
_MODEL = Path(__file__).resolve().parents[2] / "examples" / "digits_mlp.onnx"
_CHECKED_SHARE = 0.3
_VALUES = (
    *("0", "-1", "1", "3", "255", "4096", "0x2000_0000", "0xFFFF_FFFF", "0x1_0000_0000"),
    *(
        "9223372036854775807",
        "9223372036854775808",
        "9" * 400,
        "1e400",
        "nan",
        "inf",
        "0.5",
        "-0.0",
    ),
    *("true", '""', '"x"', '"../../x"', '"a\\nb"', '"*/ x /*"', '"\\u0000"', "[]", "[[1], [2]]"),
    *("{}", "{a = 1}", "1979-05-27", '"cortex-m4"', '"host"', '"none"', '"qemu"', '"unicorn"'),
)


def prepare(shared: Path) -> None:
    """Read the boards that there are, and import what cases need."""
    del shared
    import edgec.commands.compile
    import edgec.report.text  # noqa: F401
    from edgec.base.resources import data_dir

    _TEXTS[:] = [path.read_text("utf-8") for path in sorted(data_dir("boards").glob("*.toml"))]


def run(case: Case) -> Outcome:
    """Damage a board's file, load it, and compile for it."""
    from edgec.base.errors import EdgecError
    from edgec.target.board import load_board

    rng = case.random()
    os.chdir(case.folder)
    (case.folder / "tmp").mkdir()
    tempfile.tempdir = str(case.folder / "tmp")
    Path("board.toml").write_bytes(_damaged(rng))
    try:
        load_board(Path("board.toml"))
    except EdgecError as error:
        text = str(error)
        return Outcome("refused", "a message of several pages" if len(text) > 6000 else "")
    if rng.random() > _CHECKED_SHARE:
        return Outcome("accepted")
    logging.disable(logging.WARNING)
    words = ["compile", str(_MODEL), "--board", "board.toml", "--out", "out", "--no-build"]
    code, problem = run_command([*words, "--no-verify"])
    problem = problem or left_behind(case.folder, {"board.toml", "tmp", "out", "output.txt"})
    return Outcome(f"accepted, compile: exit code {code}", problem)


def _damaged(rng: random.Random) -> bytes:
    lines = rng.choice(_TEXTS).splitlines()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice((_value, _value, _value, _key, _lines, _nesting, _added))(lines, rng)
    data = "\n".join(lines).encode()
    return damaged_bytes(data, rng) if rng.random() < 0.1 else data


def _settings(lines: list[str]) -> list[int]:
    return [place for place, line in enumerate(lines) if re.match(r"\s*[\w.]+\s*=", line)]


def _value(lines: list[str], rng: random.Random) -> None:
    """Another value, near the old one or far from it."""
    places = _settings(lines)
    if not places:
        return
    place = rng.choice(places)
    key, _, old = lines[place].partition("=")
    digits = re.fullmatch(r"\s*(0x)?[0-9A-Fa-f_]+\s*", old)
    if digits and rng.random() < 0.6:
        number = int(old.strip().replace("_", ""), 0)
        near = (
            number + 1,
            number - 1,
            number * 2,
            number // 2,
            number + 4096,
            -number,
            number * 1000,
        )
        lines[place] = f"{key}= {rng.choice(near)}"
    elif rng.random() < 0.2:
        text = "".join(f"\\u{ord(c):04x}" for c in rng.choice(NAMES)[:50] if ord(c) < 0xD800)
        lines[place] = f'{key}= "{text}"'
    else:
        lines[place] = f"{key}= {rng.choice(_VALUES)}"


def _key(lines: list[str], rng: random.Random) -> None:
    """A key of another name, twice, or gone."""
    places = _settings(lines)
    if not places:
        return
    place = rng.choice(places)
    choice = rng.randrange(3)
    if choice == 0:
        del lines[place]
    elif choice == 1:
        lines.insert(place, lines[place])
    else:
        _, _, value = lines[place].partition("=")
        keys = ("name", "title", "memory.flash.origin", "a.b.c", '""', "ünï", "core", "dsp", "fpu")
        lines[place] = f"{rng.choice(keys)} ={value}"


def _lines(lines: list[str], rng: random.Random) -> None:
    """A line somewhere else, a table less, the end cut off."""
    if len(lines) < 2:
        return
    place = rng.randrange(len(lines))
    line = lines.pop(place)
    if rng.random() < 0.5:
        lines.insert(rng.randrange(len(lines) + 1), line)
    elif rng.random() < 0.2:
        del lines[place:]


def _nesting(lines: list[str], rng: random.Random) -> None:
    """Deep arrays and tables, keys of very many parts, a long line, a long file."""
    depth = rng.choice((10, 90, 400, 3000, 20_000))
    lines.insert(
        rng.randrange(len(lines) + 1),
        rng.choice(
            (
                f"deep = {'[' * depth}{']' * depth}",
                f"{'.'.join('a' * min(depth, 30_000))} = 1",
                f"[{'.'.join('a' * min(depth, 30_000))}]",
                f"x = {'{a=' * depth}1{'}' * depth}",
                f"y = {'1' * depth}",
                "\n".join(f"k{i} = 1" for i in range(depth)),
                "\n".join(f"[t{i}]" for i in range(depth)),
            )
        ),
    )


def _added(lines: list[str], rng: random.Random) -> None:
    """A table that does not belong there, or belongs to another kind of board."""
    other = rng.choice(_TEXTS).splitlines()
    start = rng.randrange(len(other))
    lines += other[start : start + rng.choice((1, 3, 8))]


CAMPAIGN = Campaign(
    summary="damaged board files: loaded, and compiled for where they are accepted",
    run=run,
    nightly=20_000,
    prepare=prepare,
    seconds=60.0,
    memory_bytes=4 << 30,
)
