"""The command line where modules and attributes of POSIX are missing, as on Windows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import numpy as np
import pytest
from bad_input_support import gemm_model, good_weights, saved
from places import PACKAGE

_SYSTEM = Path(__file__).parents[1] / "helpers" / "bare_system.py"


def bare(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command on that system, with folders of its own for caches and temporary files."""
    places = {"TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state"}
    variables = {name: str(folder / place) for name, place in places.items()}
    (folder / "tmp").mkdir(exist_ok=True)
    path = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONIOENCODING": "cp1252"}
    return subprocess.run(
        [sys.executable, _SYSTEM, *words],
        env={**os.environ, **variables, **path},
        capture_output=True,
        text=True,
        encoding="cp1252",
        cwd=folder,
        check=False,
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    samples = rng.normal(size=(8, 4)).astype(np.float32)
    np.savez(tmp_path / "samples.npz", x=samples)
    np.savez(tmp_path / "labelled.npz", x=samples, y=np.argmax(samples @ good_weights().T, 1))
    return saved(gemm_model(good_weights()), tmp_path)


def test_commands(tmp_path: Path, model: Path) -> None:
    compiled = ("compile", model, "--board", "host", "--calibration", "samples.npz", "-o", "out")
    commands = (
        ("--version",),
        ("inspect", model),
        (*compiled, "--no-build"),
        (*compiled, "--no-build", "--optimize", "size"),  # takes the place of the first one
        ("run", "out", "--input", "samples.npz", "--on", "host", "--output", "outputs.npz"),
        ("evaluate", "out", "--data", "labelled.npz", "--on", "host"),
    )
    for words in commands:
        done = bare(tmp_path, *words)
        assert done.returncode == 0, (words, done.stdout[-500:], done.stderr[-3000:])
    with np.load(tmp_path / "outputs.npz") as outputs:
        assert outputs["y"].shape == (8, 3)
    assert not (tmp_path / "out" / ".edgec-work").exists()
    left = {path.name for path in (tmp_path / "tmp").glob("edgec-*")}
    assert left <= {"edgec-locks"}


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    """All but those that need PyTorch, and the launcher that only Linux runs."""
    names = [
        ".".join(("edgec", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in sorted(PACKAGE.rglob("*.py"))
        if "finetune" not in path.parts
        and "_data" not in path.parts
        and path.name not in ("__main__.py", "__init__.py", "confine_launcher.py")
    ]
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n        importlib.import_module(name)\n"
        "    except ImportError as error:\n"
        "        if (error.name or '').split('.')[0] not in ('unicorn', 'capstone', 'torch'):\n"
        "            raise\n"
    )
    done = bare(tmp_path, "-c", code, *names)
    assert done.returncode == 0, done.stderr[-2000:]


_CACHE = """
import sys
from pathlib import Path
from edgec.base.result_cache import ResultCache
store = ResultCache(Path(sys.argv[1]), 1000)
store.put("ab", b"content")
store.put("cd", b"other")
print(store.get("ab") == b"content", store.get("ef"), len(store.sizes()))
(path,) = Path(sys.argv[1]).glob("cd*")
path.write_bytes(b"damaged")
print(store.get("cd"), path.exists())
store.clear()
print(len(store.sizes()))
"""


def test_results_are_kept(tmp_path: Path) -> None:
    done = bare(tmp_path, "-c", _CACHE, tmp_path / "kept")
    assert done.stdout.split() == ["True", "None", "2", "None", "False", "0"], done.stderr[-2000:]


_TREE = '''
import subprocess, sys, time
from edgec.toolchain import process
from edgec.toolchain.confined import confinement
import psutil
child = """import subprocess, sys
subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"""
with process.start([sys.executable, "-c", child]) as started:
    found = []
    while not found:
        time.sleep(0.05)
        found = psutil.Process(started.pid).children(recursive=True)
gone, alive = psutil.wait_procs(found, timeout=10)
print(confinement().value, len(gone), len(alive))
'''


def test_children_end_and_nothing_confines(tmp_path: Path) -> None:
    done = bare(tmp_path, "-c", _TREE)
    assert done.stdout.split() == ["none", "1", "0"], done.stderr[-2000:]


_INTERRUPTED = """
import signal, time
from edgec.base import interrupts
from edgec.base.interrupts import interrupts_raised
interrupts._AGAIN_S = 0.05
signal.signal(signal.SIGINT, signal.default_int_handler)
times = 0
with interrupts_raised() as came:
    while times < 2:  # what swallows the first one meets it again
        try:
            if not times:
                signal.raise_signal(signal.SIGINT)
            time.sleep(10)
        except KeyboardInterrupt:
            times += 1
print(times, came())
time.sleep(0.2)
"""


def test_interrupts_come_again(tmp_path: Path) -> None:
    done = bare(tmp_path, "-c", _INTERRUPTED)
    assert done.stdout.split() == ["2", "2"], done.stderr[-2000:]


_KILLED = """
import os, signal, sys, time
from pathlib import Path
from edgec.base.work_folder import work_folder
with work_folder(Path(sys.argv[1])):
    os._exit(9)
"""
_NEXT = """
import sys
from pathlib import Path
from edgec.base.work_folder import work_folder
with work_folder(Path(sys.argv[1])) as mine, work_folder(Path(sys.argv[1])) as other:
    print(len(list(Path(sys.argv[1]).iterdir())), mine.is_dir(), other.is_dir())
"""


def test_folders_of_killed_processes_are_swept_and_others_kept(tmp_path: Path) -> None:
    container = tmp_path / "container"
    assert bare(tmp_path, "-c", _KILLED, container).returncode == 9
    assert len(list(container.iterdir())) == 1
    done = bare(tmp_path, "-c", _NEXT, container)
    assert done.stdout.split() == ["2", "True", "True"], done.stderr[-2000:]
    assert not container.exists()


def test_no_backslash_of_a_path_gets_into_text() -> None:
    """Text of a path goes through `as_posix` wherever it is written to a file or into a digest."""
    relative = re.compile(r"(str\(|\{)[\w.]*(\.relative_to\(|os\.path\.relpath\()[^)]*\)[)}!]")
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {match.group()}"
        for path in PACKAGE.rglob("*.py")
        for match in relative.finditer(path.read_text("utf-8"))
    }
    assert not found
    assert PureWindowsPath("src", "app").as_posix() == "src/app"
