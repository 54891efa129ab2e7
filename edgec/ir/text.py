"""A readable, deterministic dump of a graph; `--dump-ir` and golden tests use it."""

from __future__ import annotations

import dataclasses
import enum
import zlib
from typing import Any

from edgec.base.dtypes import Array
from edgec.base.rounding import Rounding
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.ir.weight_pool import PooledWeights


def graph_text(graph: Graph) -> str:
    """The graph as text: inputs, constants, one line a node, outputs.

    Arrays appear as shape, range and CRC-32, so that the dump is short and every change shows.
    Names are quoted with escapes: they come from the model.
    """
    lines = [f"graph {_quoted(graph.name)}"]
    lines += [f"  meta {_quoted(k)} = {_quoted(v)}" for k, v in sorted(graph.metadata.items())]
    if graph.rounding is not Rounding.EDGEC:
        lines.append(f"  rounding {graph.rounding.value}")
    if graph.warm_up:
        lines.append(f"  warm up {graph.warm_up}")
    if graph.lead is not None:
        lines.append(f"  sound after {graph.lead} zeros")
    for name in graph.inputs:
        lines.append(f"  input {_value(graph, name)}{_layout(graph.input_layouts.get(name))}")
        if name in graph.input_features:
            lines.append(f"    features{_quant(graph.input_features[name])}")
    lines += [f"  const {_constant(c)}" for _, c in sorted(graph.constants.items())]
    lines += [f"  {_node(graph, node)}" for node in graph.nodes]
    for name in graph.outputs:
        lines.append(f"  output {_quoted(name)}{_layout(graph.output_layouts.get(name))}")
    return "\n".join(lines) + "\n"


def _node(graph: Graph, node: Node) -> str:
    outputs = ", ".join(_value(graph, name) for name in node.outputs)
    inputs = ", ".join(_quoted(name) if name else "-" for name in node.inputs)
    return f"{outputs} = {node.op}({inputs}){_attrs(node.attrs)}"


def _attrs(attrs: Any) -> str:
    """Fields that differ from their defaults."""
    shown = []
    for field in dataclasses.fields(attrs):
        value = getattr(attrs, field.name)
        if value != field.default:
            shown.append(f"{field.name}={_plain(value)}")
    return f" {{{', '.join(shown)}}}" if shown else ""


def _plain(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    if dataclasses.is_dataclass(value):
        fields = (f"{f.name}={_plain(getattr(value, f.name))}" for f in dataclasses.fields(value))
        return f"{type(value).__name__}({', '.join(fields)})"
    return repr(value).replace(" ", "")


def _value(graph: Graph, name: str) -> str:
    value = graph.values[name]
    return f"{_quoted(name)}: {value.dtype.value}{_shape(value.shape)}{_quant(value.quant)}"


def _constant(constant: Constant) -> str:
    array = constant.array
    span = f" [{array.min()!s}, {array.max()!s}]" if array.size else ""
    head = f"{_quoted(constant.name)}: {constant.dtype.value}{_shape(constant.shape)}"
    return f"{head}{span} crc {_crc(array):08x}{_quant(constant.quant)}{_pooled(constant.pooled)}"


def _pooled(weights: PooledWeights | None) -> str:
    if weights is None:
        return ""
    terms = f" terms {weights.terms}" if weights.terms > 1 else ""
    pool = f"[{weights.pool.size},{weights.pool.group}] crc {_crc(weights.pool.vectors):08x}"
    return f" pool {pool}{terms}"


def _crc(array: Array) -> int:
    return zlib.crc32(array.tobytes())


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{','.join(str(size) for size in shape)}]"


def _quant(quant: QuantParams | None) -> str:
    if quant is None:
        return ""
    if quant.axis is None:
        return f" q({quant.scale[0]!r}, {quant.zero_point[0]}, {quant.dtype.value})"
    scales = f"{min(quant.scale)!r}..{max(quant.scale)!r}"
    zeros = f"{min(quant.zero_point)}..{max(quant.zero_point)}"
    return f" q({scales}, {zeros}, {quant.dtype.value}, axis {quant.axis})"


def _layout(perm: tuple[int, ...] | None) -> str:
    return f" layout {_shape(perm)}" if perm is not None else ""


def _quoted(name: str) -> str:
    return ascii(name)
