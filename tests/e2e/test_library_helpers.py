"""Helper functions of a library's header make of numbers, pixels and codes what edgec makes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, check_one_message, edgec
from exported_library import STRICT, export, need, run
from import_models import N, model_of, save
from lower_samples import emitted
from onnx import TensorProto
from variable_nets import MAXIMUM, integer_graph, vit

from edgec.base.options import CompileOptions
from edgec.base.samples import Normalize
from edgec.commands.compile import CompileResult, compile_model
from edgec.interp import run_graph
from edgec.sim.host import HostModel
from edgec.workflow.codes import decode, encode

Capsys = pytest.CaptureFixture[str]
RNG = np.random.default_rng(3)
IMAGENET = "scale=1/255,mean=0.485:0.456:0.406,std=0.229:0.224:0.225"
HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include "edgec_model.h"

static uint64_t arena[EDGEC_MODEL_ARENA_BYTES / 8 + 1];

static inline void need(edgec_status_t status) {
    if (status != EDGEC_OK) {
        exit(10 + (int)status);
    }
}

static inline void load(void *place, size_t bytes) {
    if (fread(place, 1, bytes, stdin) != bytes) {
        exit(2);
    }
}

static inline void put(const void *place, size_t bytes) {
    if (fwrite(place, 1, bytes, stdout) != bytes) {
        exit(3);
    }
}

int main(void) {
    edgec_context_t context;
    need(edgec_model_init(&context, arena, sizeof arena));
"""


def program(library: Path, body: str, folder: Path, compiler: str = "gcc") -> Path:
    """A program of C, or of C++, around a library."""
    need("gcc", compiler)
    main = folder / ("main.cpp" if compiler == "g++" else "main.c")
    main.write_text(f"{HEAD}{body}    return 0;\n}}\n")
    include = f"-I{library / 'include'}"
    sources = sorted((library / "src").glob("*.c"))
    run("gcc", "-std=c11", "-O1", include, "-c", *sources, cwd=folder)
    standard = "-std=c++11" if compiler == "g++" else "-std=c11"
    objects = sorted(folder.glob("*.o"))
    words = (compiler, standard, "-O1", *STRICT, "-Wdouble-promotion", include, main, *objects)
    run(*words, "-o", folder / "program")
    return folder / "program"


def answered(path: Path, data: bytes) -> bytes:
    """What a program that must succeed writes."""
    import subprocess

    done = subprocess.run([path], input=data, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done
    return done.stdout


def network(*, input_type: int = TensorProto.FLOAT) -> object:
    """Colour images to scores of five classes; with integers as its input, if that is asked."""
    constants = {
        "w": RNG.normal(size=(4, 3, 3, 3)).astype(np.float32),
        "v": RNG.normal(size=(4, 5)).astype(np.float32),
        "s": np.float32(1 / 64),
        "z": np.uint8(100),
    }
    first = N("DequantizeLinear", ["x", "s", "z"], ["r"])
    nodes = [
        N("Identity", ["x"], ["r"]) if input_type == TensorProto.FLOAT else first,
        N("Conv", ["r", "w"], ["h"]),
        N("Relu", ["h"], ["a"]),
        N("GlobalAveragePool", ["a"], ["p"]),
        N("Flatten", ["p"], ["f"]),
        N("MatMul", ["f", "v"], ["y"]),
    ]
    return model_of(nodes, {"x": [1, 3, 6, 6]}, constants, input_type=input_type)


def compiled(model: object, x: np.ndarray, folder: Path, **options: object) -> CompileResult:
    chosen = CompileOptions(build=False, verify=False, **options)
    path = save(model, folder)
    return compile_model(path, "host", calibration={"x": x}, out=folder / "b", options=chosen)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> CompileResult:
    """The network on images, whose library knows how pixels are normalized, and five labels."""
    folder = tmp_path_factory.mktemp("images")
    (folder / "labels.txt").write_text("cat\ndog\nbird\nfish\nnone of these\n")
    x = RNG.normal(size=(16, 3, 6, 6)).astype(np.float32)
    known = {"pixels": Normalize.parse(IMAGENET), "labels": folder / "labels.txt"}
    return compiled(network(), x, folder, **known)


WHOLE = """
    static float values[108], results[5];
    static uint8_t pixels[108];
    load(values, sizeof values);
    load(pixels, sizeof pixels);
    need(edgec_model_quantize(&context, values));
    put(edgec_model_input(&context, 0), 108);
    need(edgec_model_quantize_pixels(&context, pixels));
    put(edgec_model_input(&context, 0), 108);
    need(edgec_model_run(&context));
    put(edgec_model_output(&context, 0), 5);
    need(edgec_model_dequantize(&context, results));
    put(results, sizeof results);
    const uint32_t decision = edgec_model_argmax(&context);
    printf("%s %u", edgec_model_label(decision), (unsigned)EDGEC_MODEL_NUM_LABELS);
"""


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_an_image_from_its_pixels_to_a_name(
    images: CompileResult, compiler: str, tmp_path: Path
) -> None:
    library = images.folder / "library"
    (source,), (output,) = images.report.inputs, images.report.outputs
    real = RNG.normal(size=(1, 3, 6, 6)).astype(np.float32)
    pixels = RNG.integers(0, 256, (1, 6, 6, 3)).astype(np.uint8)
    path = program(library, WHOLE, tmp_path, compiler)
    found = answered(path, real.transpose(0, 2, 3, 1).tobytes() + pixels.tobytes())
    normal = Normalize.parse(IMAGENET).apply(pixels).transpose(0, 3, 1, 2)
    assert found[:108] == encode(real, source).tobytes()
    codes = encode(normal, source)
    assert found[108:216] == codes.tobytes()
    scores = HostModel(library, tmp_path / "host").run([codes])[0]
    assert found[216:221] == scores.tobytes()
    results = np.frombuffer(found[221:241], np.float32)
    np.testing.assert_array_equal(results, decode(scores, output).reshape(-1))
    assert found[241:].decode() == f"{output.labels[int(results.argmax())]} 5"


def test_bytes_of_a_model_that_takes_bytes(tmp_path: Path) -> None:
    x = RNG.integers(0, 256, (8, 3, 6, 6)).astype(np.uint8)
    result = compiled(network(input_type=TensorProto.UINT8), x, tmp_path)
    body = (
        "    static uint8_t pixels[108];\n    load(pixels, sizeof pixels);\n"
        "    need(edgec_model_quantize_pixels(&context, pixels));\n"
        "    put(edgec_model_input(&context, 0), 108);\n"
    )
    path = program(result.folder / "library", body, tmp_path)
    found = answered(path, x[0].transpose(1, 2, 0).tobytes())
    assert found == encode(x[:1], result.report.inputs[0]).tobytes()


def test_colours_that_lie_one_after_the_other(tmp_path: Path) -> None:
    """A network that flattens its images first leaves the axes as they are."""
    constants = {"v": RNG.normal(size=(48, 2)).astype(np.float32)}
    nodes = [N("Flatten", ["x"], ["f"]), N("MatMul", ["f", "v"], ["y"])]
    model, normal = model_of(nodes, {"x": [1, 3, 4, 4]}, constants), Normalize.parse(IMAGENET)
    x = RNG.normal(size=(8, 3, 4, 4)).astype(np.float32)
    result = compiled(model, x, tmp_path, pixels=normal)
    (tensor,) = result.report.inputs
    assert tensor.layout == ()
    body = (
        "    static uint8_t pixels[48];\n    load(pixels, sizeof pixels);\n"
        "    need(edgec_model_quantize_pixels(&context, pixels));\n"
        "    put(edgec_model_input(&context, 0), 48);\n"
    )
    pixels = RNG.integers(0, 256, (1, 4, 4, 3)).astype(np.uint8)
    path = program(result.folder / "library", body, tmp_path)
    found = answered(path, pixels.transpose(0, 3, 1, 2).tobytes())
    assert found == encode(normal.apply(pixels).transpose(0, 3, 1, 2), tensor).tobytes()


def test_several_inputs_and_outputs_have_numbers(tmp_path: Path) -> None:
    constants = {f"w{n}": RNG.normal(size=(4, 3)).astype(np.float32) for n in range(2)}
    constants["one"] = RNG.normal(size=(3, 1)).astype(np.float32)
    nodes = [
        N("MatMul", ["a", "w0"], ["p"]),
        N("MatMul", ["b", "w1"], ["q"]),
        N("Add", ["p", "q"], ["y"]),
        N("MatMul", ["y", "one"], ["z"]),
    ]
    model = model_of(nodes, {"a": [1, 4], "b": [1, 4]}, constants, outputs=("y", "z"))
    samples = {name: RNG.normal(size=(20, 4)).astype(np.float32) for name in "ab"}
    options = CompileOptions(build=False, verify=False)
    result = compile_model(
        save(model, tmp_path), "host", calibration=samples, out=tmp_path / "b", options=options
    )
    header = (result.folder / "library/include/edgec_model.h").read_text()
    helpers = r"edgec_model_((?:quantize|dequantize|argmax)\w*)\(const"
    assert re.findall(helpers, header) == [
        *("quantize_0", "quantize_1", "dequantize_0", "argmax_0"),
        "dequantize_1",
    ]
    body = (
        "    float values[4], results[3], one[1];\n"
        "    load(values, sizeof values);\n"
        "    need(edgec_model_quantize_0(&context, values));\n"
        "    load(values, sizeof values);\n"
        "    need(edgec_model_quantize_1(&context, values));\n"
        "    need(edgec_model_run(&context));\n"
        "    need(edgec_model_dequantize_0(&context, results));\n"
        "    need(edgec_model_dequantize_1(&context, one));\n"
        "    put(results, sizeof results);\n    put(one, sizeof one);\n"
    )
    path = program(result.folder / "library", body, tmp_path)
    found = np.frombuffer(answered(path, b"".join(samples[n][0].tobytes() for n in "ab")), "f4")
    wanted = result.run({name: array[:1] for name, array in samples.items()})
    np.testing.assert_array_equal(found, np.concatenate([wanted["y"][0], wanted["z"][0]]))


def test_a_run_of_its_own_length(tmp_path: Path) -> None:
    graph = integer_graph(vit)
    emitted(graph.replace(name="model"), tmp_path / "library")
    (name,), less = graph.inputs, 3
    rows = RNG.normal(size=(MAXIMUM - less, graph.shape(name)[-1])).astype(np.float32)
    wrong, too_long = "!= EDGEC_ERROR_LENGTH", MAXIMUM + 1
    body = (
        f"    static float values[{rows.size}];\n    load(values, sizeof values);\n"
        f"    if (edgec_model_quantize(&context, values, 0) {wrong}) return 4;\n"
        f"    if (edgec_model_quantize(&context, values, {too_long}) {wrong}) return 5;\n"
        f"    need(edgec_model_quantize(&context, values, {MAXIMUM - less}));\n"
        f"    put(edgec_model_input(&context, 0), {rows.size});\n"
    )
    found = answered(program(tmp_path / "library", body, tmp_path), rows.tobytes())
    np.testing.assert_array_equal(
        np.frombuffer(found, np.int8), graph.quant(name).quantize(rows).reshape(-1)
    )


def test_before_init_nothing_is_touched(images: CompileResult, tmp_path: Path) -> None:
    body = (
        "    float values[108] = {0};\n    uint8_t pixels[108] = {0};\n"
        "    if (edgec_model_quantize(&context, NULL) != EDGEC_ERROR_NULL) return 4;\n"
        "    context.arena = NULL;\n"
        "    if (edgec_model_quantize(&context, values) != EDGEC_ERROR_NULL) return 5;\n"
        "    if (edgec_model_quantize_pixels(NULL, pixels) != EDGEC_ERROR_NULL) return 6;\n"
        "    if (edgec_model_dequantize(&context, values) != EDGEC_ERROR_NULL) return 7;\n"
        "    if (edgec_model_argmax(&context) != UINT32_MAX) return 8;\n"
        "    if (edgec_model_label(edgec_model_argmax(&context))[0] != 0) return 9;\n"
    )
    assert answered(program(images.folder / "library", body, tmp_path), b"") == b""


def test_the_first_of_equal_scores(images: CompileResult, tmp_path: Path) -> None:
    body = (
        "    int8_t *const codes = (int8_t *)context.arena + edgec_model_model.outputs[0].offset;\n"
        "    for (int i = 0; i < 5; i++) {\n        codes[i] = (int8_t)(i % 2 == 0 ? -128 : 7);\n"
        '    }\n    printf("%u", (unsigned)edgec_model_argmax(&context));\n'
    )
    path = program(images.folder / "library", body, tmp_path)
    assert answered(path, b"").decode() == str(np.argmax([-128, 7, -128, 7, -128]))


def test_the_example_of_the_header_runs(compiled_mlp: Path, tmp_path: Path) -> None:
    need("gcc")
    library = compiled_mlp / "library"
    header = (library / "include" / "edgec_digits_mlp.h").read_text()
    lines = [line.removeprefix(" *     ") for line in header.splitlines()]
    start = lines.index('#include "edgec_digits_mlp.h"')
    text = "\n".join("" if line == " *" else line for line in lines[start : lines.index(" */")])
    assert len(text.splitlines()) <= 15
    assert text in (library / "README.md").read_text()
    main = "uint32_t infer(const float *values);\nint main(void) {\n    static float values[64];\n"
    main += "    values[5] = 1.0F;\n    return (int)infer(values);\n}\n"
    first, rest = text.split("\n", 1)
    (tmp_path / "main.c").write_text(
        f"{first}\nuint32_t infer(const float *values);\n{rest}\n{main}"
    )
    sources = sorted((library / "src").glob("*.c"))
    words = ("gcc", "-std=c11", *STRICT, "-Wmissing-prototypes", f"-I{library / 'include'}")
    run(*words, tmp_path / "main.c", *sources, "-o", tmp_path / "program")
    import subprocess

    from edgec.workflow.session import open_session

    x = np.zeros((1, 1, 8, 8), np.float32)
    x[0, 0, 0, 5] = 1.0
    (scores,) = open_session(compiled_mlp, "host").run({"x": x}).values()
    done = subprocess.run([tmp_path / "program"], check=False)
    assert done.returncode == int(scores.argmax())


def test_what_is_not_called_is_not_linked(images: CompileResult, tmp_path: Path) -> None:
    need("arm-none-eabi-gcc", "arm-none-eabi-nm")
    (tmp_path / "main.c").write_text(
        '#include "edgec_model.h"\nuint32_t decide(edgec_context_t *c, const uint8_t *pixels);\n'
        "uint32_t decide(edgec_context_t *c, const uint8_t *pixels) {\n"
        "    (void)edgec_model_quantize_pixels(c, pixels);\n    (void)edgec_model_run(c);\n"
        "    return edgec_model_argmax(c);\n}\n"
    )
    flags = ("-std=c11", "-mcpu=cortex-m0", "-mthumb", *STRICT)
    include = f"-I{images.folder / 'library' / 'include'}"
    for level in ("-O0", "-Os"):
        run("arm-none-eabi-gcc", *flags, level, include, "-c", "main.c", cwd=tmp_path)
        names = run("arm-none-eabi-nm", "--undefined-only", tmp_path / "main.o").split()[1::2]
        own = {name for name in names if name.startswith("edgec_model_")}
        assert set(names) == own


def test_labels_of_the_command_line(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("".join(f"digit {n}\n" for n in range(10)))
    command = ("compile", MLP, "--board", "host", "--calibration", CALIBRATION, "--no-verify")
    command += ("--no-build", "--out", tmp_path / "b", "--labels", tmp_path / "labels.txt")
    assert edgec(capsys, *command).code == 0
    header = (tmp_path / "b/library/include/edgec_digits_mlp-labels.h").read_text()
    assert "#define EDGEC_DIGITS_MLP_NUM_LABELS 10\n" in header
    assert (
        '#include "edgec_digits_mlp-labels.h"'
        in (tmp_path / "b/library/include/edgec_digits_mlp.h").read_text()
    )
    done = edgec(capsys, "run", tmp_path / "b", "--input", CALIBRATION)
    assert re.search(r": digit \d", done.out)
    out = export(tmp_path / "b", "c", tmp_path / "c")
    assert (out / "include/edgec_digits_mlp-labels.h").read_text() == header


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--labels", "two.txt"), ("2 labels", "10")),
        (("--labels", "absent.txt"), ("absent.txt", "cannot be read")),
        (("--pixels", "1/255"), ("--pixels", "cannot read")),
        (("--pixels", "mean=1:2"), ("--pixels", "mean has 2 numbers")),
    ],
)
def test_what_is_refused(options, words, capsys: Capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.txt").write_text("one\ntwo\n")
    done = edgec(capsys, "compile", MLP, "--board", "host", "--no-build", "-o", "b", *options)
    check_one_message(done, *words, code=2)
    assert not Path("b").exists()


def test_pixels_need_an_image(capsys: Capsys, tmp_path: Path) -> None:
    constants = {"w": RNG.normal(size=(4, 3)).astype(np.float32)}
    path = save(model_of([N("MatMul", ["x", "w"], ["y"])], {"x": [1, 4]}, constants), tmp_path)
    command = ("compile", path, "--board", "host", "--no-build", "-o", tmp_path / "b")
    done = edgec(capsys, *command, "--pixels", "scale=1/255")
    check_one_message(done, "--pixels", "takes images", code=2)
    assert not (tmp_path / "b").exists()


def test_the_reference_agrees(images: CompileResult) -> None:
    """The codes that C was compared with are those of the numpy reference, too."""
    graph = images.model.integer
    codes = encode(RNG.normal(size=(1, 3, 6, 6)).astype(np.float32), images.report.inputs[0])
    scores = run_graph(graph, {graph.inputs[0]: codes})[graph.outputs[0]]
    assert scores.shape == (1, 5)
