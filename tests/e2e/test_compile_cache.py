"""An unchanged `edgec compile` gives the same output from the cache, and nothing else does."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import CALIBRATION, MLP, check_one_message, edgec
from PIL import Image

from edgec.base.result_cache import ResultCache, pack, read_packed
from edgec.cli.app import run_app
from edgec.commands.compile_cached import compile_key
from edgec.target.board import load_board

Capsys = pytest.CaptureFixture[str]
TAKEN = "unchanged: taken from the cache"
QUICK = ("--board", "host", "--no-build", "--no-verify")


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache of the test's own; its folder of entries."""
    monkeypatch.setenv("EDGEC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("EDGEC_CACHE_LIMIT", "1G")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "cache" / "builds"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copy(MLP, tmp_path / "digits_mlp.onnx"))


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and bytes of everything below a folder."""
    return {
        path.relative_to(folder).as_posix(): (
            path.stat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


def taken(capsys: Capsys, *arguments: object) -> bool:
    """Run a compilation that works; whether it was taken from the cache."""
    done = edgec(capsys, "compile", *arguments)
    assert done.code == 0, done.err
    return TAKEN in done.err


SCRIPT = """
import sys
from edgec.base.result_cache import pack, read_packed
from edgec.base.result_cache import ResultCache
from edgec.cli.app import run_app
code = run_app(sys.argv[1:])
heavy = {"onnx", "onnxruntime", "jinja2", "unicorn", "capstone"} & sys.modules.keys()
print(sorted(heavy), file=sys.stderr)
sys.exit(code)
"""


def process(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", SCRIPT, "compile", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)


def test_output_is_the_same_and_no_compiler_is_loaded(tmp_path: Path):
    out = tmp_path / "out"
    command = (MLP, "--board", "host", "--calibration", CALIBRATION, "--out", out)
    first = process(*command)
    assert first.returncode == 0, first.stderr
    made = tree(out)
    assert made["firmware.elf"][0] & 0o100  # a program
    assert any(not data and name.endswith("/lib") for name, (_, data) in made.items())
    shutil.rmtree(out)
    second = process(*command)
    assert TAKEN not in first.stderr
    assert TAKEN in second.stderr
    assert tree(out) == made
    assert second.stdout == first.stdout
    assert "jinja2" in first.stderr
    assert second.stderr.endswith("[]\n")
    assert abs((out / "report.json").stat().st_mtime - out.stat().st_mtime) < 60


def test_json_and_warnings_are_the_same(capsys: Capsys, tmp_path: Path):
    command = ("compile", MLP, *QUICK, "--json", "-o", tmp_path / "o")
    first, second = (edgec(capsys, *command) for _ in range(2))
    assert TAKEN in second.err
    assert all("warning: no calibration data" in each.err for each in (first, second))
    assert second.out == first.out
    assert json.loads(first.out)["model"] == "digits_mlp"


def test_every_change_is_seen(capsys: Capsys, model: Path, tmp_path: Path):
    out = ("--out", tmp_path / "out")
    command = (model, *QUICK, *out)
    assert not taken(capsys, *command)
    assert taken(capsys, *command)
    assert taken(capsys, model, *QUICK, "--out", tmp_path / "elsewhere")
    assert not taken(capsys, *command, "--no-cache")
    assert not taken(capsys, *command, "--observer", "minmax", "--calibration", CALIBRATION)
    samples = tmp_path / "samples.npz"
    images = np.random.default_rng(0).random((3, 1, 8, 8), np.float32)
    np.savez(samples, x=images)
    assert not taken(capsys, *command, "--calibration", samples)
    np.savez(samples, x=images[:2])
    assert not taken(capsys, *command, "--calibration", samples)
    assert taken(capsys, *command, "--calibration", samples)
    network = onnx.load(model)
    network.producer_name = "another"
    onnx.save(network, model)
    assert not taken(capsys, *command)
    other = Path(shutil.copy(MLP, tmp_path / "other.onnx"))
    assert not taken(capsys, other, *QUICK, *out)
    shutil.copy(MLP, model)
    assert taken(capsys, *command)
    labels = tmp_path / "labels.txt"
    for names in ("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"):
        labels.write_text(names)
        assert not taken(capsys, *command, "--labels", labels)
    shutil.move(labels, tmp_path / "same.txt")
    assert taken(capsys, *command, "--labels", tmp_path / "same.txt")
    assert not taken(capsys, *command, "--pixels", "scale=1/16")


def test_the_board_and_edgec_itself_are_part_of_the_key(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from edgec.base.options import CompileOptions
    from edgec.commands import compile_cached as module
    from edgec.toolchain import identity

    def key(board: str = "nucleo") -> str | None:
        return compile_key(model, load_board(board), None, CompileOptions())

    first = key()
    assert first == key("nucleo_f446re")  # another name of it
    assert first != key("microbit")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "clang").write_text("#!/bin/sh\n")
    (programs / "clang").chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        assert key() != first
    with monkeypatch.context() as patch:
        patch.setattr(identity.sys, "path", [*sys.path, str(tmp_path)])
        assert key() == first
        (tmp_path / "numpy-99.dist-info").mkdir()
        assert key() != first
    package = tmp_path / "edgec"
    shutil.copytree(
        Path(module.__file__).parent, package / "commands", ignore=shutil.ignore_patterns("__py*")
    )
    monkeypatch.setattr(module, "_PACKAGE", package)
    changed = key()
    assert changed not in (None, first)
    (package / "commands" / "compile.py").write_text("")
    assert key() not in (None, first, changed)
    model.unlink()
    assert key() is None


def test_weights_in_a_file_beside_the_model(capsys: Capsys, model: Path, tmp_path: Path):
    network = onnx.load(model)
    onnx.save(network, model, save_as_external_data=True, location="w.data", size_threshold=0)
    command = (model, *QUICK, "--out", tmp_path / "out")
    assert not taken(capsys, *command)
    assert taken(capsys, *command)
    data = bytearray((tmp_path / "w.data").read_bytes())
    data[100] ^= 1
    (tmp_path / "w.data").write_bytes(data)
    assert not taken(capsys, *command)
    assert taken(capsys, *command)


def test_a_damaged_entry_is_made_anew(capsys: Capsys, model: Path, tmp_path: Path, cache: Path):
    command = (model, *QUICK, "--out", tmp_path / "out")
    assert not taken(capsys, *command)
    made = tree(tmp_path / "out")
    (entry,) = cache.iterdir()
    entry.write_bytes(entry.read_bytes()[:-20])
    assert not taken(capsys, *command)
    assert taken(capsys, *command)
    assert tree(tmp_path / "out") == made


def test_firmware_of_somebody_else_is_not_installed(
    capsys: Capsys, model: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    """Somebody packs other firmware under the key of this build, in a folder that both use."""
    command = (model, *QUICK, "--out", tmp_path / "out")
    assert not taken(capsys, *command)
    made = tree(tmp_path / "out")
    (entry,) = cache.iterdir()
    packed = read_packed(ResultCache(cache, 1 << 30).get(entry.stem) or b"")
    (tmp_path / "theirs").mkdir()
    packed.unpack(tmp_path / "theirs")
    (tmp_path / "theirs" / "firmware.elf").write_text("foreign")
    with monkeypatch.context() as theirs:
        theirs.setenv("XDG_STATE_HOME", str(tmp_path / "their-state"))
        foreign = pack(tmp_path / "theirs", packed.record)
        ResultCache(cache, 1 << 30).put(entry.stem, foreign)
    done = edgec(capsys, "compile", *command)
    assert done.code == 0
    assert TAKEN not in done.err
    assert "was not made with this user's secret; it is not used" in done.err
    assert tree(tmp_path / "out") == made
    # Nor with a digest that needs no secret.
    entry.write_bytes(hashlib.sha256(foreign).digest() + foreign)
    assert not taken(capsys, *command)
    assert taken(capsys, *command)
    assert tree(tmp_path / "out") == made


@pytest.mark.parametrize("name", ["files/../../evil", "files/a/../../../evil", "files//../evil"])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.FIFOTYPE, b"3"])
def test_files_outside_are_not_unpacked(
    capsys: Capsys, model: Path, tmp_path: Path, cache: Path, name: str, kind: bytes
):
    command = (model, *QUICK, "--out", tmp_path / "out")
    assert not taken(capsys, *command)
    made = tree(tmp_path / "out")
    (entry,) = cache.iterdir()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        record = json.dumps({"beside": {}, "warnings": []}).encode()
        about = tarfile.TarInfo("record.json")
        about.size = len(record)
        tar.addfile(about, io.BytesIO(record))
        # As a name that leads outside, and as a link or device that has a good one.
        outside = tarfile.TarInfo(name if kind == tarfile.REGTYPE else "files/firmware.elf")
        outside.type, outside.linkname, outside.size = kind, "/etc/passwd", 0
        tar.addfile(outside)
    ResultCache(cache, 1 << 30).put(entry.stem, buffer.getvalue())
    done = edgec(capsys, "compile", *command)
    assert done.code == 0, done.err
    assert "a build in the cache is not used: a packed file" in done.err or (
        "packed as no file" in done.err
    )
    assert tree(tmp_path / "out") == made
    assert not [path for path in tmp_path.rglob("*") if path.name == "evil"]


def test_warnings_are_part_of_the_result(capsys: Capsys, model: Path, tmp_path: Path):
    folder = tmp_path / "images"
    folder.mkdir()
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(folder / "a.png")
    (folder / "notes.txt").write_text("no sample")
    command = (model, *QUICK, "--out", tmp_path / "out", "--calibration", folder)
    done = [edgec(capsys, "compile", *command, "--normalize", "scale=1/255") for _ in range(2)]
    assert [TAKEN in each.err for each in done] == [False, True]
    for each in done:
        assert each.code == 0
        assert "1 files are no samples" in each.err
    (folder / "notes.txt").rename(folder / "b.txt")
    assert not taken(capsys, *command, "--normalize", "scale=1/255")
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(folder / "a.png")
    assert not taken(capsys, *command, "--normalize", "scale=1/255")


def test_edited_files_are_refused_as_ever(capsys: Capsys, model: Path, tmp_path: Path):
    command = (model, *QUICK, "--out", tmp_path / "out")
    assert not taken(capsys, *command)
    readme = tmp_path / "out" / "library" / "README.md"
    written = readme.read_text()
    readme.write_text("mine")
    check_one_message(edgec(capsys, "compile", *command), "changed by hand", "README.md")
    assert readme.read_text() == "mine"
    assert taken(capsys, *command, "--force")
    assert readme.read_text() == written


def test_failures_are_not_kept(capsys: Capsys, model: Path, tmp_path: Path, cache: Path):
    command = ("compile", model, "--board", "microbit", "--out", tmp_path / "out")
    for _ in range(2):
        check_one_message(edgec(capsys, *command, "--budget", "flash=1K"), "over budget", code=11)
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_is_a_note(
    capsys: Capsys, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "blocker").write_text("")
    monkeypatch.setenv("EDGEC_CACHE_DIR", str(tmp_path / "blocker"))
    done = edgec(capsys, "compile", model, *QUICK, "--out", tmp_path / "out")
    assert done.code == 0
    assert "the build is not kept for the next time" in done.err
    assert (tmp_path / "out" / "report.json").is_file()


def test_limits(capsys: Capsys, model: Path, tmp_path: Path, cache: Path, monkeypatch) -> None:
    command = (model, *QUICK, "--out", tmp_path / "out")
    for limit in ("0", "1K"):
        monkeypatch.setenv("EDGEC_CACHE_LIMIT", limit)
        assert not taken(capsys, *command)
        assert not cache.exists()
    monkeypatch.setenv("EDGEC_CACHE_LIMIT", "much")
    check_one_message(edgec(capsys, "compile", *command), "EDGEC_CACHE_LIMIT", "much", code=2)


def test_a_model_from_a_pipe_is_read_once(capsys: Capsys, tmp_path: Path, cache: Path):
    pipe = tmp_path / "pipe.onnx"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["/bin/sh", "-c", f"cat {MLP} > {pipe}"])
    done = edgec(capsys, "compile", pipe, *QUICK, "--out", tmp_path / "out")
    writer.kill()
    writer.wait()
    assert done.code in (0, 3)  # what it is without a cache
    assert not cache.exists()


@pytest.mark.slow
def test_two_at_once(model: Path, tmp_path: Path, cache: Path):
    words = [sys.executable, "-m", "edgec", "compile", str(model), *QUICK, "--out"]
    running = [
        subprocess.Popen([*words, str(tmp_path / name)], stdout=subprocess.PIPE) for name in "ab"
    ]
    assert [each.wait(300) for each in running] == [0, 0]
    for each in running:
        each.communicate()
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    assert len(list(cache.iterdir())) == 1


def test_the_command_shows_and_clears(capsys: Capsys, model: Path, tmp_path: Path, cache: Path):
    assert not taken(capsys, model, *QUICK, "--out", tmp_path / "out")
    found = json.loads(edgec(capsys, "cache", "--json").out)
    size = sum(path.stat().st_size for path in cache.iterdir())
    assert found == {"folder": str(cache), "results": 1, "bytes": size, "limit_bytes": 1 << 30}
    shown = edgec(capsys, "cache")
    assert str(cache) in shown.out
    assert "edgec cache --clear" in shown.out
    assert run_app(["cache", "--clear"]) == 0
    assert list(cache.iterdir()) == []
    assert not taken(capsys, model, *QUICK, "--out", tmp_path / "out")
