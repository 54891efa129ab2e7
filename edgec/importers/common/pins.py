"""Spreads the quantization of integer codes over the operators that only move them.

In a QDQ model codes may pass through Transpose, Reshape, MaxPool and the like between a
QuantizeLinear (or an integer graph input) and the DequantizeLinear that says what they mean.  All
values on such a way share one quantization.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from edgec.base.dtypes import DType
from edgec.base.errors import ImportModelError
from edgec.base.names import shown
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams

_CODES = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16)


@dataclass(frozen=True, slots=True)
class Pin:
    """Quantization that a node of the file gives to a value of codes that it reads."""

    value: str
    quant: QuantParams
    node: str


def spread_pins(builder: GraphBuilder, pins: Iterable[Pin]) -> None:
    """Set `quant` on every value that holds codes, in place.

    Also turns the fill value of a `Pad` of codes into the real number that it means.

    Raises:
        ImportModelError: two quantizations meet, or none is known.
    """
    found = {n: v.quant for n, v in builder.values.items() if v.quant is not None}
    for pin in pins:
        _settle(found, pin.value, pin.quant, pin.node)
    moves = [node for node in builder.nodes.values() if _moves_codes(builder, node)]
    before = -1
    while before != len(found):
        before = len(found)
        for node in (*moves, *reversed(moves)):
            _share(found, node)
    for name, value in builder.values.items():
        if value.dtype in _CODES:
            if name not in found:
                raise ImportModelError(
                    "the tensor holds integers of unknown meaning",
                    where=shown(name),
                    hint="put a DequantizeLinear after it (QDQ format), or use float inputs",
                )
            builder.values[name] = replace(value, quant=found[name])
    for node in moves:
        if isinstance(node.attrs, ops.Pad):
            builder.put(replace(node, attrs=_real_fill(node.attrs, found[node.first])))


def _moves_codes(builder: GraphBuilder, node: Node) -> bool:
    """True for operators whose inputs and output are codes of one quantization."""
    names = [*node.inputs, *node.outputs]
    return all(n in builder.values and builder.values[n].dtype in _CODES for n in names)


def _share(found: dict[str, QuantParams], node: Node) -> None:
    names = [*node.inputs, *node.outputs]
    known = next((found[name] for name in names if name in found), None)
    if known is not None:
        for name in names:
            _settle(found, name, known, node.name)


def _settle(found: dict[str, QuantParams], name: str, quant: QuantParams, node: str) -> None:
    if found.setdefault(name, quant) != quant:
        raise ImportModelError(
            f"{shown(name)!r} is read with another scale or zero point than it was written with",
            where=shown(node),
            hint="quantize the model again",
        )


def _real_fill(attrs: ops.Pad, quant: QuantParams) -> ops.Pad:
    value = quant.tensor_scale * (attrs.value - quant.tensor_zero_point)
    return replace(attrs, value=value)
