"""Networks that take samples of a sensor: `--front-end sensor`, from recordings to results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import check_one_message, edgec
from c_programs import SANITIZE, Build
from emulated import need_emulator
from push_support import push_program, pushed
from sensors import movement

from edgec.base.options import CompileOptions, FrontEndOptions, IntegerOptions
from edgec.base.resources import data_dir
from edgec.commands.compile import compile_model
from edgec.frontends.parameters import parameters_of
from edgec.interp import run_stream
from edgec.report.model import Report
from edgec.workflow.evaluation import evaluate
from edgec.workflow.front_end import front_end_of
from edgec.workflow.integer import real_model

PLAIN = "sensor:window=60,hop=20,statistics=mean+std+kurtosis+crossings,bands=1-10+10-50"
FILTERED = "sensor:axes=2,rate=62.5,window=64,hop=32,low-pass=12,high-pass=0.5,decimate=2"
TEXTS = (PLAIN, FILTERED)


def samples_of(text: str, windows: int, seed: int = 0) -> np.ndarray:
    """A recording as the front end takes it, int16 [L * axes]."""
    return movement(parameters_of(FrontEndOptions.parse(text)), windows, seed)[0]


def saved(folder: Path, text: str, frames: int = 1) -> Path:
    """A network that scales each feature, then weighs them."""
    p = parameters_of(FrontEndOptions.parse(text))
    rng = np.random.default_rng(4)
    shape = [1, p.features] if frames == 1 else [1, frames, p.features]
    stored = {
        "mean": rng.normal(0, 0.1, p.features),
        "spread": rng.uniform(0.5, 3.0, p.features),
        "w": rng.normal(0, 0.3, (frames * p.features, 3)),
        "flat": np.array([1, frames * p.features]),
    }
    nodes = [
        onnx.helper.make_node("Sub", ["x", "mean"], ["a"]),
        onnx.helper.make_node("Div", ["a", "spread"], ["b"]),
        onnx.helper.make_node("Reshape", ["b", "flat"], ["c"]),
        onnx.helper.make_node("MatMul", ["c", "w"], ["y"]),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "sensor",
        [onnx.helper.make_tensor_value_info("x", 1, shape)],
        [onnx.helper.make_tensor_value_info("y", 1, [1, 3])],
        [
            onnx.numpy_helper.from_array(
                array if array.dtype.kind == "i" else array.astype(np.float32), name
            )
            for name, array in stored.items()
        ],
    )
    path = folder / "sensor.onnx"
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


def write_csv(path: Path, samples: np.ndarray, axes: int, full_scale: float = 1.0) -> None:
    rows = samples.reshape(-1, axes) / 32768 * full_scale
    names = ",".join(["time", *"xyzuvw"[:axes]])
    lines = [f"{n},{','.join(f'{each:.9f}' for each in row)}" for n, row in enumerate(rows)]
    path.write_text("\n".join([names, *lines]))


def recordings(text: str, windows: int, count: int = 12) -> np.ndarray:
    return np.stack([samples_of(text, windows, seed) for seed in range(count)])


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("frames", [1, 3])
def test_push_samples_gives_the_results_of_the_reference(text, frames, tmp_path):
    """Any number of samples at a time, with sanitizers; the first result when there are enough."""
    options = CompileOptions(front_end=FrontEndOptions.parse(text), build=False)
    path = saved(tmp_path, text, frames)
    calibration = {"x": recordings(text, frames)}
    result = compile_model(
        path, "host", calibration=calibration, out=tmp_path / "out", options=options
    )
    found, graph = result.report.front_end, result.model.integer
    p = parameters_of(FrontEndOptions.parse(text))
    assert found.sensor_axes == p.axes and found.rate == p.rate * p.axes
    assert found.window == p.axes * (p.window + (frames - 1) * p.hop)
    program = push_program(result, tmp_path, Build("gcc", SANITIZE))
    line = samples_of(text, 12, 77)
    (tmp_path / "codes").write_bytes(line.tobytes())
    line = np.pad(line, (found.lead, 0))
    runs = line[: len(line) // found.frames * found.frames].reshape(-1, 1, found.frames)
    steps = list(run_stream(graph, [{graph.inputs[0]: run} for run in runs]))
    wanted = [step[graph.outputs[0]].ravel().tolist() for step in steps][found.warm_up :]
    assert len(wanted) == 12 - (frames - 1)
    for most in (1, p.axes, 7, found.frames):
        assert pushed(program, tmp_path / "codes", most) == wanted, most


def test_recordings_as_csv_and_arrays_are_alike(tmp_path, capsys):
    need_emulator("nucleo_l4r5zi")
    for label in range(3):
        folder = tmp_path / "data" / f"kind{label}"
        folder.mkdir(parents=True)
        for number in range(4):
            write_csv(folder / f"{number}.csv", samples_of(PLAIN, 6, 10 * label + number), 3)
    path = saved(tmp_path, PLAIN)
    words = ("--board", "nucleo_l4r5zi", "--front-end", PLAIN, "--out", tmp_path / "out")
    done = edgec(capsys, "compile", path, *words, "--calibration", tmp_path / "data")
    assert done.code == 0, done.err
    assert "60 samples a run (200 ms)" in " ".join(done.out.split())
    report = Report.read(tmp_path / "out")
    assert "SensorFeatures" in {layer.op for layer in report.layers}
    found = [evaluate(tmp_path / "out", tmp_path / "data", on, 8) for on in ("host", "emulator")]
    assert found[0].agreement >= 0.9
    assert found[0].accuracy == found[1].accuracy
    codes = np.stack([samples_of(PLAIN, 1, seed) for seed in range(5)])
    outputs = []
    for name, x in (
        ("codes", codes),
        ("axes", codes.reshape(5, -1, 3)),
        ("real", codes.reshape(5, -1, 3) / 32768),
        ("longer", np.concatenate([codes, codes], axis=1)),
    ):
        np.savez(tmp_path / f"{name}.npz", x=x)
        given = ("--input", tmp_path / f"{name}.npz", "--output", tmp_path / "y.npz")
        assert edgec(capsys, "run", tmp_path / "out", *given).code == 0
        outputs.append(np.load(tmp_path / "y.npz")["y"])
    assert all(np.array_equal(each, outputs[0]) for each in outputs)


def test_a_csv_recording_is_one_stream(build, tmp_path, capsys):
    write_csv(tmp_path / "long.csv", samples_of(PLAIN, 9, 3), 3)
    done = edgec(capsys, "run", build, "--input", tmp_path / "long.csv", "--threshold", "1")
    assert done.code == 0 and "9 results, one every 200 ms" in done.out
    lines = edgec(capsys, "run", build, "--input", tmp_path / "long.csv", "--json").out
    assert '"time": 0.6' in lines.splitlines()[0]


def test_labels_beside_the_axes(build, tmp_path):
    rows = samples_of(PLAIN, 12, 5).reshape(-1, 3)
    labels = np.repeat([0, 1, 2], [70, 130, 80])
    text = "\n".join(f"{a},{b},{c},{n}" for (a, b, c), n in zip(rows, labels, strict=True))
    (tmp_path / "day.csv").write_text(f"x,y,z,label\n{text}")
    # Of 70, 130 and 80 lines one, two and one windows of 60.
    assert evaluate(build, tmp_path / "day.csv").n == 4


@pytest.fixture(scope="module")
def build(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sensor")
    options = CompileOptions(front_end=FrontEndOptions.parse(PLAIN), build=False)
    data = {"x": recordings(PLAIN, 1)}
    return compile_model(
        saved(folder, PLAIN), "host", calibration=data, out=folder / "out", options=options
    ).folder


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n3,4\n", "has 2 columns of samples, and the front end has 3 axes"),
        ("time,a,b\n0,1,2\n", "has 2 columns of samples, and the front end has 3 axes"),
        ("1,2,3\n4,5\n", "line 2 has 2 columns, the first 3"),
        ("a,b,c\n1,2,x\n", "line 2: 'x' is no number"),
        ("1,2,3\n1,2,nan\n", "holds NaN or infinite values"),
        ("a,b,c\n", "holds no samples"),
        ("", "holds no samples"),
        ("1,2,40000\n", "holds 40000, and samples are whole numbers of 16 bits"),
        ("1.5,2.5,0\n", "holds numbers of up to 2.5, and the full scale is 1"),
        ("\x00\x01", "columns"),
    ],
)
def test_csv_files_that_do_not_fit(text, words, build, tmp_path, capsys):
    (tmp_path / "bad.csv").write_text(text)
    check_one_message(edgec(capsys, "run", build, "--input", tmp_path / "bad.csv"), words)


def test_recordings_that_are_too_short_or_of_another_kind(build, tmp_path, capsys):
    write_csv(tmp_path / "short.csv", samples_of(PLAIN, 1)[:90], 3)
    done = edgec(capsys, "evaluate", build, "--data", tmp_path / "short.csv")
    check_one_message(done, "has 30 lines, and a result takes 60 of one class")
    (tmp_path / "a.wav").write_bytes(b"RIFF")
    done = edgec(capsys, "run", build, "--input", tmp_path / "a.wav")
    check_one_message(done, "is sound, and this front end takes samples of a sensor")
    np.savez(tmp_path / "x.npz", x=np.full((1, 180), 40_000))
    done = edgec(capsys, "run", build, "--input", tmp_path / "x.npz")
    check_one_message(done, "holds 40000, and samples are whole numbers of 16 bits")
    np.savez(tmp_path / "x.npz", x=np.full((1, 180), 9.81))
    done = edgec(capsys, "run", build, "--input", tmp_path / "x.npz")
    check_one_message(done, "the full scale is 1")
    np.savez(tmp_path / "x.npz", x=np.full((1, 60, 2), 0.5))
    check_one_message(edgec(capsys, "run", build, "--input", tmp_path / "x.npz"), "does not fit")


def test_a_folder_of_csv_files_needs_the_front_end(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    write_csv(tmp_path / "data" / "a.csv", samples_of(PLAIN, 2), 3)
    path = saved(tmp_path, PLAIN)
    words = ("--board", "host", "--out", tmp_path / "out", "--calibration", tmp_path / "data")
    done = edgec(capsys, "compile", path, *words)
    check_one_message(done, "recordings of a sensor (.csv) need a model with --front-end sensor")


def test_a_table_with_as_many_features_as_axes_is_a_recording(tmp_path):
    """Its lines are times, not features: calibration gets windows of it."""
    text = "sensor:window=60,hop=20,statistics=rms"
    write_csv(tmp_path / "day.csv", samples_of(text, 9), 3)
    front = front_end_of(FrontEndOptions.parse(text))
    day = tmp_path / "day.csv"
    found = real_model(saved(tmp_path, text), day, IntegerOptions(), front=front)
    # 60 + 8 * 20 lines are three windows.
    assert found.calibration is not None and found.calibration["x"].shape == (3, 3)


def test_the_example_of_four_movements(tmp_path, capsys):
    """Its network names the front end itself, and knows recordings that it has not seen."""
    script = data_dir("examples") / "motion.py"
    folder = tmp_path / "motion"
    subprocess.run([sys.executable, script, folder], check=True, capture_output=True)
    words = ("--board", "host", "--calibration", folder / "train", "--out", folder / "build")
    done = edgec(capsys, "compile", folder / "motion.onnx", *words)
    assert done.code == 0, done.err
    found = evaluate(folder / "build", folder / "test")
    assert found.n == 144 and found.accuracy >= 0.97 and found.agreement >= 0.97
