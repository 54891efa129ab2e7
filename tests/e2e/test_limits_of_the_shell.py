"""Limits of the shell (`ulimit`) end in one clear message, whichever program meets them."""

from __future__ import annotations

import resource
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP, Done, check_one_message

from edgec.base.errors import ConfigError
from edgec.base.resources import data_dir
from edgec.cli.app import run_app
from edgec.target.board import board_of
from edgec.toolchain.cc import build_failed
from edgec.toolchain.process import Completed


def limited(kind: int, most: int, *words: object) -> Done:
    """A command under a limit."""
    done = subprocess.run(
        [sys.executable, "-m", "edgec", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(kind, (most, most)),
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "mlp"
    options = ("--board", "nucleo", "--calibration", str(CALIBRATION), "--no-verify")
    assert run_app(["compile", str(MLP), *options, "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("mib", [500, 1000, 1250])
@pytest.mark.parametrize("command", ["run", "profile"])
def test_address_space(firmware: Path, mib: int, command: str):
    pytest.importorskip("unicorn")
    more = ("--on", "emulator") if command == "run" else ()
    words = (command, firmware, "--input", CALIBRATION, *more)
    done = limited(resource.RLIMIT_AS, mib << 20, *words)
    check_one_message(done, "MiB of address space", "ulimit -v unlimited", code=10)


@pytest.mark.parametrize("kib", [2, 10, 100, 150])
def test_size_of_files(tmp_path: Path, kib: int):
    out = tmp_path / "out"
    words = ("compile", MLP, "--board", "nucleo", "--calibration", CALIBRATION, "--no-verify")
    done = limited(resource.RLIMIT_FSIZE, kib << 10, *words, "--out", out)
    check_one_message(done, "the limit on the size of files is reached", "ulimit -f")
    assert not out.exists()


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (Completed(-25, "", ""), ("the limit on the size of files is reached", "SIGXFSZ")),
        (Completed(153, "", ""), ("the limit on the size of files is reached", "status 153")),
        (Completed(1, "", "ld: final link failed: File too large"), ("is reached", "File too")),
        (Completed(1, "", "x.c:1: error: no"), ("x.c:1: error: no", "ulimit -f")),
    ],
)
def test_what_a_build_says_of_it(done: Completed, words: tuple[str, ...], file_limit: None):
    text = str(build_failed("the firmware cannot be built", done, "project"))
    assert all(word in text for word in (*words, "files may have 1,048,576,000 bytes here"))


@pytest.fixture
def file_limit() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000 << 20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("code", [-9, -11, 1, 127])
def test_a_build_that_says_nothing(code: int):
    text = str(build_failed("the firmware cannot be built", Completed(code, "", "\n"), "project"))
    ending = f"exit status {code}" if code > 0 else {-9: "SIGKILL", -11: "SIGSEGV"}[code]
    assert ending in text.splitlines()[-1]


def numbers(table: dict, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The places of all numbers of a board file."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from numbers(value, (*path, key))
        elif isinstance(value, int) and not isinstance(value, bool):
            yield (*path, key)


BOARD = (data_dir("boards") / "nucleo_h7a3zi_q.toml").read_text("utf-8")
PLACES = [*numbers(tomllib.loads(BOARD)), ("defines", "PORT_NEW")]


@pytest.mark.parametrize("place", PLACES, ids=".".join)
@pytest.mark.parametrize("number", [2**64, 10**40, -(2**63) - 1])
def test_a_number_of_a_board_that_c_has_not(place: tuple[str, ...], number: int):
    data = tomllib.loads(BOARD)
    table = data
    for key in place[:-1]:
        table = table.setdefault(key, {})
    table[place[-1]] = number
    with pytest.raises(ConfigError) as caught:
        board_of(data, "mine.toml")
    assert ".".join(place) in caught.value.what
    assert len(str(caught.value)) < 400
