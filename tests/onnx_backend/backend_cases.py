"""ONNX's own node tests, turned into models as users have them: weights constant, opset <= 23."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from edgec.base.dtypes import Array
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.executor import Executor
from edgec.importers.onnx.importer import import_model
from edgec.importers.onnx.registry import HANDLERS
from edgec.importers.onnx.screen import MAX_OPSET, MIN_OPSET
from edgec.ir.verify import Stage, verify

ALL_RUN_TIME = ("Add", "Sub", "Mul", "Sum", "Concat")
"""Operators whose further inputs are computed at run time as well."""


@dataclass(frozen=True)
class BackendCase:
    """One node test: the model, and one set of inputs and expected outputs."""

    name: str
    model: onnx.ModelProto
    inputs: dict[str, Array]
    outputs: list[Array]
    rtol: float
    atol: float


def backend_cases() -> dict[str, BackendCase]:
    """Every node test made of operators that edgec imports, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    cases = {}
    for case in found:
        ops = {node.op_type for node in case.model.graph.node}
        versions = [o.version for o in case.model.opset_import if o.domain == ""]
        known = ops and all(op in HANDLERS or op == "Constant" for op in ops)
        if known and versions and versions[0] >= MIN_OPSET and len(case.data_sets) == 1:
            cases[case.name] = _case(case)
    return cases


def _case(case: object) -> BackendCase:
    model = copy.deepcopy(case.model)  # type: ignore[attr-defined]
    ((inputs, outputs),) = case.data_sets  # type: ignore[attr-defined]
    for opset in model.opset_import:
        # The newest versions differ in element types only, for these operators.
        opset.version = min(opset.version, MAX_OPSET)
    node = model.graph.node[0]
    keep = len(inputs) if node.op_type in ALL_RUN_TIME else 1
    feeds: dict[str, Array] = {}
    for index, (info, data) in enumerate(zip(list(model.graph.input), inputs, strict=True)):
        tensor = data if isinstance(data, onnx.TensorProto) else _tensor(data)
        if index < keep:
            feeds[info.name] = numpy_helper.to_array(tensor)
            continue
        stored = copy.deepcopy(tensor)
        stored.name = info.name
        model.graph.initializer.append(stored)
        model.graph.input.remove(info)
    expected = [_array(o) for o in outputs]
    return BackendCase(case.name, model, feeds, expected, case.rtol, case.atol)  # type: ignore[attr-defined]


def _tensor(data: object) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(data))


def _array(data: object) -> Array:
    return numpy_helper.to_array(data) if isinstance(data, onnx.TensorProto) else np.asarray(data)


def run_case(case: BackendCase, folder: Path) -> None:
    """Import the model, run the graph by onnxruntime and by the float64 executor, and compare.

    Raises:
        AssertionError: a result differs.
    """
    path = folder / "model.onnx"
    path.write_bytes(case.model.SerializeToString())
    graph = import_model(path, {name: array.shape for name, array in case.inputs.items()})
    verify(graph, Stage.REAL, "import")
    session = onnxruntime.InferenceSession(
        export_real(graph).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feeds = {
        name: array.astype(graph.values[name].dtype.numpy) for name, array in case.inputs.items()
    }
    executed = Executor(graph, graph.outputs).run({n: array[None] for n, array in feeds.items()})
    results = [*session.run(None, feeds), *(executed[name][0] for name in graph.outputs)]
    for found, wanted in zip(results, [*case.outputs, *case.outputs], strict=True):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(
            found.astype(np.float64),
            wanted.astype(np.float64),
            rtol=max(case.rtol, 1e-3),
            atol=max(case.atol, 1e-5),
        )
