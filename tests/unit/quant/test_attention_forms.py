"""Attentions of other forms than softmax(q @ k.T * scale + mask) @ v, in integers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from import_models import N, model_of, run, save
from sounds import decibels

from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.workflow.integer import integer_model

LENGTH, WIDTH = 12, 8
RNG = np.random.default_rng(8)
LOGITS = [
    N("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
    N("MatMul", ["q", "kt"], ["s"]),
    N("Mul", ["s", "scale"], ["l"]),
]
FORMS = {
    "changed logits": [
        *LOGITS,
        N("Relu", ["l"], ["lr"]),
        N("Softmax", ["lr"], ["p"]),
        N("MatMul", ["p", "v"], ["a"]),
    ],
    "weights on the right": [
        *LOGITS,
        N("Softmax", ["l"], ["p"]),
        N("Transpose", ["p"], ["pt"], perm=[0, 2, 1]),
        N("Transpose", ["v"], ["vt"], perm=[0, 2, 1]),
        N("MatMul", ["vt", "pt"], ["at"]),
        N("Transpose", ["at"], ["a"], perm=[0, 2, 1]),
    ],
    "weights as an output": [
        *LOGITS,
        N("Softmax", ["l"], ["p"]),
        N("MatMul", ["p", "v"], ["a"]),
        N("ReduceMean", ["p"], ["seen"], axes=[1]),
    ],
    "keys along the tokens": [
        N("Softmax", ["k"], ["ks"], axis=1),
        N("Transpose", ["ks"], ["kt"], perm=[0, 2, 1]),
        N("MatMul", ["kt", "v"], ["kv"]),
        N("MatMul", ["q", "kv"], ["a"]),
    ],
    "learned queries": [
        N("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        N("MatMul", ["queries", "kt"], ["l"]),
        N("Softmax", ["l"], ["p"]),
        N("MatMul", ["p", "v"], ["a"]),
    ],
}


def network(form: str) -> onnx.ModelProto:
    """LayerNormalization, attention and a layer, as in a transformer."""
    constants = {
        f"w{name}": (RNG.normal(size=(WIDTH, WIDTH)) / 3.0).astype(np.float32) for name in "qkvo"
    }
    constants |= {"gamma": np.ones(WIDTH, np.float32), "scale": np.float32(WIDTH**-0.5)}
    constants |= {"queries": RNG.normal(size=(1, 5, WIDTH)).astype(np.float32)}
    nodes = [
        N("LayerNormalization", ["x", "gamma"], ["n"]),
        *(N("MatMul", ["n", f"w{name}"], [name]) for name in "qkv"),
        *FORMS[form],
        N("MatMul", ["a", "wo"], ["y"]),
    ]
    outputs = ("y", "seen") if form == "weights as an output" else ("y",)
    return model_of(nodes, {"x": (1, LENGTH, WIDTH)}, constants, outputs=outputs, opset=17)


@pytest.mark.parametrize("form", FORMS)
def test_attention_of_any_form_is_computed_in_integers(form, tmp_path):
    model = network(form)
    samples = RNG.normal(size=(48, LENGTH, WIDTH)).astype(np.float32)
    graph = integer_model(save(model, tmp_path), {"x": samples[:32]}, CompileOptions()).integer
    found: dict[str, list[np.ndarray]] = {output.name: [] for output in model.graph.output}
    wanted: dict[str, list[np.ndarray]] = {name: [] for name in found}
    for one in samples[32:, None]:
        real = run(model, {"x": one})
        values = run_graph(graph, {"x": graph.quant("x").quantize(one)})
        for name, array in zip(found, real, strict=True):
            wanted[name].append(array)
            found[name].append(graph.quant(name).dequantize(values[name]))
    for name, arrays in found.items():
        assert decibels(np.stack(wanted[name]), np.stack(arrays)) > 28.0
