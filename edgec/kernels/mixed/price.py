"""What layers with int16 activations take of time, beside the same layers with int8 activations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.infer import macs
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Rates:
    """Cycles of a multiply-accumulate.

    Attributes:
        dense: in layers of one group with int8 activations.
        depthwise: in layers of more groups with int8 activations.
        dense16, depthwise16: in the same layers with int16 activations.
    """

    dense: float
    depthwise: float
    dense16: float
    depthwise16: float


_RATES: Mapping[str, Rates] = MappingProxyType(
    {
        "cortex-m4": Rates(1.27, 3.43, 2.23, 11.04),
        "cortex-m7": Rates(0.75, 2.43, 1.40, 7.11),
        "cortex-m33": Rates(1.10, 2.84, 1.69, 8.42),
        "cortex-m3": Rates(2.59, 6.98, 10.22, 12.12),
        "cortex-m0plus": Rates(3.79, 14.18, 16.87, 25.36),
    }
)
"""By the core.  Source: benchmarks/int16_prices.py."""


_WITH_WEIGHTS = (qops.QMixedConv, qops.Weighted, qops.PooledLayer)


def int16_slowdown(graph: Graph, target: Target) -> float | None:
    """How many times as long the layers with weights take as with int8 activations, estimated.

    Args:
        graph: INTEGER stage, with int16 activations in some layers.
        target: the processor.

    Returns:
        1 or more; None where no rates were measured, or no layer has weights.
    """
    rates = _RATES.get(target.price_key)
    if rates is None:
        return None
    narrow = found = 0.0
    for node in graph.nodes:
        if not isinstance(node.attrs, _WITH_WEIGHTS):
            continue
        count, depthwise = macs(graph, node), getattr(node.attrs, "group", 1) > 1
        own = rates.depthwise if depthwise else rates.dense
        wide = rates.depthwise16 if depthwise else rates.dense16
        narrow += count * own
        found += count * (wide if isinstance(node.attrs, qops.QMixedConv) else own)
    return found / narrow if narrow else None
