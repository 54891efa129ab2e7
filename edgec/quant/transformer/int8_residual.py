"""Parameters of a stream of int8: one scale, and a power of two for each channel.

What counts is the error of the norms that read the stream, for they divide by the deviation of
their row and multiply by gamma.  Source: Lin et al., "FQ-ViT: Post-Training Quantization for Fully
Quantized Vision Transformer", IJCAI 2022, section 3.2 (power-of-two factors before LayerNorm).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, repeat
from operator import mul

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, round_half_up
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Node
from edgec.ir.labels import keeps_channels
from edgec.ir.qparams import QuantParams
from edgec.quant.transformer.layers import WEIGHTED
from edgec.quant.transformer.residual import NORMS, least_of_stream
from edgec.quant.transformer.samples import Seen

_EIGHTH = math.sqrt(math.sqrt(math.sqrt(0.5)))
_CLIPS = tuple(accumulate(repeat(_EIGHTH, 16), mul, initial=1.0))
"""Shares of the largest magnitude that are tried as the largest code of the coarsest channel."""
_FACTORS = tuple(range(qops.MOST_CHANNEL_SHIFT + 1))
_ROWS = 512
"""Rows of each value that errors are measured on."""
_LEAST_DEVIATION = 1 / 8
"""Least deviation that counts for a row, relative to the mean; some rows hardly differ from 0."""


def int8_stream(graph: Graph, names: Sequence[str], seen: Mapping[str, Seen]) -> QuantParams:
    """Parameters of the values of one group, on axis 0 if channels have scales of their own.

    Args:
        graph: REAL stage.
        names: from `stream_groups`.
        seen: samples of every value.
    """
    names = [name for name in names if not _is_branch(graph, name)] or names
    found = [_weighted(graph, name, seen[name]) for name in names]
    magnitude = [seen[name].magnitude for name in names]
    floor = least_of_stream(graph, names) * (INT8_MAX << _FACTORS[-1]) / _CLIPS[-1]
    largest = max(float(np.concatenate(magnitude).max()), floor)
    if not _has_channels(graph, names):
        rows, weights = (
            np.concatenate([part.ravel() for part in p]) for p in zip(*found, strict=True)
        )
        steps = [largest * clip / INT8_MAX for clip in _CLIPS]
        return QuantParams.per_tensor(min(steps, key=lambda s: _errors(rows, weights, s).sum()), 0)
    rows, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
    best = QuantParams.per_tensor(largest / INT8_MAX, 0)
    least = np.inf
    for clip in _CLIPS:
        unit = largest * clip / (INT8_MAX << _FACTORS[-1])
        errors = np.stack([_errors(rows, weights, np.ldexp(unit, k)) for k in _FACTORS])
        if errors.min(axis=0).sum() < least:
            least = errors.min(axis=0).sum()
            scale = np.ldexp(unit, errors.argmin(axis=0))
            best = QuantParams(tuple(map(float, scale)), (0,) * len(scale), DType.INT8, axis=0)
    return best


def _errors(rows: Array, weights: Array, step: float) -> Array:
    """Weighted squared error of each channel for one scale; float64 [C]."""
    codes = np.clip(round_half_up(rows / step), -INT8_MAX, INT8_MAX)
    return np.asarray((weights * (codes * step - rows) ** 2).sum(axis=0))


def _weighted(graph: Graph, name: str, seen: Seen) -> tuple[Array, Array]:
    """Rows of a value, and how much the norms that read it make of their errors; [R, C] each."""
    rows = seen.rows[:: max(1, len(seen.rows) // _ROWS)].astype(np.float64)
    readers = [node for node in graph.consumers[name] if isinstance(node.attrs, NORMS)]
    gammas = [
        graph.constants[ops.Norm.Inputs.of(node.inputs).gamma].real64() ** 2 for node in readers
    ]
    # A value that no norm reads still passes its errors on to the next one.
    gamma = np.sum(gammas, axis=0) if gammas else np.ones(rows.shape[1])
    variance = rows.var(axis=1, keepdims=True)
    least = float(variance.mean()) * _LEAST_DEVIATION**2 or 1.0
    return rows, gamma / np.maximum(variance, least)


def _is_branch(graph: Graph, name: str) -> bool:
    """True for what a layer adds to the stream at once: it is never stored."""
    producer, reader = graph.producers.get(name), graph.sole_consumer(name)
    layer = producer is not None and isinstance(producer.attrs, WEIGHTED)
    return layer and reader is not None and isinstance(reader.attrs, ops.Add)


def _has_channels(graph: Graph, names: Sequence[str]) -> bool:
    """True if channels of the values can have scales of their own: they stay channels."""
    makers = [graph.producers[name] for name in names if name in graph.producers]
    same = len({graph.shape(name)[-1] for name in names}) == 1
    return same and not any(_mixes_channels(graph, node) for node in makers)


def _mixes_channels(graph: Graph, node: Node) -> bool:
    match node.attrs:
        case ops.Reshape() | ops.Transpose() | ops.Slice() | ops.Concat():
            return not keeps_channels(graph, node)
        case ops.Clip(low=low, high=high):
            # Bounds are codes, which differ where scales do.
            return not {low, high} <= {0.0, -np.inf, np.inf}
        case _:
            return False
