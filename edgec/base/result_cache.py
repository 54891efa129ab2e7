"""Results by key, in files that any number of processes read and write at once.

An entry is one file: SHA-256 of its content, then the content.  It is written beside its place and
renamed, so nobody sees half of one; one that is damaged is removed and made anew.  Its time of
modification is that of its last use: those that were used longest ago go first when there are more
bytes than the limit allows.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edgec.base.output_file import write_whole

_SUFFIX = ".entry"
_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class ResultCache:
    """A folder of entries.

    Attributes:
        folder: the folder; made when something is kept.
        limit_bytes: the most that all entries may take.
    """

    folder: Path
    limit_bytes: int

    def get(self, key: str) -> bytes | None:
        """What is kept under a key, hexadecimal digits; None where nothing is, or it is damaged."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        content = data[_DIGEST_BYTES:]
        if hashlib.sha256(content).digest() != data[:_DIGEST_BYTES]:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):  # a cache that others maintain is read alone
            os.utime(path)
        return content

    def put(self, key: str, content: bytes) -> None:
        """Keep something, and drop what was used longest ago where the limit asks for it.

        What is larger than the limit is not kept.

        Raises:
            ConfigError: the folder cannot be written.
        """
        if _DIGEST_BYTES + len(content) > self.limit_bytes:
            return
        write_whole(self._path(key), hashlib.sha256(content).digest() + content)
        self._drop_oldest()

    def sizes(self) -> tuple[int, ...]:
        """Bytes of each entry."""
        return tuple(status.st_size for _, status in self._entries())

    def clear(self) -> None:
        """Remove every entry.

        Raises:
            OSError: the folder cannot be written.
        """
        for path, _ in self._entries():
            path.unlink(missing_ok=True)

    def _drop_oldest(self) -> None:
        found = sorted(self._entries(), key=lambda entry: entry[1].st_mtime_ns)
        total = sum(status.st_size for _, status in found)
        for path, status in found:
            if total <= self.limit_bytes:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            total -= status.st_size

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        if not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            with contextlib.suppress(OSError):  # another process removed it
                yield path, path.stat()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"
