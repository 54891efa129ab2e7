"""What cannot end well is said at once: before anything is loaded or computed that takes time."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest
from bad_input_support import CALIBRATION, MLP, check_one_message, edgec

from edgec.cli.app import _COMMANDS
from edgec.cli.given import CHECKS
from edgec.commands import compile as compile_module
from edgec.commands import output_folder as unbuilt
from edgec.report.model import Report

HEAVY = ("onnx", "onnx_ir", "onnxruntime", "onnxscript", "sympy", "jinja2", "unicorn", "capstone")
SCRIPT = f"""
import sys
from edgec.cli.app import run_app
code = run_app(sys.argv[1:])
print(sorted(set({HEAVY}) & sys.modules.keys()), "numpy" in sys.modules, file=sys.stderr)
sys.exit(code)
"""


def said(*words: object, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command as a process of its own."""
    environment = {**os.environ, **({} if path is None else {"PATH": str(path)})}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
    )


MISSING = (
    ("compile", "missing.onnx", "--board", "nucleo"),
    ("compile", MLP, "--board", "nucleo", "--calibration", "missing.npz"),
    ("compile", MLP, "--board", "nucleo", "--labels", "missing.txt"),
    ("compile", MLP, "--board", "nucleo", "--main", "missing.c"),
    ("compile", MLP, "--board", "nucleo", "--calibration", MLP),
    ("inspect", "missing.tflite"),
    ("quantize", "missing.onnx", "-o", "q.onnx"),
    ("quantize", MLP, "-o", "q.onnx", "--train", "missing.npz"),
    ("quantize", MLP, "-o", "q.onnx", "--train", CALIBRATION, "--teacher", "missing.onnx"),
    ("compress", MLP, "missing.onnx", "--shared-pool"),
    ("run", "missing", "--input", CALIBRATION),
    ("evaluate", "missing", "--data", CALIBRATION),
    ("validate", "missing"),
    ("profile", "missing"),
    ("compare", "missing", "missing"),
    ("bundle", "missing", "missing", "-o", "out"),
    ("export", "missing"),
    ("flash", "missing"),
)


@pytest.mark.parametrize("words", MISSING, ids=lambda words: f"{words[0]}-{words[-1]}")
def test_a_file_that_is_not_there(words: tuple[object, ...], tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = said(*words)
    assert done.returncode in (2, 3), done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.endswith("[] False\n"), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_every_file_that_a_command_reads_is_looked_at():
    """A parameter of the type Path is checked at once, or written, or listed here with a reason."""
    written = {"output", "out", "html", "markdown", "dump_ir", "directory"}
    elsewhere = {"project", "measured"}  # read by the command line itself; a log or a serial port
    for name, command in _COMMANDS.items():
        hints = get_type_hints(command)
        found = {
            each for each in inspect.signature(command).parameters if "Path" in str(hints[each])
        }
        assert found <= {*CHECKS, *written, *elsewhere}, name


def test_a_file_that_a_project_names(tmp_path: Path):
    (tmp_path / "edgec.toml").write_text('model = "missing.onnx"\nboard = "nucleo"\n')
    for words in (("compile", "--project", tmp_path), ("check", tmp_path)):
        done = said(*words)
        assert f"{tmp_path}/missing.onnx: no such model file" in done.stderr
        assert done.stderr.endswith("[] False\n")


def test_a_folder_in_which_no_program_runs(tmp_path: Path):
    mount = f'mount -t tmpfs -o noexec none {tmp_path} && exec "$@"'
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False).returncode:
        pytest.skip("this user may not mount a file system in a namespace")
    words = ("compile", MLP, "--board", "host", "--out", "build")
    done = subprocess.run(
        [*alone, "env", f"TMPDIR={tmp_path}", sys.executable, "-c", SCRIPT, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "no program runs in this folder for temporary files (noexec)" in done.stderr
    assert "\n[] " in done.stderr


def test_a_folder_that_was_deleted(tmp_path: Path):
    (tmp_path / "gone").mkdir()
    go = f"import os\nos.chdir({str(tmp_path / 'gone')!r})\nos.rmdir({str(tmp_path / 'gone')!r})"
    done = subprocess.run(
        [sys.executable, "-c", f"{go}\n{SCRIPT}", "boards"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: the folder that this command runs in was deleted\n")


def programs(folder: Path, *names: str) -> Path:
    """A folder for PATH with links to these programs alone."""
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


@pytest.mark.parametrize(
    ("board", "compiler"),
    [("nucleo", "arm-none-eabi-gcc"), ("raspberry_pi_3", "aarch64-linux-gnu-gcc")],
)
def test_a_compiler_that_is_not_there(board: str, compiler: str, tmp_path: Path):
    path = programs(tmp_path / "bin", "gcc", "as", "ld")
    words = ("compile", MLP, "--board", board, "--out", tmp_path / "out")
    done = said(*words, path=path)
    assert done.returncode == 9
    assert f"error: the compiler {compiler} is not on PATH\nhint: apt-get install" in done.stderr
    assert done.stderr.endswith("[] True\n")
    assert not (tmp_path / "out").exists()


def test_an_upload_program_that_is_not_there(tmp_path: Path, capsys):
    assert (
        edgec(
            capsys,
            "compile",
            MLP,
            "--board",
            "nucleo",
            "--no-build",
            "--no-verify",
            "--out",
            tmp_path / "out",
        ).code
        == 0
    )
    done = said("flash", tmp_path / "out", path=programs(tmp_path / "bin", "gcc"))
    assert done.returncode == 9
    assert "no upload program is on PATH" in done.stderr
    assert done.stderr.endswith("[] True\n")


def test_an_output_folder_that_is_not_ours(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("")
    (tmp_path / "file").write_text("")
    for name, reason in (("mine", "was not made by edgec"), ("file", "is a file")):
        done = said("compile", MLP, "--board", "host", "--out", tmp_path / name)
        assert done.returncode == 2
        assert reason in done.stderr
        assert done.stderr.endswith("[] True\n")


def test_a_full_disk(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
    monkeypatch.setattr(compile_module, "real_model", None)  # nothing is imported
    words = ("compile", MLP, "--board", "host", "--out", tmp_path / "out")
    check_one_message(edgec(capsys, *words), "the disk is full: 1,024 KB are left", code=2)


def test_the_library_stays_where_the_build_fails(tmp_path: Path, capsys):
    """A compiler that fails at the end of minutes of work takes nothing back of it."""
    path = programs(tmp_path / "bin", "gcc", "as", "ld", "env")
    compiler = path / "arm-none-eabi-gcc"
    compiler.write_text("#!/bin/sh\necho 'error: it broke' >&2\nexit 1\n")
    compiler.chmod(0o755)
    out = tmp_path / "out"
    words = ("compile", MLP, "--board", "nucleo", "--calibration", CALIBRATION, "--out", out)
    assert edgec(capsys, *words, "--no-build", "--no-verify").code == 0
    library = {p.name: p.read_bytes() for p in (out / "library").rglob("*") if p.is_file()}
    before = sorted(p.name for p in out.iterdir())
    for _ in range(2):  # the second failure replaces what the first one left
        done = said(*words, path=path)
        assert done.returncode == 9, done.stderr
        kept = tmp_path / f"out{unbuilt._SUFFIX}"
        assert f"the C library, its project and the report are in {kept}" in done.stderr
        assert f"{kept}/project" in done.stderr
    assert {p.name: p.read_bytes() for p in (kept / "library").rglob("*") if p.is_file()} == library
    report = Report.read(kept)
    assert report.memory.flash_bytes is None
    assert [check.skipped for check in report.checks] == ["the firmware could not be built"]
    assert "the firmware could not be built" in (kept / "report.txt").read_text()
    assert json.loads((kept / "manifest.json").read_text())["files"]
    assert (kept / "reference.npz").is_file()
    assert not (kept / "project" / ".pio").exists()
    assert sorted(p.name for p in out.iterdir()) == before  # the earlier result is as it was
    assert not list(tmp_path.glob(".edgec*"))
