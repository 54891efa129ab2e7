"""Results that are kept by key: read and written by several processes, damaged, too many."""

from __future__ import annotations

import multiprocessing
import os
import random
from pathlib import Path

import pytest

from edgec.base.cache_folder import cache_folder, cache_limit_bytes
from edgec.base.errors import ConfigError
from edgec.base.result_cache import ResultCache

KEYS = [f"{index:064x}" for index in range(4)]
ENTRY = 1000
"""Bytes of an entry's file: 32 of them are the digest."""


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


def hammer(folder: Path, seed: int) -> None:
    """Use a cache that has no room for all; whatever is given back is right."""
    store, chance = ResultCache(folder, 3 * ENTRY), random.Random(seed)
    for _ in range(60):
        key = chance.choice(KEYS)
        if chance.random() < 0.5:
            store.put(key, content(key))
        found = store.get(key)
        assert found is None or found == content(key)


def test_several_processes_at_once(tmp_path: Path):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=hammer, args=(tmp_path / "c", i)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
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
