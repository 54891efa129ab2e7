"""Files with 16-bit activations: every tensor as TensorFlow Lite Micro computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from parity import check_host
from tflite_models import T, const
from tflite_oracle import needs_litert, run_litert
from tflite_wide import (
    RELU,
    RELU6,
    UNIT,
    bias,
    coded_bias,
    codes,
    conv,
    dense,
    depthwise,
    leaky_relu,
    matmul,
    mixed,
    network,
    one,
    reduction,
    transpose_conv,
    two,
)
from tflm_oracle import Micro, compare, laid_out, needs_tflm

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ImportModelError, QuantizationError
from edgec.base.options import CompileOptions
from edgec.base.rounding import Rounding
from edgec.commands.compile import compile_model
from edgec.importers.tflite.load import load_file
from edgec.importers.tflite.load_tensor import FileModel
from edgec.interp import run_graph
from edgec.quant.common.report import CalibrationSource
from edgec.report.model import Report
from edgec.workflow.codes import encode
from edgec.workflow.integer import integer_model
from edgec.workflow.rounding import rounding_of

POOL = {"StrideH": 2, "StrideW": 2, "FilterHeight": 3, "FilterWidth": 2, "Padding": 0}
IMAGE = (1, 5, 6, 3)
CONSTANT = const(np.arange(-9000, 9000, 900, np.int16).reshape(5, 4), [0.0041])
CASES: dict[str, Callable[[Path], Path]] = {
    "conv": conv,
    "conv-valid-relu": partial(conv, act=RELU, padding=1),
    "conv-strided-relu6": partial(conv, act=RELU6, stride=2),
    "conv-64-bit-sums": partial(conv, depth=64),
    "depthwise": depthwise,
    "dense": dense,
    "dense-per-channel": partial(dense, channels=7),
    "dense-rows": partial(dense, width=3000),
    "add": partial(two, op="ADD", kind="AddOptions"),
    "add-broadcast": partial(two, op="ADD", kind="AddOptions", other=(1, 1, 1, 3)),
    "add-relu": partial(two, op="ADD", kind="AddOptions", act=RELU),
    "sub": partial(two, op="SUB", kind="SubOptions"),
    "mul": partial(two, op="MUL", kind="MulOptions"),
    "mul-relu6": partial(two, op="MUL", kind="MulOptions", act=RELU6),
    "average": partial(
        one, op="AVERAGE_POOL_2D", x=codes(IMAGE, 0.001), y=codes((1, 3, 3, 3), 0.001),
        kind="Pool2DOptions", options=POOL,
    ),
    "max": partial(
        one, op="MAX_POOL_2D", x=codes(IMAGE, 0.001), y=codes((1, 3, 3, 3), 0.001),
        kind="Pool2DOptions", options=POOL,
    ),
    "logistic": partial(one, op="LOGISTIC", x=codes(IMAGE, 0.0004), y=codes(IMAGE, UNIT)),
    "logistic-power": partial(one, op="LOGISTIC", x=codes(IMAGE, 2.0**-12), y=codes(IMAGE, UNIT)),
    "tanh": partial(one, op="TANH", x=codes(IMAGE, 0.0002), y=codes(IMAGE, UNIT)),
    "tanh-power": partial(one, op="TANH", x=codes(IMAGE, 2.0**-11), y=codes(IMAGE, UNIT)),
    "softmax": partial(
        one, op="SOFTMAX", x=codes((1, 3, 17), 0.0003), y=codes((1, 3, 17), UNIT),
        kind="SoftmaxOptions", options={"Beta": 1.0},
    ),
    "softmax-beta": partial(
        one, op="SOFTMAX", x=codes((1, 3, 17), 0.0003), y=codes((1, 3, 17), UNIT),
        kind="SoftmaxOptions", options={"Beta": 2.7},
    ),
    "softmax-narrow": partial(
        one, op="SOFTMAX", x=codes((1, 5), 0.00002), y=codes((1, 5), UNIT),
        kind="SoftmaxOptions", options={"Beta": 1.0},
    ),
    "mean": partial(reduction, op="MEAN", y=codes((1, 1, 1, 3), 0.0007)),
    "mean-fine": partial(reduction, op="MEAN", y=codes((1, 3), 0.0021), keeps=False),
    "mean-same-scale": partial(reduction, op="MEAN", y=codes((1, 3), 0.001), keeps=False),
    "mean-of-channels": partial(reduction, op="MEAN", y=codes((1, 5, 6, 1), 0.001), axes=(3,)),
    "mean-of-many": partial(
        reduction, op="MEAN", y=codes((1, 1, 1, 1), 0.00001), shape=(1, 255, 257, 1)
    ),
    "sum": partial(reduction, op="SUM", y=codes((1, 1, 1, 3), 0.0047)),
    "sum-same-scale": partial(reduction, op="SUM", y=codes((1, 3), 0.001), keeps=False),
    "sum-of-channels": partial(reduction, op="SUM", y=codes((1, 5, 6, 1), 0.0002), axes=(3,)),
    "sum-of-many": partial(
        reduction, op="SUM", y=codes((1, 1, 1, 1), 0.002), shape=(1, 255, 257, 1)
    ),
    "maximum": partial(two, op="MAXIMUM", kind="MaximumMinimumOptions"),
    "minimum-broadcast": partial(
        two, op="MINIMUM", kind="MaximumMinimumOptions", other=(1, 1, 1, 3)
    ),
    "minimum-number": partial(
        one, op="MINIMUM", x=codes(IMAGE, 0.001), y=codes(IMAGE, 0.001),
        kind="MaximumMinimumOptions", more={"c": const(np.array([1237], np.int16), [0.001])},
    ),
    "leaky-relu": partial(leaky_relu, alpha=0.3),
    "leaky-relu-falling": partial(leaky_relu, alpha=-0.2),
    "leaky-relu-steep": partial(leaky_relu, alpha=1.7),
    "leaky-relu-flat": partial(leaky_relu, alpha=0.0),
    "transpose-conv": partial(transpose_conv, biases=bias(4)),
    "transpose-conv-valid": partial(transpose_conv, padding=1),
    "transpose-conv-dense": partial(transpose_conv, stride=1, padding=1, biases=bias(4)),
    "transpose-conv-64-bit-sums": partial(transpose_conv, depth=64, stride=1),
    "matmul": partial(matmul, other=codes((1, 2, 5, 4), 0.0041)),
    "matmul-transposed": partial(matmul, other=codes((1, 2, 4, 5), 0.0041), adj_y=True),
    "matmul-both": partial(matmul, other=codes((1, 1, 4, 5), 0.0041), adj_x=True, adj_y=True),
    "matmul-constant": partial(matmul, other=CONSTANT),
    "requantize": partial(one, op="QUANTIZE", x=codes(IMAGE, 0.0004), y=codes(IMAGE, 0.00071)),
    "to-int8": partial(
        one, op="QUANTIZE", x=codes(IMAGE, 0.0004), y=codes(IMAGE, 0.09, "int8", -7)
    ),
    "reshape": partial(
        one, op="RESHAPE", x=codes(IMAGE, 0.001), y=codes((1, 90), 0.001), kind="ReshapeOptions",
        more={"shape": const(np.array([1, 90], np.int32))},
    ),
    "pad": partial(
        one, op="PAD", x=codes(IMAGE, 0.001), y=codes((1, 8, 7, 3), 0.001), kind="PadOptions",
        more={"pads": const(np.array([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32))},
    ),
    "transpose": partial(
        one, op="TRANSPOSE", x=codes(IMAGE, 0.001), y=codes((1, 6, 3, 5), 0.001),
        kind="TransposeOptions", more={"perm": const(np.array([0, 2, 3, 1], np.int32))},
    ),
}  # fmt: skip

WITHOUT_MICRO: dict[str, Callable[[Path], Path]] = {
    "reduce-max": partial(reduction, op="REDUCE_MAX", y=codes((1, 1, 1, 3), 0.001)),
    "reduce-min": partial(
        reduction, op="REDUCE_MIN", y=codes((1, 5, 6), 0.001), axes=(3,), keeps=False
    ),
}
"""What TensorFlow Lite Micro has no kernel for, but TensorFlow Lite's reference."""


def samples(model: FileModel) -> list[dict[str, Array]]:
    """Codes of the inputs of a file, of all sizes."""
    rng = np.random.default_rng(0)
    inputs = [model.tensors[number] for number in model.inputs]
    return [
        {t.name: rng.integers(-most - 1, most + 1, t.shape).astype(np.int16) for t in inputs}
        for most in (32767, 32767, 3000, 200, 32767, 32767)
    ]


@needs_tflm
@pytest.mark.parametrize("name", [*CASES, "network"])
def test_equal_to_tensorflow_lite_micro(name: str, tmp_path: Path):
    """Every tensor that both have."""
    path = {**CASES, "network": partial(network, edges=False)}[name](tmp_path / "m.tflite")
    micro, graph = Micro(path), integer_model(path, None, CompileOptions()).integer
    outputs = {micro.model.tensors[number].name for number in micro.model.outputs}
    found = compare(path, graph, samples(micro.model), micro)
    assert outputs <= {*found.compared}, str(found)
    assert not found.different, str(found)
    if name == "network":
        assert {"c1", "c2", "sum", "pool", "large", "logits", "p"} <= {*found.compared}


@needs_tflm
@pytest.mark.parametrize("name", ["mean-of-many", "sum-of-many"])
def test_sums_of_up_to_32_bits(name: str, tmp_path: Path):
    """All elements at one end of their range, in numpy, in C and in TensorFlow Lite Micro."""
    path = CASES[name](tmp_path / "m.tflite")
    micro, graph = Micro(path), integer_model(path, None, CompileOptions()).integer
    ends = (-32768, 32767, -16391, 16390)
    inputs = [{"x": np.full((1, 255, 257, 1), code, np.int16)} for code in ends]
    found = compare(path, graph, inputs, micro)
    assert "y" in found.compared
    assert not found.different, str(found)
    check_host(graph, tmp_path)


@needs_tflm
def test_layers_of_int8_beside_those_of_int16(tmp_path: Path):
    """Each operator by the rule of its own types, numpy and C."""
    path = mixed(tmp_path / "m.tflite")
    micro, graph = Micro(path), integer_model(path, None, CompileOptions()).integer
    rng = np.random.default_rng(5)
    inputs = [{"x": rng.integers(-128, 128, (1, 6, 6, 3)).astype(np.int8)} for _ in range(8)]
    found = compare(path, graph, inputs, micro)
    assert {"c1", "pool", "fine", "y2", "logits", "p"} <= {*found.compared}
    assert not found.different, str(found)
    assert {value.dtype for value in graph.values.values()} == {DType.INT8, DType.INT16}
    check_host(graph, tmp_path)


@needs_tflm
def test_float_inputs_become_the_codes_of_tensorflow_lite_micro(tmp_path: Path):
    """Halves, and quotients that float32 and double precision put on other sides of them."""
    path = network(tmp_path / "m.tflite")
    micro, graph = Micro(path), integer_model(path, None, CompileOptions()).integer
    quant = graph.quant("image")
    halves = np.random.default_rng(0).integers(-32768, 32767, (40, 1, 8, 8, 3)) + 0.5
    exact = 0
    for image in (halves * quant.tensor_scale).astype(np.float32):
        codes = quant.quantize(image)
        assert np.array_equal(codes, micro.run({"image": image})["x"])
        exact += int(np.count_nonzero(codes != replace(quant, in_float32=False).quantize(image)))
    assert exact > 0


def test_a_build_knows_how_float_inputs_become_codes(tmp_path: Path):
    """In its report, in what turns samples into codes, and in the C library."""
    path, options = network(tmp_path / "m.tflite"), CompileOptions(build=False)
    compile_model(path, "host", out=tmp_path / "out", options=options)
    (tensor,) = Report.read(tmp_path / "out").inputs
    quant = integer_model(path, None, CompileOptions()).integer.quant("image")
    image = (np.arange(-96, 96).reshape(1, 8, 8, 3) + 0.5).astype(np.float32)
    image = (image * quant.tensor_scale).astype(np.float32)
    assert tensor.in_float32
    assert np.array_equal(encode(image, tensor), quant.quantize(image))
    header = next((tmp_path / "out").rglob("edgec_m.h")).read_text()
    assert "edgec_quantize_float_s16(" in header


@needs_litert
@pytest.mark.parametrize(
    "name", [*(n for n in CASES if not n.startswith(("dense", "sum"))), *WITHOUT_MICRO]
)
def test_equal_to_the_reference_kernels(name: str, tmp_path: Path):
    """The output; they multiply the scales of fully connected layers in float32.

    They add up codes of int16 in SUM, whatever the scales.
    """
    path = (CASES | WITHOUT_MICRO)[name](tmp_path / "m.tflite")
    graph = integer_model(path, None, CompileOptions()).integer
    for sample in samples(load_file(path)):
        wanted = run_litert(path, sample)["y"]
        if "y" in graph.output_layouts:
            wanted = wanted.transpose(graph.output_layouts["y"])
        found = run_graph(graph, {n: laid_out(graph, n, x) for n, x in sample.items()})
        assert np.array_equal(found["y"].ravel(), wanted.ravel())


@needs_tflm
def test_biases_of_32_bits_are_those_of_64(tmp_path: Path):
    """TensorFlow Lite Micro rounds twice with them, which moves codes by a step."""
    wide = np.array([-400_000, 37, 990_001, -5], np.int64)
    found = []
    for number, biases in enumerate((wide, wide.astype(np.int32))):
        rng = np.random.default_rng(7)
        weights = const(rng.integers(-127, 128, (4, 3, 3, 5)).astype(np.int8), [0.01])
        path = conv(tmp_path / f"{number}.tflite", biases=const(biases), weight=weights)
        micro, graph = Micro(path), integer_model(path, None, CompileOptions()).integer
        (sample, *_) = samples(micro.model)
        codes = {"x": sample["x"].reshape(graph.shape("x"))}
        found.append(run_graph(graph, codes)["y"].astype(int))
        assert np.abs(found[-1] - micro.run(sample)["y"]).max() <= number
    assert np.array_equal(*found)


@pytest.mark.few_cases(10)
@pytest.mark.parametrize("name", [*CASES, *WITHOUT_MICRO])
def test_generated_code_is_equal(name: str, tmp_path: Path):
    """Every tensor of the library on this computer, beside the definition in numpy."""
    path = (CASES | WITHOUT_MICRO)[name](tmp_path / "m.tflite")
    options = CompileOptions(build=False)
    report = compile_model(path, "host", out=tmp_path / "out", options=options).report
    assert [(check.what, check.skipped) for check in report.checks] == [("host", "")]


@pytest.mark.parametrize(
    ("path", "match"),
    [
        (partial(one, op="EXP", x=codes(IMAGE, 0.001), y=codes(IMAGE, 0.001)), "Exp of 16-bit"),
        (
            partial(one, op="LOGISTIC", x=codes(IMAGE, 0.001), y=codes(IMAGE, 0.001)),
            "scale of its output is not 2",
        ),
        (
            partial(
                one,
                op="CONCATENATION",
                x=codes(IMAGE, 0.1),
                y=codes((1, 5, 6, 6), 0.1),
                kind="ConcatenationOptions",
                options={"Axis": 3},
                more={"c": const(np.ones(IMAGE, np.int8), [0.1])},
            ),
            "scale of its operand 'c' is not that",
        ),
        (partial(one, op="QUANTIZE", x=codes(IMAGE, 9e3), y=codes(IMAGE, 1e-3)), "too far apart"),
    ],
)
def test_what_has_no_rule_is_refused_by_name(
    path: Callable[[Path], Path], match: str, tmp_path: Path
):
    with pytest.raises(QuantizationError, match=match):
        integer_model(path(tmp_path / "m.tflite"), None, CompileOptions())


@pytest.mark.parametrize(
    ("path", "match"),
    [
        (partial(one, op="QUANTIZE", x=codes(IMAGE, 0.1, zero=3), y=codes(IMAGE, 0.1)), "is not 0"),
        (partial(dense, biases=coded_bias(3e-4)), "scale of its bias is 0.0003"),
        (partial(matmul, other=const(np.ones((5, 4), np.int8), [0.01])), "int16 by int8"),
        (
            partial(
                one, op="MAXIMUM", x=codes(IMAGE, 0.001), y=codes(IMAGE, 0.001),
                kind="MaximumMinimumOptions",
                more={"c": const(np.array([1237], np.int16), [0.002])},
            ),
            "constant c has another scale",
        ),
        (
            partial(
                reduction, op="SUM", y=codes((1, 1, 1, 1), 0.002), shape=(1, 256, 256, 1)
            ),
            "sums too long",
        ),
    ],
)  # fmt: skip
def test_what_tensorflow_lite_micro_refuses_is_refused_at_import(
    path: Callable[[Path], Path], match: str, tmp_path: Path
):
    with pytest.raises((ImportModelError, QuantizationError), match=match):
        integer_model(path(tmp_path / "m.tflite"), None, CompileOptions())


@needs_tflm
@pytest.mark.parametrize("scale", [2e-5, 4e-5, 0.0])
def test_biases_of_a_fully_connected_layer_are_refused_as_there(scale: float, tmp_path: Path):
    """The scale of a bias may be some hundredths of an output step off."""
    weight = const(np.ones((7, 40), np.int8), [0.02])
    path = dense(tmp_path / "m.tflite", biases=coded_bias(scale), weight=weight)
    try:
        Micro(path)
    except RuntimeError:
        with pytest.raises(ImportModelError, match="scale of its bias"):
            integer_model(path, None, CompileOptions())
        assert scale == 4e-5
    else:
        integer_model(path, None, CompileOptions())
        assert scale != 4e-5


def test_an_int8_file_with_such_biases_has_a_note(tmp_path: Path):
    path = dense(tmp_path / "m.tflite", biases=coded_bias(1.0, np.int32), dtype="int8")
    model = integer_model(path, None, CompileOptions())
    assert any("TensorFlow Lite Micro refuses the file" in note for note in model.notes)
    assert "refuses" in rounding_of(model.integer)


def test_zero_points_of_weights_are_told(tmp_path: Path):
    """LiteRT refuses them in CONV_2D, TensorFlow Lite Micro overlooks them."""
    weight = T((4, 3, 3, 5), np.ones((4, 3, 3, 5), np.int8), "int8", [0.01], [3])
    path = conv(tmp_path / "m.tflite", weight=weight)
    model = integer_model(path, None, CompileOptions())
    assert sum("zero point other than 0" in note for note in model.notes) == 1
    assert "around another code" in rounding_of(model.integer)


def test_edgecs_own_rounding_has_sums_of_32_bits(tmp_path: Path):
    path = conv(tmp_path / "m.tflite")
    own, theirs = (
        integer_model(path, None, CompileOptions(rounding=each)).integer for each in Rounding
    )
    (name,), (y,) = own.inputs, own.outputs
    x = np.random.default_rng(0).integers(-32768, 32768, own.shape(name)).astype(np.int16)
    a, b = (run_graph(graph, {name: x})[graph.outputs[0]] for graph in (own, theirs))
    assert own.quant(y) == theirs.quant(theirs.outputs[0])
    np.testing.assert_allclose(a.astype(int), b.astype(int), atol=1)


def test_with_data_the_report_says_where_accuracy_goes(tmp_path: Path):
    path = conv(tmp_path / "wide.tflite")
    real = integer_model(path, None, CompileOptions())
    (name,) = real.imported.inputs
    rng = np.random.default_rng(3)
    x = rng.normal(0.0, 0.3, (12, *real.imported.shape(name)[1:]))
    found = integer_model(path, {name: x.astype(np.float32)}, CompileOptions()).quantization
    assert (found.source, found.samples) == (CalibrationSource.USER, 12)
    assert {loss.value for loss in found.losses} <= set(real.integer.values)
    assert found.losses
    assert all(layer.sqnr_db > 30.0 for layer in found.layers)
    assert real.quantization.losses == ()
