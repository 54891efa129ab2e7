"""QONNX's Trunc: of codes and of the sums of an average pool, as its documentation defines it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from import_models import N, imported, model_of, save
from onnx import helper

from edgec.base.errors import UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(9)
DOMAIN = "qonnx.custom_op.general"
F = np.float32
ROUND = {"FLOOR": np.floor, "CEIL": np.ceil, "ROUND": np.round}


def definition(x, scale, in_bits, out_bits, mode, out_scale=None, signed=1, narrow=0):
    """Trunc of version 1, or of version 2 where it is given `out_scale`."""
    codes = np.round(x.astype(np.float64) / scale)
    if out_scale is None:
        return ROUND[mode](codes / 2.0 ** (in_bits - out_bits)) * scale
    y = codes / 2.0 ** np.round(np.log2(out_scale / scale))
    low = -(2 ** (out_bits - 1)) + narrow if signed else 0
    high = 2 ** (out_bits - 1) - 1 if signed else 2**out_bits - 1 - narrow
    return ROUND[mode](np.clip(y, low, high)) * out_scale


def trunc_model(
    shape: tuple[int, ...],
    bits: int,
    has_sign: int,
    scale: float,
    pool: onnx.NodeProto | None,
    factor: float | None,
    numbers: list[float],
    **attributes,
) -> onnx.ModelProto:
    """Quant of x to 8 bits and to `bits`, pool, Mul by `factor`, Trunc with inputs `numbers`."""
    constants = {"s": F(scale), "z": F(0), "b": F(bits), "byte": F(8)}
    constants |= {f"n{i}": F(number) for i, number in enumerate(numbers)}
    nodes = [
        N("Quant", ["x", "s", "z", "byte"], ["x8"], domain=DOMAIN, signed=has_sign),
        N("Quant", ["x8", "s", "z", "b"], ["q"], domain=DOMAIN, signed=has_sign),
    ]
    last = "q"
    if pool is not None:
        nodes.append(pool)
        last = "p"
    if factor is not None:
        constants["f"] = F(factor)
        nodes.append(N("Mul", [last, "f"], ["m"]))
        last = "m"
    names = [f"n{i}" for i in range(len(numbers))]
    nodes.append(N("Trunc", [last, *names], ["y"], domain=DOMAIN, **attributes))
    model = model_of(nodes, {"x": shape}, constants, opset=13)
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1 if len(numbers) == 4 else 2))
    return model


def quantized(x: np.ndarray, bits: int, signed: int, scale: float) -> np.ndarray:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return np.clip(np.round(x / F(scale)), low, high) * scale


def pooled(x: np.ndarray, k: int) -> np.ndarray:
    """Sums over windows of k by k."""
    n, c, h, w = x.shape
    return x.reshape(n, c, h // k, k, w // k, k).sum(axis=(3, 5))


def integers(model: onnx.ModelProto, x: np.ndarray, tmp_path) -> np.ndarray:
    """What the integer network computes, as real numbers, channels first."""
    graph = integer_model(save(model, tmp_path), None, CompileOptions()).integer
    (name,), last = graph.inputs, x.ndim == 4
    given = [each.transpose(1, 2, 0) if last else each for each in x]
    codes = [run_graph(graph, {name: graph.quant(name).quantize(g[None])}) for g in given]
    found = np.concatenate([each[graph.outputs[0]] for each in codes])
    real = graph.quant(graph.outputs[0]).dequantize(found)
    return real.transpose(0, 3, 1, 2) if last and real.shape[1] != x.shape[1] else real


@pytest.mark.parametrize("mode", ["FLOOR", "CEIL", "ROUND", "floor"])
@pytest.mark.parametrize(("bits", "signed"), [(8, 1), (8, 0), (4, 1)])
@pytest.mark.parametrize("scale", [0.25, 0.1])
def test_codes(mode, bits, signed, scale, tmp_path):
    """All codes; a scale that float32 does not hold exactly."""
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0, 2**bits)
    x = (np.arange(low, high) * F(scale)).astype(F)[:, None]
    model = trunc_model(
        (1, 1), bits, signed, scale, None, None, [scale, 0, bits, 2], rounding_mode=mode
    )
    wanted = definition(x, scale, bits, 2, mode.upper())
    found = Executor(imported(model, tmp_path), ["y"]).run({"x": x[:, None]})["y"]
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-5)
    np.testing.assert_allclose(integers(model, x, tmp_path), wanted, rtol=1e-5)


POOLS = [
    (N("AveragePool", ["q"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), 2, 4),
    (N("AveragePool", ["q"], ["p"], kernel_shape=[3, 3], strides=[3, 3]), 3, 6),
    (N("GlobalAveragePool", ["q"], ["p"]), 7, 7),
]


@pytest.mark.parametrize(("pool", "k", "size"), POOLS, ids=["2x2", "3x3", "global 7x7"])
@pytest.mark.parametrize("mode", ["FLOOR", "CEIL"])
@pytest.mark.parametrize(("bits", "signed"), [(8, 1), (8, 0), (4, 0), (3, 1)])
@pytest.mark.parametrize("scale", [0.25, 0.1])
def test_sums_of_a_pool(pool, k, size, mode, bits, signed, scale, tmp_path):
    """Every code is that of the definition: no tie, no rounding in between."""
    shift = int(np.ceil(np.log2(k * k)))
    model = trunc_model(
        (1, 3, size, size), bits, signed, scale, pool, k * k,
        [scale, 0, bits + shift, bits], rounding_mode=mode,
    )  # fmt: skip
    spread = scale * 2 ** (bits - 1)
    x = (spread * RNG.normal(size=(60, 3, size, size))).astype(F)
    x[0], x[1] = 9 * spread, -9 * spread
    sums = pooled(quantized(x, bits, signed, scale), k)
    wanted = definition(sums, scale, bits + shift, bits, mode)
    found = integers(model, x, tmp_path)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert len(np.unique(np.round(wanted / scale))) > 3


@pytest.mark.parametrize("zero_point", [False, True])
@pytest.mark.parametrize(("out_bits", "signed", "narrow"), [(8, 1, 0), (4, 1, 1), (4, 0, 0)])
@pytest.mark.parametrize("by", ["sums", "means"])
def test_version_two(zero_point, out_bits, signed, narrow, by, tmp_path):
    """A scale of the output and limits; means without a Mul, which have a finer scale."""
    bits, scale, k = 8, 0.1, 2
    own = scale if by == "sums" else scale / 4
    out = own * 16
    numbers = [own, 0, bits + 2, out, *([0] if zero_point else []), out_bits]
    pool = N("AveragePool", ["q"], ["p"], kernel_shape=[k, k], strides=[k, k])
    model = trunc_model(
        (1, 3, 4, 4), bits, signed, scale, pool, 4 if by == "sums" else None, numbers,
        rounding_mode="FLOOR", signed=signed, narrow=narrow,
    )  # fmt: skip
    x = (6 * RNG.normal(size=(60, 3, 4, 4))).astype(F)
    sums = pooled(quantized(x, bits, signed, scale), k) * (own / scale)
    wanted = definition(sums, own, 0, out_bits, "FLOOR", out, signed, narrow)
    np.testing.assert_allclose(integers(model, x, tmp_path), wanted, rtol=1e-5)


POOL = POOLS[0][0]


@pytest.mark.parametrize(
    ("pool", "factor", "numbers", "mode"),
    [
        (None, None, [0.5, 0, 8, 4], "FLOOR"),
        (None, None, [0.25, 1, 8, 4], "FLOOR"),
        (None, None, [0.25, 0, 4, 8], "FLOOR"),
        (None, None, [0.25, 0, 8, 2.5], "FLOOR"),
        (None, None, [0.25, 0, 12, 9], "FLOOR"),
        (None, None, [0.0, 0, 8, 4], "FLOOR"),
        (None, None, [np.nan, 0, 8, 4], "FLOOR"),
        (None, None, [0.25, 0, 8], "FLOOR"),
        (None, None, [0.25, 0, 8, -0.5, 4], "FLOOR"),
        (None, None, [0.25, 0, 8, 4], "HALF_UP"),
        (None, None, [0.25, 0, 8, 4], 3),
        (POOL, 4, [0.25, 0, 10, 8], "ROUND"),
        (POOL, 4, [0.25, 0, 9, 8], "FLOOR"),
        (POOL, 3, [0.25, 0, 10, 8], "FLOOR"),
        (POOL, None, [0.25, 0, 10, 8], "FLOOR"),
        (N("MaxPool", ["q"], ["p"], kernel_shape=[2, 2]), 4, [0.25, 0, 10, 8], "FLOOR"),
        (
            N("AveragePool", ["q"], ["p"], kernel_shape=[2, 2], pads=[1, 1, 0, 0]),
            4,
            [0.25, 0, 10, 8],
            "FLOOR",
        ),
    ],
    ids=[
        *("scale", "zero", "more bits", "half a bit", "9 bits", "scale 0", "nan", "few inputs"),
        *(
            "negative scale",
            "mode",
            "no text",
            "ties of sums",
            "sums beyond 8 bits",
            "factor",
            "means",
        ),
        *("maxima", "borders"),
    ],
)
def test_other_forms_are_refused_in_words(pool, factor, numbers, mode, tmp_path):
    model = trunc_model((1, 3, 4, 4), 8, 1, 0.25, pool, factor, numbers, rounding_mode=mode)
    with pytest.raises(UnsupportedModelError, match="Trunc around 0 to at most 8 bits"):
        imported(model, tmp_path)
