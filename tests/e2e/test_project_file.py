"""`edgec compile` with edgec.toml: the same build, the command line wins, mistakes are named."""

from __future__ import annotations

import html
import json
import shutil
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP, TEST_DATA, check_one_message, edgec

from edgec.cli.compile_request import compile_request
from edgec.cli.project_file import read_project

GOOD = 'model = "net.onnx"\nboard = "host"\ncalibration = "data/samples.npz"\n'
Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model and samples, and a current folder beside it."""
    folder, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (folder / "data").mkdir(parents=True)
    elsewhere.mkdir()
    shutil.copy(MLP, folder / "net.onnx")
    shutil.copy(CALIBRATION, folder / "data" / "samples.npz")
    monkeypatch.chdir(elsewhere)
    return folder


def write(folder: Path, text: str) -> Path:
    path = folder / "edgec.toml"
    path.write_text(text, "utf-8")
    return path


def digests(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_compile_alone_is_the_command_line(
    capsys: Capsys, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, GOOD + 'observer = "minmax"\nequalize = false\nactivation-bits = 8\nout = "o"\n')
    monkeypatch.chdir(project)
    options = ("--calibration", "data/samples.npz", "--observer", "minmax", "--no-equalize")
    words = ("compile", "net.onnx", "--board", "host", *options, "--out", "by-hand")
    quick = ("--no-build", "--no-verify")
    assert edgec(capsys, *words, *quick).code == 0
    assert edgec(capsys, "compile", *quick).code == 0
    assert digests(project / "o") == digests(project / "by-hand")


def test_paths_and_the_default_folder_are_relative_to_the_file(
    capsys: Capsys, project: Path
) -> None:
    write(project, GOOD + "build = false\nverify = false\n")
    for named in (project, project / "edgec.toml"):
        done = edgec(capsys, "compile", "--project", named)
        assert done.code == 0, done.err
        assert (project / "build" / "net-host" / "report.json").is_file()
        shutil.rmtree(project / "build")
    assert list(Path.cwd().iterdir()) == []


def test_the_command_line_wins(capsys: Capsys, project: Path) -> None:
    path = write(project, GOOD + 'observer = "entropy"\nbuild = false\nverify = false\n')
    done = edgec(capsys, "compile", "--project", path, "--observer", "minmax", "--json")
    assert json.loads(done.out)["calibration"]["observer"] == "minmax"
    done = edgec(capsys, "compile", "--project", path, "--json")
    assert json.loads(done.out)["calibration"]["observer"] == "entropy"


def test_budget_and_folder_are_for_the_board_of_the_file(capsys: Capsys, project: Path) -> None:
    text = GOOD.replace("host", "nucleo") + 'budget = "flash=1K"\nout = "o"\nverify = false\n'
    path = write(project, text)
    done = edgec(capsys, "compile", "--project", path)
    assert done.code == 11
    assert not (project / "o").exists()
    done = edgec(capsys, "compile", "--project", path, "--board", "host", "--no-build")
    assert done.code == 0, done.err
    assert (project / "build" / "net-host").is_dir()
    assert not (project / "o").exists()


def test_a_named_model_leaves_the_file_alone(
    capsys: Capsys, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "nonsense = 1\n")
    monkeypatch.chdir(project)
    quick = ("--board", "host", "--no-build", "--no-verify", "--out", "o")
    assert edgec(capsys, "compile", "net.onnx", *quick).code == 0
    check_one_message(edgec(capsys, "compile", *quick), "unknown key", "nonsense", code=2)


@pytest.mark.parametrize(
    ("line", "where", "hint"),
    [
        ('calibratoin = "x.npz"', "edgec.toml: calibratoin", "did you mean calibration"),
        ("max_length = 12", "edgec.toml: max_length", "did you mean max-length"),
        ("[cheks]", "edgec.toml: cheks", "did you mean check"),
        ("[check]\nlimt = 5", "edgec.toml: check.limt", "did you mean limit"),
        ('[check]\nlimit = "5"', "edgec.toml: check.limit", "takes a whole number"),
        ("zzz = 1", "edgec.toml: zzz", "keys are the long names of options: model, board"),
        ("force = true", "edgec.toml: force", "give --force on the command line"),
        ("json = true", "edgec.toml: json", "keys are"),
        ("normalize = 3", "edgec.toml: normalize", "put it into quotes"),
        ("budget = 3", "edgec.toml: budget", "takes text"),
        ('percentile = "99"', "edgec.toml: percentile", "takes a number"),
        ("percentile = true", "edgec.toml: percentile", "is true, and takes a number"),
        ('build = "no"', "edgec.toml: build", "takes true or false"),
        ("build = 0", "edgec.toml: build", "takes true or false"),
        ('shape = "x=1,3"', "edgec.toml: shape", 'shape = ["..."]'),
        ("shape = [1, 3]", "edgec.toml: shape", "is a number, and takes text"),
        ('observer = "entropie"', "edgec.toml: observer", "did you mean entropy"),
        ('observer = "best"', "edgec.toml: observer", "give minmax, percentile"),
        ('normalize = ""', "edgec.toml: normalize", "is empty"),
        ('dump-ir = "x"', "edgec.toml: dump-ir", "command line"),
        ('normalize = "a\\u0000b"', "edgec.toml: normalize", "control character"),
        ("target-db = 1e400", "edgec.toml: target-db", "give more than 0"),
        (f"target-db = 1{'0' * 400}", "edgec.toml: target-db", "too large"),
        ("rounding = 2020-01-01", "edgec.toml: rounding", "is a date or a time"),
        ("observer 3", "edgec.toml", "not a TOML file"),
        (
            'percentile = 20\nobserver = "percentile"',
            "edgec.toml",
            "20 % is no share of values",
        ),
        ("max-length = 1", "edgec.toml: max-length", "no maximum length"),
        ('residual = "int8"', "edgec.toml: residual", "only transformers"),
    ],
)
def test_mistakes_name_file_and_key(
    capsys: Capsys, project: Path, line: str, where: str, hint: str
) -> None:
    path = write(project, GOOD + line)
    done = edgec(capsys, "compile", "--project", path, "--no-build")
    check_one_message(done, where, hint, code=2)
    assert not (project / "build").exists()


def test_samples_with_labels_are_read_as_check_reads_them(project: Path) -> None:
    path = write(project, '[check]\ndata = "data/samples.npz"\n')
    images = {"calibration": project, "normalize": "scale=1/255"}
    request = compile_request(MLP, "host", **images, project=read_project(path))
    data = str(project / "data" / "samples.npz")
    assert request.labelled == (data, "--normalize", "scale=1/255")
    write(project, '[check]\ndata = "none.npz"\n')
    assert compile_request(MLP, "host", project=read_project(path)).labelled == ()


def test_commands_on_the_page_name_the_samples_of_the_project(
    capsys: Capsys, project: Path, tmp_path: Path
) -> None:
    path = write(project, GOOD + 'build = false\nverify = false\n[check]\ndata = "test data.npz"\n')
    samples = project / "test data.npz"
    shutil.copyfile(TEST_DATA, samples)
    page = tmp_path / "page.html"
    done = edgec(capsys, "compile", "--project", path, "--html", page)
    assert done.code == 0, done.err
    commands = html.unescape(page.read_text())
    build = project / "build" / "net-host"
    for words in (f"evaluate {build} --data", f"run {build} --input"):
        assert f"edgec {words} '{samples}' --on host" in commands
    assert "LABELLED" not in commands


def test_what_is_missing(capsys: Capsys, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = edgec(capsys, "compile", "--board", "host")
    check_one_message(done, "no edgec.toml here", "edgec new", code=2)
    done = edgec(capsys, "compile", MLP)
    check_one_message(done, "--board", code=2)
    path = write(project, 'board = "host"\n')
    check_one_message(edgec(capsys, "compile", "--project", path), "edgec.toml", "model", code=2)
    done = edgec(capsys, "compile", "--project", project / "absent.toml")
    check_one_message(done, "absent.toml", "project file", code=2)
    write(project, GOOD.replace("host", "nucleus"))
    monkeypatch.chdir(project)
    done = edgec(capsys, "compile")
    check_one_message(done, "edgec.toml: there is no board", "did you mean nucleo", code=2)


def test_a_board_file_is_found_from_the_project_file(capsys: Capsys, project: Path) -> None:
    path = write(project, GOOD.replace('"host"', '"mine.toml"'))
    done = edgec(capsys, "compile", "--project", path)
    check_one_message(done, str(project / "mine.toml"), "board file", code=2)


def test_the_main_program_is_for_the_model_of_the_file(capsys: Capsys, project: Path) -> None:
    path = write(project, GOOD + 'main = "none.c"\nbuild = false\nverify = false\n')
    words = ("compile", "--project", path)
    check_one_message(edgec(capsys, *words), "none.c", "No such file", code=2)
    assert edgec(capsys, *words, "--app", "console").code == 0
    done = edgec(capsys, "compile", MLP, "--project", path)
    assert done.code == 0, done.err
