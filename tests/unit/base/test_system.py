"""Answers of systems that lack what POSIX has."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from edgec.base import system
from edgec.base.swap import is_entry_name
from edgec.commands.new import _board_text
from edgec.toolchain import cc, live_process
from edgec.toolchain.live_process import open_stream

_ECHO = "import os\nwhile data := os.read(0, 99): os.write(1, data)"
ZIG = """#!/bin/sh
echo "$@" >> {note}
echo "clang version 20"
for word in "$@"; do last=$word; done
test "$last" = --version || : > "$last"
"""


def test_command_lines_of_windows_keep_backslashes(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["edgec", "run", r"build\kws", r"C:\My Files\x.npz"]
    assert system.command_line(words) == r"edgec run 'build\kws' 'C:\My Files\x.npz'"
    monkeypatch.setattr(system.os, "name", "nt")
    assert system.command_line(words) == r'edgec run build\kws "C:\My Files\x.npz"'


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a/", "a\0b"])
def test_names_that_lead_elsewhere(name: str) -> None:
    assert not is_entry_name(name)
    assert is_entry_name("report.json")


def test_boards_of_projects_are_named_alike_everywhere(tmp_path: Path) -> None:
    assert _board_text(str(tmp_path / "boards" / "b.toml"), tmp_path / "p") == "../boards/b.toml"


def test_files_are_locked_without_flock(tmp_path: Path) -> None:
    release = system.lock_file(tmp_path / "lock", wait=False)
    with pytest.raises(OSError):
        system.lock_file(tmp_path / "lock", wait=False)
    release()
    system.lock_file(tmp_path / "lock", wait=True)()


def test_output_is_read_by_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_process, "_WAITS_FOR_PIPES", False)
    with open_stream([sys.executable, "-c", _ECHO]) as stream:
        assert stream.read(0.01) == b""
        stream.write(b"words")
        assert stream.read(20.0) == b"words"
        begin = time.monotonic()
        assert stream.read(0.1) == b""
        assert time.monotonic() - begin < 10


def test_zig_where_there_is_no_other_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "note"
    (tmp_path / "zig").write_text(ZIG.format(note=note))
    (tmp_path / "zig").chmod(0o755)
    (tmp_path / "a.c").write_text("int a;\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(cc.importlib.util, "find_spec", lambda name: None)
    (found,) = cc.find_host_compilers()
    assert (found.name, found.path) == ("zig", tmp_path / "zig")
    cc.compile_shared([tmp_path / "a.c"], [], tmp_path / f"a{system.LIBRARY_SUFFIX}")
    version, compiled, linked = note.read_text().splitlines()
    assert version == "cc --version"
    assert compiled.startswith("cc -mcpu=baseline -std=c11")
    assert linked.startswith("cc -mcpu=baseline -shared")
    assert (tmp_path / f"a{system.LIBRARY_SUFFIX}").is_file()


def test_no_limit_without_resource(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert cc._file_limit() is None
    assert system.user_id() == os.getuid()
