"""A full disk, Ctrl-C, closed pipes: real ones, on a process of its own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import (
    CALIBRATION,
    INPUT_ERRORS,
    MLP,
    RESNET,
    TEST_DATA,
    Done,
    check_one_message,
    edgec,
    edgec_process,
    snapshot,
)

from edgec.base.work_folder import CONTAINER

pytestmark = pytest.mark.usefixtures("terminal_signals")
COMPILE = ("--board", "host", "--calibration", CALIBRATION, "--no-build", "--no-verify", "--out")


def finished(process: subprocess.Popen[str]) -> Done:
    out, err = process.communicate(timeout=120)
    return Done(process.returncode, out, err)


# --- full disk -----------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    if not shutil.which("mount") or os.geteuid() != 0:
        pytest.skip("making a small file system needs root and mount")
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    mounted = subprocess.run(options, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"cannot mount a small file system: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path, leave_bytes: int) -> None:
    room = os.statvfs(disk)
    size = room.f_bavail * room.f_frsize - leave_bytes
    (disk / "filler").write_bytes(bytes(max(0, size)))


def pages(folder: Path) -> int:
    """What a tree takes on a file system of whole pages, in bytes."""
    return sum(-(-path.stat().st_size // 4096) * 4096 for path in folder.rglob("*"))


@pytest.mark.parametrize(
    "leave_bytes",
    [pytest.param(0, marks=pytest.mark.slow), 8192, pytest.param(40_000, marks=pytest.mark.slow)],
)
def test_full_disk(small_disk: Path, compiled_mlp: Path, leave_bytes: int) -> None:
    earlier = Path(shutil.copytree(compiled_mlp, small_disk / "earlier"))
    fill(small_disk, leave_bytes)
    before = snapshot(earlier)
    done = finished(edgec_process("compile", RESNET, *COMPILE, earlier))
    assert "No space left" in done.err or "the disk is full" in done.err
    check_one_message(done)
    assert snapshot(earlier) == before


@pytest.mark.slow
def test_full_disk_while_building_firmware(
    small_disk: Path, compiled_mlp: Path, tmp_path: Path
) -> None:
    options = ("--board", "nucleo", "--calibration", CALIBRATION, "--no-verify")
    generated = finished(
        edgec_process("compile", MLP, *options, "--no-build", "--out", tmp_path / "sized")
    )
    assert generated.code == 0, generated
    earlier = Path(shutil.copytree(compiled_mlp, small_disk / "earlier"))
    # Room for the generated code, hardly any for what the compiler makes of it.
    fill(small_disk, pages(tmp_path / "sized") + 40_000)
    before = snapshot(earlier)
    arguments = ("compile", MLP, *options, "--out", earlier)
    check_one_message(finished(edgec_process(*arguments)), f"{earlier}: the disk is full: ")
    # Somebody else fills the disk after this check.
    late = "import edgec.commands.preflight as p; p.check_room = lambda *_: None"
    done = finished(edgec_process(*arguments, before=late))
    assert "is the disk full?" in done.err or "the disk is full" in done.err, done
    assert done.code in INPUT_ERRORS
    assert f"{earlier}/project" in done.err or f"{earlier}-unbuilt/project" in done.err
    shutil.rmtree(f"{earlier}-unbuilt", ignore_errors=True)
    assert snapshot(earlier) == before


def test_read_only_folder(
    small_disk: Path, compiled_mlp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier = Path(shutil.copytree(compiled_mlp, small_disk / "earlier"))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    options = ("--calibration", CALIBRATION)
    for out in (earlier, small_disk / "new", small_disk / "new" / "below"):
        done = edgec(capsys, "compile", MLP, *COMPILE, out)
        check_one_message(done, f"{out}: cannot write there", "read-only", code=2)
    target = small_disk / "q.onnx"
    done = edgec(capsys, "quantize", MLP, *options, "-o", target)
    check_one_message(done, f"{target}: cannot be written", "read-only", code=2)


@pytest.mark.slow
def test_full_disk_while_quantizing(small_disk: Path) -> None:
    target = small_disk / "model.int8.onnx"
    target.write_text("earlier")
    fill(small_disk, 0)
    arguments = ("quantize", RESNET, "--calibration", CALIBRATION, "-o", target)
    check_one_message(finished(edgec_process(*arguments)), "the disk is full", code=2)
    assert target.read_text() == "earlier"
    assert {entry.name for entry in small_disk.iterdir()} == {"filler", target.name}


def test_full_disk_while_writing_outputs(small_disk: Path, compiled_mlp: Path) -> None:
    target = small_disk / "output.npz"
    target.write_text("earlier")
    fill(small_disk, 0)
    arguments = ("run", compiled_mlp, "--input", TEST_DATA, "--output", target)
    check_one_message(finished(edgec_process(*arguments)), "full", code=2)
    assert target.read_text() == "earlier"


def test_file_size_limit(earlier: Path) -> None:
    """Like a full disk, but for everyone: no file may grow beyond 2,000 bytes."""
    before = snapshot(earlier)
    limit = """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    """
    done = finished(edgec_process("compile", RESNET, *COMPILE, earlier, before=limit))
    check_one_message(done, code=2)
    assert snapshot(earlier) == before


def test_standard_output_on_a_full_device() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-c", "from edgec.__main__ import main; main()", "boards"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert process.returncode != 0
    assert "Traceback" not in process.stderr


# --- Ctrl-C --------------------------------------------------------------------------------------


def interrupted_after(process: subprocess.Popen[str], seconds: float) -> Done:
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    return finished(process)


def staging_folder_of(folder: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the compilation has begun to write."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if (folder / CONTAINER).exists():
            return
        time.sleep(0.002)
    pytest.fail(f"nothing was written: {process.communicate()}")


@pytest.mark.parametrize(
    "delay",
    [pytest.param(0.0, marks=pytest.mark.slow), 0.05, pytest.param(0.3, marks=pytest.mark.slow)],
)
def test_interrupt_while_compiling(earlier: Path, delay: float) -> None:
    before = snapshot(earlier)
    arguments = ("compile", RESNET, "--board", "host", "--calibration", CALIBRATION)
    process = edgec_process(*arguments, "--out", earlier)
    staging_folder_of(earlier, process)
    done = interrupted_after(process, delay)
    if done.code == 0:
        pytest.skip("the compilation was finished before the interrupt")
    assert done.code == 130
    assert "interrupted" in done.err
    assert "Traceback" not in done.err
    # Nothing left behind, nothing changed.
    assert snapshot(earlier) == before


def wait_for(process: subprocess.Popen[str], pattern: str, folder: Path) -> None:
    """Wait until a file of that name is there."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if any(folder.glob(pattern)):
            return
        time.sleep(0.01)
    pytest.fail(f"no {pattern}: {process.communicate()}")


@pytest.mark.slow
def test_interrupt_while_building_firmware(earlier: Path) -> None:
    before = snapshot(earlier)
    arguments = ("compile", RESNET, "--board", "nucleo", "--calibration", CALIBRATION)
    process = edgec_process(*arguments, "--out", earlier)
    wait_for(process, "*/new/project/.pio", earlier / CONTAINER)
    done = interrupted_after(process, 0.3)
    assert done.code == 130
    assert done.err.endswith("interrupted; earlier results are as they were\n")
    assert snapshot(earlier) == before


@pytest.mark.slow
@pytest.mark.parametrize("board", ["nucleo", "mps2_an386"])
def test_interrupt_while_emulating(tmp_path: Path, board: str) -> None:
    out = tmp_path / "out"
    options = ("--board", board, "--calibration", CALIBRATION, "--no-verify", "--out", out)
    assert finished(edgec_process("compile", MLP, *options)).code == 0
    x = np.tile(np.load(TEST_DATA)["x"], (100, 1, 1, 1))
    np.savez(tmp_path / "many.npz", x=x, y=np.zeros(len(x), np.int64))
    before = snapshot(out)
    process = edgec_process("evaluate", out, "--data", tmp_path / "many.npz", "--on", "emulator")
    done = interrupted_after(process, 3)
    assert done.code == 130
    assert done.err.endswith("interrupted; earlier results are as they were\n")
    assert snapshot(out) == before


def test_interrupt_while_starting(tmp_path: Path) -> None:
    process = edgec_process("inspect", MLP)
    done = interrupted_after(process, 0.6)
    assert done.code in (0, 130, -signal.SIGINT, 1)
    assert "bug of edgec" not in done.err


# --- pipes ---------------------------------------------------------------------------------------


def test_reader_that_goes_away() -> None:
    process = edgec_process("inspect", RESNET, "--json")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    done = process.communicate(timeout=60)
    assert process.returncode in (0, 1)
    assert "Traceback" not in done[1]
    assert "bug of edgec" not in done[1]
