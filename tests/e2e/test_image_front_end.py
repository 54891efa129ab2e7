"""Networks that take frames of a camera: `--front-end image`, from files to results."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import check_one_message, edgec
from c_programs import SANITIZE, Build
from emulated import need_emulator
from PIL import Image

from edgec.base.options import CompileOptions, FrontEndOptions
from edgec.base.resources import data_dir
from edgec.commands.compile import compile_model
from edgec.interp import run_graph
from edgec.report.model import Report
from edgec.workflow.evaluation import evaluate
from edgec.workflow.session import LIBRARY_DIR

TEXT = "image:width=40,height=30,scale=1/255,mean=0.5+0.4+0.3,std=0.5+0.25+0.25"
RNG = np.random.default_rng(2)
ROOT = Path(__file__).resolve().parents[2]


def saved(folder: Path, channels: int = 3, last: bool = False) -> Path:
    """A convolution and a mean for each of three classes, red, green and blue."""
    rng = np.random.default_rng(4)
    w = rng.normal(0, 0.2, (3, channels, 3, 3)).astype(np.float32)
    w[np.arange(3), np.arange(3) % channels] += 0.4
    shape = [1, 12, 12, channels] if last else [1, channels, 12, 12]
    nodes = [onnx.helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2])] if last else []
    nodes += [
        onnx.helper.make_node("Conv", ["t" if last else "x", "w"], ["a"], strides=[2, 2]),
        onnx.helper.make_node("Relu", ["a"], ["b"]),
        onnx.helper.make_node("GlobalAveragePool", ["b"], ["c"]),
        onnx.helper.make_node("Flatten", ["c"], ["y"]),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "seen",
        [onnx.helper.make_tensor_value_info("x", 1, shape)],
        [onnx.helper.make_tensor_value_info("y", 1, [1, 3])],
        [onnx.numpy_helper.from_array(w, "w")],
    )
    path = folder / "seen.onnx"
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


def pictures(folder: Path, size: tuple[int, int] = (40, 30), count: int = 4) -> Path:
    """Images whose names of classes are their colours."""
    rng = np.random.default_rng(8)
    for channel, name in enumerate(("a-red", "b-green", "c-blue")):
        (folder / name).mkdir(parents=True)
        for number in range(count):
            x = rng.integers(0, 130, (size[1], size[0], 3), np.uint8)
            x[..., channel] += 120
            Image.fromarray(x).save(folder / name / f"{number}.png")
    return folder


def built(folder: Path, text: str = TEXT, **model) -> Path:
    options = CompileOptions(front_end=FrontEndOptions.parse(text), build=False)
    data = pictures(folder / "data")
    return compile_model(
        saved(folder, **model), "host", calibration=data, out=folder / "out", options=options
    ).folder


def test_the_device_gives_the_results_of_the_host(tmp_path, capsys):
    need_emulator("nucleo_l4r5zi")
    data = pictures(tmp_path / "data")
    (tmp_path / "edgec.toml").write_text(
        f'model = "{saved(tmp_path)}"\nboard = "nucleo_l4r5zi"\ncalibration = "{data}"\n'
        '[front_end]\nname = "image"\nwidth = 40\nheight = 30\nscale = "1/255"\n'
    )
    done = edgec(capsys, "compile", "--project", tmp_path, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "40 x 30 pixels of rgb565, red first (2,400 bytes) a run" in " ".join(done.out.split())
    report = Report.read(tmp_path / "out")
    assert "Frame" in {layer.op for layer in report.layers}
    found = [evaluate(tmp_path / "out", data, on, 8) for on in ("host", "emulator")]
    assert found[0].accuracy == found[1].accuracy == 1.0 and found[0].n == 8
    assert found[0].agreement == found[1].agreement == 1.0
    outputs = []
    for on in ("host", "emulator"):
        given = ("--input", data, "--output", tmp_path / "y.npz", "--on", on)
        assert edgec(capsys, "run", tmp_path / "out", *given).code == 0
        outputs.append(np.load(tmp_path / "y.npz")["y"])
    assert outputs[0].shape == (12, 3) and np.array_equal(*outputs)
    text = edgec(capsys, "profile", tmp_path / "out", "--input", data).out
    assert "Frame" in text


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "image:pixels=rgb888,width=20,height=25,scale=1/255",
        "image:pixels=uyvy,width=30,height=20,crop=17x13+5+2,colours=bgr,scale=1/255,mean=0.5+0.4+0.3",
        "image:pixels=gray,width=20,height=20,scale=1/255",
    ],
)
def test_push_frame_gives_the_results_of_the_reference(text, last, tmp_path):
    options = CompileOptions(front_end=FrontEndOptions.parse(text), build=False)
    data = pictures(tmp_path / "data")
    result = compile_model(
        saved(tmp_path, last=last), "host", calibration=data, out=tmp_path / "out", options=options
    )
    graph = result.model.integer
    frames = RNG.integers(-128, 128, (3, *graph.shape(graph.only_input)[1:])).astype(np.int8)
    main = """
        #include <stdio.h>
        #include "edgec_seen.h"
        EDGEC_ALIGNED static uint8_t arena[EDGEC_SEEN_ARENA_BYTES];
        static uint8_t frame[EDGEC_SEEN_INPUT_0_BYTES];
        int main(int argc, char **argv) {
            edgec_context_t context;
            FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
            if (file == NULL) return 1;
            if (edgec_seen_init(&context, arena, sizeof arena) != EDGEC_OK) return 1;
            if (edgec_seen_push_frame(&context, NULL) != EDGEC_ERROR_NULL) return 2;
            while (fread(frame, 1, sizeof frame, file) == sizeof frame) {
                if (edgec_seen_push_frame(&context, frame) != EDGEC_OK) return 3;
                const int8_t *y = edgec_seen_output(&context, 0);
                printf("%d %d %d\\n", y[0], y[1], y[2]);
            }
            return 0;
        }
    """
    (tmp_path / "main.c").write_text(main)
    (tmp_path / "frames").write_bytes(frames.tobytes())
    library = result.folder / LIBRARY_DIR
    sources = [tmp_path / "main.c", *sorted((library / "src").glob("*.c"))]
    program = Build("gcc", SANITIZE).compile(sources, [library / "include"], tmp_path / "push")
    run = subprocess.run([program, tmp_path / "frames"], capture_output=True, text=True, check=True)
    found = [[int(each) for each in line.split()] for line in run.stdout.splitlines()]
    for frame, codes in zip(frames, found, strict=True):
        wanted = run_graph(graph, {graph.only_input: frame[None]})
        assert wanted[graph.outputs[0]].ravel().tolist() == codes


@pytest.fixture(scope="module")
def build(tmp_path_factory) -> Path:
    return built(tmp_path_factory.mktemp("image"))


def outputs(capsys, build: Path, given: Path, folder: Path) -> np.ndarray:
    done = edgec(capsys, "run", build, "--input", given, "--output", folder / "y.npz")
    assert done.code == 0, done.err
    return np.load(folder / "y.npz")["y"]


def test_arrays_of_pixels_and_of_bytes_are_frames(build, tmp_path, capsys):
    data = pictures(tmp_path / "data", count=2)
    names = [f"{name}/{n}.png" for n in range(2) for name in ("a-red", "b-green", "c-blue")]
    pixels = np.stack([np.asarray(Image.open(data / name)) for name in names])
    np.savez(tmp_path / "pixels.npz", x=pixels)
    words = (pixels.astype(int) >> (3, 2, 3)) << (11, 5, 0)
    bytes_ = words.sum(axis=-1).astype(">u2").view(np.uint8).reshape(6, -1)
    np.savez(tmp_path / "bytes.npz", x=bytes_)
    wanted = outputs(capsys, build, data, tmp_path)
    assert wanted.shape == (6, 3)
    for name in ("pixels", "bytes"):
        assert np.array_equal(outputs(capsys, build, tmp_path / f"{name}.npz", tmp_path), wanted)


def test_images_of_another_size_are_resized(build, tmp_path, capsys, caplog):
    data = pictures(tmp_path / "data", (64, 100), count=2)
    found = evaluate(build, data)
    assert found.n == 6 and found.accuracy == 1.0
    assert "6 of 6 images are no frames of 40 x 30 pixels" in caplog.text


def test_a_gray_model_takes_colours_as_gray(tmp_path):
    """As Pillow makes images gray: frames of gray pixels give the same codes."""
    results = []
    for pixels in ("rgb888", "gray"):
        folder = tmp_path / pixels
        folder.mkdir()
        text = f"image:width=40,height=30,scale=1/255,pixels={pixels},resize=nearest"
        found = built(folder, text, channels=1)
        results.append(evaluate(found, pictures(folder / "test")).agreement)
        report = Report.read(found)
        assert report.camera is not None
        assert report.camera.frame_bytes == 40 * 30 * (3 if pixels == "rgb888" else 1)
    assert results == [1.0, 1.0]


@pytest.mark.parametrize("pixels", ["rgb888", "bgr888", "yuyv", "uyvy"])
def test_colours_are_told_apart_in_every_format(pixels, tmp_path):
    text = f"image:width=40,height=30,scale=1/255,pixels={pixels}"
    found = built(tmp_path, text)
    assert evaluate(found, pictures(tmp_path / "test")).accuracy == 1.0


def test_a_network_that_takes_blue_first(tmp_path):
    """The one whose filters of red look at blue sees colours as the same network with red first."""
    path = saved(tmp_path)
    proto = onnx.load(path)
    w = onnx.numpy_helper.to_array(proto.graph.initializer[0])
    turned = onnx.numpy_helper.from_array(np.ascontiguousarray(w[:, ::-1]), "w")
    proto.graph.initializer[0].CopyFrom(turned)
    onnx.save(proto, path)
    data = pictures(tmp_path / "data")
    text = "image:width=40,height=30,scale=1/255,mean=0.3+0.4+0.5"
    accuracies = []
    for colours in ("bgr", "rgb"):
        options = CompileOptions(
            front_end=FrontEndOptions.parse(f"{text},colours={colours}"), build=False
        )
        out = tmp_path / colours
        compile_model(path, "host", calibration=data, out=out, options=options)
        accuracies.append(evaluate(out, data).accuracy)
    assert accuracies == [1.0, pytest.approx(1 / 3)]


def test_calibration_data_may_be_what_the_model_itself_takes(tmp_path):
    options = CompileOptions(front_end=FrontEndOptions.parse(TEXT), build=False)
    data = {"x": RNG.uniform(-2, 2, (8, 3, 12, 12)).astype(np.float32)}
    result = compile_model(
        saved(tmp_path), "host", calibration=data, out=tmp_path / "out", options=options
    )
    assert result.report.camera is not None
    assert evaluate(result.folder, pictures(tmp_path / "data")).accuracy == 1.0


def test_samples_that_are_no_frames(build, tmp_path, capsys):
    cases = {
        "float": (np.zeros((1, 30, 40, 3)), "holds float64, and frames of a camera are bytes"),
        "small": (
            np.zeros((1, 20, 30, 3), np.uint8),
            "shape [1, 20, 30, 3] holds no frames of 40 x 30 pixels of rgb565\n"
            "hint: give uint8 [N, 30, 40, 3], or [N, 2400]",
        ),
        "bytes": (np.zeros((2, 2399), np.uint8), "shape [2, 2399] holds no frames of 40 x 30"),
    }
    for name, (array, words) in cases.items():
        np.savez(tmp_path / f"{name}.npz", x=array)
        done = edgec(capsys, "run", build, "--input", tmp_path / f"{name}.npz")
        check_one_message(done, words)
    (tmp_path / "x.csv").write_text("1,2\n")
    done = edgec(capsys, "run", build, "--input", tmp_path / "x.csv")
    check_one_message(done, "holds no frames of a camera")
    data = pictures(tmp_path / "data", count=1)
    done = edgec(capsys, "evaluate", build, "--data", data, "--normalize", "scale=1/255")
    check_one_message(done, "the front end says it: scale, mean and std")
    (data / "a-red" / "0.png").write_bytes(b"no image")
    done = edgec(capsys, "evaluate", build, "--data", data)
    check_one_message(done, "not a readable image")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--front-end", "image:pixels=yuyv,width=41,scale=1"), "width cannot be 41"),
        (("--front-end", "image"), "it is not said which numbers the model takes"),
        (("--front-end", "image:width=8,crop=10x10,scale=1"), "crop cannot be 10x10"),
        (("--front-end", TEXT, "--pixels", "scale=1"), "is said by the camera's front end"),
        (("--front-end", TEXT, "--stream", "1"), "--stream"),
        (("--front-end", TEXT, "--input-rows"), "--input-rows"),
        (("--front-end", TEXT, "--normalize", "scale=1"), "the front end says it"),
    ],
)
def test_what_does_not_go_together(words, message, tmp_path, capsys):
    data = pictures(tmp_path / "data", count=1)
    given = ("--board", "host", "--calibration", data, "--out", tmp_path / "out")
    done = edgec(capsys, "compile", saved(tmp_path), *given, *words)
    check_one_message(done, message)
    assert not (tmp_path / "out").exists()


def test_a_run_on_a_build_takes_no_sound(build, tmp_path, capsys):
    done = edgec(capsys, "watch", build, "--on", "host", "--input", "-")
    check_one_message(done, "takes no sound")


def test_the_commands_of_the_page(tmp_path, capsys, monkeypatch):
    """Those that docs/front-ends.md shows for a camera, as they stand there."""
    need_emulator("nucleo_l4r5zi")
    page = (ROOT / "docs" / "front-ends.md").read_text("utf-8")
    section = page[page.index("## Cameras") :]
    commands = section.split("```")[1].split("\n")[1:-1]
    assert len(commands) == 2 and all(each.startswith("edgec ") for each in commands)
    (tmp_path / "examples").symlink_to(data_dir("examples"))
    monkeypatch.chdir(tmp_path)
    for command in commands:
        done = edgec(capsys, *command.split()[1:])
        assert done.code == 0, done.err
    assert "Frame" in done.out
    report = Report.read(tmp_path / "build" / "camera")
    assert report.memory.arena_bytes == 320 * 240 * 2
