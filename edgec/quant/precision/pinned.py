"""int16 codes that a file gives to some of its tensors, where edgec's own rules round.

Ranges, weights and biases are found as for int8 codes: each such tensor is given those that cover
its range.  The conversion to integers then has the codes of the file (`convert.codes.Codes16`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN, round_half_up, saturate
from edgec.base.names import shown
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph
from edgec.ir.metadata import integer_io_dtype
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import Range, code_range
from edgec.quant.convert.codes import Codes16
from edgec.quant.precision.codes import group_codes
from edgec.quant.scales.groups import code_groups

_STEPS = INT8_MAX - INT8_MIN


@dataclass(frozen=True, slots=True, eq=False)
class Pinned:
    """A network whose file gives int16 codes to some tensors.

    Attributes:
        narrow: REAL stage, with int8 codes of the same ranges for these tensors.
        ranges: the numbers that the int16 codes of a tensor stand for, by its name; an operator
            before them ends in this range.
    """

    narrow: Graph
    ranges: Mapping[str, Range]


def without_int16(graph: Graph) -> Pinned:
    """A network as if its file had int8 codes everywhere, and where it has not.

    Args:
        graph: REAL stage.

    Raises:
        QuantizationError: a tensor's codes have no range, or those of an input or output, which the
            calling program reads and writes, are around another number than 0.
    """
    pinned = {
        name: value.quant
        for name, value in graph.values.items()
        if value.quant is not None and value.quant.dtype is DType.INT16
    }
    if not pinned:
        return Pinned(graph, {})
    for name in (*graph.inputs, *graph.outputs):
        if name in pinned and pinned[name].zero_point != (0,):
            _refuse_io(graph, name, "has codes of 16 bits around another number than 0")
    values = {
        name: replace(value, quant=_int8(graph, name, pinned[name])) if name in pinned else value
        for name, value in graph.values.items()
    }
    constants = {**graph.constants, **_real_biases(graph, pinned)}
    ranges = {name: code_range(quant) for name, quant in pinned.items()}
    return Pinned(graph.replace(values=values, constants=constants), ranges)


def pinned_codes(annotated: Graph, ranges: Mapping[str, Range]) -> dict[str, Codes16]:
    """The int16 codes of a file's tensors, and of those that share them.

    The scale is the file's, unless its codes are not around 0, or a reader's sums would leave 32
    bits: then steps are as much larger as is needed.

    Args:
        annotated: ANNOTATED stage of `Pinned.narrow`.
        ranges: those of `Pinned`.

    Raises:
        QuantizationError: a reader's sums would leave 32 bits by codes that the calling program
            writes.
    """
    found: dict[str, Codes16] = {}
    if not ranges:
        return found
    for group in code_groups(annotated):
        known = [ranges[name] for name in group.members if name in ranges]
        if not known:
            continue
        least, most = min(each.low for each in known), max(each.high for each in known)
        # 32768 steps below 0 are as many as codes around 0 have.
        magnitude = max(most, -least * INT16_MAX / -INT16_MIN)
        codes = group_codes(annotated, group, magnitude)
        if codes is not None:
            steps = round_half_up(np.array([least, most]) / codes.quant.tensor_scale)
            low, high = (int(step) for step in saturate(steps, INT16_MIN, INT16_MAX))
            codes = replace(codes, bounds=(low, high))
            found.update(dict.fromkeys(group.members, codes))
            continue
        for name in group.members:
            _refuse_io(annotated, name, "has codes of 16 bits, with which a sum leaves 32 bits")
    return found


def _refuse_io(graph: Graph, name: str, what: str) -> None:
    """Refuse codes of 16 bits that the calling program sees; others become edgec's own."""
    if name not in (*graph.inputs, *graph.outputs) or integer_io_dtype(graph, name) is None:
        return
    side, operator = ("input", "Quantize") if name in graph.inputs else ("output", "Dequantize")
    raise QuantizationError(
        f"the {side} {what}",
        where=shown(name),
        hint=f"let the model {'begin' if side == 'input' else 'end'} with {operator}Linear of this "
        f"{side}, so that it is real numbers",
    )


def _int8(graph: Graph, name: str, quant: QuantParams) -> QuantParams:
    """Parameters of int8 for the range that int16 codes have.

    A value that a Clip limits spends no codes on what it cannot be.
    """
    covered = code_range(quant)
    low, high = covered.low, covered.high
    made = graph.producers.get(name)
    if made is not None and isinstance(made.attrs, ops.Clip):
        low, high = max(low, min(made.attrs.low, 0.0)), min(high, max(made.attrs.high, 0.0))
    if not low < high:
        raise QuantizationError(
            "its codes have no range", where=shown(name), hint="quantize the model again"
        )
    step = (high - low) / _STEPS
    point = math.floor(INT8_MIN - low / step + 0.5)
    return QuantParams.per_tensor(step, min(max(point, INT8_MIN), INT8_MAX))


def _real_biases(graph: Graph, pinned: Mapping[str, QuantParams]) -> dict[str, Constant]:
    """The biases of layers that read the tensors: real numbers, their steps are int16 products."""
    found = {}
    for node in graph.nodes:
        if isinstance(node.attrs, ops.Weighted) and node.first in pinned:
            bias = ops.layer_inputs(node).b
            if bias is not None and graph.constants[bias].quant is not None:
                real = graph.constants[bias].real64().astype(np.float32)
                found[bias] = Constant(bias, real)
    return found


def pinned_notes(pinned: Collection[str], codes: Mapping[str, Codes16]) -> tuple[str, ...]:
    """Notes on the tensors of a file that cannot have its int16 codes."""
    return tuple(
        f"{shown(name)!r} has int8 codes: with those of 16 bits that the file gives it, a sum "
        "could leave 32 bits"
        for name in pinned
        if name not in codes
    )
