"""What a project of somebody else runs on this computer: asked for first, then confined."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP, Done, check_one_message, edgec

from edgec.base.private import check_own
from edgec.base.resources import data_dir
from edgec.toolchain import confined as module
from edgec.toolchain import process
from edgec.toolchain.confined import Confinement, confined, confinement
from edgec.toolchain.live_process import open_stream

Capsys = pytest.CaptureFixture[str]
OTHER = 12345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
MECHANISMS = [kind for kind in Confinement if kind is not Confinement.NONE]
MAIN = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "console.h"
#include "port.h"

__attribute__((constructor)) static void before(void)
{
  int file = open("ESCAPED", O_WRONLY | O_CREAT, 0600);
  if (file >= 0) close(file);
  if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) {
    file = open("CONNECTED", O_WRONLY | O_CREAT, 0600);
    if (file >= 0) close(file);
  }
}
"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """What works is found out anew, before and after a test that changes it."""
    confinement.cache_clear()
    yield
    confinement.cache_clear()


def use(monkeypatch: pytest.MonkeyPatch, kind: Confinement) -> None:
    """Let one mechanism be the one that works; skip the test where it does not."""
    works = module._works
    if kind is not Confinement.NONE and not works(kind):
        pytest.skip(f"{kind.value} does not work on this computer")
    monkeypatch.setattr(module, "_works", lambda each: each is kind)


def ran(*script: str) -> process.Completed:
    return process.run(confined([shutil.which("sh"), "-c", "\n".join(script)]), timeout_s=20)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_no_file_is_written(kind: Confinement, tmp_path: Path, monkeypatch):
    use(monkeypatch, kind)
    monkeypatch.chdir(tmp_path)
    places = [tmp_path, Path("/tmp"), Path.home(), Path("/dev/shm"), Path("/var/tmp")]
    done = ran(*(f"echo x > {place}/escaped; rm -f {MLP}" for place in places))
    assert done.stderr.count("Read-only file system") >= len(places), done
    assert not list(tmp_path.iterdir())
    assert MLP.exists()
    assert ran("echo x > /dev/null && echo fine").stdout == "fine\n"


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"])
def test_no_network(kind: Confinement, family: str, tmp_path: Path, monkeypatch):
    use(monkeypatch, kind)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        address = server.getsockname()
        call = f"s = socket.socket(socket.{family}); s.connect({address!r})"
        words = [sys.executable, "-I", "-S", "-c", f"import socket; {call}"]
        done = process.run(confined(words), timeout_s=20)
    assert done.returncode == 1
    assert "PermissionError" in done.stderr


@pytest.mark.parametrize("kind", MECHANISMS)
def test_no_other_process_and_no_way_back(kind: Confinement, monkeypatch):
    use(monkeypatch, kind)
    done = ran(
        f"kill -0 {os.getpid()} && echo KILLED",
        "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status",
        "mount -o remount,rw / && echo REMOUNTED",
        "unshare -Urm mount -o remount,rw / && echo REMOUNTED",
    )
    assert "KILLED" not in done.stdout
    assert "REMOUNTED" not in done.stdout
    found = dict(line.split(":\t") for line in done.stdout.splitlines())
    assert {value for name, value in found.items() if name.startswith("Cap")} == {"0" * 16}
    assert found["NoNewPrivs"] == "1"


@pytest.mark.parametrize("kind", Confinement)
def test_a_program_is_talked_to_and_ended(kind: Confinement, monkeypatch):
    use(monkeypatch, kind)
    with open_stream([shutil.which("cat")]) as stream:
        stream.write(b"hello")
        assert stream.read(10) == b"hello"
        child = stream._child
    assert child.returncode is not None
    assert ran("exit 7").returncode == 7
    assert ran("kill -SEGV $$").returncode in (139, -11)


def test_nothing_is_left_running(monkeypatch):
    if confinement() is Confinement.NONE:
        pytest.skip("nothing confines here")
    mark = f"8{os.getpid()}"
    with open_stream([shutil.which("sleep"), mark]):
        pass
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"sleep {mark}" not in left


def test_where_the_system_permits_neither(tmp_path: Path):
    """A real loss of the capability: no user namespaces, no Bubblewrap on PATH."""
    if not module._works(Confinement.NAMESPACES):
        pytest.skip("it is so on this computer in any case")
    script = "from edgec.toolchain.confined import confinement; print(confinement().value)"
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec env PATH=$1 $2 -c "$3"'
    words = ["unshare", "-Urm", "sh", "-c", forbid, "sh", "/usr/bin:/bin", sys.executable, script]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    if "max_user_namespaces" in done.stderr:
        pytest.skip("the limit of namespaces cannot be set here")
    found = Confinement.BUBBLEWRAP.value if shutil.which("bwrap") else Confinement.NONE.value
    assert done.stdout in (f"{found}\n", f"{Confinement.NONE.value}\n"), done.stderr


@pytest.mark.parametrize("kind", Confinement)
def test_the_firmware_of_a_linux_board(
    kind: Confinement, tmp_path: Path, capsys: Capsys, monkeypatch
):
    """A constructor of the main program runs under qemu-user when the firmware is checked."""
    if not shutil.which("qemu-aarch64") or not shutil.which("aarch64-linux-gnu-gcc"):
        pytest.skip("needs qemu-user and a compiler for 64-bit Arm")
    use(monkeypatch, kind)
    original = (data_dir("firmware") / "app" / "console" / "main.c").read_text()
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.c").write_text(
        MAIN.replace('"ESCAPED"', f'"{tmp_path}/ESCAPED"').replace(
            '"CONNECTED"', f'"{tmp_path}/CONNECTED"'
        )
        + original
    )
    keys = {"model": MLP, "board": "raspberry_pi_3", "calibration": CALIBRATION, "main": "main.c"}
    text = "".join(f'{key} = "{value}"\n' for key, value in keys.items())
    (project / "edgec.toml").write_text(text)
    done = edgec(capsys, "compile", "--project", project, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    (check,) = (
        c
        for c in json.loads((tmp_path / "out" / "report.json").read_text())["checks"]
        if c["what"] == "emulator"
    )
    assert (check["program"], check["confined"]) == ("qemu-aarch64", kind.value)
    confined_ = kind is not Confinement.NONE
    text = (tmp_path / "out" / "report.txt").read_text()
    line = next(line for line in text.splitlines() if line.startswith("ran on this computer"))
    assert ("not confined" in line) is not confined_
    assert "qemu-aarch64" in line
    warned = any(
        line.startswith("warning: ") and "not confined" in line for line in done.out.splitlines()
    )
    assert warned is not confined_
    escaped = [name for name in ("ESCAPED", "CONNECTED") if (tmp_path / name).exists()]
    assert escaped == ([] if confined_ else ["ESCAPED", "CONNECTED"])


# --- files of other users ------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    folder.mkdir()
    text = f'model = "{MLP}"\nboard = "host"\nbuild = false\nverify = false\n'
    (folder / "edgec.toml").write_text(text)
    return folder


@needs_root
@pytest.mark.parametrize("command", ["compile", "check"])
def test_a_project_of_another_user(command: str, project: Path, capsys: Capsys, monkeypatch):
    monkeypatch.delenv("SUDO_UID", raising=False)
    os.chown(project / "edgec.toml", OTHER, -1)
    words = ("--project", project) if command == "compile" else (project, "--update")

    def done(*more: str) -> Done:
        return edgec(capsys, command, *words, *more)

    check_one_message(done(), "project file belongs to another user", str(OTHER), "--run", code=2)
    assert not (project / "build").exists()
    assert done("--run").code == 0
    monkeypatch.setenv("SUDO_UID", str(OTHER))
    assert done().code == 0


@needs_root
def test_a_link_of_another_user(project: Path, tmp_path: Path, capsys: Capsys, monkeypatch):
    """Paths are relative to the link, in a folder of somebody else."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    (project / "edgec.toml").rename(tmp_path / "mine.toml")
    (project / "edgec.toml").symlink_to(tmp_path / "mine.toml")
    assert edgec(capsys, "compile", "--project", project).code == 0
    os.chown(project / "edgec.toml", OTHER, -1, follow_symlinks=False)
    check_one_message(edgec(capsys, "compile", "--project", project), "another user", code=2)


@needs_root
def test_a_board_of_another_user(tmp_path: Path, capsys: Capsys, monkeypatch):
    monkeypatch.delenv("SUDO_UID", raising=False)
    board = Path(shutil.copy(data_dir("boards") / "host.toml", tmp_path / "mine.toml"))
    words = ("compile", MLP, "--board", board, "--no-build", "--no-verify", "-o", tmp_path / "o")
    assert edgec(capsys, *words).code == 0
    os.chown(board, OTHER, -1)
    check_one_message(edgec(capsys, *words), "board file belongs to another user", code=2)
    assert edgec(capsys, *words, "--run").code == 0


def test_run_stands_on_the_command_line_alone(project: Path, capsys: Capsys):
    with (project / "edgec.toml").open("a") as file:
        file.write("run = true\n")
    check_one_message(edgec(capsys, "compile", "--project", project), "--run", code=2)


def test_files_of_the_system_are_trusted(tmp_path: Path):
    check_own(Path("/etc/passwd"), "board file", run=False)
    check_own(tmp_path / "missing", "board file", run=False)
