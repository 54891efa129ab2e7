"""Ways to damage what lies around a compilation: caches, project files, boards, folders, limits."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import re
import resource
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .model_damage import damaged_bytes

STRANGER = 4321
"""Number of a user who is somebody else."""
_TEXTS = (
    *("", "x", "host", "nucleo", "model.onnx", "../../outside", "/dev/null", "/dev/zero", "/proc"),
    *("precious", "precious/notes.txt", ".", "..", "out", "out/..", "build", "~", "a" * 300, "-o"),
    *("a\\nb", "\\u0000", "\\u202Eexe.onnx", "\\u001b[31m", "\\u2066x", "e\\u0301", "\\uFEFF", "-"),
    *("../" * 40 + "x", "flash=9e999", "ram=-1,flash=64K", "x=1,-3", "x=" + "9" * 60, "nan", "1e9"),
)
_VALUES = (
    *("0", "-1", "1", "255", "1.5", "1e400", "-0.0", "nan", "inf", "9" * 30, "9" * 5000, "true"),
    *("false", "[]", "[[]]", "{}", "{a = 1}", "1979-05-27", '[""]', '["x", 3]', "0x1_0000_0000"),
    *("-9223372036854775809", "18446744073709551616", "'''a\nb'''", '["x=1,64", "x=2,64"]'),
)
_BOARD_NUMBERS = (
    *("-1", "0", "1", "0xFFFF_FFFF", "0x1_0000_0000", "18446744073709551615", "9" * 400, "true"),
    *("18446744073709551616", "-9223372036854775809", "1.5", '"64K"', "[]", "{}", "nan", '"-4"'),
)


@dataclass
class Project:
    """Surroundings of one run.

    Attributes:
        rng: draws what is damaged.
        root: folder of the case; in it lie `project`, `cache`, `state`, `tmp`.
        words: the command line.
        environment: variables of the command.
        limits: of the process, by the number that `resource` has for them.
        deleted: remove the working folder before the command begins.
        same: the output must be that of the undamaged project.
        log: what was done.
    """

    rng: random.Random
    root: Path
    words: list[str]
    environment: dict[str, str]
    limits: dict[int, int] = field(default_factory=dict)
    deleted: bool = False
    same: bool = True
    log: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """The folder that the command runs in."""
        return self.root / "project"

    def say(self, text: str) -> None:
        """Note what is damaged."""
        self.log.append(text[:400])


def odd_entry(rng: random.Random, path: Path, content: bytes = b"") -> str:
    """Something else in the place of a file or folder; what it is."""
    with contextlib.suppress(OSError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    precious = path.parent
    while not (precious / "precious").exists():
        precious = precious.parent
    precious /= "precious"
    kind = rng.randrange(10)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        (path / "in" / "it").mkdir(parents=True)
    elif kind == 3:
        path.symlink_to(precious / "notes.txt")
    elif kind == 4:
        path.symlink_to(precious)
    elif kind == 5:
        path.symlink_to(path)
    elif kind == 6:
        path.symlink_to(rng.choice(("/dev/zero", "/dev/full", "/etc/shadow", "missing", "/proc/1")))
    elif kind == 7:
        path.write_bytes(content)
        os.truncate(path, rng.choice((0, 1, 1 << 29, 1 << 30)))
    elif kind == 8:
        path.write_bytes(content)
        path.chmod(rng.choice((0, 0o200, 0o444, 0o666, 0o4755)))
    else:
        path.write_bytes(damaged_bytes(content, rng) if content else b"text\n")
    kinds = ("pipe", "folder", "folders", "link to a file", "link to a folder", "link to itself")
    return (*kinds, "link elsewhere", "size", "mode", "bytes")[kind]


def cache(project: Project) -> None:
    """Entries, folders and secret of the cache: cut, exchanged, linked, of others, too large."""
    rng, folder = project.rng, project.root / "cache"
    entries = sorted(path for path in folder.rglob("*") if path.is_file())
    secrets = sorted(path for path in (project.root / "state").rglob("*") if path.is_file())
    for _ in range(rng.choice((1, 1, 2))):
        path = rng.choice((*entries, *entries, *secrets, folder, *(e.parent for e in entries)))
        content = path.read_bytes() if path.is_file() else b""
        if not path.exists():
            continue  # it lay in what has been damaged before
        kind = rng.randrange(7)
        if kind == 0 and content:
            path.write_bytes(content[: rng.randrange(len(content))])
            project.say(f"{path.name} cut")
        elif kind == 1 and content:
            place = rng.randrange(len(content))
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            project.say(f"{path.name}: byte {place}")
        elif kind == 2 and content and len(entries) > 1:
            path.write_bytes(rng.choice(entries).read_bytes())
            project.say(f"{path.name} holds another entry")
        elif kind == 3 and os.geteuid() == 0:
            os.chown(path, STRANGER, STRANGER)
            project.say(f"{path.name} belongs to another user")
        elif kind == 4:
            path.chmod(rng.choice((0o777, 0o666, 0o770, 0o000, 0o444, 0o2777)))
            project.say(f"{path.name}: mode")
        else:
            project.say(f"{path.name}: {odd_entry(rng, path, content)}")
    limit = rng.choice(("1G", "1G", "1G", "1K", "0", "-1", "1e9", "x", "9" * 40, "\u202e1G"))
    project.environment["EDGEC_CACHE_LIMIT"] = limit
    project.say(f"limit {limit[:20]!r}")


def settings(project: Project) -> None:
    """edgec.toml: values of other types, huge numbers, unknown keys, paths, control characters."""
    rng, path = project.rng, project.folder / "edgec.toml"
    project.same = False
    if rng.random() < 0.1:
        project.say(f"edgec.toml: {odd_entry(rng, path, path.read_bytes())}")
        return
    lines = path.read_text().splitlines()
    for _ in range(rng.choice((1, 1, 2, 3))):
        key = rng.choice(
            (*_keys(), *_keys(), "modle", "x" * 400, '"\\u202E"', '"a\\nb"', '""', "out.x")
        )
        value = rng.choice((*_VALUES, *(f'"{text}"' for text in _TEXTS), '["x=1,64"]', '"int16"'))
        lines = [line for line in lines if line.partition("=")[0].strip() != key]
        place = rng.randrange(len(lines) + 1)
        lines.insert(place, f"{key} = {value}")
        project.say(lines[place])
    if rng.random() < 0.1:
        lines += ["[check]", f"{rng.choice(_keys())} = {rng.choice(_VALUES)}"]
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    path.write_bytes(damaged_bytes(data, rng) if rng.random() < 0.1 else data)


@functools.cache
def _keys() -> tuple[str, ...]:
    """Those that edgec.toml may have."""
    from edgec.cli.compile_request import compile_request
    from edgec.cli.option_table import options_of

    return tuple(option.key for option in options_of(compile_request))


def board(project: Project) -> None:
    """A board of the project: numbers beyond 64 bits, below 0, defines that are code."""
    from edgec.base.resources import data_dir

    rng, path = project.rng, project.folder / "own.toml"
    project.same = False
    found = sorted(data_dir("boards").glob("*.toml"))
    lines = rng.choice(found).read_text("utf-8").splitlines()
    for _ in range(rng.choice((1, 1, 2))):
        places = [n for n, line in enumerate(lines) if re.match(r"\s*[\w.]+\s*=", line)]
        place = rng.choice(places)
        key = lines[place].partition("=")[0]
        text = rng.choice(
            (*_TEXTS, "1\\n#error", "a b", ");", "-Wl,-o,x", "@x", "-D", "$(id)", "'")
        )
        lines[place] = f"{key}= {rng.choice((*_BOARD_NUMBERS, f'{chr(34)}{text}{chr(34)}'))}"
        project.say(lines[place])
    if rng.random() < 0.4:
        name = rng.choice(("A", "a b", "1", "EDGEC_ARENA", "int", "A(x)", "\u00fc", "A" * 300))
        lines += ["[defines]", f'"{name}" = {rng.choice(_BOARD_NUMBERS)}']
        project.say(lines[-1])
    path.write_text("\n".join(lines), "utf-8")
    if rng.random() < 0.1:
        project.say(f"own.toml: {odd_entry(rng, path, path.read_bytes())}")
    project.words += ["--board", "own.toml"]


def output(project: Project) -> None:
    """The output folder: a file or link in its place, a folder of the user, odd names, modes."""
    rng, path = project.rng, project.folder / "out"
    kind = rng.randrange(8)
    project.same = False
    if kind < 3:
        project.say(f"out: {odd_entry(rng, path)}")
    elif kind == 3:
        path.mkdir()
        (path / "thesis.tex").write_text("years of work")
        project.say("out holds a file of the user")
    elif kind == 4:
        names = ("precious", ".", "..", "precious/notes.txt", "model.onnx", "/", "/dev/null/x", "")
        names = (*names, "a" * 300, "x/" * 200, "\u202egpj", "a\nb", "-x", "~", "edgec.toml/x")
        project.words += ["--out", name := rng.choice(names)]
        project.say(f"--out {name[:60]!r}")
    elif kind == 5:
        shutil.copytree(project.root / "earlier", path)
        inside = rng.choice(sorted(path.rglob("*")))
        project.say(f"earlier {inside.name}: {odd_entry(rng, inside)}")
    elif kind == 6:
        path.mkdir(mode=0o500)
        project.say("out cannot be written")
    else:
        shutil.copytree(project.root / "earlier", path)
        path.chmod(rng.choice((0, 0o500, 0o777)))
        project.folder.chmod(rng.choice((0o500, 0o555, 0o777)))
        project.say("modes of an earlier output")
    if rng.random() < 0.3:
        project.words.append("--force")


def limits(project: Project) -> None:
    """Sizes of files, memory, and open files that run out on the way."""
    rng = project.rng
    if rng.random() < 0.5:
        shutil.copytree(project.root / "earlier", project.folder / "out")
    kind = rng.randrange(3)
    if kind == 0:
        project.limits[resource.RLIMIT_FSIZE] = int(10 ** rng.uniform(0, 6))
    elif kind == 1:
        project.limits[resource.RLIMIT_AS] = int(10 ** rng.uniform(7.5, 9.3))
    else:
        project.limits[resource.RLIMIT_NOFILE] = rng.randint(16, 60)
    project.say(f"limits {project.limits}")


def surroundings(project: Project) -> None:
    """Temporary, home and working folders that are missing, deleted, or something else."""
    rng, place = project.rng, project.root / "odd"
    kind = rng.randrange(5)
    if kind == 0:
        project.deleted = True
        project.say("working folder deleted")
    elif kind == 1:
        name = rng.choice(("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "EDGEC_CACHE_DIR"))
        values = ("", "relative", "/dev/null", "/missing/x", "/proc", "a" * 5000, "\u202e", "a\nb")
        project.environment[name] = value = rng.choice(values)
        project.say(f"{name} {value[:40]!r}")
    elif kind == 2:
        for name in ("PATH", "HOME", "TMPDIR", "EDGEC_CACHE_DIR", "XDG_STATE_HOME"):
            if rng.random() < 0.5:
                project.environment.pop(name, None)
        project.environment["LC_ALL"] = rng.choice(("C", "POSIX", "xx_YY", "C.UTF-8"))
        project.say("variables missing")
    else:
        values = ("", "relative", "/dev/null", "/missing/x", "/proc", str(place), "/sys", "a b\n")
        project.environment["TMPDIR"] = value = rng.choice(values)
        place.mkdir(mode=0o500)
        project.say(f"TMPDIR {value!r}")


FAMILIES: tuple[Callable[[Project], None], ...] = (
    *(cache, cache, settings, settings, board, output, output, limits, surroundings),
)
"""Each damages one kind of thing."""
