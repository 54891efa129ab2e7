"""The tracer's C library, compiled at the first use and kept for later processes."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import platform
from pathlib import Path

from edgec.base.errors import BuildError, ConfigError
from edgec.base.resources import data_dir
from edgec.base.result_cache import ResultCache, cache_folder
from edgec.base.system import LIBRARY_SUFFIX
from edgec.base.work_folder import temporary_folder
from edgec.toolchain.cc import HostCompiler, compile_shared, host_compiler

_SOURCES = ("trace_hook.c", "trace_flash.c")
_HEADERS = ("trace_hook.h", "trace_flash.h")
_FLAGS = ("-O3",)
_LIMIT_BYTES = 4 << 20
"""Most bytes of all libraries that are kept; one takes about 30,000."""


@functools.cache
def trace_library() -> ctypes.CDLL:
    """The library, loaded once a process.

    The cache holds its bytes, not a file to load: they are checked, and loaded from a folder that
    nobody else can write (`base.result_cache`).

    Raises:
        BuildError: it cannot be compiled or loaded.
    """
    compiler = host_compiler()
    kept = cache_folder()
    store = None if kept is None else ResultCache(kept / "tracers", _LIMIT_BYTES)
    key = _key(compiler)
    try:
        with temporary_folder() as folder:
            path = folder / f"trace{LIBRARY_SUFFIX}"
            data = None if store is None else store.get(key)
            if data is None:
                _compile(path, compiler)
                with contextlib.suppress(ConfigError):  # the next process compiles it again
                    if store is not None:
                        store.put(key, path.read_bytes())
            else:
                path.write_bytes(data)
            return ctypes.CDLL(str(path))
    except OSError as error:
        hint = "TMPDIR names another folder for temporary files"
        raise BuildError(
            f"the native tracer cannot be built or loaded: {error}", hint=hint
        ) from error


def _compile(path: Path, compiler: HostCompiler) -> None:
    folder = data_dir("firmware") / "host"
    compile_shared([folder / name for name in _SOURCES], [folder], path, _FLAGS, compiler)


def _key(compiler: HostCompiler) -> str:
    """A digest of the sources, of the compiler and of its flags."""
    folder = data_dir("firmware") / "host"
    digest = hashlib.sha256()
    for name in (*_SOURCES, *_HEADERS):
        digest.update((folder / name).read_bytes())
    facts = (compiler.path, compiler.version, platform.machine(), *compiler.words, *_FLAGS)
    digest.update(repr([str(fact) for fact in facts]).encode())
    return digest.hexdigest()
