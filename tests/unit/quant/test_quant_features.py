"""A scale for each feature of a tabular input: accuracy, the C library, files that say so."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from c_programs import Build, run_program
from import_models import N, model_of, save

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.commands.compile import compile_model
from edgec.exporters.onnx.export import export_qdq
from edgec.floatrun.float_model import FloatModel
from edgec.interp import run_graph_batch
from edgec.ir.qparams import QuantParams
from edgec.workflow.codes import encode
from edgec.workflow.integer import IntegerModel, graph_side, integer_model

RNG = np.random.default_rng(5)
UNITS = np.asarray([1.0, 0.01, 900.0, 30.0, 0.5, 4000.0])
OFFSETS = np.asarray([0.0, 5.0, -300.0, 1e4, -2.0, 100.0])
SAMPLES = (RNG.normal(size=(300, 6)) * UNITS + OFFSETS).astype(np.float32)
WEIGHTS = {
    "mean": OFFSETS.astype(np.float32),
    "deviation": UNITS.astype(np.float32),
    "w": RNG.normal(size=(6, 16)).astype(np.float32),
    "b": RNG.normal(size=16).astype(np.float32),
    "v": RNG.normal(size=(16, 3)).astype(np.float32),
}
LAYERS = [
    N("MatMul", ["z", "w"], ["h"]),
    N("Add", ["h", "b"], ["hb"]),
    N("Relu", ["hb"], ["r"]),
    N("MatMul", ["r", "v"], ["y"]),
]


def scaled_network(*first: onnx.NodeProto) -> onnx.ModelProto:
    """Operators on features, then two layers."""
    return model_of([*first, *LAYERS], {"x": [1, 6]}, WEIGHTS)


STANDARD = scaled_network(
    N("Sub", ["x", "mean"], ["c"]),
    N("Div", ["c", "deviation"], ["z"]),
)
"""What a StandardScaler and a small perceptron are."""


def raw_network() -> onnx.ModelProto:
    """The same network, whose first layer holds the scaler already."""
    model = scaled_network(N("Identity", ["x"], ["z"]))
    folded = WEIGHTS["w"] / WEIGHTS["deviation"][:, None]
    bias = WEIGHTS["b"] - WEIGHTS["mean"] @ folded
    for tensor in model.graph.initializer:
        found = {"w": folded, "b": bias}.get(tensor.name)
        if found is not None:
            tensor.CopyFrom(onnx.numpy_helper.from_array(found.astype(np.float32), tensor.name))
    return model


def compiled(model: onnx.ModelProto, folder: Path) -> IntegerModel:
    return integer_model(save(model, folder), {"x": SAMPLES}, CompileOptions())


def decibels(model: IntegerModel, wanted: Array) -> float:
    """Signal to noise of the output on all samples."""
    integer, (name,) = model.integer, model.integer.outputs
    real = graph_side(model.imported, integer, {"x": SAMPLES})
    codes = {"x": integer.quant("x").quantize(real["x"])}
    found = integer.quant(name).dequantize(run_graph_batch(integer, codes)[name])
    return float(10 * np.log10(np.sum(wanted**2) / np.sum((found - wanted) ** 2)))


@pytest.mark.parametrize("model", [STANDARD, raw_network()], ids=["scaler", "raw"])
def test_features_of_all_units_are_seen(tmp_path: Path, model: onnx.ModelProto) -> None:
    found = compiled(model, tmp_path)
    wanted = np.concatenate([FloatModel(model).run({"x": row[None]})["y"] for row in SAMPLES])
    assert decibels(found, wanted) > 33.0
    # What is done to features is part of the first layer.
    assert [node.op for node in found.integer.nodes] == ["QGemm", "QGemm"]


def test_features_of_one_unit_share_a_scale(tmp_path: Path) -> None:
    model = scaled_network(N("Identity", ["x"], ["z"]))
    even = {"x": RNG.normal(size=(100, 6)).astype(np.float32)}
    found = integer_model(save(model, tmp_path), even, CompileOptions())
    assert not found.integer.input_features


def test_few_samples_show_no_units(tmp_path: Path) -> None:
    """Each feature shows a part of its range only; a scale of that would cut the rest off."""
    rows = np.random.default_rng(3).laplace(size=(4, 6)).astype(np.float32)
    rows[0, 0] = 4.5 * np.median(np.ptp(rows, axis=0))
    model = scaled_network(N("Identity", ["x"], ["z"]))
    found = integer_model(save(model, tmp_path), {"x": rows}, CompileOptions())
    assert not found.integer.input_features


def test_a_scaler_without_data_gives_the_ranges(tmp_path: Path) -> None:
    found = integer_model(save(STANDARD, tmp_path), None, CompileOptions())
    params = found.integer.input_features["x"]
    np.testing.assert_allclose(np.asarray(params.scale) * 255, 2 * UNITS, rtol=1e-5)


MOVED = {
    "alone": [N("Mul", ["x", "deviation"], ["y"])],
    "reshaped": [
        N("Mul", ["x", "deviation"], ["z"]),
        N("Reshape", ["z", "image"], ["i"]),
        N("Relu", ["i"], ["y"]),
    ],
    "columns": [
        N("Split", ["x"], ["a", "b"], axis=1),
        N("Mul", ["a", "three"], ["s"]),
        N("Add", ["s", "b"], ["y"]),
    ],
    "input": [N("Mul", ["x", "deviation"], ["z"]), N("MatMul", ["z", "w"], ["y"])],
}


@pytest.mark.parametrize("name", MOVED)
def test_codes_of_features_are_no_pins_of_the_model(tmp_path: Path, name: str) -> None:
    """Without data, where what only moves the features' codes has them, too."""
    constants = {
        "deviation": WEIGHTS["deviation"],
        "w": WEIGHTS["w"],
        "image": np.asarray([1, 1, 2, 3]),
        "three": np.full(3, 3.0, np.float32),
    }
    model = model_of(MOVED[name], {"x": [1, 6]}, constants)
    found = integer_model(save(model, tmp_path), None, CompileOptions())
    assert "y" in found.integer.outputs


def test_a_feature_that_never_changes(tmp_path: Path) -> None:
    samples = SAMPLES.copy()
    samples[:, 1], samples[:, 2] = 0.0, 7.0
    found = integer_model(save(STANDARD, tmp_path), {"x": samples}, CompileOptions())
    params = found.integer.input_features["x"]
    codes = params.quantize(samples).astype(np.int64) - np.asarray(params.zero_point)
    error = np.abs(codes * np.asarray(params.scale) - samples)
    assert np.all(error <= np.asarray(params.scale) * 0.51)


def test_the_exported_file_has_the_same_codes(tmp_path: Path) -> None:
    first = compiled(STANDARD, tmp_path)
    assert first.annotated is not None
    path = save(export_qdq(first.annotated), tmp_path, "quantized.onnx")
    again = integer_model(path, None, CompileOptions())
    assert [node.op for node in again.integer.nodes] == ["QGemm", "QGemm"]
    ours, theirs = first.integer.input_features["x"], again.integer.input_features["x"]
    np.testing.assert_allclose(ours.scale, theirs.scale, rtol=1e-6)
    assert ours.zero_point == theirs.zero_point
    codes = {"x": RNG.integers(-128, 128, (64, 6)).astype(np.int8)}
    outputs = [
        run_graph_batch(graph, codes)[graph.outputs[0]] for graph in (first.integer, again.integer)
    ]
    np.testing.assert_array_equal(*outputs)


def test_steps_have_the_codes_of_the_features() -> None:
    params = QuantParams.per_feature(UNITS / 100, -OFFSETS, axis=1)
    codes = RNG.integers(-128, 128, (50, 6)).astype(np.int8)
    real = params.dequantize(codes)
    np.testing.assert_array_equal(params.quantize(real), codes)
    np.testing.assert_allclose(params.from_steps(params.in_steps(real)), real, rtol=1e-5, atol=1e-3)


PROGRAM = """
#include <stdio.h>
#include "edgec_model.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 1;
    }
    FILE *in = fopen(argv[1], "rb");
    FILE *out = fopen(argv[2], "wb");
    if (in == NULL || out == NULL) {
        return 1;
    }
    float features[6];
    static _Alignas(EDGEC_ARENA_ALIGNMENT) uint8_t arena[EDGEC_MODEL_ARENA_BYTES];
    edgec_context_t context;
    if (edgec_model_init(&context, arena, sizeof arena) != EDGEC_OK) {
        return 1;
    }
    while (fread(features, sizeof features, 1, in) == 1) {
        if (edgec_model_quantize(&context, features) != EDGEC_OK ||
            fwrite(edgec_model_input(&context, 0), 6, 1, out) != 1) {
            return 1;
        }
    }
    return fclose(in) + fclose(out);
}
"""


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_c_encodes_as_edgec_does(tmp_path: Path, compiler: str) -> None:
    result = compile_model(
        save(STANDARD, tmp_path), "host", calibration={"x": SAMPLES}, out=tmp_path / "build"
    )
    (tensor,) = result.report.inputs
    assert len(tensor.feature_scales) == 6
    extreme = np.asarray([np.inf, -np.inf, 3e38, -3e38, 0.0, 1e-40, np.nan], np.float32)
    values = np.concatenate([SAMPLES, SAMPLES * 3, np.tile(extreme[:, None], 6)]).astype(np.float32)
    (tmp_path / "in").write_bytes(values.tobytes())
    (tmp_path / "main.c").write_text(PROGRAM)
    include = tmp_path / "build" / "library" / "include"
    sources = [tmp_path / "main.c", *sorted((tmp_path / "build" / "library").glob("src/*.c"))]
    program = Build(compiler, ("-O2",)).compile(sources, [include], tmp_path / "program")
    run_program(program, tmp_path / "in", tmp_path / "out")
    found = np.frombuffer((tmp_path / "out").read_bytes(), np.int8).reshape(values.shape)
    known = np.where(np.isnan(values), np.float32(0), values)
    np.testing.assert_array_equal(found, encode(known, tensor))
