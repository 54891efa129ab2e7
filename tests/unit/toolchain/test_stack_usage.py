"""Stack of a library's functions, from the compiler's call graph and the disassembled object."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edgec.base.compiler_level import CompilerLevel
from edgec.base.errors import BuildError
from edgec.target.board import load_board
from edgec.toolchain.stack_usage import CallGraph, pushed_bytes, read_call_graph, stack_usage

SOURCE = Path("src/x.c")
PUSHES = """
__attribute__((naked, noinline)) static void pushes(void)
{
    __asm__("push {r4-r11, lr}\\n sub sp, sp, #100\\n add sp, sp, #100\\n pop {r4-r11, pc}");
}
"""
CODE = """
extern void elsewhere(volatile char *room);
%s
static void __attribute__((noinline)) deep(void)
{
    volatile char room[1000];
    elsewhere(room);
    CALL
}
void x_run(void (*hook)(void)) { deep(); hook(); }
void x_init(void) { volatile char room[64]; elsewhere(room); }
"""


def library(folder: Path, code: str) -> Path:
    (folder / "include").mkdir(parents=True)
    (folder / SOURCE).parent.mkdir()
    (folder / SOURCE).write_text(code)
    return folder


def plain(call: str = "", above: str = "") -> str:
    return (CODE % above).replace("CALL", call)


@pytest.mark.parametrize(
    ("board", "compiler"), [("host", "gcc"), ("nucleo", "arm-none-eabi-gcc"), ("pico", None)]
)
def test_deepest_path_counts(tmp_path: Path, board: str, compiler: str | None) -> None:
    if shutil.which(compiler or "arm-none-eabi-gcc") is None:
        pytest.skip("the compiler is not installed")
    found = stack_usage(library(tmp_path, plain()), SOURCE, load_board(board))
    assert list(found) == list(CompilerLevel)
    assert all(1000 < stack < 1100 for stack in found.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["include", "src"]


def test_inline_assembler_that_pushes_counts(tmp_path: Path) -> None:
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("the compiler is not installed")
    board = load_board("nucleo")
    without = stack_usage(library(tmp_path / "a", plain()), SOURCE, board)
    code = plain("pushes(); elsewhere(room);", PUSHES)
    found = stack_usage(library(tmp_path / "b", code), SOURCE, board)
    assert {found[level] - without[level] for level in CompilerLevel} == {9 * 4 + 100}


@pytest.mark.parametrize(
    "code",
    [
        "void x_run(int n) { if (n) { volatile char a[n]; a[0] = 0; x_run(n - 1); } }",
        "this is no C",
    ],
)
def test_what_has_no_such_number_is_not_measured(tmp_path: Path, code: str) -> None:
    assert stack_usage(library(tmp_path, code), SOURCE, load_board("host")) == {}


def test_no_compiler_measures_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert stack_usage(library(tmp_path, plain()), SOURCE, load_board("nucleo")) == {}


def test_indirect_call_reaches_functions_without_a_caller() -> None:
    frames = {"run": 8, "x.c:kernel": 16, "x.c:step_done.part.0": 4, "x.c:tile": 100, "x.c:row": 50}
    calls = {
        "run": frozenset({"x.c:kernel", "x.c:step_done.part.0", "memcpy"}),
        "x.c:step_done.part.0": frozenset({"__indirect_call"}),
        "x.c:kernel": frozenset({"x.c:row"}),
    }
    assert CallGraph(frames, calls).deepest == 8 + 16 + 50
    calls["x.c:kernel"] = frozenset({"__indirect_call", "x.c:row"})
    assert CallGraph(frames, calls).deepest == 8 + 16 + 100
    calls["x.c:unused"] = frozenset({"x.c:kernel"})
    assert CallGraph(frames | {"x.c:unused": 1000}, calls).deepest == 8 + 16 + 100


def test_functions_that_call_themselves_are_refused() -> None:
    with pytest.raises(BuildError, match="call themselves"):
        _ = CallGraph({"run": 8}, {"run": frozenset({"run"})}).deepest


def test_frames_that_depend_on_data_are_refused() -> None:
    text = 'node: { title: "f" label: "f\\nx.c:1:1\\n16 bytes (dynamic)" }'
    with pytest.raises(BuildError, match="depends on data"):
        read_call_graph(text)


LISTING = """
00000000 <f>:
   0:	b5f0      	push	{r4, r5, r6, r7, lr}
   2:	d001      	beq.n	8 <f+0x8>
   4:	b004      	add	sp, #16
   6:	bdf0      	pop	{r4, r5, r6, r7, pc}
   8:	ed2d 8b04 	vpush	{d8-d9}
   c:	f84d 4d10 	str.w	r4, [sp, #-16]!
  10:	4770      	bx	lr

00000014 <g>:
  14:	44a5      	add	sp, r4
  16:	b403      	push	{r0, r1}
  18:	e8bd 8000 	ldmia.w	sp!, {pc}
"""


def test_instructions_that_move_the_stack() -> None:
    assert pushed_bytes(LISTING, {"g": 600}) == {"f": 20 + 16 + 16, "g": 608}
