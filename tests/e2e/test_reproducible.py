"""The same input gives the same bytes, anywhere; and the project builds by itself, offline."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
IMAGES = ("firmware.elf", "firmware.bin", "firmware.hex")


def compiled(folder: Path, hash_seed: int) -> Path:
    """`edgec compile` in a process of its own, started in `folder`."""
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    folder.mkdir(parents=True)
    arguments = ["compile", str(EXAMPLES / "digits_resnet.onnx"), "--board", "nucleo"]
    arguments += ["--calibration", str(EXAMPLES / "digits_calibration.npz"), "--out", "out"]
    run([sys.executable, "-m", "edgec", *arguments], folder, PYTHONHASHSEED=str(hash_seed))
    return folder / "out"


def run(argv: list[str], folder: Path, **variables: str) -> None:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        argv, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".pio" not in path.relative_to(folder).parts
    }


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One model, compiled twice in different places and with different hash seeds."""
    root = tmp_path_factory.mktemp("reproducible")
    return compiled(root / "a", 1), compiled(root / "much" / "longer" / "way" / "to b", 2)


def test_every_file_is_equal(folders: tuple[Path, Path]):
    first, second = (tree(folder) for folder in folders)
    assert first.keys() == second.keys()
    assert {
        "report.json",
        "library/library.json",
        "project/platformio.ini",
        *IMAGES,
    } <= first.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_no_file_knows_where_it_was_made(folders: tuple[Path, Path]):
    for folder in folders:
        place = str(folder.parent).encode()
        assert [name for name, data in tree(folder).items() if place in data] == []


def without_network() -> list[str]:
    """What to put before a command so that it has no network; nothing where that is not allowed."""
    prefix = ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*prefix, "true"], check=False).returncode:
        return []
    return prefix


@pytest.mark.slow
def test_pio_run_in_the_project_gives_the_same_firmware(folders: tuple[Path, Path], tmp_path: Path):
    """As a user types it, in a home without PlatformIO's packages; also after a move."""
    project = Path(shutil.copytree(folders[0] / "project", tmp_path / "moved" / "project"))
    home = tmp_path / "home"
    home.mkdir()
    pio = [*without_network(), sys.executable, "-m", "platformio", "run"]
    run(pio, project, HOME=str(home))
    built = project / ".pio" / "build" / "nucleo_f446re"
    for name in IMAGES:
        assert (built / name).read_bytes() == (folders[0] / name).read_bytes()
