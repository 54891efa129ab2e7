"""`store_narrow`: weights of few bits in INT4 and INT2; every reader of the file sees the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from pooled_models import save, small_network
from quant_samples import residual_network, samples, upsampler

from edgec.base.errors import ConfigError
from edgec.base.options import FewBitsOptions, IntegerOptions, QuantOptions, WeightBits, WeightTypes
from edgec.exporters.onnx import few_bits
from edgec.exporters.onnx.export import export_qdq, export_real
from edgec.exporters.onnx.few_bits import check_weight_types, store_narrow
from edgec.floatrun.float_model import FloatModel
from edgec.importers.onnx.importer import import_model
from edgec.ir.graph import Graph
from edgec.quant import annotate
from edgec.weightpool import narrowed
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(8)
INT8, INT4, INT2 = (onnx.TensorProto.INT8, onnx.TensorProto.INT4, 26)
NARROW = pytest.mark.parametrize(
    "types",
    [
        WeightTypes.INT4,
        pytest.param(
            WeightTypes.INT2,
            marks=pytest.mark.skipif(
                onnx.defs.onnx_opset_version() < 25, reason="this onnx knows no INT2"
            ),
        ),
    ],
)


def coarse(graph: Graph, levels: tuple[int, int]) -> onnx.ModelProto:
    """A QDQ model whose weights of layers are numbers within `levels`, which all occur."""
    data = samples(graph, 16)
    model = export_qdq(annotate(graph, data, QuantOptions())[0])
    for tensor in model.graph.initializer:
        codes = onnx.numpy_helper.to_array(tensor)
        if codes.dtype == np.int8 and codes.ndim > 1:
            found = RNG.integers(levels[0], levels[1] + 1, codes.shape).astype(np.int8)
            found.flat[:2] = levels
            tensor.CopyFrom(onnx.numpy_helper.from_array(found, tensor.name))
    return model


def types_of(model: onnx.ModelProto) -> list[int]:
    """Element types of the weights, in the order of the file."""
    return [t.data_type for t in model.graph.initializer if len(t.dims) > 1]


def copied(model: onnx.ModelProto, types: WeightTypes) -> onnx.ModelProto:
    narrow = onnx.ModelProto.FromString(model.SerializeToString())
    store_narrow(narrow, types)
    return narrow


@NARROW
@pytest.mark.parametrize("levels", [(-8, 7), (-2, 1), (-1, 1), (-8, 8), (-3, 1)])
@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize(
    "graph", [residual_network(), upsampler(1), upsampler(2)], ids=["residual", "up", "grouped"]
)
def test_onnxruntime_computes_the_same(graph, levels, optimize, types):
    """It loads the file, optimized and as it stands, and gives the numbers of the int8 file."""
    model = coarse(graph, levels)
    narrow = copied(model, types)
    data = samples(graph, 4)
    before, after = (FloatModel(each, optimize=optimize).run(data) for each in (model, narrow))
    for name, values in before.items():
        np.testing.assert_array_equal(after[name], values)


@NARROW
def test_types_and_versions(types):
    """Layers of quantized activations have at least 4 bits."""
    model = coarse(residual_network(), (-2, 1))
    narrow = copied(model, types)
    assert types_of(model) == [INT8] * 4
    assert types_of(narrow) == [INT4] * 4
    assert (narrow.opset_import[0].version, narrow.ir_version) == (21, 10)
    for tensor in narrow.graph.initializer:
        if len(tensor.dims) > 1:
            assert len(tensor.raw_data) == -(-np.prod(tensor.dims) // 2)


@NARROW
def test_codes_that_do_not_fit_change_nothing(types):
    model = coarse(residual_network(), (-9, 7))
    assert copied(model, types).SerializeToString() == model.SerializeToString()


def test_int8_changes_nothing():
    model = coarse(residual_network(), (-2, 1))
    assert copied(model, WeightTypes.INT8).SerializeToString() == model.SerializeToString()


@NARROW
@pytest.mark.parametrize("levels", [(-8, 7), (-2, 1)])
def test_a_compile_makes_the_same_integers(levels, types, tmp_path: Path):
    model = coarse(residual_network(), levels)
    found = []
    for name, each in (("wide", model), ("narrow", copied(model, types))):
        path = tmp_path / f"{name}.onnx"
        onnx.save(each, path)
        found.append(integer_model(path, None, IntegerOptions()).integer)
    assert_same_graph(*found)


def assert_same_graph(a: Graph, b: Graph) -> None:
    assert [(n.name, n.attrs, n.inputs) for n in a.nodes] == [
        (n.name, n.attrs, n.inputs) for n in b.nodes
    ]
    assert list(a.constants) == list(b.constants)
    for name, constant in a.constants.items():
        assert constant.quant == b.constants[name].quant
        np.testing.assert_array_equal(constant.array, b.constants[name].array)


@NARROW
@pytest.mark.parametrize("bits", list(WeightBits))
def test_float_activations(bits, types, tmp_path: Path):
    """Weights of `compress --bits`, whose activations are floats: convolutions of 2 bits, too."""
    graph = import_model(save(small_network(), tmp_path / "small.onnx"))
    data = {"x": RNG.normal(size=(8, *graph.shape("x")[1:])).astype(np.float32)}
    small = narrowed(graph, data, FewBitsOptions(bits))
    model = export_real(small, model_layout=True)
    narrow = copied(model, types)
    two = types is WeightTypes.INT2 and bits in (WeightBits.TWO, WeightBits.TERNARY)
    assert types_of(narrow).count(INT2 if two else INT4) == 3
    versions = (narrow.opset_import[0].version, narrow.ir_version)
    assert versions == ((25, 13) if two else (21, 10))
    runs = [FloatModel(each, optimize=o) for o in (False, True) for each in (model, narrow)]
    feed = {info.name: np.ones([d.dim_value for d in info.type.tensor_type.shape.dim], np.float32)
            for info in model.graph.input}  # fmt: skip
    first, *others = (run.run(feed) for run in runs)
    for other in others:
        for name, values in first.items():
            np.testing.assert_allclose(other[name], values, rtol=1e-4, atol=1e-5)
    onnx.save(narrow, tmp_path / "narrow.onnx")
    onnx.save(model, tmp_path / "wide.onnx")
    assert_same_graph(*(import_model(tmp_path / f"{n}.onnx") for n in ("wide", "narrow")))


def test_an_onnx_that_knows_no_such_type(monkeypatch):
    monkeypatch.setattr(few_bits.onnx.defs, "onnx_opset_version", lambda: 24)
    check_weight_types(WeightTypes.INT4, quantized=True)
    with pytest.raises(ConfigError, match="knows no such elements"):
        check_weight_types(WeightTypes.INT2, quantized=False)


def test_two_bits_between_quantized_activations_are_refused():
    with pytest.raises(ConfigError, match="onnxruntime does not load"):
        check_weight_types(WeightTypes.INT2, quantized=True)
