"""The QDQ model that `edgec quantize` writes, in memory: export, import, and what it means.

The integer graph is held against that.
"""

from __future__ import annotations

import numpy as np

from edgec.base.options import IntegerOptions, WeightTypes
from edgec.base.output_file import write_whole
from edgec.base.work_folder import temporary_folder
from edgec.exporters.onnx.export import export_real
from edgec.exporters.onnx.few_bits import store_narrow
from edgec.exporters.onnx.qonnx import as_qonnx
from edgec.floatrun.rounded import run_rounded
from edgec.interp import run_graph_batch
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.report.model import QdqReport
from edgec.workflow.checks import check_inputs
from edgec.workflow.integer import IntegerModel, RealModel, real_model


def exported(graph: Graph, types: WeightTypes = WeightTypes.INT8, *, qonnx: bool = False) -> bytes:
    """The ONNX file of a graph of the REAL stage, with the axes of its model.

    Args:
        graph: REAL stage.
        types: narrowest element type of integer weights.
        qonnx: quantizers are nodes of QONNX.

    Raises:
        ConfigError: QONNX cannot say what the graph has.
    """
    model = export_real(graph, model_layout=True)
    store_narrow(model, types)
    if qonnx:
        as_qonnx(model)
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def read_again(data: bytes, name: str) -> RealModel:
    """The model that is in a file, as a compile reads it.

    Args:
        data: the content of the file.
        name: the name of the file.
    """
    with temporary_folder() as folder:
        path = folder / name
        write_whole(path, data)
        return real_model(path, None, IntegerOptions())


_MOST_SAMPLES, _LEAST_SAMPLES = 8, 3
_WORK = 4e8
"""Multiply-accumulates of all samples together; what is done never depends on how fast the computer
is."""


def compare_export(model: IntegerModel) -> QdqReport | None:
    """Outputs of the reference beside those of the quantized model in real arithmetic.

    None for a transformer, whose arithmetic ONNX cannot say.
    """
    if model.annotated is None:
        return None
    count = int(_WORK / max(total_macs(model.annotated), 1))
    samples = check_inputs(model, min(max(count, _LEAST_SAMPLES), _MOST_SAMPLES))
    inputs = {name: np.concatenate([each[name] for each in samples]) for name in samples[0]}
    oracle = run_graph_batch(model.integer, inputs)
    found = run_rounded(model.annotated, inputs)
    gaps = np.concatenate(
        [
            np.abs(found[name].astype(np.int64).ravel() - oracle[name].astype(np.int64).ravel())
            for name in model.integer.outputs
        ]
    )
    return QdqReport(len(samples), float(np.mean(gaps != 0)), int(gaps.max(initial=0)))
