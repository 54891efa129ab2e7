"""The integer graph beside what the QDQ model that `edgec quantize` writes means."""

from __future__ import annotations

import numpy as np

from edgec.floatrun.rounded import run_rounded
from edgec.interp import run_graph_batch
from edgec.report.model import QdqReport
from edgec.workflow.checks import check_inputs
from edgec.workflow.integer import IntegerModel

_SAMPLES = 8


def compare_export(model: IntegerModel) -> QdqReport | None:
    """Outputs of the reference beside those of the quantized model in real arithmetic.

    None for a transformer, whose arithmetic ONNX cannot say.
    """
    if model.annotated is None:
        return None
    samples = check_inputs(model, _SAMPLES)
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
