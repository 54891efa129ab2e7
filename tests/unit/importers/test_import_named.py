"""Gather and GatherElements of computed tensors by indices that the run computes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from import_models import N, assert_same, imported, model_of, save

from edgec.base.errors import UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(3)


def named_by_scores(
    gather: list[onnx.NodeProto], x: tuple[int, ...] = (1, 9, 3), axis: int = 1
) -> onnx.ModelProto:
    """The indices "i" [1, 2] of the largest scores choose among x by the nodes of `gather`."""
    nodes = [
        N("ReduceSum", ["x", "others"], ["s"], keepdims=0),
        N("TopK", ["s", "k"], ["v", "i"], axis=-1),
        *gather,
    ]
    others = np.array([a for a in range(1, len(x)) if a != axis])
    return model_of(
        nodes,
        {"x": x},
        {"k": np.array([2]), "others": others, "last": np.array([-1])}
        | {"all": np.array([1, 2, 3]), "flat": np.array([-1]), "first": np.array([0])}
        | {"one": np.array([1]), "four": np.array([1, 4, 3])},
        opset=13,
    )


FORMS = {
    "rows": named_by_scores([N("Gather", ["x", "i"], ["y"], axis=1)]),
    "columns": named_by_scores([N("Gather", ["x", "i"], ["y"], axis=2)], (1, 4, 9), 2),
    "images": named_by_scores([N("Gather", ["x", "i"], ["y"], axis=1)], (1, 5, 4, 2)),
    "one": named_by_scores(
        [N("Squeeze", ["i", "first"], ["j"]), N("Gather", ["x", "j"], ["y"], axis=-2)]
    ),
    "expanded": named_by_scores(
        [
            N("Unsqueeze", ["i", "last"], ["j"]),
            N("Expand", ["j", "all"], ["e"]),
            N("GatherElements", ["x", "e"], ["y"], axis=1),
        ]
    ),
    "repeated": named_by_scores(
        [
            N("TopK", ["s", "one"], ["w", "b"], axis=-1),
            N("Unsqueeze", ["b", "last"], ["j"]),
            N("Expand", ["j", "four"], ["e"]),
            N("GatherElements", ["x", "e"], ["y"], axis=1),
        ]
    ),
    "elements": named_by_scores([N("GatherElements", ["s", "i"], ["y"], axis=1)]),
}


@pytest.mark.parametrize("form", FORMS)
def test_elements_that_the_run_names_equal_onnxruntime(form, tmp_path):
    assert_same(FORMS[form], tmp_path)


def test_integers_choose_exactly(tmp_path):
    """What is chosen has the codes that it has where it is chosen from."""
    path = save(FORMS["rows"], tmp_path)
    samples = RNG.uniform(-1, 1, size=(16, 9, 3)).astype(np.float32)
    graph = integer_model(path, {"x": samples}, CompileOptions()).integer
    for one in samples[:4, None]:
        codes = graph.quant("x").quantize(one)
        y = graph.quant("y").dequantize(run_graph(graph, {"x": codes})["y"])
        x = graph.quant("x").dequantize(codes)[0]
        distances = np.abs(x[None] - y.reshape(-1, 1, 3)).max(axis=-1).min(axis=-1)
        assert distances.max() <= graph.quant("y").tensor_scale


@pytest.mark.parametrize(
    ("nodes", "x", "message"),
    [
        ([N("GatherElements", ["x", "e"], ["y"], axis=1)], (1, 9, 3), "picks single elements"),
        ([N("Gather", ["x", "i"], ["y"], axis=1)], (1, 4096, 256), "takes more than"),
        ([N("Gather", ["i", "i"], ["y"], axis=1)], (1, 9, 3), "computed at run time"),
    ],
)
def test_what_cannot_be_chosen_is_refused(nodes, x, message, tmp_path):
    own = [N("TopK", ["x", "k"], ["w", "e"], axis=1)] if "e" in nodes[0].input else []
    with pytest.raises(UnsupportedModelError, match=message):
        imported(named_by_scores([*own, *nodes], x), tmp_path)
