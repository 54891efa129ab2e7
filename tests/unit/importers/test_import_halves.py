"""Models of float16 and bfloat16 are models of float32 whose numbers have few bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from import_models import N, imported, random_feeds, save
from onnx import TensorProto, helper, numpy_helper

from edgec.floatrun.executor import Executor
from edgec.importers.formats import import_model

TYPES = {
    TensorProto.FLOAT16: np.dtype(np.float16),
    TensorProto.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
}


def network(kind: int, *, shapes_at_run_time: bool = True) -> onnx.ModelProto:
    """A layer, a norm in float32 between casts, and a constant that is cast at run time."""
    rng = np.random.default_rng(1)
    dtype = np.dtype(np.float32) if kind == TensorProto.FLOAT else TYPES[kind]
    half = {
        "w": rng.normal(size=(8, 8)), "w2": rng.normal(size=(8, 4)), "table": rng.normal(size=8)
    }  # fmt: skip
    constants = {
        name: array.astype(TYPES.get(kind, ml_dtypes.bfloat16)).astype(dtype)
        for name, array in half.items()
    }
    constants |= {"gamma": np.ones(8, np.float32), "number": np.int64(3)}
    nodes = [
        N("MatMul", ["x", "w"], ["h"]),
        N("Cast", ["number"], ["three"], to=kind),
        N("Mul", ["h", "three"], ["m"]),
        N("Cast", ["m"], ["wide"], to=TensorProto.FLOAT),
        N("LayerNormalization", ["wide", "gamma"], ["n"], axis=-1),
        N("Cast", ["n"], ["narrow"], to=kind),
        N("Add", ["narrow", "table"], ["a"]),
    ]
    if shapes_at_run_time:
        nodes += [
            N("Shape", ["a"], ["s"]),
            N("Reshape", ["a", "s"], ["r"]),
            N("MatMul", ["r", "w2"], ["y"]),
        ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, ("N", 3, 8))],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(np.asarray(a), name) for name, a in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("kind", list(TYPES))
def test_a_model_of_halves_is_the_same_model_of_floats(kind, tmp_path):
    graph = import_model(save(network(kind), tmp_path))
    weight = network(kind).graph.initializer[0]
    wanted = numpy_helper.to_array(weight).astype(np.float32)
    np.testing.assert_array_equal(graph.constants["w"].array, wanted.T)
    assert "Cast" not in {node.op for node in graph.nodes}
    feeds = random_feeds(graph)
    floats = network(TensorProto.FLOAT)
    for tensor, own in zip(floats.graph.initializer, network(kind).graph.initializer, strict=True):
        array = numpy_helper.to_array(own)
        kept = array if array.dtype.kind == "i" else array.astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(kept, tensor.name))
    same = imported(floats, tmp_path, {})
    ours, theirs = (Executor(g, ["y"]).run(feeds)["y"] for g in (graph, same))
    np.testing.assert_array_equal(ours, theirs)
