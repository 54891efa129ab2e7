"""`--out` and `--output` anywhere: it works, or is refused before the work."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP, TEST_DATA, check_one_message, edgec

from edgec.base.work_folder import CONTAINER

FIRMWARE = ("--board", "nucleo", "--calibration", CALIBRATION, "--no-verify", "--out")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Firmware in a folder of a plain name."""
    from edgec.cli.app import run_app

    folder = tmp_path_factory.mktemp("plain") / "out"
    assert run_app(["compile", str(MLP), *map(str, FIRMWARE), str(folder)]) == 0
    return folder


@pytest.mark.parametrize(
    "name",
    [
        "do$llar; touch x",
        ".pio/o",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("quo'te", "a&b", "new\nline")),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("__pycache__/o", "(x)", "%(x)s")),
    ],
)
def test_firmware_is_built_in_any_folder(capsys, tmp_path: Path, plain: Path, name: str) -> None:
    out = tmp_path / name
    done = edgec(capsys, "compile", MLP, *FIRMWARE, out)
    assert done.code == 0, done
    assert (out / "firmware.bin").read_bytes() == (plain / "firmware.bin").read_bytes()
    found, wanted = (
        {str(path.relative_to(folder)) for path in folder.rglob("*")} for folder in (out, plain)
    )
    assert found == wanted


def test_nowhere_to_build_is_known_at_once(capsys, tmp_path: Path, monkeypatch) -> None:
    odd = tmp_path / "a$b"
    odd.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(odd))
    monkeypatch.setattr("edgec.commands.compile.real_model", None)
    done = edgec(capsys, "compile", MLP, *FIRMWARE, odd / "out")
    check_one_message(done, "cannot be built in a path with such characters", "TMPDIR", code=2)
    assert not list(odd.iterdir())


def test_current_folder(capsys, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    host = ("--board", "host", "--calibration", CALIBRATION, "--no-verify", "--no-build")
    for _ in range(2):
        assert edgec(capsys, "compile", MLP, *host, "--out", ".").code == 0
    assert edgec(capsys, "run", ".", "--input", TEST_DATA).code == 0
    assert not (tmp_path / CONTAINER).exists()


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ("edgec.workflow.session.run_file", ("run", "{built}", "--input", TEST_DATA, "--output")),
        ("edgec.profile.profile", ("profile", "{built}", "--html")),
        ("edgec.commands.quantize.real_model", ("quantize", MLP, "-o")),
        (
            "edgec.commands.compress_load.real_model",
            ("compress", MLP, "--calibration", CALIBRATION, "-o"),
        ),
        (
            "edgec.profile.widths.trade_off",
            ("evaluate", "{built}", "--data", TEST_DATA, "--bits", "8,4", "--html"),
        ),
        ("edgec.commands.compile.real_model", ("compile", MLP, *FIRMWARE, "x", "--dump-ir")),
    ],
)
def test_files_are_refused_before_the_work(
    capsys, tmp_path: Path, compiled_mlp: Path, monkeypatch, work: str, words: tuple[object, ...]
) -> None:
    monkeypatch.setattr(work, None)
    file = tmp_path / "file"
    file.write_text("mine")
    given = [compiled_mlp if word == "{built}" else word for word in words]
    done = edgec(capsys, *given, file / "below.npz")
    check_one_message(done, f"{file}/below.npz", "cannot be written", "is a file", code=2)
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "{built}", "--input", "{data}", "-o", "{data}"),
        ("profile", "{built}", "--input", "{data}", "--html", "{data}"),
        ("validate", "{built}", "--data", "{data}", "--html", "{data}"),
        ("evaluate", "{built}", "--data", "{data}", "--bits", "8,4", "--html", "{data}"),
        ("compile", MLP, *FIRMWARE, "x", "--calibration", "{data}", "--html", "{data}"),
        ("quantize", MLP, "--calibration", "{data}", "-o", "{data}"),
        ("compress", MLP, "--calibration", "{data}", "-o", "{data}"),
    ],
)
def test_what_is_read_is_not_replaced(
    capsys, tmp_path: Path, compiled_mlp: Path, words: tuple[object, ...]
) -> None:
    data = tmp_path / "data.npz"
    shutil.copyfile(TEST_DATA, data)
    before = data.read_bytes()
    link = tmp_path / "link.npz"
    link.symlink_to(data)
    places = {"{built}": compiled_mlp, "{data}": data}
    given = [places.get(word, word) if isinstance(word, str) else word for word in words]
    done = edgec(capsys, *given[:-1], link)
    check_one_message(done, "link.npz", "the file to write is one to read", code=2)
    assert data.read_bytes() == before
