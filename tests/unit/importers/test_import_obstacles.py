"""What users read about operators that edgec does not import."""

from __future__ import annotations

from itertools import pairwise

import onnx
import pytest
from import_models import N, imported, model_of
from onnx import helper

from edgec.base.errors import UnsupportedModelError
from edgec.importers.onnx.obstacles import obstacle


def with_domain(model: onnx.ModelProto, domain: str) -> onnx.ModelProto:
    model.opset_import.append(helper.make_opsetid(domain, 1))
    return model


def test_operators_of_onnxruntime_alone_are_one_cause(tmp_path):
    """A file that onnxruntime optimized: one cause, however many nodes, and no cascade."""
    names = ["x", *(f"v{i}" for i in range(7)), "y"]
    nodes = [
        N("Irfft" if i % 2 else "Rfft", [a], [b], domain="com.microsoft", name=f"n{i}")
        for i, (a, b) in enumerate(pairwise(names))
    ]
    model = with_domain(model_of(nodes, {"x": (1, 4)}), "com.microsoft")
    with pytest.raises(UnsupportedModelError) as caught:
        imported(model, tmp_path)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert "and 5 more (Irfft, Rfft)" in lines[1]
    assert "onnxruntime" in lines[1]
    assert "before they optimized it" in lines[2]
    assert len(caught.value.nodes) == 8


def test_operators_of_classical_machine_learning_are_not_called_unknown_to_onnx(tmp_path):
    node = N("TfIdfVectorizerOfTomorrow", ["x"], ["y"], domain="ai.onnx.ml")
    model = with_domain(model_of([node], {"x": (1, 4)}), "ai.onnx.ml")
    with pytest.raises(UnsupportedModelError) as caught:
        imported(model, tmp_path)
    assert "standard" not in str(caught.value)
    assert "classical machine learning" in str(caught.value)


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("RoiAlign", "constant positions"),
        ("SomethingNew", "rewrite it"),
    ],
)
def test_every_remedy_names_a_way(op, words):
    assert words in obstacle(op, "").remedy
