"""`as_qonnx`: by the definition of QONNX's operators, and to edgec, the same numbers as Q/DQ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from binary_models import network as binary_network
from import_models import N, model_of
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from plane_models import network as plane_network
from pooled_models import save, small_network
from quant_samples import branches, perceptron, residual_network, samples, upsampler

from edgec.base.errors import ConfigError
from edgec.base.options import FewBitsOptions, IntegerOptions, QuantOptions, WeightBits
from edgec.exporters.onnx.export import export_qdq, export_real
from edgec.exporters.onnx.qonnx import DOMAIN, activation_form, as_qonnx, constant_form
from edgec.importers.onnx.importer import import_model
from edgec.interp import run_graph
from edgec.ir.graph import Graph
from edgec.quant import annotate
from edgec.weightpool import narrowed
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(45)
F = np.float32


class Quant(OpRun):
    """As QONNX defines it: limits come before the rounding."""

    op_domain = DOMAIN

    def _run(self, x, scale, zero, bits, signed=None, narrow=None, rounding_mode=None):
        assert rounding_mode == "ROUND"
        assert bits.ndim == 0
        low = -(2 ** (bits - 1)) + narrow if signed else 0
        high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1 - narrow
        codes = np.round(np.clip(x / scale + zero, low, high))
        return (((codes - zero) * scale).astype(F),)


class BipolarQuant(OpRun):
    """As QONNX defines it."""

    op_domain = DOMAIN

    def _run(self, x, scale):
        return ((np.where(x >= 0, 1, -1) * scale).astype(F),)


def computed(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of a model by the definitions of its operators."""
    return ReferenceEvaluator(model, new_ops=[Quant, BipolarQuant]).run(None, feeds)


def copied(model: onnx.ModelProto) -> onnx.ModelProto:
    other = onnx.ModelProto.FromString(model.SerializeToString())
    as_qonnx(other)
    return other


def quantizers(model: onnx.ModelProto) -> list[tuple[object, ...]]:
    """Quantizers of the file: operator, bits, signed, narrow, zero point (of one number)."""
    stored = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    found: list[tuple[object, ...]] = []
    for node in model.graph.node:
        attributes = {a.name: a.i for a in node.attribute}
        if node.op_type == "Quant":
            zero, bits = (float(stored[name]) for name in node.input[2:])
            found.append(("Quant", bits, attributes["signed"], attributes["narrow"], zero))
        elif node.op_type in ("BipolarQuant", "QuantizeLinear", "DequantizeLinear"):
            found.append((node.op_type,))
    return found


def integers(
    model: onnx.ModelProto, path: Path, data: dict[str, np.ndarray] | None = None
) -> Graph:
    onnx.save(model, path)
    return integer_model(path, data, IntegerOptions()).integer


def codes_of(graph: Graph, data: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What the network computes, in codes, for each sample."""
    ((name, x),) = data.items()
    rows = graph.quant(name).quantize(x).reshape(-1, *graph.shape(name))
    return [run_graph(graph, {name: row})[graph.outputs[0]] for row in rows]


def assert_same_graph(a: Graph, b: Graph) -> None:
    """The nodes and all numbers; only names of constants and values may differ."""
    assert [(n.name, n.attrs) for n in a.nodes] == [(n.name, n.attrs) for n in b.nodes]
    assert [v.quant for v in a.values.values()] == [v.quant for v in b.values.values()]
    assert len(a.constants) == len(b.constants)
    for one, other in zip(a.constants.values(), b.constants.values(), strict=True):
        assert one.quant == other.quant
        np.testing.assert_array_equal(one.array, other.array)


def feeds_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    shapes = {
        i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input
    }
    return {name: RNG.normal(size=shape).astype(F) for name, shape in shapes.items()}


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((-128, 127), ("Quant", 8.0, 1, 0, 0.0)),
        ((-127, 127), ("Quant", 8.0, 1, 1, 0.0)),
        ((-64, 63), ("Quant", 7.0, 1, 0, 0.0)),
        ((-31, 31), ("Quant", 6.0, 1, 1, 0.0)),
        ((-16, 15), ("Quant", 5.0, 1, 0, 0.0)),
        ((-8, 7), ("Quant", 4.0, 1, 0, 0.0)),
        ((-7, 7), ("Quant", 4.0, 1, 1, 0.0)),
        ((-4, 3), ("Quant", 3.0, 1, 0, 0.0)),
        ((-3, 3), ("Quant", 3.0, 1, 1, 0.0)),
        ((-2, 1), ("Quant", 2.0, 1, 0, 0.0)),
        ((-1, 1), ("Quant", 2.0, 1, 1, 0.0)),
        ("signs", ("BipolarQuant",)),
    ],
)
@pytest.mark.parametrize("graph", [residual_network(), upsampler(1)], ids=["residual", "up"])
def test_weights(graph, levels, expected, tmp_path):
    """Each width, the scale of each channel: the same numbers by definition, the same integers."""
    model = export_qdq(annotate(graph, samples(graph, 16), QuantOptions())[0])
    count = 0
    for tensor in model.graph.initializer:
        codes = numpy_helper.to_array(tensor)
        if codes.dtype == np.int8 and codes.ndim > 1:
            if levels == "signs":
                found = RNG.choice([-1, 1], codes.shape)
            else:
                found = RNG.integers(levels[0], levels[1] + 1, codes.shape)
                found.flat[:2] = levels
            tensor.CopyFrom(numpy_helper.from_array(found.astype(np.int8), tensor.name))
            count += 1
    new = copied(model)
    kinds = quantizers(new)
    assert kinds.count(expected) >= count > 0
    assert not any("Linear" in str(kind[0]) for kind in kinds)
    feeds = feeds_of(model)
    for a, b in zip(computed(model, feeds), computed(new, feeds), strict=True):
        np.testing.assert_array_equal(a, b)
    assert_same_graph(*(integers(each, tmp_path / "m.onnx") for each in (model, new)))


@pytest.mark.parametrize("graph", [branches(), perceptron()], ids=["branches", "perceptron"])
def test_what_quantize_writes(graph, tmp_path):
    model = export_qdq(annotate(graph, samples(graph, 16), QuantOptions())[0])
    new = copied(model)
    assert not any("Linear" in str(kind[0]) for kind in quantizers(new))
    assert {i.name for i in new.graph.initializer}.isdisjoint(
        {i.name for i in model.graph.initializer if i.data_type != onnx.TensorProto.FLOAT}
        - {name for node in new.graph.node for name in node.input}
    )
    assert_same_graph(*(integers(each, tmp_path / "m.onnx") for each in (model, new)))
    assert new.SerializeToString() == copied(model).SerializeToString()


def layer(low: int, high: int, zero: int, dtype: type, *, scale: float = 0.3) -> onnx.ModelProto:
    """Codes from `low` to `high` between a Clip and a dense layer."""
    whole = np.iinfo(dtype)
    codes, step = dtype(zero), F(scale)
    constants = {"s": step, "z": codes, "w": RNG.integers(-7, 8, (12, 5)).astype(np.int8),
                 "ws": F(0.125), "wz": np.int8(0)}  # fmt: skip
    nodes, x = [], "x"
    if (low, high) != (whole.min, whole.max):
        constants |= {"low": F(low - zero) * step, "high": F(high - zero) * step}
        nodes, x = [N("Clip", ["x", "low", "high"], ["c"])], "c"
    nodes += [
        N("QuantizeLinear", [x, "s", "z"], ["q"]),
        N("DequantizeLinear", ["q", "s", "z"], ["d"]),
        N("DequantizeLinear", ["w", "ws", "wz"], ["wd"]),
        N("MatMul", ["d", "wd"], ["y"]),
    ]
    model = model_of(nodes, {"x": (1, 12)}, constants, opset=20)
    model.graph.output[0].CopyFrom(
        helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (1, 5))
    )
    return model


@pytest.mark.parametrize(
    ("bits", "signed", "narrow"),
    [(1, 0, 0), *((b, s, n) for b in range(2, 9) for s in (0, 1) for n in (0, 1))],
)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_activations(bits, signed, narrow, dtype, tmp_path):
    """Each width with and without sign, wherever the codes of the file lie."""
    low = -(1 << bits - 1) + narrow if signed else 0
    high = (1 << bits - signed) - 1 - narrow * (1 - signed)
    whole = np.iinfo(dtype)
    moved = whole.min - low if low < whole.min or high > whole.max else 0
    model = layer(low + moved, high + moved, moved, dtype)
    new = copied(model)
    assert quantizers(new)[0] == ("Quant", float(bits), signed, narrow, 0.0)
    assert "Clip" not in [n.op_type for n in new.graph.node]
    x = (2 * high * 0.3 * RNG.normal(size=(64, 12))).astype(F)
    x[0] = 0.3 * (RNG.integers(low, high + 1, 12) + F(0.5))  # ties
    (a,), (b,) = (computed(each, {"x": x}) for each in (model, new))
    np.testing.assert_array_equal(a, b)
    first, second = (integers(m, tmp_path / "m.onnx", {"x": x}) for m in (model, new))
    np.testing.assert_array_equal(codes_of(first, {"x": x}), codes_of(second, {"x": x}))


@pytest.mark.parametrize("zero", [-128, -37, -1, 0, 5, 127])
def test_codes_of_a_byte_around_any_number(zero, tmp_path):
    """Those around the least code count from 0 on; the others keep their zero point."""
    model = layer(-128, 127, zero, np.int8)
    new = copied(model)
    wanted = (0, 0, 0.0) if zero == -128 else (1, 0, float(zero))
    assert quantizers(new)[0] == ("Quant", 8.0, *wanted)
    data = {"x": RNG.normal(size=(16, 12)).astype(F)}
    assert_same_graph(*(integers(each, tmp_path / "m.onnx", data) for each in (model, new)))


@pytest.mark.parametrize(
    "change", ["bounds between codes", "read by others too", "an output too", "no such bits"]
)
def test_a_clip_that_says_more_stays(change, tmp_path):
    model = layer(0, 5 if change == "no such bits" else 3, 0, np.int8)
    if change == "bounds between codes":
        (high,) = (t for t in model.graph.initializer if t.name == "high")
        high.CopyFrom(numpy_helper.from_array(F(0.8), "high"))
    elif change == "read by others too":
        model.graph.node.insert(1, N("Neg", ["c"], ["n"]))
        model.graph.output.append(helper.make_tensor_value_info("n", 1, (1, 12)))
    elif change == "an output too":
        model.graph.output.append(helper.make_tensor_value_info("c", 1, (1, 12)))
    new = copied(model)
    assert "Clip" in [n.op_type for n in new.graph.node]
    assert quantizers(new)[0] == ("Quant", 8.0, 1, 0, 0.0)
    feeds = {"x": RNG.normal(size=(64, 12)).astype(F)}
    for a, b in zip(computed(model, feeds), computed(new, feeds), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_clip_beyond_the_codes_of_a_byte_stays():
    """Codes end at 127, before the Clip does."""
    model = layer(-10, 117, 50, np.int8)
    new = copied(model)
    feeds = {"x": RNG.normal(size=(64, 12)).astype(F) * 40}
    for a, b in zip(computed(model, feeds), computed(new, feeds), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("count", ["output", "two readers", "other parameters", "each channel"])
def test_codes_that_are_read_themselves_stay(count):
    model = layer(-128, 127, 0, np.int8)
    if count == "output":
        model.graph.output.append(
            helper.make_tensor_value_info("q", onnx.TensorProto.INT8, (1, 12))
        )
    elif count == "two readers":
        model.graph.node.append(N("DequantizeLinear", ["q", "s", "z"], ["d2"]))
        model.graph.output.append(helper.make_tensor_value_info("d2", 1, (1, 12)))
    elif count == "other parameters":
        model.graph.node[1].input[1] = "ws"
    else:
        steps = numpy_helper.from_array(np.linspace(0.1, 0.4, 12, dtype=F), "s")
        zeros = numpy_helper.from_array(np.zeros(12, np.int8), "z")
        for old, tensor in zip(list(model.graph.initializer)[:2], (steps, zeros), strict=True):
            old.CopyFrom(tensor)
    new = copied(model)
    kinds = [kind[0] for kind in quantizers(new)]
    assert kinds[:2] == ["QuantizeLinear", "DequantizeLinear"]
    assert kinds[2] == "Quant"


@pytest.mark.parametrize(("bias", "stays"), [(2**24, False), (2**24 + 1, True)])
def test_a_bias_that_float32_does_not_hold_stays(bias, stays):
    model = layer(-128, 127, 0, np.int8)
    model.graph.initializer.append(numpy_helper.from_array(np.full(5, bias, np.int32), "b"))
    model.graph.initializer.append(numpy_helper.from_array(np.int32(0), "bz"))
    model.graph.node[-1].output[0] = "sum"
    model.graph.node.extend(
        [N("DequantizeLinear", ["b", "ws", "bz"], ["bd"]), N("Add", ["sum", "bd"], ["y"])]
    )
    expected = ("DequantizeLinear",) if stays else ("Quant", 32.0, 1, 0, 0.0)
    assert quantizers(copied(model))[-1] == expected


def test_a_scale_at_the_end_of_float32_stays():
    model = layer(-128, 127, 0, np.int8)
    (step,) = (t for t in model.graph.initializer if t.name == "ws")
    step.CopyFrom(numpy_helper.from_array(F(3e38), "ws"))
    assert quantizers(copied(model))[-1] == ("DequantizeLinear",)


def test_weights_around_another_number(tmp_path):
    """Codes of uint8 have no sign; signs around another number than 0 are no BipolarQuant."""
    model = layer(-128, 127, 0, np.int8)
    tensors = {t.name: t for t in model.graph.initializer}
    signs = RNG.choice([-1, 1], (12, 5)).astype(np.int8)
    tensors["w"].CopyFrom(numpy_helper.from_array(signs, "w"))
    tensors["wz"].CopyFrom(numpy_helper.from_array(np.int8(1), "wz"))
    assert quantizers(copied(model))[-1] == ("Quant", 2.0, 1, 1, 1.0)
    tensors["w"].CopyFrom(
        numpy_helper.from_array(RNG.integers(0, 16, (12, 5)).astype(np.uint8), "w")
    )
    tensors["wz"].CopyFrom(numpy_helper.from_array(np.uint8(8), "wz"))
    new = copied(model)
    assert quantizers(new)[-1] == ("Quant", 4.0, 0, 0, 8.0)
    data = {"x": RNG.normal(size=(16, 12)).astype(F)}
    assert_same_graph(*(integers(each, tmp_path / "m.onnx", data) for each in (model, new)))


@pytest.mark.parametrize("bits", list(WeightBits))
@pytest.mark.parametrize("activations", [1, 2, 3, 5, 8])
def test_networks_of_compress(bits, activations, tmp_path):
    graph = import_model(save(small_network(), tmp_path / "small.onnx"))
    data = {"x": RNG.normal(size=(8, *graph.shape("x")[1:])).astype(F)}
    small = narrowed(graph, data, FewBitsOptions(bits, activation_bits=activations))
    model = export_real(small, model_layout=True)
    new = copied(model)
    narrow = int(bits is WeightBits.TERNARY)
    width = {"4": 4.0, "3": 3.0, "2": 2.0, "ternary": 2.0}[bits.value]
    expected = [("Quant", width, 1, narrow, 0.0)] * 3
    if activations < 8:
        expected += [("Quant", float(activations), 0, 0, 0.0)] * 3
    assert sorted(quantizers(new)) == sorted(expected)
    feeds = feeds_of(model)
    np.testing.assert_array_equal(*(computed(each, feeds)[0] for each in (model, new)))
    first, second = (integers(m, tmp_path / "m.onnx", data) for m in (model, new))
    np.testing.assert_array_equal(codes_of(first, data), codes_of(second, data))


@pytest.mark.parametrize(("weight_bits", "bits"), [(1, 1), (1, 2), (2, 2), (3, 3), (4, 4)])
def test_networks_of_bit_planes(weight_bits, bits, tmp_path):
    """A QONNX file, quantized, written as QONNX and read again."""
    model = import_again(plane_network(tmp_path / "planes.onnx", weight_bits, bits, width=8))
    new = copied(model)
    assert ("Quant", float(bits), 0, 0, 0.0) in quantizers(new)
    assert_same_graph(*(integers(each, tmp_path / "m.onnx") for each in (model, new)))


def test_networks_of_signs(tmp_path):
    """Weights are signs in the file, though their codes are not."""
    model = import_again(binary_network(tmp_path / "binary.onnx"))
    new = copied(model)
    assert quantizers(new).count(("BipolarQuant",)) >= 4
    feeds = feeds_of(model)
    np.testing.assert_array_equal(*(computed(each, feeds)[0] for each in (model, new)))
    assert_same_graph(*(integers(each, tmp_path / "m.onnx") for each in (model, new)))


def import_again(path: Path) -> onnx.ModelProto:
    """The Q/DQ file that `edgec quantize` writes of a file."""
    built = integer_model(path, None, IntegerOptions())
    assert built.annotated is not None
    return export_qdq(built.annotated)


def test_a_loop_that_quantizes_is_refused():
    model = layer(-128, 127, 0, np.int8)
    body = helper.make_graph(
        [N("QuantizeLinear", ["r", "s", "z"], ["rq"]),
         N("DequantizeLinear", ["rq", "s", "z"], ["rd"])],
        "body",
        [helper.make_tensor_value_info("r", 1, (5,))],
        [helper.make_tensor_value_info("rd", 1, (5,))],
    )  # fmt: skip
    model.graph.node[-1].output[0] = "rows"
    model.graph.node.append(N("Scan", ["rows"], ["y"], body=body, num_scan_inputs=1))
    onnx.checker.check_model(model)
    with pytest.raises(ConfigError, match="within a loop of the network are quantized"):
        as_qonnx(model)


def test_a_file_without_quantized_tensors_is_refused():
    model = model_of([N("Neg", ["x"], ["y"])], {"x": (1, 4)})
    with pytest.raises(ConfigError, match="no quantized tensor"):
        as_qonnx(model)


def test_forms_hold_their_codes():
    """For all limits: the form has just these numbers, and the same distance from the zero."""
    for low in range(-9, 10):
        for high in range(low, 20):
            for zero in (-9, low, 0, high):
                form = activation_form(low, high, zero)
                if form is not None:
                    assert form.limits == (low + form.moved, high + form.moved)
                    assert form.bits >= (2 if form.signed or form.narrow else 1)


@pytest.mark.parametrize("low", range(-128, 0))
def test_the_fewest_bits(low):
    form = constant_form(np.array([low, 0], np.int8), around_zero=True)
    assert form.limits[0] <= low
    assert form.bits == 2 or low < -(1 << form.bits - 2)
