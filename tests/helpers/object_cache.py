"""Object files by content, shared by all tests of a session and by the processes of xdist.

An object is kept under a digest of all that it depends on: the compiler, its options, the source,
the headers that were read and the names of those that could have been. So it never has to be
thrown away while the session lasts.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from edgec.toolchain.process import Completed

Words = Sequence[str | Path]
Compile = Callable[[list[str | Path]], Completed]
"""Runs a compiler."""
_COMPILER = re.compile(r"(.*-)?(gcc|g\+\+|clang|clang\+\+)(-[0-9.]+)?")
_NAMES_PLACES = ("-g", "-fsanitize=address", "-fprofile")
"""Options with which an object holds the paths of its source."""


@dataclass(frozen=True)
class Job:
    """The compilation of one source.

    Attributes:
        compiler: the program.
        options: all but the places of source, object and headers.
        includes: folders of headers, in order.
        source: C, C++ or assembler.
        target: the object file.
        folder: where the compiler runs.
    """

    compiler: Path
    options: tuple[str, ...]
    includes: tuple[str, ...]
    source: Path
    target: Path
    folder: Path

    @property
    def places(self) -> list[Path]:
        """Folders where a header is looked for: that of the source, then the others."""
        own = (self.folder / self.source).parent
        return [own, *(self.folder / include for include in self.includes)]

    @property
    def has_call_graph(self) -> bool:
        """Whether the compiler writes a call graph beside the object."""
        return any(option.startswith("-fcallgraph-info") for option in self.options)

    @property
    def call_graph(self) -> Path:
        """The file of that call graph."""
        return (self.folder / self.target).with_suffix(".ci")

    @cached_property
    def key(self) -> str:
        """A digest of all but the text of headers."""
        found = hashlib.sha256(repr(_identity(self.compiler)).encode())
        found.update(repr([self._without_folder(option) for option in self.options]).encode())
        if any(option.startswith(_NAMES_PLACES) for option in self.options):
            found.update(repr((self.source, self.includes)).encode())
            if not any(option.startswith("-ffile-prefix-map") for option in self.options):
                found.update(str(self.folder).encode())
        found.update(self.source.name.encode())
        found.update((self.folder / self.source).read_bytes())
        for place in self.places:
            found.update(repr(_headers(place)).encode())
        return found.hexdigest()

    def _without_folder(self, option: str) -> str:
        """The option; where it keeps the folder out of the object, without the folder."""
        start = f"-ffile-prefix-map={self.folder}="
        return option.replace(start, "-ffile-prefix-map==") if option.startswith(start) else option

    def headers_read(self, listing: str) -> list[tuple[int, str]]:
        """Number of the place and name in it of each header that a compiler listed for `make`.

        Those in no place are the compiler's own.
        """
        names = re.sub(r"\\\n", " ", listing).partition(":")[2].replace("\\ ", "\0").split()
        found = []
        for name in names:
            path = str(self.folder / name.replace("\0", " "))
            for number, place in enumerate(self.places):
                if path.startswith(f"{place}{os.sep}"):
                    found.append((number, path[len(str(place)) + 1 :]))
        return sorted(set(found))

    def key_with(self, headers: Sequence[tuple[int, str]]) -> str | None:
        """The digest with the text of headers; None where one of them is missing."""
        found = hashlib.sha256(self.key.encode())
        for number, name in headers:
            try:
                text = (self.places[number] / name).read_bytes()
            except OSError:
                return None
            found.update(f"\n{number} {name} {len(text)}\n".encode())
            found.update(text)
        return found.hexdigest()


def job_of(argv: Words, folder: Path | None) -> Job | None:
    """What a command line compiles; None where it is not one source to one object."""
    words = [str(word) for word in argv]
    if not _COMPILER.fullmatch(Path(words[0]).name) or words.count("-c") != 1 or "-M" in words:
        return None
    compiler = shutil.which(words[0])
    rest, options, includes, sources, target = iter(words[1:]), [], [], [], None
    for word in rest:
        if word == "-o":
            target = next(rest, None)
        elif word.startswith("-I"):
            includes.append(word[2:])
        elif word.startswith("-"):
            options.append(word)
            if word in ("-x", "-include", "-isystem", "-iquote", "-idirafter"):
                return None
        else:
            sources.append(word)
    if compiler is None or target is None or len(sources) != 1 or "" in includes:
        return None
    place = (folder or Path()).absolute()
    return Job(
        Path(compiler), tuple(options), tuple(includes), Path(sources[0]), Path(target), place
    )


class ObjectCache:
    """Objects in a folder that several processes may use at once.

    Args:
        folder: created; holds `KEY/*.json` (lists of headers that were read) and `*.o`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def compile(self, job: Job, argv: Words, run: Compile) -> Completed:
        """Do a job, by copying the object that an equal one made before where there is one.

        Args:
            job: the job.
            argv: its command line.
            run: starts a command line; what fails is not kept.
        """
        lists = self.folder / job.key
        for path in sorted(lists.glob("*.json")):
            key = job.key_with([(number, name) for number, name in json.loads(path.read_text())])
            kept = self.folder / f"{key}.o"
            if key is not None and kept.is_file():
                shutil.copyfile(kept, job.folder / job.target)
                if job.has_call_graph:
                    shutil.copyfile(kept.with_suffix(".ci"), job.call_graph)
                return Completed(0, "", kept.with_suffix(".said").read_text())
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            listing = Path(scratch) / "headers"
            done = run([*argv, "-MD", "-MF", listing])
            if done.returncode == 0 and not done.stdout:
                headers = job.headers_read(listing.read_text())
                self._keep(job, headers, done.stderr, Path(scratch))
        return done

    def _keep(self, job: Job, headers: list[tuple[int, str]], said: str, scratch: Path) -> None:
        key = job.key_with(headers)
        if key is None:
            return
        text = json.dumps(headers)
        (scratch / "said").write_text(said)
        (scratch / "list").write_text(text)
        shutil.copyfile(job.folder / job.target, scratch / "object")
        if job.has_call_graph:
            shutil.copyfile(job.call_graph, scratch / "calls")
            (scratch / "calls").replace(self.folder / f"{key}.ci")
        lists = self.folder / job.key
        lists.mkdir(exist_ok=True)
        # The object comes last: whoever finds it finds the rest.
        (scratch / "said").replace(self.folder / f"{key}.said")
        (scratch / "object").replace(self.folder / f"{key}.o")
        (scratch / "list").replace(lists / f"{hashlib.sha256(text.encode()).hexdigest()}.json")


def _identity(compiler: Path) -> tuple[str, int, int]:
    status = compiler.stat()
    return (os.path.realpath(compiler), status.st_size, status.st_mtime_ns)


def _headers(folder: Path) -> list[str]:
    """Names of all files below a folder that `#include` could find there, but compiled sources."""
    if not folder.is_dir():
        return []
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [f"{place[len(str(folder)) :]}/{name}" for name in names if name.endswith(".h")]
    return sorted(found)
