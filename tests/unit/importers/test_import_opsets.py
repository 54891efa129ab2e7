"""Every operator in every version that ONNX has of it, from a file to integers.

Versions that the importer makes one graph of are quantized and run once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from import_models import imported, save
from onnx.reference import ReferenceEvaluator
from opset_models import BODIES, CASES, model_at, versions, withdrawn

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.importers.onnx.registry import HANDLERS
from edgec.importers.onnx.screen import MIN_OPSET
from edgec.interp import run_graph_batch
from edgec.ir.text import graph_text
from edgec.workflow.integer import IntegerModel, graph_side, integer_model

SAMPLES = 32
LEAST_DECIBELS = 20.0


def opsets(op: str) -> tuple[int, ...]:
    """The first and the last opset of each version of an operator."""
    first = versions(op)
    end = withdrawn(op)
    last = [opset - 1 for opset in (*first[1:], end) if opset > MIN_OPSET]
    return tuple(sorted({*first, *last}))


def test_every_operator_has_a_model():
    assert {*CASES, *BODIES} == {*HANDLERS}


@pytest.mark.parametrize("op", HANDLERS)
def test_every_version(op: str, tmp_path: Path) -> None:
    done: set[str] = set()
    for opset in opsets(op):
        model = model_at(op, opset)
        text = graph_text(imported(model, tmp_path))
        if text not in done:
            done.add(text)
            assert decibels(op, model, tmp_path) > LEAST_DECIBELS, opset


def decibels(op: str, model: onnx.ModelProto, folder: Path) -> float:
    """Signal to noise of the integers on the numbers that the codes of the inputs stand for."""
    rng = np.random.default_rng(0)
    ends = CASES[op].ends if op in CASES else (-2.0, 2.0)
    shapes = {
        i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input
    }
    data = {
        name: rng.uniform(*ends, (SAMPLES, *shape[1:])).astype(np.float32)
        for name, shape in shapes.items()
    }
    found = integer_model(save(model, folder), data, CompileOptions())
    real = graph_side(found.imported, found.integer, data)
    codes = {name: found.integer.quant(name).quantize(real[name]) for name in found.integer.inputs}
    y = of_file(found, "y", run_graph_batch(found.integer, codes)["y"])
    feeds = {name: of_file(found, name, array) for name, array in codes.items()}
    run = reference(op, model, {name: array[:1] for name, array in feeds.items()})
    wanted = np.concatenate(
        [run({name: array[n : n + 1] for name, array in feeds.items()}) for n in range(SAMPLES)]
    )
    noise = np.mean((y.reshape(wanted.shape) - wanted) ** 2)
    return float(10 * np.log10(np.mean(wanted**2) / max(noise, 1e-12)))


def of_file(model: IntegerModel, name: str, codes: Array) -> Array:
    """Codes as the numbers of the file, in its layout; float32."""
    graph = model.integer
    quant, features = graph.values[name].quant, graph.input_features.get(name)
    array = codes if quant is None else quant.dequantize64(codes)
    array = array if features is None else features.from_steps(array)
    axes = graph.input_layouts.get(name) or graph.output_layouts.get(name)
    return np.asarray(array if axes is None else array.transpose(np.argsort(axes)), np.float32)


def reference(op: str, model: onnx.ModelProto, one: Mapping[str, Array]):
    """What computes a model; each of the runtimes lacks some versions of some operators."""
    for run in runtimes(op, model):
        try:
            run(one)
        except Exception:  # whatever a runtime says of what it lacks
            continue
        return run
    raise AssertionError(f"nothing computes {op}")


def runtimes(op: str, model: onnx.ModelProto) -> Iterator:
    yield lambda feeds: ReferenceEvaluator(model).run(["y"], dict(feeds))[0]
    others = [model, *(model_at(op, opset) for opset in opsets(op))]
    for other in others:
        text = other.SerializeToString()
        yield lambda feeds, text=text: onnxruntime.InferenceSession(text).run(["y"], dict(feeds))[0]


def test_the_opsets_of_versions():
    """Older and newer ones than edgec reads are left out, and versions that ONNX has withdrawn."""
    assert versions("Relu") == (MIN_OPSET, 13, 14)
    assert versions("Upsample") == (7, 9)
    assert versions("GroupNormalization") == (18, 21)
