"""Windows of features in units of their own: a scale for each, wherever the axis of features is."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from c_programs import Build, run_program
from import_models import N, model_of, save

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, IntegerOptions, Precision, QuantOptions
from edgec.commands.compile import compile_model
from edgec.exporters.onnx.export import export_qdq
from edgec.floatrun.float_model import FloatModel
from edgec.importers.formats import import_model
from edgec.interp import run_graph_batch
from edgec.passes import REAL_PASSES, run_passes
from edgec.quant import quantize
from edgec.workflow.codes import encode
from edgec.workflow.integer import IntegerModel, graph_side, integer_model

RNG = np.random.default_rng(6)
MEAN = np.asarray([20.0, 101325.0, 5e4, 1e-3])
DEVIATION = np.asarray([5.0, 300.0, 3e4, 2e-3])
STEPS = 20
WINDOWS = (RNG.normal(size=(220, STEPS, 4)) * DEVIATION + MEAN).astype(np.float32)
"""[N, T, F]"""
FRESH = 120
WEIGHTS = {
    "w": (RNG.normal(size=(8, 4, 5)) * 0.3).astype(np.float32),
    "v": RNG.normal(size=(8, 3)).astype(np.float32),
    "flat": (RNG.normal(size=(4 * STEPS, 3)) * 0.1).astype(np.float32),
}
NORMALIZED = [N("Sub", ["x", "mean"], ["a"]), N("Mul", ["a", "factor"], ["b"])]
MEANS = [
    N("Relu", ["c"], ["d"]),
    N("GlobalAveragePool", ["d"], ["g"]),
    N("Flatten", ["g"], ["f"]),
    N("Gemm", ["f", "v"], ["y"]),
]
CONVOLUTION = [N("Conv", ["b", "w"], ["c"]), *MEANS]
PADDED = [N("Conv", ["b", "w"], ["c"], pads=[2, 2]), *MEANS]
TURNED = [N("Transpose", ["b"], ["t"], perm=[0, 2, 1]), N("Conv", ["t", "w"], ["c"]), *MEANS]
FLAT = [N("Flatten", ["b"], ["f"]), N("Gemm", ["f", "flat"], ["y"])]


def network(layers: list[onnx.NodeProto], axis: int) -> onnx.ModelProto:
    """Layers after a normalization of features, which `axis` of the input counts."""
    shape = [1, 4, STEPS] if axis == 1 else [1, STEPS, 4]
    own = (4, 1) if axis == 1 else (4,)
    numbers = {"mean": MEAN.reshape(own), "factor": (1 / DEVIATION).reshape(own)}
    constants = {name: array.astype(np.float32) for name, array in numbers.items()}
    return model_of([*NORMALIZED, *layers], {"x": shape}, {**WEIGHTS, **constants})


def windows(axis: int) -> Array:
    return WINDOWS.transpose(0, 2, 1).copy() if axis == 1 else WINDOWS


def decibels(found: IntegerModel, model: onnx.ModelProto, samples: Array) -> float:
    """Signal to noise at the output on samples [N, ...] of the model."""
    real = graph_side(found.imported, found.integer, {"x": samples})
    codes = {"x": found.integer.quant("x").quantize(real["x"])}
    (name,) = found.integer.outputs
    result = run_graph_batch(found.integer, codes)[name]
    wanted = np.concatenate([FloatModel(model).run({"x": row[None]})["y"] for row in samples])
    gap = found.integer.quant(name).dequantize(result).reshape(wanted.shape) - wanted
    return float(10 * np.log10(np.sum(wanted**2) / np.sum(gap**2)))


@pytest.mark.parametrize(
    ("layers", "axis"),
    [(CONVOLUTION, 1), (PADDED, 1), (TURNED, 2), (FLAT, 1), (FLAT, 2)],
    ids=["convolution", "padded", "turned", "flat", "flat by time"],
)
def test_all_features_of_a_window_are_seen(
    tmp_path: Path, layers: list[onnx.NodeProto], axis: int
) -> None:
    model, data = network(layers, axis), windows(axis)
    found = integer_model(save(model, tmp_path), {"x": data[FRESH:]}, CompileOptions())
    assert decibels(found, model, data[:FRESH]) > 24.0
    # What is done to features is part of the first layer.
    operators = [node.op for node in found.integer.nodes]
    assert "QMul" not in operators and "QAdd" not in operators and "QDepthwise" not in operators
    assert operators.count("QConv") + operators.count("QGemm") <= 2


def test_features_of_a_window_that_no_layer_reads_first(tmp_path: Path) -> None:
    model = network([N("Tanh", ["b"], ["t"]), *[N("Flatten", ["t"], ["f"]), FLAT[1]]], 1)
    data = windows(1)
    found = integer_model(save(model, tmp_path), {"x": data[FRESH:]}, CompileOptions())
    assert found.integer.input_features
    assert decibels(found, model, data[:FRESH]) > 23.0


def test_windows_of_one_unit_have_one_scale(tmp_path: Path) -> None:
    model = network(CONVOLUTION, 1)
    even = RNG.normal(size=(100, 4, STEPS)).astype(np.float32)
    found = integer_model(save(model, tmp_path), {"x": even}, CompileOptions())
    assert not found.integer.input_features


@pytest.mark.parametrize("layers", [CONVOLUTION, PADDED, FLAT], ids=["conv", "padded", "flat"])
def test_the_exported_file_has_the_same_codes(tmp_path: Path, layers: list[onnx.NodeProto]) -> None:
    first = integer_model(save(network(layers, 1), tmp_path), {"x": windows(1)}, CompileOptions())
    assert first.annotated is not None
    again = integer_model(
        save(export_qdq(first.annotated), tmp_path, "quantized.onnx"), None, CompileOptions()
    )
    ours, theirs = first.integer.input_features["x"], again.integer.input_features["x"]
    np.testing.assert_allclose(ours.scale, theirs.scale, rtol=1e-6)
    assert ours.zero_point == theirs.zero_point
    codes = {"x": RNG.integers(-128, 128, (32, *first.integer.shape("x")[1:])).astype(np.int8)}
    outputs = [
        run_graph_batch(graph, codes)[graph.outputs[0]] for graph in (first.integer, again.integer)
    ]
    np.testing.assert_array_equal(*outputs)


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
    static float window[EDGEC_MODEL_INPUT_0_ELEMENTS];
    static _Alignas(EDGEC_ARENA_ALIGNMENT) uint8_t arena[EDGEC_MODEL_ARENA_BYTES];
    edgec_context_t context;
    if (edgec_model_init(&context, arena, sizeof arena) != EDGEC_OK) {
        return 1;
    }
    while (fread(window, sizeof window, 1, in) == 1) {
        if (edgec_model_quantize(&context, window) != EDGEC_OK ||
            fwrite(edgec_model_input(&context, 0), EDGEC_MODEL_INPUT_0_ELEMENTS, 1, out) != 1) {
            return 1;
        }
    }
    return fclose(in) + fclose(out);
}
"""


@pytest.mark.parametrize("layers", [CONVOLUTION, FLAT], ids=["last axis", "first axis"])
def test_c_encodes_windows_as_edgec_does(tmp_path: Path, layers: list[onnx.NodeProto]) -> None:
    data = windows(1)
    result = compile_model(
        save(network(layers, 1), tmp_path), "host", calibration={"x": data}, out=tmp_path / "build"
    )
    (tensor,) = result.report.inputs
    moved = data.transpose(tensor.layout) if tensor.layout else data
    (tmp_path / "in").write_bytes(np.ascontiguousarray(moved * 2).tobytes())
    (tmp_path / "main.c").write_text(PROGRAM)
    include = tmp_path / "build" / "library" / "include"
    sources = [tmp_path / "main.c", *sorted((tmp_path / "build" / "library").glob("src/*.c"))]
    program = Build("gcc", ("-O2",)).compile(sources, [include], tmp_path / "program")
    run_program(program, tmp_path / "in", tmp_path / "out")
    found = np.frombuffer((tmp_path / "out").read_bytes(), np.int8).reshape(moved.shape)
    np.testing.assert_array_equal(found, encode(data * 2, tensor))


@pytest.mark.parametrize("precision", [Precision.INT16, Precision.AUTO])
def test_int16_codes_never_lose_to_int8(tmp_path: Path, precision: Precision) -> None:
    """One scale for all features: what int16 codes leave of the error no bias makes up for."""
    data = windows(1)[FRESH:]
    imported = import_model(save(network(CONVOLUTION, 1), tmp_path))
    graph = run_passes(imported, REAL_PASSES).graph
    moved = graph_side(imported, graph, {"x": data})
    found = quantize(graph, moved, IntegerOptions(quant=QuantOptions(precision=precision)))
    report = found.report.precision
    assert report is not None
    assert report.output_db >= report.int8_db
    if report.int16_db < report.int8_db:
        assert not report.tensors
        assert any("int8 codes alone less is lost" in note for note in found.notes)
