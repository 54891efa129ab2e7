"""Where results may go: links, mount points, the current folder, devices; else a refusal."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgec.base.errors import ConfigError
from edgec.base.output_dir import staged_output
from edgec.base.output_file import check_writable, write_whole
from edgec.base.swap import MANIFEST, mount_points


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A folder of the test, on which another file system is mounted."""
    if not shutil.which("mount") or os.geteuid() != 0:
        pytest.skip("mounting a file system needs root and mount")
    folder = tmp_path / "a disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount a file system: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def write(target: Path, text: str) -> None:
    with staged_output(target) as folder:
        (folder / "library").mkdir()
        (folder / "library" / "a.c").write_text(text)


def check_replaced(target: Path) -> None:
    """A result can be written and replaced, and nothing else is left."""
    for text in ("old", "new"):
        write(target, text)
        assert (target / "library" / "a.c").read_text() == text
    assert {path.name for path in target.iterdir()} == {"library", MANIFEST}


def test_mount_point_and_link_to_it(mounted: Path, tmp_path: Path):
    assert mounted in mount_points()
    check_replaced(mounted)
    (tmp_path / "link").symlink_to(mounted / "new", target_is_directory=True)
    check_replaced(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"a disk", "link"}


def test_overlay(mounted: Path):
    """As in a container: folders of the image's layers cannot be renamed."""
    for name in ("lower", "upper", "work", "merged"):
        (mounted / name).mkdir()
    write(mounted / "lower" / "net", "oldest")
    layers = "lowerdir=lower,upperdir=upper,workdir=work"
    words = ["mount", "-t", "overlay", "-o", layers, "overlay", "merged"]
    done = subprocess.run(words, cwd=mounted, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount an overlay: {done.stderr.strip()}")
    try:
        check_replaced(mounted / "merged" / "net")
    finally:
        subprocess.run(["umount", str(mounted / "merged")], check=True)
    assert (mounted / "lower" / "net" / "library" / "a.c").read_text() == "oldest"


def test_current_folder(tmp_path: Path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    check_replaced(Path())
    check_replaced(Path("../here/../here"))
    assert {path.name for path in tmp_path.iterdir()} == {"here"}


@pytest.mark.parametrize("name", [".pio/o", "__pycache__/o", "a$b", "-o", "new\nline", "ü"])
def test_names(tmp_path: Path, name: str):
    check_replaced(tmp_path / name)
    (tmp_path / name / "library" / "a.c").write_text("edited")
    with pytest.raises(ConfigError, match="changed by hand"):
        write(tmp_path / name, "newer")


def test_a_mount_in_the_result_is_refused_before_the_work(mounted: Path, tmp_path: Path):
    target = tmp_path / "net"
    write(target, "old")
    library = str(target / "library")
    subprocess.run(["mount", "--bind", library, library], check=True)
    try:
        with pytest.raises(ConfigError, match="mounted at library"), staged_output(target):
            pytest.fail("the work was begun")
    finally:
        subprocess.run(["umount", library], check=True)


def test_what_was_made_for_a_result_that_failed_is_removed(tmp_path: Path):
    with pytest.raises(ConfigError), staged_output(tmp_path / "a" / "b"):
        raise ConfigError("no")
    assert not (tmp_path / "a").exists()
    (tmp_path / "file").write_text("mine")
    for target in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ConfigError, match="is a file|Not a directory"), staged_output(target):
            pytest.fail("the work was begun")
    assert {path.name for path in tmp_path.iterdir()} == {"file"}


def test_links_to_files_are_followed(tmp_path: Path, mounted: Path):
    link = tmp_path / "out.npz"
    link.symlink_to(mounted / "there.npz")
    check_writable(link)
    write_whole(link, b"1")
    write_whole(link, b"2")
    assert link.is_symlink()
    assert (mounted / "there.npz").read_bytes() == b"2"
    assert [path.name for path in mounted.iterdir()] == ["there.npz"]


def test_devices_and_pipes_are_written_to_not_replaced(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    check_writable(pipe)
    write_whole(pipe, b"data")
    reader.join(10)
    assert received == [b"data"]
    assert pipe.is_fifo()
    write_whole(Path("/dev/null"), b"data")
    assert Path("/dev/null").is_char_device()


def test_a_mounted_file_is_refused_before_the_work(tmp_path: Path, mounted: Path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("")
    subprocess.run(["mount", "--bind", str(tmp_path / "a"), str(tmp_path / "b")], check=True)
    try:
        with pytest.raises(ConfigError, match="mounted there"):
            check_writable(tmp_path / "b")
    finally:
        subprocess.run(["umount", str(tmp_path / "b")], check=True)


def test_the_check_leaves_nothing(tmp_path: Path):
    check_writable(tmp_path / "new" / "folder" / "file")
    assert not list(tmp_path.iterdir())
    for bad in (tmp_path, tmp_path / ("x" * 300), Path("/proc/nothing")):
        with pytest.raises(ConfigError):
            check_writable(bad)
