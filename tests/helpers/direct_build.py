"""Builds a PlatformIO project by calling the compiler: the same firmware without SCons' seconds.

Options come from the project's own files (platformio.ini, boards/*.json); what PlatformIO and
`firmware/platformio/platform-edgec/builder/main.py` add to them is here a second time.
`tests/firmware/test_direct_build.py` holds the two builds against each other, byte for byte but
for debug information.
"""

from __future__ import annotations

import configparser
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from edgec.toolchain.platformio import FirmwareFiles
from edgec.toolchain.process import Completed

Run = Callable[[list[str | Path], Path], Completed]
"""Runs a command line in a folder."""
_CPP_FLAGS = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
_LINES = {"-g": "-g1"}
"""Variables in the debug information take a fifth of a compiler's time, and no test reads them."""
_SOURCES = {".c": "gcc", ".cpp": "g++", ".S": "gcc"}


class _Failed(Exception):
    """A program failed; holds what it said."""


@dataclass(frozen=True)
class DirectBuild:
    """The build of a project.

    Attributes:
        project: a folder that `emit_project` wrote.
        run: starts programs.
    """

    project: Path
    run: Run

    def build(self) -> Completed:
        """Make the files that PlatformIO makes; gives what the compilers said."""
        self.output.mkdir(parents=True, exist_ok=True)
        said: list[str] = []
        try:
            elf = self._linked(said)
            if not self._manifest["hosted"]:
                for form, suffix in (("binary", ".bin"), ("ihex", ".hex")):
                    self._do(said, "objcopy", "-O", form, elf, elf.with_suffix(suffix))
        except _Failed:
            return Completed(1, "", "".join(said))
        return Completed(0, "", "".join(said))

    @cached_property
    def _settings(self) -> dict[str, list[str]]:
        config = configparser.ConfigParser(interpolation=None, comment_prefixes=(";",))
        config.read_string((self.project / "platformio.ini").read_text("utf-8"))
        (section,) = (name for name in config.sections() if name.startswith("env:"))
        return {name: value.split() for name, value in config[section].items()}

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        (board,) = self._settings["board"]
        text = (self.project / "boards" / f"{board}.json").read_text("utf-8")
        return dict(json.loads(text)["build"])

    @cached_property
    def output(self) -> Path:
        """The folder of what is built, below the project."""
        return self.project / ".pio" / "build" / self._settings["board"][0]

    def _tool(self, name: str) -> str:
        return f"{self._manifest['gcc_prefix']}{name}"

    def _do(self, said: list[str], tool: str, *arguments: str | Path) -> None:
        places = [p.relative_to(self.project) if isinstance(p, Path) else p for p in arguments]
        done = self.run([self._tool(tool), *places], self.project)
        said.append(done.stdout + done.stderr)
        if done.returncode != 0:
            raise _Failed

    def _flags(self) -> list[str]:
        """Of every compilation; those of C are among them."""
        found = shutil.which(self._tool("gcc"))
        if found is None:
            raise FileNotFoundError(self._tool("gcc"))
        places = {Path(found).resolve().parent.parent: "/compiler", self.project: "."}
        return [
            *self._manifest["core_flags"],
            *(f"-ffile-prefix-map={place}={name}" for place, name in places.items()),
            *(
                _LINES.get(flag, flag)
                for flag in self._settings["build_flags"]
                if "-Wl," not in flag
            ),
        ]

    def _objects(self, said: list[str], folder: Path, options: list[str]) -> list[Path]:
        objects = []
        sources = (path for path in folder.rglob("*") if path.suffix in _SOURCES)
        for source in sorted(sources, key=lambda path: (path.parent.as_posix(), path.name)):
            place = source.relative_to(self.project).with_suffix(".o")
            target = self.output / place
            target.parent.mkdir(parents=True, exist_ok=True)
            is_cpp = source.suffix == ".cpp"
            of_c = [flag for flag in options if not flag.startswith("-std=c")]
            flags = [*_CPP_FLAGS, *of_c] if is_cpp else options
            self._do(said, _SOURCES[source.suffix], *flags, "-c", source, "-o", target)
            objects.append(target)
        return objects

    def _headers(self, library: Path) -> list[str]:
        places = (library / part for part in ("include", "src"))
        return [f"-I{place.relative_to(self.project)}" for place in places if place.is_dir()]

    def _archive(self, said: list[str], library: Path, flags: list[str]) -> Path:
        objects = self._objects(said, library, [*flags, *self._headers(library)])
        archive = self.output / f"lib{library.name}.a"
        archive.unlink(missing_ok=True)
        self._do(said, "ar", "rcD", archive, *objects)
        return archive

    def _linked(self, said: list[str]) -> Path:
        flags = [*self._flags(), "-DPLATFORMIO=60200"]
        libraries = sorted(path for path in (self.project / "lib").iterdir() if path.is_dir())
        headers = [header for library in libraries for header in self._headers(library)]
        own = [*flags, "-Iinclude", "-Isrc", *headers, *self._settings["build_src_flags"]]
        objects = self._objects(said, self.project / "src", own)
        archives = [self._archive(said, library, flags) for library in libraries]
        options: list[str] = [*self._manifest["core_flags"], *self._manifest["link_flags"]]
        options += [flag for flag in self._settings["build_flags"] if flag.startswith("-Wl,")]
        group: list[str | Path] = [*archives]
        if not self._manifest["hosted"]:
            (script,) = self._settings["board_build.ldscript"]
            options += ["-T", script, "-nostartfiles", "-nostdlib"]
            group += ["-lgcc"]
        linker = "g++" if any((self.project / "src").rglob("*.cpp")) else "gcc"
        group = ["-Wl,--start-group", *group, "-Wl,--end-group"]
        elf = self.output / FirmwareFiles.ELF
        self._do(said, linker, *options, *objects, *group, "-o", elf)
        return elf
