"""A float network with weights drawn anew: none of its channels is constant by training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

_BIAS = 0.1


def with_random_weights(path: Path, copy: Path) -> Path:
    """Write a copy of an ONNX file, each weight and bias drawn from a normal distribution.

    Weights have He's deviation, sqrt(2 / inputs of a filter), so that activations keep their scale
    through the layers.  Always the same numbers.

    Returns:
        `copy`, whose folder is made where there is none.
    """
    model = onnx.load(path)
    rng = np.random.default_rng(0)
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype != np.float32 or array.ndim == 0:
            continue
        inputs = array.shape[0] if array.ndim == 2 else np.prod(array.shape[1:])
        deviation = _BIAS if array.ndim == 1 else np.sqrt(2 / inputs)
        drawn = rng.normal(0, deviation, array.shape).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(drawn, tensor.name))
    copy.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, copy)
    return copy
