"""`edgec tune` and builds with its file: what is measured, kept, taken, said and refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from dynamic_onnx import ids, write_bert

from edgec.base.errors import ConfigError, MemoryPlanError
from edgec.base.options import Budget, CompileOptions, MaxLength, Optimize, Rows
from edgec.cli.app import run_app
from edgec.commands import tune_builds
from edgec.commands.compile import compile_model
from edgec.commands.tune import Tuning, check_tunable, tune_model
from edgec.commands.tune_builds import Builds, LayerCycles, Measured
from edgec.report.model import Report
from edgec.target.board import load_board
from edgec.target.tune_file import TUNE_FILE, kernels_of, read_tune_file, write_tune_file

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RESNET, DATA = EXAMPLES / "digits_resnet.onnx", EXAMPLES / "digits_calibration.npz"
BOARD = load_board("nucleo_f446re")


def quiet(_text: str, _done: int = 0, _total: int = 0) -> None:
    """Say nothing."""


class Fake:
    """Firmware whose layers take what a table says: 1,000 cycles, but some kernels less.

    Attributes:
        wanted: kernels of each build.
        fast: cycles of kernels.
        limit: most other kernels than those of estimates that fit the board; None: any number.
    """

    def __init__(self, fast: dict[str, int], limit: int | None = None) -> None:
        self.wanted: list[tune_builds.Kernels] = []
        self.fast, self.limit = fast, limit

    def __call__(self, job: tune_builds.TuneJob, kernels: tune_builds.Kernels) -> Measured | None:
        self.wanted.append(kernels)
        if self.limit is not None and len(kernels) > self.limit:
            return None
        options = job.with_kernels(kernels)
        built = compile_model(
            job.source,
            job.board,
            out=Path(self.folder, str(len(self.wanted))),
            options=_unbuilt(options),
            quantized=job.exact,
        )
        ways = dict(kernels)
        layers = {}
        for step, layer in zip(built.program.steps, built.report.layers, strict=True):
            named = [way for key, way in ways.items() if way.startswith(layer.kernel)]
            cycles = min((self.fast.get(way, 1000) for way in named), default=1000)
            layers[step.node] = LayerCycles(layer.kernel, cycles)
        return Measured(layers, sum(each.cycles for each in layers.values()))

    folder = ""


def _unbuilt(options: CompileOptions) -> CompileOptions:
    return replace(options, build=False)


def tuned(
    tmp_path: Path,
    fake: Fake,
    monkeypatch: pytest.MonkeyPatch,
    again: bool,
    options: CompileOptions | None = None,
) -> Tuning:
    fake.folder = str(tmp_path / f"builds{len(fake.wanted)}")
    monkeypatch.setattr(tune_builds, "measured", fake)
    return tune_model(
        RESNET,
        BOARD,
        say=quiet,
        calibration=DATA,
        file=tmp_path / TUNE_FILE,
        workers=1,
        cache=False,
        again=again,
        options=options,
    )


def test_the_fastest_kernels_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = Fake({"dense_3x2_s8_dsp": 10, "gemm": 10, "dense_1x4_dsp by 6": 700})
    found = tuned(tmp_path, fake, monkeypatch, again=False)
    last = found.layers[-1]
    assert (last.chosen, last.before, last.after) == ("dense_1x4_dsp by 6", 1000, 700)
    assert found.before - found.after == 300
    assert found.far == 1
    assert found.far_tuned == 0
    (target,) = read_tune_file(tmp_path / TUNE_FILE)
    assert len(target.layers) == len(found.layers)
    # The file is complete, so that only what stands there is built once more.
    builds = len(fake.wanted)
    second = tuned(tmp_path, fake, monkeypatch, again=False)
    assert len(fake.wanted) == builds + 2
    assert (second.before, second.after) == (found.before, found.after)
    assert all(each.known for each in second.layers)
    third = tuned(tmp_path, fake, monkeypatch, again=True)
    assert not any(each.known for each in third.layers)


def test_builds_that_do_not_fit_are_halved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = Fake({"dense_1x4_dsp by 6": 700}, limit=2)
    found = tuned(tmp_path, fake, monkeypatch, again=False)
    assert found.layers[-1].chosen == "dense_1x4_dsp by 6"
    assert max(len(each) for each in fake.wanted) > 2


def test_layers_in_turns_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = Fake({"dense_1x4_dsp by 6": 700})
    options = CompileOptions(rows=Rows.ALWAYS, budget=Budget(flash_bytes=1))
    found = tuned(tmp_path, fake, monkeypatch, again=False, options=options)
    assert found.before > found.after


def test_a_tune_file_and_none_cannot_both_be_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    command = ["compile", str(RESNET), "--board", "nucleo", "--out", str(tmp_path / "out")]
    write_tune_file(tmp_path / "t.toml", ())
    assert run_app([*command, "--no-tune", "--tune", str(tmp_path / "t.toml")]) == 2
    assert "--tune" in capsys.readouterr().err


def test_builds_of_a_tuning_leave_the_project_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Budget and main program of the file, and whatever lies in its output folder, play no part."""
    shutil.copyfile(RESNET, tmp_path / "net.onnx")
    (tmp_path / "edgec.toml").write_text(
        'model = "net.onnx"\nboard = "nucleo"\nbudget = "flash=1"\nout = "mine"\n'
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine")
    asked = []

    def tune_nothing(*_: object, options: CompileOptions, file: Path, **__: object) -> Tuning:
        asked.append((options, file))
        raise ConfigError("enough")

    monkeypatch.setattr("edgec.commands.tune.tune_model", tune_nothing)
    assert run_app(["tune", "--project", str(tmp_path / "edgec.toml")]) == 2
    ((options, file),) = asked
    assert options.budget is None
    assert file == tmp_path / TUNE_FILE


def test_nothing_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(MemoryPlanError, match="does not fit"):
        tuned(tmp_path, Fake({}, limit=-1), monkeypatch, again=False)
    assert not (tmp_path / TUNE_FILE).exists()


def test_what_cannot_be_tuned_is_said_at_once():
    with pytest.raises(ConfigError, match="no cycle model"):
        check_tunable(load_board("rpi4"), CompileOptions())
    with pytest.raises(ConfigError, match="smallest code"):
        check_tunable(BOARD, CompileOptions(optimize=Optimize.SIZE))


def test_a_build_takes_what_lies_beside_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    model = Path(shutil.copy(RESNET, tmp_path / "net.onnx"))
    found = tuned(tmp_path, Fake({"dense_1x4_dsp by 6": 700}), monkeypatch, again=False)
    assert found.file == model.parent / TUNE_FILE
    words = ["compile", str(model), "--board", "f446", "--calibration", str(DATA), "--no-build"]
    assert run_app([*words, "--out", str(tmp_path / "tuned")]) == 0
    assert f"layers have kernels that {TUNE_FILE} says are the fastest" in capsys.readouterr().out
    report = Report.read(tmp_path / "tuned")
    assert report.tuned is not None
    assert report.tuned.layers == sum(len(each.names) for each in found.layers)
    assert TUNE_FILE in (tmp_path / "tuned" / "report.txt").read_text("utf-8")
    assert run_app([*words, "--out", str(tmp_path / "plain"), "--no-tune"]) == 0
    assert Report.read(tmp_path / "plain").tuned is None
    code = [
        (tmp_path / name / "library/src/edgec_net.c").read_text() for name in ("tuned", "plain")
    ]
    assert code[0] != code[1]
    capsys.readouterr()
    other = [*words[:3], "l4r5", *words[4:], "--tune", str(found.file)]
    assert run_app([*other, "--out", str(tmp_path / "other")]) != 0
    assert "nothing measured for nucleo_l4r5zi" in capsys.readouterr().err
    assert run_app([*words, "--tune", str(tmp_path / "none.toml")]) != 0
    assert "cannot read the tune file" in capsys.readouterr().err


@pytest.mark.slow
def test_a_real_network_is_measured_and_built_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    model = Path(shutil.copy(EXAMPLES / "digits_mlp.onnx", tmp_path / "net.onnx"))
    words = [str(model), "--board", "f446", "--calibration", str(DATA)]
    assert run_app(["tune", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert 0 < found["after"] <= found["before"]
    assert found["file"] == str(tmp_path / TUNE_FILE)
    assert all(len(each["kernels"]) > 1 for each in found["layers"])
    tuned_kernels = kernels_of(tmp_path / TUNE_FILE, BOARD, Optimize.SPEED, asked=True)
    assert tuned_kernels is not None
    assert run_app(["compile", *words, "--out", str(tmp_path / "build")]) == 0
    assert "bit for bit" in capsys.readouterr().out


@pytest.mark.slow
def test_runs_of_several_lengths(tmp_path: Path):
    model, data = write_bert(tmp_path / "bert.onnx"), {"ids": ids(32, 12)}
    options = CompileOptions(max_length=MaxLength(12))
    place = tmp_path / TUNE_FILE
    found = tune_model(model, BOARD, say=quiet, calibration=data, options=options, file=place)
    assert found.lengths == (3, 6, 12)
    assert "<=12" in found.layers[0].layer
    assert 0 < found.after <= found.before
    kernels = kernels_of(place, BOARD, Optimize.SPEED, asked=True)
    tuned_options = replace(options, tuned=kernels)
    out = tmp_path / "build"
    built = compile_model(model, BOARD, calibration=data, out=out, options=tuned_options)
    assert built.report.tuned is not None
    assert built.report.tuned.layers == sum(len(each.names) for each in found.layers)


def test_what_was_measured_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EDGEC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("EDGEC_CACHE_LIMIT", "1M")
    calls = []
    results = {(): Measured({"y": LayerCycles("gemm", 7)}, 9), (("l", "k"),): None}

    def measured(_job: object, kernels: tune_builds.Kernels) -> Measured | None:
        calls.append(kernels)
        return results[kernels]

    monkeypatch.setattr(tune_builds, "measured", measured)
    from edgec.workflow.integer import integer_model

    options = CompileOptions()
    exact = integer_model(EXAMPLES / "digits_mlp.onnx", DATA, options)
    job = tune_builds.TuneJob(EXAMPLES / "digits_mlp.onnx", BOARD, DATA, options, exact)
    for _ in range(2):
        builds = Builds(job, 1, quiet)
        assert builds(list(results)) == list(results.values())
        assert builds.count == 2
    assert calls == list(results)
