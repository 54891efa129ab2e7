"""From a translated file to a graph: names of outputs, quantization of moved codes, checks."""

from __future__ import annotations

import numpy as np

from edgec.base.errors import ImportModelError
from edgec.base.limits import MAX_ACTIVATION_ELEMENTS, MAX_WEIGHT_ELEMENTS
from edgec.base.names import shown
from edgec.importers.common.attempt import TranslatedNode, refuse_problems
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.pins import spread_pins
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Value


def finish(builder: RealBuilder, nodes: tuple[TranslatedNode, ...]) -> Graph:
    """The graph of a file whose nodes were all attempted.

    Raises:
        UnsupportedModelError: it has unsupported nodes.
        ImportModelError: an output is constant, a weight not finite, codes without meaning.
    """
    refuse_problems(nodes)
    _bind_outputs(builder)
    spread_pins(builder.builder, builder.pins)
    graph = builder.builder.build()
    for constant in graph.constants.values():
        _check_constant(constant)
    _check_sizes(graph)
    return graph


def _check_sizes(graph: Graph) -> None:
    """Refuse what would take hours or all memory to calibrate."""
    hint = "see docs/limits.md"
    for value in graph.values.values():
        if value.elements > MAX_ACTIVATION_ELEMENTS:
            raise ImportModelError(
                f"the tensor {list(value.shape)} has more than "
                f"{MAX_ACTIVATION_ELEMENTS:,} elements",
                where=shown(value.name),
                hint=hint,
            )
    weights = sum(constant.array.size for constant in graph.constants.values())
    if weights > MAX_WEIGHT_ELEMENTS:
        raise ImportModelError(
            f"the model has {weights:,} weights; the limit is {MAX_WEIGHT_ELEMENTS:,}", hint=hint
        )


def _bind_outputs(context: RealBuilder) -> None:
    """Give every graph output a value of its own name."""
    builder = context.builder
    for index, name in enumerate(builder.outputs):
        tensor = context.tensors.get(name)
        if not isinstance(tensor, Value):
            raise ImportModelError(
                "the output does not depend on any input",
                where=shown(name),
                hint="remove it from the model's outputs",
            )
        if tensor.name != name:
            # An operator that vanished: a reshape to the same shape costs nothing on the target.
            attrs = ops.Reshape(tensor.shape)
            builder.value(Value(name, tensor.shape, tensor.dtype))
            builder.node(name, attrs, (tensor.name,), (name,))
        builder.outputs[index] = name


def _check_constant(constant: Constant) -> None:
    where = shown(constant.name)
    if constant.array.dtype.kind == "f" and not bool(np.isfinite(constant.array).all()):
        raise ImportModelError(
            "the weight holds NaN or infinite numbers",
            where=where,
            hint="the training may have diverged; export a sound checkpoint",
        )
    if constant.quant is None and constant.array.dtype != np.float32:
        raise ImportModelError(
            f"the operand holds {constant.array.dtype} numbers", where=where, hint="use floats"
        )
