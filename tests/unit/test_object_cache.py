"""The cache of objects that tests share gives back what the compiler would make now."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from object_cache import Job, ObjectCache, job_of

from edgec.toolchain import process
from edgec.toolchain.process import Completed

OPTIONS = ("-O1", "-Wall")


class Compiler:
    """Compiles in `folder` through a cache, and counts how often the compiler runs."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("gcc") is None:
            pytest.skip("gcc is not installed")
        self.cache = ObjectCache(folder / "cache")
        self.folder = folder
        self.runs = 0

    def compile(self, place: str = "a", options: tuple[str, ...] = OPTIONS) -> bytes:
        words = ["gcc", *options, "-Iother", "-I.", "-c", "x.c", "-o", "x.o"]
        job = job_of(words, self.folder / place)
        assert job is not None
        done = self.cache.compile(job, words, lambda argv: self._run(argv, job))
        assert done.returncode == 0, done.stderr
        return (self.folder / place / "x.o").read_bytes()

    def _run(self, argv: list[str | Path], job: Job) -> Completed:
        self.runs += 1
        return process.run(argv, timeout_s=60, cwd=job.folder)


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    for place in ("a", "b"):
        folder = tmp_path / place
        (folder / "other").mkdir(parents=True)
        (folder / "x.c").write_text('#include "x.h"\nint x(void) { return X; }\n')
        (folder / "x.h").write_text("#define X 1\n")
        (folder / "unread.h").write_text(f"#error {place}\n")
    return Compiler(tmp_path)


def test_equal_work_is_done_once(compiler: Compiler) -> None:
    assert compiler.compile("a") == compiler.compile("b") == compiler.compile("a")
    assert compiler.runs == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.c", '#include "x.h"\nint x(void) { return X + 1; }\n'),
        ("x.h", "#define X 2\n"),
        ("x.h", '#include "unread.h"\n#define X 3\n'),
    ],
)
def test_other_text_is_compiled(compiler: Compiler, name: str, text: str) -> None:
    before = compiler.compile()
    (compiler.folder / "a" / "unread.h").write_text("\n")
    (compiler.folder / "a" / name).write_text(text)
    assert compiler.compile() != before
    assert compiler.runs == 2


def test_header_that_is_read_through_another_one(compiler: Compiler) -> None:
    header, inner = (compiler.folder / "a" / name for name in ("x.h", "unread.h"))
    found = [compiler.compile()]
    header.write_text('#include "unread.h"\n')
    for number in (5, 6):
        inner.write_text(f"#define X {number}\n")
        found.append(compiler.compile())
    assert len(set(found)) == compiler.runs == 3


def test_header_that_comes_before_another_one(compiler: Compiler) -> None:
    source = compiler.folder / "a" / "x.c"
    source.write_text("#include <x.h>\nint x(void) { return X; }\n")
    before = compiler.compile()
    (compiler.folder / "a" / "other" / "x.h").write_text("#define X 2\n")
    assert compiler.compile() != before


@pytest.mark.parametrize("other", [("-O2", "-Wall"), ("-O1",), ("-O1", "-Wall", "-DX1")])
def test_other_options_are_other_work(compiler: Compiler, other: tuple[str, ...]) -> None:
    compiler.compile()
    compiler.compile(options=other)
    assert compiler.runs == 2


def test_call_graph_comes_back_with_its_object(compiler: Compiler) -> None:
    options = (*OPTIONS, "-fcallgraph-info=su")
    compiler.compile("a", options)
    compiler.compile("b", options)
    first, second = ((compiler.folder / place / "x.ci").read_text() for place in "ab")
    assert first == second and compiler.runs == 1


def test_objects_that_hold_paths_are_not_shared(compiler: Compiler) -> None:
    options = (*OPTIONS, "-g")
    assert compiler.compile("a", options) != compiler.compile("b", options)
    without = [(*options, f"-ffile-prefix-map={compiler.folder / place}=.") for place in "ab"]
    assert compiler.compile("a", without[0]) == compiler.compile("b", without[1])
    assert compiler.runs == 3


def test_warnings_are_said_again_and_failures_happen_again(compiler: Compiler) -> None:
    source = compiler.folder / "a" / "x.c"
    words = ["gcc", "-Wall", "-c", "x.c", "-o", "x.o"]
    job = job_of(words, compiler.folder / "a")
    assert job is not None

    def said() -> tuple[int, str]:
        done = compiler.cache.compile(job, words, lambda argv: compiler._run(argv, job))
        return done.returncode, done.stderr

    source.write_text("int x(void) { int unused; return 1; }\n")
    first = said()
    assert first[0] == 0 and "unused" in first[1]
    assert said() == first and compiler.runs == 1
    source.write_text("int x(void) { return nonsense; }\n")
    job = job_of(words, compiler.folder / "a")
    assert job is not None
    assert said()[0] != 0 and said()[0] != 0
    assert compiler.runs == 3


@pytest.mark.parametrize(
    "words",
    [
        ["gcc", "x.c", "-o", "x"],
        ["gcc", "-c", "x.c", "y.c"],
        ["gcc", "-M", "-c", "x.c", "-o", "x.o"],
        ["gcc", "-isystem", "d", "-c", "x.c", "-o", "x.o"],
        ["python3", "-c", "x.c", "-o", "x.o"],
    ],
    ids=" ".join,
)
def test_other_commands_are_left_alone(words: list[str]) -> None:
    assert job_of(words, None) is None
