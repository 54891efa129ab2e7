"""Whether a compiled model means what its file says: the importer, and the arithmetic after it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions
from edgec.floatrun.executor import Executor, is_quantized
from edgec.floatrun.float_model import FloatModel
from edgec.floatrun.rounded import run_rounded
from edgec.importers.onnx.importer import import_model
from edgec.interp import run_graph_batch
from edgec.ir.graph import Graph
from edgec.workflow.checks import check_inputs
from edgec.workflow.integer import IntegerModel, integer_model

_SAMPLES = 3
_FLOAT_ERROR = 2e-3
"""Of the largest output: float32 sums of onnxruntime beside float64."""
_CODES = 24
_SHARE = 0.25
"""More elements than this, further than that many codes: more than rounding can do."""


def problem(path: Path) -> str:
    """What is wrong with the numbers of a model that compiles; empty if nothing is."""
    return _importer(path) or _arithmetic(path)


def _importer(path: Path) -> str:
    """The imported graph in float64 beside onnxruntime, for models without integers."""
    graph = import_model(path)
    if is_quantized(graph) or any(_whole(graph, name) for name in graph.inputs):
        return ""
    rng = np.random.default_rng(0)
    inputs = {
        name: rng.uniform(-1, 1, (_SAMPLES, *graph.shape(name)[1:])).astype(np.float32)
        for name in graph.inputs
    }
    try:
        model = FloatModel(path, optimize=False)
        theirs = {n: model.run(inputs, [n])[n] for n in graph.outputs}
    except EdgecError:  # onnxruntime is stricter, or lacks the operator
        return ""
    ours = Executor(graph, graph.outputs).run(inputs)
    for name in graph.outputs:
        gap = _relative_gap(ours[name], theirs[name])
        if gap > _FLOAT_ERROR:
            return f"imported output {name!r} is off by {gap:.3g} of its largest element"
    return ""


def _whole(graph: Graph, name: str) -> bool:
    return graph.values[name].dtype is not DType.FLOAT32


def _relative_gap(ours: Array, theirs: Array) -> float:
    ours, theirs = (np.asarray(each, np.float64).ravel() for each in (ours, theirs))
    if ours.shape != theirs.shape:
        return float("inf")
    with np.errstate(all="ignore"):
        valid = np.isfinite(ours) & np.isfinite(theirs) & (np.abs(theirs) < 1e30)
        gap = np.abs(ours - theirs)[valid].max(initial=0.0)
        return float(gap / max(np.abs(theirs[valid]).max(initial=0.0), 1e-30))


def _arithmetic(path: Path) -> str:
    """The integer graph beside the same codes in real arithmetic."""
    model = integer_model(path, None, CompileOptions())
    if model.annotated is None:
        return ""
    inputs = _inputs(model)
    ours = run_graph_batch(model.integer, inputs)
    theirs = run_rounded(model.annotated, inputs)
    for name in model.integer.outputs:
        gaps = np.abs(ours[name].astype(np.int64) - theirs[name].reshape(ours[name].shape))
        share = float(np.mean(gaps > _CODES))
        if share > _SHARE:
            return f"{share:.0%} of {name!r} are more than {_CODES} codes off, up to {gaps.max()}"
    return ""


def _inputs(model: IntegerModel) -> dict[str, Array]:
    samples = check_inputs(model, _SAMPLES)
    return {name: np.concatenate([each[name] for each in samples]) for name in samples[0]}
