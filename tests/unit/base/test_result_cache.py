"""Results that are kept by key: read and written by several processes, damaged, too many."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from edgec.base.errors import ConfigError
from edgec.base.private import secret_path, user_secret
from edgec.base.result_cache import ResultCache, cache_folder, cache_limit_bytes
from edgec.base.work_folder import CONTAINER

OTHER = 12345
"""Number of a user that nobody here is."""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
KEYS = [f"{index:064x}" for index in range(4)]
ENTRY = 1000
"""Bytes of an entry's file: 32 of them are the digest."""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own for the secret."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def content(key: str) -> bytes:
    return (key * 100).encode()[: ENTRY - 32]


def filled(folder: Path, limit: int = 1 << 20) -> ResultCache:
    """A cache with an entry under each key but the last, of which the first is the oldest."""
    store = ResultCache(folder / "builds", limit)
    for age, key in enumerate(KEYS[:3]):
        store.put(key, content(key))
        os.utime(store.folder / f"{key}.entry", (1000 + age, 1000 + age))
    return store


def test_what_was_kept_is_given_back(tmp_path: Path):
    store = filled(tmp_path)
    assert [store.get(key) for key in KEYS] == [*(content(key) for key in KEYS[:3]), None]
    assert store.sizes() == (ENTRY, ENTRY, ENTRY)
    assert {path.suffix for path in store.folder.iterdir()} == {".entry"}


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_a_damaged_entry_is_none_and_made_anew(tmp_path: Path, damage: bytes | None):
    store = filled(tmp_path)
    path = store.folder / f"{KEYS[0]}.entry"
    good = path.read_bytes()
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]) if damage is None else damage)
    assert store.get(KEYS[0]) is None
    assert not path.exists()
    store.put(KEYS[0], content(KEYS[0]))
    assert store.get(KEYS[0]) == content(KEYS[0])


def test_the_one_that_was_used_longest_ago_goes(tmp_path: Path):
    store = filled(tmp_path, 3 * ENTRY)
    assert store.get(KEYS[0]) is not None  # used now: the second is the oldest
    store.put(KEYS[3], content(KEYS[3]))
    assert [store.get(key) is not None for key in KEYS] == [True, False, True, True]


def test_what_is_larger_than_the_limit_is_not_kept(tmp_path: Path):
    store = filled(tmp_path, 3 * ENTRY)
    store.put(KEYS[3], b"x" * 3 * ENTRY)
    assert [store.get(key) is not None for key in KEYS] == [True, True, True, False]


def test_clear(tmp_path: Path):
    store = filled(tmp_path)
    other = store.folder / "notes.txt"
    other.write_text("the user's")
    store.clear()
    assert store.sizes() == ()
    assert other.exists()
    ResultCache(tmp_path / "never", 1).clear()
    assert not (tmp_path / "never").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "builds").write_text("a file")
    store = ResultCache(tmp_path / "builds", 1 << 20)
    assert store.get(KEYS[0]) is None
    assert store.sizes() == ()
    with pytest.raises(ConfigError, match="cannot be written"):
        store.put(KEYS[0], b"content")


HAMMER = f"""
import random, sys
from pathlib import Path
from edgec.base.result_cache import ResultCache
store, chance = ResultCache(Path(sys.argv[1]), {3 * ENTRY}), random.Random(int(sys.argv[2]))
keys = {KEYS}
for _ in range(60):
    key = chance.choice(keys)
    content = (key * 100).encode()[:{ENTRY - 32}]
    if chance.random() < 0.5:
        store.put(key, content)
    assert store.get(key) in (None, content)
"""
"""Program that uses a cache without room for all: whatever is given back is right."""


def outputs_of(programs: list[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Outputs of Python programs that run at once: fresh processes, as pytest has threads."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", *program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for program in programs
    ]
    outputs = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0] * len(started), outputs
    return outputs


def unused(store: ResultCache, caplog: pytest.LogCaptureFixture, *words: str) -> None:
    """Nothing is given for the first key, and one note says why."""
    caplog.clear()
    assert store.get(KEYS[0]) is None
    (note,) = caplog.messages
    for word in (*words, "it is not used"):
        assert word in note


@needs_root
def test_an_entry_of_another_user_is_not_used(tmp_path: Path, caplog):
    store = filled(tmp_path)
    os.chown(store.folder / f"{KEYS[0]}.entry", OTHER, -1)
    unused(store, caplog, "belongs to another user", str(OTHER), KEYS[0])
    assert store.get(KEYS[1]) == content(KEYS[1])


@needs_root
def test_a_folder_of_another_user_is_not_used(tmp_path: Path, caplog):
    store = filled(tmp_path)
    os.chown(store.folder, OTHER, -1)
    unused(store, caplog, "belongs to another user", str(store.folder))
    for change in (store.clear, lambda: store.put(KEYS[3], b"new")):
        with pytest.raises(ConfigError, match="belongs to another user"):
            change()
    assert len(store.sizes()) == 3


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_what_others_can_write_is_not_used(tmp_path: Path, caplog, mode: int):
    store = filled(tmp_path)
    entry = store.folder / f"{KEYS[0]}.entry"
    entry.chmod(mode)
    unused(store, caplog, "can be written by others", f"chmod go-w {entry}")
    entry.chmod(0o600)
    store.folder.chmod(mode)
    unused(store, caplog, "can be written by others", f"chmod go-w {store.folder}")
    with pytest.raises(ConfigError, match="can be written by others"):
        store.put(KEYS[0], b"new")
    store.folder.chmod(0o700)
    assert store.get(KEYS[0]) == content(KEYS[0])


def test_an_entry_without_the_secret_is_not_used(tmp_path: Path, caplog, state: Path):
    """Another user's entry, in a folder that a CI service brought along."""
    store = filled(tmp_path)
    state.rename(tmp_path / "mine")
    store.put(KEYS[0], b"foreign firmware")
    assert store.get(KEYS[0]) == b"foreign firmware"
    shutil.rmtree(state)
    (tmp_path / "mine").rename(state)
    unused(store, caplog, "was not made with this user's secret")


def test_an_entry_of_another_key_is_not_used(tmp_path: Path, caplog):
    store = filled(tmp_path)
    (store.folder / f"{KEYS[1]}.entry").replace(store.folder / f"{KEYS[0]}.entry")
    unused(store, caplog, "was not made with this user's secret")


def make_special(path: Path, kind: str) -> None:
    path.unlink()
    if kind == "link":
        shutil.copy(path.with_name(f"{KEYS[1]}.entry"), path.parents[1] / "elsewhere")
        path.symlink_to(path.parents[1] / "elsewhere")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(path.parent):
            server.bind(path.name)
    elif kind == "folder":
        path.mkdir()
    else:
        try:
            os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero has no end
        except OSError:
            pytest.skip("devices cannot be made here")


@pytest.mark.parametrize("kind", ["link", "fifo", "socket", "folder", "device"])
def test_what_is_no_plain_file_is_never_opened(
    tmp_path: Path, caplog, monkeypatch: pytest.MonkeyPatch, kind: str
):
    store = filled(tmp_path)
    user_secret()
    make_special(store.folder / f"{KEYS[0]}.entry", kind)
    opened, really = [], os.open
    with monkeypatch.context() as patch:
        patch.setattr(
            os, "open", lambda path, *a, **k: opened.append(str(path)) or really(path, *a, **k)
        )
        unused(store, caplog, "is no plain file")
    assert opened == [str(store.folder)]
    if kind == "link":
        store.put(KEYS[0], content(KEYS[0]))
        assert (tmp_path / "elsewhere").read_bytes().endswith(content(KEYS[1]))
        assert store.get(KEYS[0]) == content(KEYS[0])


def test_a_folder_that_is_a_link_is_not_used(tmp_path: Path, caplog):
    store = filled(tmp_path)
    store.folder.rename(tmp_path / "elsewhere")
    store.folder.symlink_to(tmp_path / "elsewhere")
    unused(store, caplog, "is a link")
    with pytest.raises(ConfigError, match="is a link"):
        store.put(KEYS[0], b"new")


def test_a_work_folder_that_is_a_link_is_not_swept(tmp_path: Path):
    store = filled(tmp_path)
    kept = tmp_path / "elsewhere" / "of-mine"
    kept.mkdir(parents=True)
    (store.folder / CONTAINER).symlink_to(kept.parent)
    with pytest.raises(ConfigError, match="cannot be written"):
        store.put(KEYS[0], b"new")
    assert kept.is_dir()


def test_a_file_without_end_is_not_read(tmp_path: Path, caplog):
    store = filled(tmp_path)
    with (store.folder / f"{KEYS[0]}.entry").open("ab") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    unused(store, caplog, "is larger than 1,048,576 bytes")


def test_the_secret_is_the_users_alone(tmp_path: Path, state: Path, caplog):
    store = filled(tmp_path)
    path = secret_path()
    assert path is not None
    assert path.parent.parent == state
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert list(path.parent.iterdir()) == [path]
    assert not path.is_relative_to(store.folder)
    path.chmod(0o640)
    unused(store, caplog, "can be read by others", f"chmod go-rwx {path}")
    path.chmod(0o600)
    path.write_bytes(b"short")
    unused(store, caplog, "is no secret of edgec")
    path.unlink()
    path.symlink_to("/dev/zero")
    unused(store, caplog, "is no plain file", str(path))
    assert path.is_symlink()


def test_processes_that_make_the_secret_at_once_share_it(tmp_path: Path):
    program = "from edgec.base.private import user_secret; print(user_secret().hex())"
    assert len({out for out, _ in outputs_of([(program,)] * 8)}) == 1


def test_several_processes_at_once(tmp_path: Path):
    outputs_of([(HAMMER, str(tmp_path / "c"), str(seed)) for seed in range(4)])
    store = ResultCache(tmp_path / "c", 3 * ENTRY)
    assert 0 < len(store.sizes()) <= 4
    assert {path.suffix for path in store.folder.iterdir()} == {".entry"}


def test_the_folder_and_the_limit_are_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("EDGEC_CACHE_DIR", "XDG_CACHE_HOME", "EDGEC_CACHE_LIMIT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "edgec"
    assert cache_limit_bytes() == 1 << 30
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/edgec")
    monkeypatch.setenv("EDGEC_CACHE_DIR", "/y")
    assert cache_folder() == Path("/y")
    monkeypatch.setenv("EDGEC_CACHE_LIMIT", "20M")
    assert cache_limit_bytes() == 20 << 20
    monkeypatch.setenv("EDGEC_CACHE_LIMIT", "plenty")
    with pytest.raises(ConfigError, match="plenty"):
        cache_limit_bytes()
