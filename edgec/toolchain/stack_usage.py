"""Stack that the functions of a generated library need, from GCC's call graph: `stack_usage`.

GCC (10 and newer) writes the frame of each function and its calls (`-fcallgraph-info=su`; GCC
manual, "Developer Options"). Frames leave out what inline assembler pushes, as kernels of Thumb
code do, so these are read from the disassembled object as well, and the larger number counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from edgec.base.compiler_level import CompilerLevel
from edgec.base.errors import BuildError
from edgec.base.work_folder import temporary_folder
from edgec.target.board import Board
from edgec.toolchain import process

_TIMEOUT_S = 300.0
_FLAGS = ("-std=c11", "-ffunction-sections", "-fdata-sections", "-fno-common")
_NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*\\n(\d+) bytes \((static|dynamic)')
_EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')
_INDIRECT = "__indirect_call"
_HOOK_CALLER = "step_done"
"""The function of a library that calls the hook of its user."""

_FUNCTION = re.compile(r"[0-9a-f]+ <([^>]+)>:")
_INSTRUCTION = re.compile(r" *([0-9a-f]+):\t[^\t\n]+\t(\S+)(?:\t([^;@\n]*))?")
_ADJUST = re.compile(r"(?:sp, )?sp, #(\d+)")
_BY_REGISTER = re.compile(r"sp, (?:sp, )?r\d")
_BEFORE = re.compile(r"\[sp, #-(\d+)\]!")
_TARGET = re.compile(r"([0-9a-f]+) <")


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Functions of one source.

    Attributes:
        frames: bytes of stack of each function that it defines.
        calls: the functions that each one calls.
    """

    frames: Mapping[str, int]
    calls: Mapping[str, frozenset[str]]

    @property
    def deepest(self) -> int:
        """Most bytes of stack below a call from outside; functions defined elsewhere count 0.

        An indirect call of a kernel may reach each static function that nobody calls by name and
        that makes no such call itself. The hook of the user, called so too, is not counted.

        Raises:
            BuildError: functions call themselves, so there is no such number.
        """
        known: dict[str, int] = {}
        parts = self._parts()
        entries = filter(_is_open, self.frames)
        return max((self._below(name, (), parts, known) for name in entries), default=0)

    def _below(
        self, name: str, path: tuple[str, ...], parts: frozenset[str], known: dict[str, int]
    ) -> int:
        if name in path:
            raise BuildError("functions of the library call themselves", where=name)
        if name not in known:
            calls = self.calls.get(name, frozenset())
            called = (calls | parts if self._is_indirect(name) else calls) & self.frames.keys()
            below = (self._below(each, (*path, name), parts, known) for each in called)
            known[name] = self.frames[name] + max(below, default=0)
        return known[name]

    def _is_indirect(self, name: str) -> bool:
        """Whether a function itself makes an indirect call to another part of the library."""
        calls = self.calls.get(name, frozenset())
        return _INDIRECT in calls and _symbol(name).partition(".")[0] != _HOOK_CALLER

    def _parts(self) -> frozenset[str]:
        """The functions that indirect calls may reach."""
        above = {name for name in self.frames if self._is_indirect(name)}
        while more := {name for name, calls in self.calls.items() if calls & above} - above:
            above |= more
        named = frozenset[str]().union(*self.calls.values())
        return frozenset(each for each in self.frames if not _is_open(each)) - named - above


def stack_usage(library: Path, source: Path, board: Board) -> dict[CompilerLevel, int]:
    """Bytes of stack of the deepest function of a library at each level of optimization.

    Left out are functions of the C library and of the compiler's, and the hook of the user.

    Args:
        library: the folder of the generated library.
        source: its source with the model, relative to that folder.
        board: says which compiler and which core.

    Returns:
        Bytes by level; without levels that cannot be measured, because there is no GCC 10 or newer
        or the source does not compile.
    """
    with (
        temporary_folder() as scratch,
        process.Family() as family,
        ThreadPoolExecutor(len(CompilerLevel)) as pool,
    ):

        def measured(level: CompilerLevel) -> int | None:
            try:
                graph = _call_graph(library, source, board, level, scratch, family)
                return graph.deepest
            except (BuildError, OSError):
                return None

        found = zip(CompilerLevel, pool.map(measured, CompilerLevel), strict=True)
        return {level: stack for level, stack in found if stack}


def _call_graph(
    library: Path,
    source: Path,
    board: Board,
    level: CompilerLevel,
    scratch: Path,
    family: process.Family,
) -> CallGraph:
    """Compile the source and read what the compiler says.

    Raises:
        BuildError: that fails.
        OSError: the compiler wrote no call graph.
    """
    target = scratch / f"{level.name}.o"
    options = [*board.gcc_flags, *_FLAGS, level.value, "-fcallgraph-info=su", "-Iinclude"]
    prefix = board.core.gcc_prefix
    environment = process.clean_environment(process.temporary_variables(scratch))

    def run(*argv: str | Path) -> str:
        done = process.run(
            argv, timeout_s=_TIMEOUT_S, cwd=library, environment=environment, family=family
        )
        if done.returncode != 0:
            raise BuildError(f"the stack is not measured: {done.ending}", where=str(argv[0]))
        return done.stdout

    run(f"{prefix}gcc", *options, "-c", source, "-o", target)
    graph = read_call_graph(target.with_suffix(".ci").read_text("utf-8", "replace"))
    if board.is_host or board.core.is_aarch64:  # no assembler of theirs touches the stack
        return graph
    own = {_symbol(name): frame for name, frame in graph.frames.items()}
    pushed = pushed_bytes(run(f"{prefix}objdump", "-d", target), own)
    frames = {name: max(pushed.get(_symbol(name), 0), own[_symbol(name)]) for name in graph.frames}
    return CallGraph(frames, graph.calls)


def read_call_graph(text: str) -> CallGraph:
    """The call graph that `-fcallgraph-info=su` writes.

    Raises:
        BuildError: the frame of a function depends on data.
    """
    frames = {}
    for name, size, kind in _NODE.findall(text):
        if kind != "static":
            raise BuildError("the stack of a function depends on data", where=name)
        frames[name] = int(size)
    calls: dict[str, set[str]] = defaultdict(set)
    for caller, called in _EDGE.findall(text):
        calls[caller].add(called)
    return CallGraph(frames, {caller: frozenset(called) for caller, called in calls.items()})


def pushed_bytes(listing: str, frames: Mapping[str, int]) -> dict[str, int]:
    """Most bytes that instructions of each function put on the stack, by symbol.

    Args:
        listing: Thumb code, as `objdump -d` prints it.
        frames: what the compiler says of its own part, by symbol.
    """
    found = {}
    for part in re.split(r"\n(?=[0-9a-f]+ <)", listing):
        head = _FUNCTION.match(part)
        if head is not None:
            found[head[1]] = _peak(part, frames.get(head[1], 0))
    return found


def _peak(listing: str, frame: int) -> int:
    """The deepest point of a function, each instruction taken once, in order.

    After a return or jump comes code that is jumped to: at the depth of that jump where it is one
    ahead, else at the deepest point so far, which is never too little.
    """
    depth = peak = 0
    depths: dict[str, int] = {}
    has_left = False
    for address, name, arguments in _INSTRUCTION.findall(listing):
        ahead = depths.get(address)
        if has_left:
            depth = peak if ahead is None else ahead
        elif ahead is not None:
            depth = max(depth, ahead)
        target = _TARGET.match(arguments.rpartition(", ")[2])
        if target is not None and name.startswith(("b", "cb")):
            depths[target[1]] = max(depth, depths.get(target[1], 0))
        if name.startswith(("add", "sub")) and _BY_REGISTER.match(arguments):
            depth = max(depth, frame)  # a frame too large for an instruction's number
        depth = max(0, depth + _moved(name, arguments))
        peak = max(peak, depth)
        has_left = _leaves(name, arguments)
    return peak


def _moved(name: str, arguments: str) -> int:
    """Bytes by which an instruction makes the stack deeper."""
    base = name.partition(".")[0]
    if base in ("push", "pop", "vpush", "vpop", "stmdb", "ldmia"):
        if base in ("stmdb", "ldmia") and not arguments.startswith("sp!"):
            return 0
        bytes_ = _register_bytes(arguments)
        return bytes_ if base in ("push", "vpush", "stmdb") else -bytes_
    before = _BEFORE.search(arguments)
    if before is not None and base.startswith(("str", "vstr")):
        return int(before[1])
    adjust = _ADJUST.match(arguments)
    if adjust is not None and base in ("sub", "subw", "add", "addw"):
        size = int(adjust[1])
        return size if base.startswith("sub") else -size
    return 0


def _register_bytes(arguments: str) -> int:
    """Bytes of a list of registers, `{r4, r5, lr}` or `{d8-d11}`."""
    total = 0
    for part in arguments.partition("{")[2].partition("}")[0].split(", "):
        first, _, last = part.partition("-")
        count = int(last[1:]) - int(first[1:]) + 1 if last else 1
        total += count * (8 if part.startswith("d") else 4)
    return total


def _leaves(name: str, arguments: str) -> bool:
    """Whether the next instruction is not the next one that runs."""
    base = name.partition(".")[0]
    returns = base in ("pop", "ldmia", "ldr", "mov") and re.search(r"\bpc\b", arguments) is not None
    loads_from = base == "ldr" and not arguments.startswith("pc")
    return base in ("b", "bx", "tbb", "tbh") or (returns and not loads_from)


def _is_open(name: str) -> bool:
    """Whether other sources may call a function: GCC puts the file before the name of others."""
    return ":" not in name


def _symbol(name: str) -> str:
    return name.rpartition(":")[2]
