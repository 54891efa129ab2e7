"""The wheel, installed where there is no checkout: nothing is missing from it."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from edgec.target.board import list_boards

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

pytestmark = pytest.mark.slow


def pip(python: Path | str, *arguments: str | Path) -> None:
    """Run pip; skips where packages cannot be fetched."""
    argv = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=1200)
    if "NewConnectionError" in done.stderr or "Could not fetch URL" in done.stderr:
        pytest.skip("PyPI cannot be reached")
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `pip wheel .` makes of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", ROOT, "--no-deps", "--wheel-dir", folder)
    (found,) = folder.glob("edgec-*.whl")
    return found


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the programs of a fresh environment that holds the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("installed") / "env"
    venv.create(folder, with_pip=True)
    pip(folder / "bin" / "python", "install", f"{wheel}[sim]")
    return folder / "bin"


def finished(program: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A program that does not see this checkout or environment."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = f"{program.parent}{os.pathsep}/usr/local/bin{os.pathsep}/usr/bin{os.pathsep}/bin"
    environment = {**keep, "PATH": path, "HOME": str(cwd)}
    argv = [program, *arguments]
    return subprocess.run(
        argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=600
    )


def run(program: Path, *arguments: str | Path, cwd: Path) -> str:
    """Standard output of a program that succeeds."""
    done = finished(program, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def test_every_data_file_is_inside(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    folders = {"boards": "edgec/_data/boards", "firmware": "edgec/_data/firmware"}
    folders |= {"examples": "edgec/_data/examples", "edgec/templates": "edgec/templates"}
    folders |= {"ci": "edgec/_data/ci"}
    folders |= {"edgec/kernels": "edgec/kernels"}  # templates of families, prices.toml
    for source, target in folders.items():
        for path in (ROOT / source).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"{target}/{path.relative_to(ROOT / source).as_posix()}" in names
    assert "edgec/_data/LICENSE" in names
    assert not [name for name in names if name.startswith("tests/") or "__pycache__" in name]


def test_commands_work_in_another_folder(scripts: Path, tmp_path: Path):
    """Boards, firmware, templates and the emulators are found; the firmware is right."""
    edgec = scripts / "edgec"
    boards = json.loads(run(edgec, "boards", "--json", cwd=tmp_path))
    assert {board["name"] for board in boards} == {board.name for board in list_boards()}
    where = run(scripts / "python", "-c", "import edgec; print(edgec.__file__)", cwd=tmp_path)
    assert str(ROOT) not in where
    calibration = ["--calibration", EXAMPLES / "digits_calibration.npz"]
    model = EXAMPLES / "digits_resnet.onnx"
    text = run(edgec, "compile", model, "--board", "nucleo", *calibration, "--json", cwd=tmp_path)
    report = json.loads(text)
    assert [check["skipped"] for check in report["checks"]] == ["", ""]
    build = tmp_path / "build" / "digits_resnet-nucleo_f446re"
    data = ["--data", EXAMPLES / "digits_test.npz", "--json"]
    for target in ("host", "emulator"):
        limit = ["--on", target, "--limit", "100"]
        result = json.loads(run(edgec, "evaluate", build, *data, *limit, cwd=tmp_path))
        assert result["n"] == 100
        assert result["accuracy"] >= 0.95


def test_the_ci_script_of_a_new_project(scripts: Path, wheel: Path, tmp_path: Path):
    """`edgec new`, then its script: the exit code of `edgec check`, and the table for GitHub."""
    run(scripts / "edgec", "new", "digits", "--board", "microbit", cwd=tmp_path)
    project = tmp_path / "digits"
    run(scripts / "edgec", "check", "--update", cwd=project)

    def script(**variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{scripts}:/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
        argv = ["sh", "ci/check.sh"]
        return subprocess.run(
            argv,
            cwd=project,
            env={**environment, "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"), **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    (tmp_path / "page.md").write_text("before\n")
    done = script()
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("before\n### digits_resnet on microbit: nothing is worse")
    lock = project / "edgec.lock.json"
    figures = json.loads(lock.read_text())
    figures["figures"]["flash_bytes"] //= 2
    lock.write_text(json.dumps(figures))
    done = script()
    assert done.returncode == 12
    assert "**worse**" in (tmp_path / "page.md").read_text()
    missing = script(PATH="/usr/bin:/bin")
    if shutil.which("edgec", path="/usr/bin:/bin") is None:
        assert missing.returncode == 2
        assert "EDGEC does not say" in missing.stderr
    lock.unlink()
    # Installs the wheel alone, which takes seconds; what it needs is in the environment above.
    (packages,) = (scripts.parent / "lib").glob("python*/site-packages")
    alone = {"PIP_NO_DEPS": "1", "PIP_IGNORE_INSTALLED": "1", "PYTHONPATH": str(packages)}
    installed = script(PATH="/usr/local/bin:/usr/bin:/bin", EDGEC=str(wheel), **alone)
    assert installed.returncode == 2, installed.stderr
    assert "there are no figures to compare with" in installed.stderr


MODEL, CALIBRATION = EXAMPLES / "digits_resnet.onnx", EXAMPLES / "digits_calibration.npz"
BUILD = ("compile", MODEL, "--board", "nucleo", "--calibration", CALIBRATION)
USES = {
    "sim": ("profile", "plain"),
    "images": (
        "quantize",
        MODEL,
        "--calibration",
        "images",
        "--normalize",
        "scale=1/255",
        "-o",
        "images.onnx",
    ),
    "explore": (*BUILD, "--out", "fit", "--fit", "flash=64K"),
    "train": ("quantize", MODEL, "--train", "labelled.npz", "--epochs", "1", "-o", "trained.onnx"),
}
"""Extra to a command that needs it, in a folder with a build."""


def test_all_is_every_extra_of_a_user() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = extras["optional-dependencies"]
    assert extras["all"] == [f"edgec[{','.join(USES)}]"]
    page = (ROOT / "docs" / "install.md").read_text()
    assert all(f"| `{extra}` |" in page for extra in (*USES, "all"))


def _installed(extra: str) -> object:
    """Those that bring PyTorch or a cluster's packages, hundreds of megabytes, only where asked."""
    asked = extra not in ("explore", "train", "all") or os.environ.get("EDGEC_LARGE_EXTRAS")
    skip = pytest.mark.skipif(not asked, reason="EDGEC_LARGE_EXTRAS is not set")
    return pytest.param(extra, marks=skip)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("extra", [_installed(extra) for extra in ("", *USES, "all")])
def test_each_extra_alone(wheel: Path, tmp_path: Path, extra: str) -> None:
    """Its commands work in a fresh environment, and others say which extra they need."""
    environment = tmp_path / "env"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    if extra in ("train", "all"):  # as docs/install.md says: without gigabytes for GPUs
        pip(python, "install", "torch", "--index-url", "https://download.pytorch.org/whl/cpu")
    pip(python, "install", f"{wheel}[{extra}]" if extra else wheel)
    edgec = environment / "bin" / "edgec"
    run(edgec, *BUILD, "--out", "plain", cwd=tmp_path)
    with np.load(EXAMPLES / "digits_test.npz") as data:
        np.savez(tmp_path / "labelled.npz", x=data["x"], y=data["y"])
        (tmp_path / "images").mkdir()
        for number, pixels in enumerate(data["x"][:20, 0]):
            picture = Image.fromarray(np.round(255 * pixels).astype(np.uint8))
            picture.save(tmp_path / "images" / f"{number}.png")
    for needed, command in USES.items():
        done = finished(edgec, *command, cwd=tmp_path)
        if extra in (needed, "all"):
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        elif done.returncode:  # Pillow may come with another extra
            package = "pip install unicorn capstone" if needed == "sim" else f"[{needed}]"
            assert package in done.stderr
            assert "Traceback" not in done.stderr
        else:
            assert needed == "images"
