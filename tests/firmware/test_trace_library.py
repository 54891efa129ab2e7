"""The tracer's library comes out of the cache only if this user has put it there."""

from pathlib import Path

import pytest

from edgec.base.result_cache import ResultCache
from edgec.sim import trace_library
from edgec.toolchain.cc import host_compiler


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EDGEC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    trace_library.trace_library.cache_clear()
    return tmp_path / "cache" / "tracers"


def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The libraries that are compiled from now on."""
    found, really = [], trace_library.compile_shared

    def compile_shared(sources, folders, path, flags, compiler):
        found.append(path)
        really(sources, folders, path, flags, compiler)

    monkeypatch.setattr(trace_library, "compile_shared", compile_shared)
    return found


def test_it_is_compiled_once(cache: Path, monkeypatch: pytest.MonkeyPatch):
    made = compiled(monkeypatch)
    for _ in range(2):
        assert trace_library.trace_library().edgec_trace_new
        trace_library.trace_library.cache_clear()
    assert len(made) == 1
    assert len(list(cache.iterdir())) == 1


def test_that_of_somebody_else_is_not_loaded(cache: Path, monkeypatch: pytest.MonkeyPatch, caplog):
    made = compiled(monkeypatch)
    key = trace_library._key(host_compiler())
    with monkeypatch.context() as theirs:
        theirs.setenv("XDG_STATE_HOME", str(cache.parent / "theirs"))
        ResultCache(cache, 1 << 20).put(key, b"code of somebody else")
    # As earlier versions of edgec named the file that they loaded.
    (cache.parent / f"trace-{key[:32]}.so").write_bytes(b"code of somebody else")
    assert trace_library.trace_library().edgec_trace_new
    assert len(made) == 1
    assert "was not made with this user's secret" in caplog.text
