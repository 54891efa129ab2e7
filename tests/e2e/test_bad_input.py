"""Models that are wrong or hostile: one clear message, and earlier results stay intact."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import (
    CALIBRATION,
    INPUT_ERRORS,
    MLP,
    RESNET,
    check_one_message,
    constant,
    edgec,
    gemm_model,
    good_weights,
    model_of,
    saved,
    snapshot,
)
from onnx import TensorProto, helper

Capsys = pytest.CaptureFixture[str]


def check_refused(capsys: Capsys, model: Path, earlier: Path, *words: str) -> None:
    """`compile` refuses the model with one message and leaves the output folder as it was."""
    before = snapshot(earlier)
    done = edgec(capsys, "compile", model, "--board", "host", "--out", earlier, "--no-build")
    check_one_message(done, *words)
    assert snapshot(earlier) == before


# --- files that are no models --------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.99, 0.9999])
def test_truncated_model(capsys: Capsys, tmp_path: Path, earlier: Path, share: float) -> None:
    data = RESNET.read_bytes()
    model = tmp_path / "cut.onnx"
    model.write_bytes(data[: int(len(data) * share)])
    check_refused(capsys, model, earlier, "cut.onnx" if share < 0.001 else "")


@pytest.mark.parametrize("seed", range(12))
def test_random_file(capsys: Capsys, tmp_path: Path, seed: int) -> None:
    model = tmp_path / "noise.onnx"
    model.write_bytes(np.random.default_rng(seed).bytes(10 ** (seed % 6)))
    check_one_message(edgec(capsys, "inspect", model), code=3)
    assert edgec(capsys, "inspect", model, "--json").code == 3


@pytest.mark.few_cases(20)
@pytest.mark.parametrize("seed", range(60))
def test_flipped_bytes(capsys: Capsys, tmp_path: Path, seed: int) -> None:
    # Some flips leave a legal model; whatever happens, it is never a bug of edgec's.
    rng = np.random.default_rng(seed)
    data = bytearray(MLP.read_bytes())
    # Names, shapes and attributes are at both ends of the file; the middle is weights.
    for _ in range(rng.integers(1, 6)):
        at = rng.integers(0, 1500)
        data[at if rng.integers(2) else -at - 1] = rng.integers(256)
    model = tmp_path / "flipped.onnx"
    model.write_bytes(data)
    done = edgec(capsys, "inspect", model)
    if done.code:
        check_one_message(done)


def test_other_file_formats(capsys: Capsys, tmp_path: Path) -> None:
    for name, data in (
        ("archive.onnx", CALIBRATION.read_bytes()),
        ("text.onnx", b"hello\n" * 100),
        ("empty.onnx", b""),
        ("zeros.onnx", bytes(5000)),
    ):
        (tmp_path / name).write_bytes(data)
        check_one_message(edgec(capsys, "inspect", tmp_path / name), name, code=3)


def test_no_file_and_a_folder(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    check_refused(capsys, tmp_path / "absent.onnx", earlier, "absent.onnx", "no such")
    check_refused(capsys, tmp_path, earlier)
    odd = tmp_path / "two\nlines\x1b[31m.onnx"
    check_refused(capsys, odd, earlier, "no such")
    check_refused(capsys, tmp_path / ("n" * 300 + ".onnx"), earlier)


@pytest.mark.parametrize("index", range(6))
def test_attribute_that_refers_to_a_function(capsys: Capsys, tmp_path: Path, index: int) -> None:
    model = onnx.load(RESNET)
    attribute = model.graph.node[0].attribute[index]
    for field in ("i", "ints", "s"):
        attribute.ClearField(field)  # type: ignore[arg-type]
    attribute.ref_attr_name = "outer"
    done = edgec(capsys, "inspect", saved(model, tmp_path))
    check_one_message(done, attribute.name, "outer", code=3)


# --- external data -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "location",
    ["../secret.bin", "/etc/passwd", "a/../../secret.bin", "..\\secret.bin", "C:\\secret", "link"],
)
def test_external_data_outside_the_folder(
    capsys: Capsys, tmp_path: Path, earlier: Path, location: str
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a").mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(48))
    (folder / "link").symlink_to(tmp_path / "secret.bin")
    model = gemm_model(good_weights())
    weights = model.graph.initializer[0]
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("length", "48")):
        weights.external_data.add(key=key, value=value)
    check_refused(capsys, saved(model, folder), earlier, "external data")


@pytest.mark.parametrize(("offset", "length"), [("-8", "48"), ("40", "48"), ("0", "9" * 30)])
def test_external_data_beyond_the_file(
    capsys: Capsys, tmp_path: Path, earlier: Path, offset: str, length: str
) -> None:
    (tmp_path / "data.bin").write_bytes(bytes(60))
    model = gemm_model(good_weights())
    weights = model.graph.initializer[0]
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "data.bin"), ("offset", offset), ("length", length)):
        weights.external_data.add(key=key, value=value)
    check_refused(capsys, saved(model, tmp_path), earlier)


# --- broken graphs -------------------------------------------------------------------------------


def test_cycle(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="second"),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    check_refused(capsys, saved(model_of(nodes), tmp_path), earlier, "cycle")


def test_node_that_reads_itself(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    model = model_of([helper.make_node("Add", ["x", "y"], ["y"])])
    check_refused(capsys, saved(model, tmp_path), earlier, "cycle")


def test_two_nodes_with_one_name(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="same"),
        helper.make_node("Relu", ["a"], ["y"], name="same"),
    ]
    check_refused(capsys, saved(model_of(nodes), tmp_path), earlier, "same")


def test_two_nodes_with_one_output(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Tanh", ["x"], ["y"])]
    check_refused(capsys, saved(model_of(nodes), tmp_path), earlier, "y")


@pytest.mark.parametrize(
    "node",
    [
        helper.make_node("Relu", ["nowhere"], ["y"]),
        helper.make_node("Relu", [], ["y"]),
        helper.make_node("Relu", ["x", "x"], ["y"]),
        helper.make_node("Gemm", ["x", "x"], ["y"]),
        helper.make_node("NoSuchOperator", ["x"], ["y"]),
        helper.make_node("Relu", ["x"], ["y"], domain="elsewhere"),
        helper.make_node("Conv", ["x", "x"], ["y"]),
        helper.make_node("Softmax", ["x"], ["y"], axis=7),
        helper.make_node("Transpose", ["x"], ["y"], perm=[0, 0]),
        helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[0, 0]),
        helper.make_node("LSTM", ["x", "x", "x"], ["y"], hidden_size=4),
    ],
    ids=lambda node: f"{node.op_type}-{len(node.input)}",
)
def test_bad_node(capsys: Capsys, tmp_path: Path, earlier: Path, node: onnx.NodeProto) -> None:
    check_refused(capsys, saved(model_of([node]), tmp_path), earlier)


def test_text_attribute_that_is_no_text(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], auto_pad=b"\xffOTSET")
    model = model_of([node], [constant("w", np.ones((1, 1, 3, 3)))], input_shape=(1, 1, 4, 4))
    check_refused(capsys, saved(model, tmp_path), earlier)


def test_no_nodes_inputs_or_outputs(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    relu = [helper.make_node("Relu", ["x"], ["y"])]
    empty, no_output, no_input = model_of([]), model_of(relu), model_of(relu)
    del no_output.graph.output[:]
    del no_input.graph.input[:]
    for model in (empty, no_output, no_input, onnx.ModelProto()):
        check_refused(capsys, saved(model, tmp_path), earlier)


@pytest.mark.parametrize("opset", [1, 6, 10_000])
def test_opset_out_of_range(capsys: Capsys, tmp_path: Path, earlier: Path, opset: int) -> None:
    model = gemm_model(good_weights())
    model.opset_import[0].version = opset
    check_refused(capsys, saved(model, tmp_path), earlier, str(opset))


def test_all_unsupported_nodes_in_one_error(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    nodes = [
        helper.make_node("Bernoulli", ["x"], ["a"], name="wave"),
        helper.make_node("Relu", ["a"], ["b"], name="fine"),
        helper.make_node("RandomNormalLike", ["b"], ["y"], name="second"),
    ]
    words = ("wave", "Bernoulli", "second", "RandomNormalLike")
    check_refused(capsys, saved(model_of(nodes), tmp_path), earlier, *words)


def test_dynamic_shape_asks_for_it(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    model = saved(model_of([node], input_shape=("N", "time", 8)), tmp_path)
    check_refused(capsys, model, earlier, "--shape")


# --- broken numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["weight", "bias"])
def test_weights_that_are_not_finite(
    capsys: Capsys, tmp_path: Path, earlier: Path, value: float, where: str
) -> None:
    weights, bias = good_weights(), np.zeros(3, np.float32)
    (weights if where == "weight" else bias).flat[1] = value
    model = saved(gemm_model(weights, bias=bias), tmp_path)
    check_refused(capsys, model, earlier, "finite")


def qdq_model(scale: float, weight_scale: float) -> onnx.ModelProto:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "sx", "zx"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "sx", "zx"], ["xd"]),
        helper.make_node("DequantizeLinear", ["wq", "sw", "zw"], ["wd"]),
        helper.make_node("MatMul", ["xd", "wd"], ["a"]),
        helper.make_node("QuantizeLinear", ["a", "sx", "zx"], ["aq"]),
        helper.make_node("DequantizeLinear", ["aq", "sx", "zx"], ["y"]),
    ]
    constants = [
        constant("sx", scale),
        constant("zx", 0, "int8"),
        constant("sw", weight_scale),
        constant("zw", 0, "int8"),
        constant("wq", np.arange(12).reshape(4, 3), "int8"),
    ]
    return model_of(nodes, constants)


def test_good_qdq_model(capsys: Capsys, tmp_path: Path) -> None:
    model = saved(qdq_model(0.1, 0.02), tmp_path)
    done = edgec(
        capsys, "compile", model, "--board", "host", "--out", tmp_path / "out", "--no-build"
    )
    assert done.code == 0, done.err


@pytest.mark.parametrize("scale", [0.0, -0.1, np.nan, np.inf])
@pytest.mark.parametrize("which", ["activation", "weight"])
def test_bad_scales(
    capsys: Capsys, tmp_path: Path, earlier: Path, scale: float, which: str
) -> None:
    model = qdq_model(scale, 0.02) if which == "activation" else qdq_model(0.1, scale)
    check_refused(capsys, saved(model, tmp_path), earlier)


def test_weights_of_2_to_the_31_elements(capsys: Capsys, tmp_path: Path, earlier: Path) -> None:
    for dims in ([2**31], [2**16, 2**15], [2**40], [2**62, 2**62], [-1, 4]):
        model = gemm_model(good_weights())
        del model.graph.initializer[0].dims[:]
        model.graph.initializer[0].dims.extend(dims)
        check_refused(capsys, saved(model, tmp_path), earlier)


@pytest.mark.parametrize("shape", [(1, 2**31), (1, 2**20, 2**20), (1, 2**62), (1, 0), (1, -5)])
def test_input_of_impossible_shape(
    capsys: Capsys, tmp_path: Path, earlier: Path, shape: tuple[int, ...]
) -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], input_shape=shape)
    check_refused(capsys, saved(model, tmp_path), earlier)


def test_intermediate_tensor_of_2_to_the_31_elements(
    capsys: Capsys, tmp_path: Path, earlier: Path
) -> None:
    resize = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="nearest")
    scales = [constant("scales", [1, 1, 2**16, 2**15])]
    check_refused(
        capsys, saved(model_of([resize], scales, input_shape=(1, 1, 1, 1)), tmp_path), earlier
    )
    pad = helper.make_node("Pad", ["x", "pads"], ["y"])
    pads = [constant("pads", [0, 2**31, 0, 2**31], "int64")]
    check_refused(capsys, saved(model_of([pad], pads), tmp_path), earlier)
    shape = [constant("shape", [2**31 + 1], "int64")]
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["c"]),
        helper.make_node("ReduceSum", ["c"], ["s"]),
        helper.make_node("Add", ["x", "s"], ["y"]),
    ]
    check_refused(capsys, saved(model_of(nodes, shape), tmp_path), earlier)


# --- names ---------------------------------------------------------------------------------------

NAMES = {
    "quotes": "a\"b'c`d",
    "newline": 'x\n#include "/etc/passwd"\n',
    "comment": "*/ int evil(void); /*",
    "trigraph": "??/\\\n??'",
    "path": "../../../tmp/evil",
    "absolute": "/tmp/evil",
    "keyword": "int",
    "reserved": "__FILE__",
    "shell": "$(touch evil);`touch evil`",
    "unicode": "schön \u202e\u0000 名前 🙂",
    "long": "n" * 10_000,
    "format": "%s%n {} {{ x }} {% raw %}",
    "markup": "[bold red]x[/]",
    "digits": "123",
    "blank": " ",
}


# Each takes two C builds; these are the most likely to break something.
QUICK_NAMES = ("newline", "comment", "keyword", "unicode", "long")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=label, marks=() if label in QUICK_NAMES else pytest.mark.slow)
        for label, name in NAMES.items()
    ],
)
def test_names_are_only_labels(capsys: Capsys, tmp_path: Path, name: str) -> None:
    """Whatever its tensors, nodes and graph are called, a good model compiles to the same code."""
    node = helper.make_node("Gemm", [name, f"{name}w"], [f"{name}y"], name=name, transB=1)
    model = model_of(
        [node],
        [constant(f"{name}w", good_weights())],
        input_name=name,
        output=f"{name}y",
        graph_name=name,
    )
    work = tmp_path / "work"
    work.mkdir()
    np.savez(work / "samples.npz", x=np.linspace(-1, 1, 40, dtype=np.float32).reshape(10, 4))
    path, out = saved(model, work), work / "out"
    options = ("--board", "host", "--calibration", work / "samples.npz", "--out", out)
    # The default --verify compiles the C code and runs it.
    done = edgec(capsys, "compile", path, *options)
    assert done.code == 0, done.err
    assert all(char == "\n" or char.isprintable() for char in done.out + done.err)
    assert {entry.name for entry in work.iterdir()} == {"samples.npz", "model.onnx", "out"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["work"]
    assert all(len(path.name) < 200 for path in out.rglob("*"))
    done = edgec(capsys, "run", out, "--input", work / "samples.npz")
    assert done.code == 0, done.err


def test_odd_file_name(capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = tmp_path / "we ird'$(touch evil)\n.onnx"
    model.write_bytes(MLP.read_bytes())
    done = edgec(
        capsys, "compile", model, "--board", "host", "--calibration", CALIBRATION, "--no-build"
    )
    # Compiled into build/, or refused: nothing else may appear.
    assert done.code == 0 or done.code in INPUT_ERRORS, done
    assert {entry.name for entry in tmp_path.iterdir()} <= {model.name, "build"}
