"""Campaign `networks`: ordinary random networks, quantized with data, judged on fresh samples.

A finding is an error that is no refusal, or a signal to noise below 15 dB where the static
quantization of onnxruntime keeps 25 dB with the same samples.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx

from edgec.base.dtypes import Array

from .campaign import Campaign, Case, Outcome

_MODEL = "model.onnx"
_CALIBRATION, _FRESH = 96, 48
"""Samples that ranges are found on, and others that the result is judged on."""
_LEAST_DB, _THEIRS_DB = 15.0, 25.0
_WORSE_DB = 6.0
"""What is as much below onnxruntime is counted by itself."""


def prepare(shared: Path) -> None:
    """Import what cases need."""
    del shared
    import onnxruntime.quantization  # noqa: F401

    import edgec.workflow.integer  # noqa: F401

    from . import random_networks  # noqa: F401


def run(case: Case) -> Outcome:
    """Make a network, quantize it with default options, and compare."""
    from edgec.base.errors import EdgecError, InternalError

    from .random_networks import random_network

    logging.disable(logging.WARNING)
    rng = case.random()
    path = case.folder / _MODEL
    onnx.save(random_network(rng), path)
    numbers = np.random.default_rng(rng.getrandbits(32))
    data, fresh = (_samples(path, count, numbers) for count in (_CALIBRATION, _FRESH))
    wanted = _outputs(path, fresh)
    try:
        ours = _signal_to_noise(wanted, _integer_outputs(path, data, fresh))
    except InternalError:
        raise
    except EdgecError as error:
        return Outcome(f"refused: {str(error).splitlines()[0]}")
    theirs = _theirs(path, data, fresh, wanted, case.folder)
    print(f"edgec {ours:.1f} dB, onnxruntime {theirs:.1f} dB", flush=True)
    if ours < _LEAST_DB and theirs >= _THEIRS_DB:
        found = f"{ours:.1f} dB on fresh samples, {theirs:.1f} dB by onnxruntime"
        return Outcome("noisy", found)
    if ours < _LEAST_DB:
        return Outcome("noisy by onnxruntime, too")
    return Outcome("right" if ours >= theirs - _WORSE_DB else f"right, {_WORSE_DB:g} dB worse")


def _samples(path: Path, count: int, rng: np.random.Generator) -> Array:
    (given,) = onnx.load(path).graph.input
    shape = [d.dim_value for d in given.type.tensor_type.shape.dim]
    return rng.normal(0, 1, (count, *shape[1:])).astype(np.float32)


def _outputs(path: Path, samples: Array) -> Array:
    """What a file computes in onnxruntime, as it is; float64 [N, ...]."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.stack([session.run(None, {"x": each[None]})[0] for each in samples]).astype(float)


def _integer_outputs(path: Path, data: Array, fresh: Array) -> Array:
    """What the integer graph computes, as real numbers in the model's layout; float64 [N, ...]."""
    from edgec.base.options import CompileOptions
    from edgec.interp import run_graph
    from edgec.quant.common.sample_codes import sample_codes
    from edgec.workflow.integer import graph_side, quantized_model, real_model

    options = CompileOptions()
    real = real_model(path, {"x": data}, options)
    graph = quantized_model(real, options).integer
    given = graph_side(real.imported, real.graph, {"x": fresh})
    (name,) = graph.outputs
    codes = [run_graph(graph, sample_codes(graph, given, i))[name] for i in range(len(fresh))]
    found = [graph.quant(name).dequantize(each).reshape(graph.shape(name)) for each in codes]
    layout = graph.output_layouts.get(name, tuple(range(found[0].ndim)))
    return np.stack([each.transpose(np.argsort(layout)) for each in found])


def _theirs(path: Path, data: Array, fresh: Array, wanted: Array, folder: Path) -> float:
    """Signal to noise of onnxruntime's static quantization in dB; -inf where it has none."""
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
        """The samples, one after the other."""

        def __init__(self) -> None:
            self._left: Iterator[Array] = iter(data)

        def get_next(self) -> dict[str, Array] | None:
            found = next(self._left, None)
            return None if found is None else {"x": found[None]}

    target = folder / "theirs.onnx"
    try:
        quantization.quantize_static(
            path, target, Reader(), quantization.QuantFormat.QDQ, per_channel=True
        )
        return _signal_to_noise(wanted, _outputs(target, fresh))
    except Exception as error:  # whatever it cannot do is no yardstick
        print(f"onnxruntime: {error}", flush=True)
        return -math.inf


def _signal_to_noise(wanted: Array, found: Array) -> float:
    """Of all samples together, in dB."""
    noise = float(np.sum((found.reshape(wanted.shape) - wanted) ** 2))
    signal = float(np.sum(wanted**2))
    return 10.0 * math.log10(max(signal, 1e-30) / max(noise, 1e-30))


CAMPAIGN = Campaign(
    summary="random networks with calibration data, judged on fresh samples beside onnxruntime",
    run=run,
    nightly=3000,
    prepare=prepare,
    seconds=120.0,
    memory_bytes=6 << 30,
)
