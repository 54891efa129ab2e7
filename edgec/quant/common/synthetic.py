"""Inputs to calibrate on when the user gives none: better than nothing, worse than real data."""

from __future__ import annotations

import logging
import math

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Graph

_LOG = logging.getLogger(__name__)

_BLOCKS = (1, 2, 4, 8)
_SEED = 20210722


def describe(low: float, high: float, samples: int) -> str:
    """Description of `synthetic_inputs`, in a few words."""
    return f"{samples} samples of noise in [{low:g}, {high:g}]"


def warn_synthetic(low: float, high: float, samples: int) -> None:
    """Log that there is no calibration data."""
    _LOG.warning(
        "no calibration data, so ranges come from %s: expect bad accuracy; give typical inputs "
        "with --calibration",
        describe(low, high, samples),
    )


def synthetic_inputs(graph: Graph, low: float, high: float, samples: int) -> dict[str, Array]:
    """Noise for each graph input; float32 [samples, ...], the same on every call.

    Token ids and masks are int32, ones: the one number that is a word and keeps a key.

    White noise alone averages out in the first convolutions and gives ranges that real data exceed,
    so the samples in turn are constant over blocks of 1, 2, 4 and 8 elements.
    """
    rng = np.random.default_rng(_SEED)
    found = {}
    for name in graph.inputs:
        shape = graph.shape(name)[1:]
        if graph.values[name].dtype is DType.INT32:
            found[name] = np.ones((samples, *shape), np.int32)
            continue
        # Features with a scale each are in steps, whatever their range.
        ends = (-1.0, 1.0) if name in graph.input_features else (low, high)
        blocks = (_BLOCKS[i % len(_BLOCKS)] for i in range(samples))
        found[name] = np.stack([_noise(rng, shape, block, *ends) for block in blocks])
    return found


def _noise(
    rng: np.random.Generator, shape: tuple[int, ...], block: int, low: float, high: float
) -> Array:
    coarse = tuple(math.ceil(size / block) for size in shape[:-1]) + shape[-1:]
    noise = rng.uniform(low, high, size=coarse).astype(np.float32)
    for axis in range(len(shape) - 1):
        noise = np.repeat(noise, block, axis=axis)
    return noise[tuple(slice(size) for size in shape)]
