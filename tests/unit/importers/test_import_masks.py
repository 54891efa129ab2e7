"""Masks of attention in small ONNX models, through integers: against onnxruntime, or refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from import_models import N, run, save
from onnx import TensorProto, helper, numpy_helper

from edgec.base.errors import UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.workflow.integer import IntegerModel, integer_model

LENGTH, WIDTH = 6, 8
RNG = np.random.default_rng(5)
X = RNG.normal(size=(8, LENGTH, WIDTH)).astype(np.float32)
LOWEST = np.finfo(np.float32).min


def attention(nodes: list[onnx.NodeProto], constants: dict, mask: int | None = None):
    """softmax(q @ k.T / sqrt(d)) @ v, its logits "l" changed to "lm" by `nodes`."""
    weights = {
        f"w{name}": (RNG.normal(size=(WIDTH, WIDTH)) / 3.0).astype(np.float32) for name in "qkvo"
    }
    constants = {**constants, **weights, "scale": np.float32(WIDTH**-0.5)}
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, LENGTH, WIDTH))]
    if mask is not None:
        inputs.append(helper.make_tensor_value_info("m", mask, (1, 1, LENGTH)))
    head = [N("MatMul", ["x", f"w{name}"], [name]) for name in "qkv"]
    head += [
        N("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        N("MatMul", ["q", "kt"], ["l0"]),
        N("Mul", ["l0", "scale"], ["l"]),
    ]
    tail = [
        N("Softmax", ["lm"], ["p"], axis=-1),
        N("MatMul", ["p", "v"], ["a"]),
        N("MatMul", ["a", "wo"], ["y"]),
    ]
    graph = helper.make_graph(
        [*head, *nodes, *tail],
        "g",
        inputs,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def integer(model: onnx.ModelProto, folder, **samples: np.ndarray) -> IntegerModel:
    return integer_model(save(model, folder), samples, CompileOptions())


def outputs(model: IntegerModel, **one: np.ndarray) -> np.ndarray:
    graph = model.integer
    codes = {
        name: array.astype(np.int32)
        if graph.values[name].quant is None
        else graph.quant(name).quantize(array)
        for name, array in one.items()
    }
    return graph.quant("y").dequantize(run_graph(graph, codes)["y"])


@pytest.mark.parametrize("low", [-np.inf, LOWEST, np.float32(-1e9)])
@pytest.mark.parametrize("added", [True, False])
def test_constant_mask_that_hides_every_key_of_a_query_is_refused(low, added, tmp_path):
    """onnxruntime gives NaN for minus infinity, and the mean of all values for the others."""
    seen = np.tril(np.ones((LENGTH, LENGTH), bool))
    seen[2] = False
    if added:
        constants = {"mask": np.where(seen, 0.0, low).astype(np.float32)}
        nodes = [N("Add", ["l", "mask"], ["lm"])]
    else:
        constants = {"mask": seen, "low": np.float32(low)}
        nodes = [N("Where", ["mask", "l", "low"], ["lm"])]
    with pytest.raises(UnsupportedModelError, match="hides all keys of query 2"):
        integer(attention(nodes, constants), tmp_path, x=X)


@pytest.mark.parametrize("added", [True, False])
def test_mask_with_minus_infinity_at_run_time(added, tmp_path):
    """Masks as booleans, their own type; onnxruntime's result within the quantization error."""
    constants = {"low": np.float32(-np.inf), "zero": np.float32(0.0)}
    nodes = [N("Where", ["m", "l", "low"], ["lm"])]
    if added:
        nodes = [N("Where", ["m", "zero", "low"], ["b"]), N("Add", ["l", "b"], ["lm"])]
    model = attention(nodes, constants, TensorProto.BOOL)
    masks = RNG.random((8, 1, LENGTH)) > 0.4
    masks[:, 0, 0] = True
    built = integer(model, tmp_path, x=X, m=masks)
    for index in range(4):
        one = {"x": X[index : index + 1], "m": masks[index : index + 1]}
        wanted = run(model, one)[0]
        assert np.abs(outputs(built, **one) - wanted).max() < 0.05 * np.abs(wanted).max()
    nobody = outputs(built, x=X[:1], m=np.zeros((1, 1, LENGTH), bool))
    assert not nobody.any()  # a query without any key gives 0, as PyTorch's does


def test_choice_of_each_logit_at_run_time(tmp_path):
    """A mask of pairs: what it hides is as good as nothing, in 8 bits."""
    model = attention([N("Where", ["m", "l", "low"], ["lm"])], {"low": np.float32(-1e9)},
                      TensorProto.BOOL)  # fmt: skip
    model.graph.input[1].type.tensor_type.shape.dim[1].dim_value = LENGTH
    masks = RNG.random((8, LENGTH, LENGTH)) > 0.4
    masks[:, :, 0] = True
    built = integer(model, tmp_path, x=X, m=masks.astype(np.int32))
    samples = [{"x": X[i : i + 1], "m": masks[i : i + 1]} for i in range(4)]
    wanted = np.concatenate([run(model, one)[0] for one in samples])
    found = np.concatenate([outputs(built, **one) for one in samples])
    # Steps of 8 bits are parts of the range of all samples.
    assert np.abs(found - wanted).max() < 0.06 * np.abs(wanted).max()
