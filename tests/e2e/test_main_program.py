"""`compile --main`: a main program of the user's own, and what is said of one that is wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bad_input_support import MLP, check_one_message, edgec, snapshot
from lower_samples import emitted, small_net

from edgec.base.errors import BuildError, ConfigError
from edgec.base.main_program import read_main
from edgec.base.options import App, CompileOptions
from edgec.codegen.cnames import library_names
from edgec.codegen.firmware_app import FirmwareApp
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.commands.compile_cached import compile_key
from edgec.target.board import load_board
from edgec.workflow.firmware import build_firmware
from edgec.workflow.fits import Demand

Capsys = pytest.CaptureFixture[str]
BOARD = load_board("mps2_an386")  # the smallest port
ROOT = Path(__file__).resolve().parents[2]
CONSOLE_MAIN = (ROOT / "firmware" / "app" / "console" / "main.c").read_text()


def built(folder: Path, main: Path) -> Path:
    """Firmware of a small network with this main program; the project's folder."""
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    program = emitted(small_net("mine"), folder / "library").program
    names = library_names("mine")
    library = folder / "library"
    model = FirmwareModel(library, "mine", names.header, names.symbol, program.arena_bytes, 1)
    own = read_main(main)
    emit_project([model], BOARD, folder / "project", FirmwareApp("console", main=own))
    demand = Demand(program.arena_bytes, program.constant_bytes, [], [])
    build_firmware(folder, BOARD, demand, own)
    return folder / "project"


def test_a_folder_of_files_and_its_warnings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    main = tmp_path / "my src"
    main.mkdir()
    (main / "main.c").write_text(f'#include "part.h"\n{CONSOLE_MAIN}')
    (main / "part.c").write_text('#include "part.h"\nint part(void) { int odd; return 1; }\n')
    (main / "part.h").write_text("int part(void);\n")
    (main / "notes.txt").write_text("no C")
    project = built(tmp_path / "out", main)
    assert {path.name for path in (project / "src" / "main").iterdir()} == {
        *("main.c", "part.c", "part.h")
    }
    assert not (project / "src" / "app" / "main.c").exists()
    assert caplog.messages == ["main program: part.c:2: unused variable 'odd' [-Wunused-variable]"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int main(void) {\n    retrun 0;\n}\n", ["own.c:2: ", "retrun"]),
        ("int printf(const char *, ...);\nint main(void) { return printf(0); }\n", ["printf'"]),
        ("int other(void) { return 0; }\n", ["has no function main"]),
        (f"{CONSOLE_MAIN}\nchar text_put[3];\n", ["text_put"]),
    ],
    ids=["syntax", "no C library", "no main", "taken name"],
)
def test_what_compilers_say_is_about_the_user_s_file(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    main = tmp_path / "own.c"
    main.write_text(text)
    with pytest.raises(BuildError) as caught:
        built(tmp_path / "out", main)
    message = str(caught.value)
    assert message.startswith(f"{main}: ")
    for word in words:
        assert word in message
    assert ("no C library" in message) == ("printf" in text)


def test_a_header_beside_the_file_is_not_taken_along(tmp_path: Path) -> None:
    main = tmp_path / "own.c"
    main.write_text('#include "mine.h"\n')
    (tmp_path / "mine.h").write_text("")
    with pytest.raises(
        BuildError, match=rf"own.c:1: mine.h: No such(.|\n)*come along: {tmp_path}$"
    ):
        built(tmp_path / "out", main)


def test_the_output_folder_of_a_build_that_fails(capsys: Capsys, tmp_path: Path) -> None:
    main = tmp_path / "own.c"
    main.write_text('#include "edgec_digits_resnet.h"\nint main(void) { return 0; }\n')
    before = snapshot(main)
    options = ("--board", "host", "--no-verify", "--out", tmp_path / "out")
    done = edgec(capsys, "compile", MLP, "--main", main, *options)
    kept = tmp_path / "out-unbuilt"
    check_one_message(done, f"{main}:1: ", "network is edgec_digits_mlp.h; ", str(kept), code=9)
    assert (kept / "library" / "include" / "edgec_digits_mlp.h").is_file()
    shutil.rmtree(kept)
    assert snapshot(main) == before


def test_firmware_that_does_not_answer(capsys: Capsys, tmp_path: Path) -> None:
    main = tmp_path / "own.c"
    main.write_text(
        '#include "port.h"\nint main(void) { port_init(); return *(volatile int *)~3U; }\n'
    )
    done = edgec(
        capsys, "compile", MLP, "--board", BOARD.name, "--main", main, "--out", tmp_path / "out"
    )
    check_one_message(done, "own.c", "fault", "console_receive", "--no-verify", code=10)
    assert not (tmp_path / "out").exists()


def test_files_that_are_none(tmp_path: Path) -> None:
    text, odd, binary = tmp_path / "a.txt", tmp_path / "a b.c", tmp_path / "binary.c"
    text.write_text("")
    odd.write_text("")
    binary.write_bytes(b"\xff\xfe")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="no C file"):
        read_main(text)
    with pytest.raises(ConfigError, match="no C file"):
        read_main(tmp_path / "empty")
    with pytest.raises(ConfigError, match="is no name"):
        read_main(odd)
    with pytest.raises(ConfigError, match="UTF-8"):
        read_main(binary)
    for name in ("none.c", "none"):
        with pytest.raises(ConfigError, match="No such file"):
            read_main(tmp_path / name)
    with pytest.raises(ConfigError, match="--main.*console"):
        CompileOptions(main=binary, app=App.MLPERF)


def test_the_key_of_a_build_covers_what_it_says_and_not_where_it_is(tmp_path: Path) -> None:
    keys = []
    for place, text in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "own.c").write_text(text)
        for main in (tmp_path / place / "own.c", tmp_path / place):
            keys.append(compile_key(MLP, BOARD, None, CompileOptions(main=main)))
    keys.append(compile_key(MLP, BOARD, None, CompileOptions()))
    assert None not in keys
    assert keys[0] == keys[1] == keys[2] == keys[3]
    assert len(set(keys)) == 3
