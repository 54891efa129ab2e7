"""Quantizers of any bits: QONNX's nodes, and the QCDQ form with a Clip of the codes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from import_models import N, imported, model_of, run, save
from onnx import TensorProto, helper

from edgec.base.dtypes import DType
from edgec.base.errors import ImportModelError, UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(3)
DOMAIN = "qonnx.custom_op.general"
F = np.float32


def definition(
    x: np.ndarray, scale: np.ndarray, zero: np.ndarray, bits: int, signed: int, narrow: int
) -> np.ndarray:
    """Quant as QONNX defines it."""
    low = (-(2 ** (bits - 1)) + narrow) if signed else 0
    high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1 - narrow
    return (np.round(np.clip(x / scale + zero, low, high)) - zero) * scale


def quantizer(source: str, target: str, name: str, **attributes) -> onnx.NodeProto:
    inputs = [source, f"{name}s", f"{name}z", f"{name}b"]
    return N("Quant", inputs, [target], domain=DOMAIN, rounding_mode="ROUND", **attributes)


def qonnx_model(nodes: list, inputs: dict, constants: dict) -> onnx.ModelProto:
    model = model_of(nodes, inputs, constants)
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return model


@pytest.mark.parametrize("bits", [2, 4, 7, 8])
@pytest.mark.parametrize(("signed", "narrow"), [(1, 0), (1, 1), (0, 0), (0, 1)])
def test_activations(bits, signed, narrow, tmp_path):
    zero = F(0 if signed else min(3, 2**bits - 2))
    constants = {"as": F(0.25), "az": zero, "ab": F(bits)}
    model = qonnx_model(
        [quantizer("x", "y", "a", signed=signed, narrow=narrow)], {"x": (1, 40)}, constants
    )
    graph = imported(model, tmp_path)
    x = (20 * RNG.normal(size=(1, 1, 40))).astype(F)
    found = Executor(graph, ["y"]).run({"x": x})["y"]
    np.testing.assert_allclose(found, definition(x, F(0.25), zero, bits, signed, narrow))


@pytest.mark.parametrize("bits", [2, 3, 8])
@pytest.mark.parametrize("per_channel", [True, False])
def test_weights_become_codes(bits, per_channel, tmp_path):
    """A bias of 16 bits among them; each number of the network is the quantized one."""
    weight, bias = RNG.normal(size=(4, 3, 3, 3)).astype(F), RNG.normal(size=4).astype(F)
    scale = np.linspace(0.1, 0.4, 4, dtype=F).reshape(4, 1, 1, 1) if per_channel else F(0.3)
    constants = {
        "w": weight, "ws": scale, "wz": F(0), "wb": F(bits),
        "b": bias, "bs": F(0.001), "bz": F(0), "bb": F(16),
    }  # fmt: skip
    nodes = [
        quantizer("w", "wq", "w", signed=1, narrow=1),
        quantizer("b", "bq", "b", signed=1, narrow=0),
        N("Conv", ["x", "wq", "bq"], ["y"]),
    ]
    graph = imported(qonnx_model(nodes, {"x": (1, 3, 6, 6)}, constants), tmp_path)
    stored = {c.dtype: c for c in graph.constants.values()}
    assert set(stored) == {DType.INT8, DType.INT32}
    wanted = definition(weight, scale, F(0), bits, 1, 1).transpose(0, 2, 3, 1)
    np.testing.assert_allclose(stored[DType.INT8].real(), wanted, rtol=1e-6)
    np.testing.assert_allclose(
        stored[DType.INT32].real(), definition(bias, F(0.001), F(0), 16, 1, 0), rtol=1e-6
    )


def test_signs(tmp_path):
    constants = {"w": RNG.normal(size=(6, 5)).astype(F), "s": F(0.5), "t": F(0.25)}
    nodes = [
        N("BipolarQuant", ["w", "s"], ["wq"], domain=DOMAIN),
        N("BipolarQuant", ["x", "t"], ["xq"], domain=DOMAIN),
        N("MatMul", ["xq", "wq"], ["y"]),
    ]
    graph = imported(qonnx_model(nodes, {"x": (1, 6)}, constants), tmp_path)
    x = RNG.normal(size=(1, 1, 6)).astype(F)
    x[0, 0, 2] = 0.0
    found = Executor(graph, ["y"]).run({"x": x})["y"]
    signs = (np.where(a >= 0, 1.0, -1.0) for a in (x, constants["w"]))
    np.testing.assert_allclose(found, 0.125 * np.matmul(*signs), rtol=1e-6)


def test_signs_with_a_scale_for_each_channel(tmp_path):
    scale = np.linspace(0.1, 0.6, 6, dtype=F).reshape(6, 1, 1, 1)
    weight = RNG.normal(size=(6, 3, 3, 3)).astype(F)
    nodes = [N("BipolarQuant", ["w", "s"], ["wq"], domain=DOMAIN), N("Conv", ["x", "wq"], ["y"])]
    model = qonnx_model(nodes, {"x": (1, 3, 6, 6)}, {"w": weight, "s": scale})
    graph = imported(model, tmp_path)
    (stored,) = graph.constants.values()
    signs = np.where(weight >= 0, 1, -1)
    np.testing.assert_array_equal(stored.array, signs.transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(stored.real(), (signs * scale).transpose(0, 2, 3, 1))


@pytest.mark.parametrize(
    ("source", "scale"),
    [
        ("x", np.full((1, 6), 0.5, F)),
        ("w", np.full((6, 5), 0.5, F)),
        ("w", np.full(6, 0.5, F)),
        ("w", np.zeros(0, F)),
    ],
)
def test_scales_of_signs_that_fit_nothing_are_refused_in_words(source, scale, tmp_path):
    """Activations have one scale; weights one, or one a channel."""
    constants = {"w": RNG.normal(size=(6, 5)).astype(F), "s": scale}
    inputs = ["q", "w"] if source == "x" else ["x", "q"]
    nodes = [N("BipolarQuant", [source, "s"], ["q"], domain=DOMAIN), N("MatMul", inputs, ["y"])]
    with pytest.raises(UnsupportedModelError, match="BipolarQuant"):
        imported(qonnx_model(nodes, {"x": (1, 6)}, constants), tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"rounding_mode": "FLOOR"},
        {"rounding_mode": 3},
        {"bits": 12.0},
        {"zero": np.array([0.5], F)},
        {"zero": F(200)},
    ],
)
def test_other_forms_are_refused_in_words(change, tmp_path):
    constants = {"as": F(0.25), "az": change.get("zero", F(0)), "ab": F(change.get("bits", 8))}
    node = quantizer("x", "y", "a", signed=1, narrow=0)
    if "rounding_mode" in change:
        node = N("Quant", ["x", "as", "az", "ab"], ["y"], domain=DOMAIN, signed=1, **change)
    with pytest.raises(UnsupportedModelError, match="at most 8 bits"):
        imported(qonnx_model([node], {"x": (1, 4)}, constants), tmp_path)


@pytest.mark.parametrize("outputs", [5, 6])
def test_parameters_broadcast_from_the_last_axis(outputs, tmp_path):
    """Scales of one axis are those of the columns of a matrix, of a square one as well."""
    weight = RNG.normal(size=(6, outputs)).astype(F)
    scale = np.linspace(0.1, 0.4, outputs, dtype=F)
    constants = {"w": weight, "ws": scale, "wz": F(0), "wb": F(4)}
    nodes = [quantizer("w", "wq", "w", signed=1, narrow=1), N("MatMul", ["x", "wq"], ["y"])]
    graph = imported(qonnx_model(nodes, {"x": (1, 6)}, constants), tmp_path)
    x = RNG.normal(size=(1, 1, 6)).astype(F)
    found = Executor(graph, ["y"]).run({"x": x})["y"]
    wanted = np.matmul(x, definition(weight, scale, F(0), 4, 1, 1))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("scale", "zero"),
    [
        (np.full(3, 0.1, F), np.zeros(2, F)),
        (np.zeros(0, F), F(0)),
        (np.full((1, 1, 5), 0.1, F), F(0)),
        (np.full(6, 0.1, F), F(0)),
    ],
)
def test_parameters_that_fit_nothing_are_refused_in_words(scale, zero, tmp_path):
    constants = {"w": RNG.normal(size=(6, 5)).astype(F), "ws": scale, "wz": zero, "wb": F(4)}
    nodes = [quantizer("w", "wq", "w", signed=1, narrow=1), N("MatMul", ["x", "wq"], ["y"])]
    with pytest.raises(UnsupportedModelError, match="at most 8 bits"):
        imported(qonnx_model(nodes, {"x": (1, 6)}, constants), tmp_path)


@pytest.mark.filterwarnings("error")
def test_scales_at_the_ends_of_float32_warn_of_nothing(tmp_path):
    constants = {
        "w": RNG.normal(size=(6, 5)).astype(F), "as": F(3e38), "ws": F(1e-45),
        **{f"{name}{part}": F(value) for name in "aw" for part, value in (("z", 0), ("b", 4))},
    }  # fmt: skip
    nodes = [
        quantizer("w", "wq", "w", signed=1, narrow=0),
        quantizer("x", "xq", "a", signed=1, narrow=0),
        N("MatMul", ["xq", "wq"], ["y"]),
    ]
    graph = imported(qonnx_model(nodes, {"x": (1, 6)}, constants), tmp_path)
    (weight,) = (c for c in graph.constants.values() if c.array.ndim == 2)
    wanted = np.where(constants["w"] >= 0, 7, -8)
    assert sorted(weight.array.reshape(-1)) == sorted(wanted.reshape(-1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [0.0, -0.5, np.inf, np.nan])
@pytest.mark.parametrize("what", ["weights", "activations"])
def test_a_scale_that_is_none_is_refused_without_computing_with_it(what, scale, tmp_path):
    constants = {
        "w": RNG.normal(size=(6, 5)).astype(F),
        "as": F(scale if what == "activations" else 0.5),
        "ws": F(scale if what == "weights" else 0.5),
        **{f"{name}{part}": F(value) for name in "aw" for part, value in (("z", 0), ("b", 3))},
    }
    nodes = [
        quantizer("w", "wq", "w", signed=1, narrow=0),
        quantizer("x", "xq", "a", signed=0, narrow=0),
        N("MatMul", ["xq", "wq"], ["y"]),
    ]
    with pytest.raises(ImportModelError, match="is not a positive, finite number"):
        imported(qonnx_model(nodes, {"x": (1, 6)}, constants), tmp_path)


def qcdq_model(low: int, high: int) -> onnx.ModelProto:
    """Brevitas' export: every quantizer a QuantizeLinear, a Clip of codes, a DequantizeLinear."""
    constants = {
        "w": RNG.normal(size=(8, 5)).astype(F), "zero": np.int8(0), "low": np.int8(low),
        "high": np.int8(high), "xs": F(3 / high), "ws": F(1.5 / high), "hs": F(6.0137 / high),
    }  # fmt: skip
    nodes = []
    for source, scale in (("x", "xs"), ("w", "ws")):
        nodes += [
            N("QuantizeLinear", [source, scale, "zero"], [f"{source}q"]),
            N("Clip", [f"{source}q", "low", "high"], [f"{source}c"]),
            N("DequantizeLinear", [f"{source}c", scale, "zero"], [f"{source}d"]),
        ]
    nodes += [
        N("MatMul", ["xd", "wd"], ["h"]),
        N("QuantizeLinear", ["h", "hs", "zero"], ["hq"]),
        N("Clip", ["hq", "low", "high"], ["hc"]),
        N("DequantizeLinear", ["hc", "hs", "zero"], ["y"]),
    ]
    return model_of(nodes, {"x": (1, 8)}, constants, opset=13)


@pytest.mark.parametrize(("low", "high"), [(-8, 7), (-7, 7), (-2, 1)])
def test_qcdq_through_integers(low, high, tmp_path):
    """Each code that onnxruntime computes; the limits cost no operator."""
    model = qcdq_model(low, high)
    built = integer_model(save(model, tmp_path), None, CompileOptions())
    graph = built.integer
    x = (4 * RNG.normal(size=(64, 8))).astype(F)
    found = np.concatenate(
        [run_graph(graph, {"x": graph.quant("x").quantize(one[None])})["y"] for one in x]
    )
    wanted = np.concatenate([run(model, {"x": one[None]})[0] for one in x])
    steps = graph.quant("y").dequantize(found) - wanted
    np.testing.assert_allclose(steps, 0.0, atol=1e-5)
    assert np.abs(wanted).max() > 0.0


def test_qcdq_weights_are_codes_within_the_limits(tmp_path):
    graph = imported(qcdq_model(-8, 7), tmp_path)
    (weight,) = (c for c in graph.constants.values() if c.array.ndim == 2)
    assert weight.dtype is DType.INT8
    assert weight.array.min() >= -8
    assert weight.array.max() <= 7


def test_clip_of_codes_that_nobody_quantized_is_no_limit_of_reals(tmp_path):
    nodes = [N("Clip", ["x", "low"], ["c"]), N("DequantizeLinear", ["c", "s", "low"], ["y"])]
    constants = {"low": np.int8(0), "s": F(0.5)}
    model = model_of(nodes, {"x": (1, 8)}, constants, input_type=TensorProto.INT8)
    with pytest.raises(UnsupportedModelError):
        imported(model, tmp_path)
