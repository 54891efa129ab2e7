"""A TensorFlow Lite file beside TensorFlow Lite's own interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tflite_oracle import run_litert

from edgec.base.dtypes import Array
from edgec.floatrun.executor import Executor
from edgec.importers.tflite.importer import import_model
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify


def imported(path: Path) -> Graph:
    graph = import_model(path)
    verify(graph, Stage.REAL, "import")
    return graph


def executed(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    batch = {name: array[np.newaxis] for name, array in inputs.items()}
    return {name: found[0] for name, found in Executor(graph, graph.outputs).run(batch).items()}


def assert_same(path: Path, inputs: Mapping[str, Array]) -> Graph:
    graph = imported(path)
    found = executed(graph, inputs)
    for name, wanted in run_litert(path, inputs).items():
        assert found[name].shape == wanted.shape
        np.testing.assert_allclose(found[name], wanted, rtol=1e-4, atol=1e-5)
    return graph
