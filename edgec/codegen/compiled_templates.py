"""Templates as Python code, kept beside compiled modules so that a second command finds them.

Jinja takes longer to compile the templates of a library than to fill them.  The code lies where
Python keeps that of modules (`importlib.util.cache_from_source`), is written when Python writes
these, and is trusted as they are: whoever can write to that folder can write edgec's modules, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import marshal
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import jinja2


class CompiledTemplates(jinja2.BytecodeCache):
    """Code of templates in files of their own."""

    def __init__(self, kind: str, sources: Sequence[Path]) -> None:
        """Code of one environment.

        Args:
            kind: letters that tell its files from those of other environments.
            sources: modules that decide which code is made of a template: what the environment
                folds into it when it compiles.
        """
        self._kind = kind
        state = hashlib.sha256(f"{jinja2.__version__} {sys.version}".encode())
        for path in sources:
            state.update(path.read_bytes())
        self._state = state.hexdigest()

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The file of a template's code."""
        return importlib.util.cache_from_source(filename or name, optimization=self._kind)

    def get_source_checksum(self, source: str) -> str:
        """Digest of all that the code is made from."""
        return hashlib.sha256(f"{self._state} {source}".encode()).hexdigest()

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Fill a bucket from its file; it stays empty where that is absent, older or damaged."""
        with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
            data = Path(bucket.key).read_bytes()
            if data.startswith(bucket.checksum.encode()):
                bucket.code = marshal.loads(data[len(bucket.checksum) :])

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Write the file, as a whole or not at all; a folder that nobody can write to stays."""
        if sys.dont_write_bytecode:
            return
        path = Path(bucket.key)
        part = path.with_name(f"{path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(bucket.checksum.encode() + marshal.dumps(bucket.code))
            part.replace(path)
