"""A process that is killed while it replaces a result: the next command finds a whole one."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from edgec.base.errors import ConfigError
from edgec.base.output_dir import staged_output
from edgec.base.output_file import write_whole
from edgec.base.swap import MANIFEST, recover
from edgec.base.work_folder import CONTAINER, UNFINISHED, temporary_folder, work_folder

OLD = {"both/1": "old", "gone/1": "old", "report.json": "old"}
NEW = {"both/1": "new", "fresh/1": "new", "report.json": "new"}

REPLACE = """
import os, signal, sys
from pathlib import Path
from edgec.base.output_dir import staged_output

target, files = Path(sys.argv[1]), eval(sys.argv[2])
killed_at, when = int(sys.argv[3]), sys.argv[4]
count = 0
rename = Path.rename

def counted(self, other):
    global count
    count += 1
    if count == killed_at and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    found = rename(self, other)
    if count == killed_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return found

with staged_output(target) as folder:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    Path.rename = counted
"""


def replace(target: Path, files: dict[str, str], killed_at: int = 0, when: str = "before") -> int:
    words = [sys.executable, "-c", REPLACE, str(target), repr(files), str(killed_at), when]
    return subprocess.run(words, check=False).returncode


def content(target: Path) -> dict[str, str]:
    return {
        str(path.relative_to(target)): path.read_text()
        for path in sorted(target.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


RENAMES = 9
"""Of the list, of four entries out, of four entries in."""


@pytest.mark.few_cases(9)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", range(1, RENAMES + 1))
@pytest.mark.parametrize("how", ["read", "write"])
def test_killed_at_each_rename(tmp_path: Path, number: int, when: str, how: str):
    target = tmp_path / "net"
    assert replace(target, OLD) == 0
    assert replace(target, NEW, number, when) == -signal.SIGKILL
    if how == "read":
        recover(target)
        assert content(target) in (OLD, NEW)
        assert (target / MANIFEST).is_file()
    newer = {"both/1": "newer"}
    assert replace(target, newer) == 0
    assert content(target) == newer
    assert [path.name for path in tmp_path.iterdir()] == ["net"]


def test_that_is_all_of_them(tmp_path: Path):
    assert replace(tmp_path / "net", OLD) == 0
    assert replace(tmp_path / "net", NEW, RENAMES + 1) == 0


def test_killed_while_it_recovers(tmp_path: Path):
    """The recovery itself can be repeated from any point."""
    kill = REPLACE[: REPLACE.index("with staged")].replace("sys.argv[4]", "'before'")
    recover_it = "from edgec.base.swap import recover\nPath.rename = counted\nrecover(target)"
    recovery = f"{kill}\n{recover_it}"
    for number in range(1, 10):
        target = tmp_path / str(number) / "net"
        assert replace(target, OLD) == 0
        assert replace(target, NEW, 7) == -signal.SIGKILL
        words = [sys.executable, "-c", recovery, str(target), "0", str(number)]
        code = subprocess.run(words, check=False).returncode
        recover(target)
        assert content(target) == OLD
        assert replace(target, NEW) == 0
        if code == 0:
            return
    pytest.fail("the recovery has more steps than that")


def test_a_damaged_list_is_left_alone(tmp_path: Path):
    target = tmp_path / "net"
    assert replace(target, OLD) == 0
    assert replace(target, NEW, 5) == -signal.SIGKILL
    (listed,) = target.glob(f"{CONTAINER}/*/{UNFINISHED}")
    for text in ("", "[]", '{"old": ["../x"], "new": []}', '{"old": [], "new": ["/etc"]}'):
        listed.write_text(text)
        with pytest.raises(ConfigError, match="its list is damaged"):
            recover(target)
        with pytest.raises(ConfigError, match="its list is damaged"), staged_output(target):
            pass
    assert listed.exists()


def test_entries_that_cannot_be_renamed_are_copied(tmp_path: Path, monkeypatch):
    """As on an overlay of file systems, where folders of a lower layer cannot be renamed."""
    target = tmp_path / "net"
    assert replace(target, OLD) == 0
    rename = Path.rename

    def refused(self: Path, other: Path) -> Path:
        if self.parent == target:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(self, other)

    monkeypatch.setattr(Path, "rename", refused)
    with staged_output(target) as folder:
        (folder / "report.json").write_text("newest")
    assert content(target) == {"report.json": "newest"}


# --- work folders --------------------------------------------------------------------------------


KILLED = """
import os, signal, sys
from pathlib import Path
from edgec.base.work_folder import work_folder
with work_folder(Path(sys.argv[1])) as folder:
    (folder / "large").mkdir()
    (folder / "large" / "file").write_text("x")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_folders_of_killed_processes_are_swept_and_no_others(tmp_path: Path):
    container = tmp_path / CONTAINER
    with work_folder(container) as alive:
        (container / "mine").mkdir()
        for _ in range(2):
            subprocess.run([sys.executable, "-c", KILLED, str(container)], check=False)
        assert len(list(container.iterdir())) == 3
        with work_folder(container) as other:
            assert {path.name for path in container.iterdir()} == {alive.name, other.name, "mine"}
    assert [path.name for path in container.iterdir()] == ["mine"]


def test_without_locks_nothing_is_swept(tmp_path: Path, monkeypatch):
    container = tmp_path / CONTAINER
    subprocess.run([sys.executable, "-c", KILLED, str(container)], check=False)

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "no locks here")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with work_folder(container):
        assert len(list(container.iterdir())) == 2
    assert len(list(container.iterdir())) == 1


def test_temporary_folders_are_the_users_own(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    container = tmp_path / f"edgec-{os.getuid()}"
    with temporary_folder() as folder:
        assert folder.parent == container
        assert container.stat().st_mode & 0o777 == 0o700
    assert not container.exists()
    container.symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="belongs to somebody else"), temporary_folder():
        pass


def test_scratch_files_of_killed_processes_are_swept(tmp_path: Path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / CONTAINER)], check=False)
    write_whole(tmp_path / "out.npz", b"1")
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]


def test_the_list_names_what_moves(tmp_path: Path):
    target = tmp_path / "net"
    assert replace(target, OLD) == 0
    assert replace(target, NEW, 4) == -signal.SIGKILL
    (listed,) = target.glob(f"{CONTAINER}/*/{UNFINISHED}")
    assert json.loads(listed.read_text()) == {
        "old": ["both", "gone", MANIFEST, "report.json"],
        "new": ["both", "fresh", MANIFEST, "report.json"],
    }
