"""A full disk, Ctrl-C, closed pipes: real ones, on a process of its own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bad_input_support import (
    CALIBRATION,
    MLP,
    RESNET,
    TEST_DATA,
    Done,
    check_one_message,
    edgec_process,
    snapshot,
)

COMPILE = ("--board", "host", "--calibration", CALIBRATION, "--no-build", "--no-verify", "--out")


def finished(process: subprocess.Popen[str]) -> Done:
    out, err = process.communicate(timeout=120)
    return Done(process.returncode, out, err)


# --- full disk -----------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB."""
    if not shutil.which("mount") or os.geteuid() != 0:
        pytest.skip("making a small file system needs root and mount")
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    mounted = subprocess.run(options, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"cannot mount a small file system: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path, leave_bytes: int) -> None:
    room = os.statvfs(disk)
    size = room.f_bavail * room.f_frsize - leave_bytes
    (disk / "filler").write_bytes(bytes(max(0, size)))


@pytest.mark.parametrize(
    "leave_bytes",
    [pytest.param(0, marks=pytest.mark.slow), 8192, pytest.param(40_000, marks=pytest.mark.slow)],
)
def test_full_disk(small_disk: Path, compiled_mlp: Path, leave_bytes: int) -> None:
    earlier = Path(shutil.copytree(compiled_mlp, small_disk / "earlier"))
    fill(small_disk, leave_bytes)
    before = snapshot(earlier)
    done = finished(edgec_process("compile", RESNET, *COMPILE, earlier))
    check_one_message(done, "full", code=2)
    assert snapshot(earlier) == before


def test_full_disk_while_quantizing(small_disk: Path) -> None:
    target = small_disk / "model.int8.onnx"
    target.write_text("earlier")
    fill(small_disk, 0)
    arguments = ("quantize", RESNET, "--calibration", CALIBRATION, "-o", target)
    check_one_message(finished(edgec_process(*arguments)), "full", code=2)
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
            [sys.executable, "-c", "from edgec.cli import main; main()", "boards"],
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
        if any(entry.name.startswith(".") for entry in folder.iterdir()):
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
    staging_folder_of(earlier.parent, process)
    done = interrupted_after(process, delay)
    if done.code == 0:
        pytest.skip("the compilation was finished before the interrupt")
    assert done.code == 130
    assert "interrupted" in done.err
    assert "Traceback" not in done.err
    # Nothing left behind, nothing changed.
    assert snapshot(earlier) == before


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
