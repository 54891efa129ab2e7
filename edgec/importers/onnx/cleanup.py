"""Clean-up of exported graphs, by onnx-ir and onnxscript.

Functions are inlined, whatever is constant is computed (the shape arithmetic of PyTorch's exporters
among it), identities and inference-time dropouts vanish, equal nodes become one.  None of the
fusions of onnxscript's optimizer run: these are edgec's own passes, and they must see quantization.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager

import onnx
import onnx_ir as ir
from onnx_ir.passes import common
from onnxscript.optimizer import fold_constants_ir

from edgec.importers.common.boundary import library_call
from edgec.importers.onnx.weight_pool_lookup import is_weight_lookup
from edgec.importers.onnx.wrapped_indices import drop_wrapping

MAX_FOLDED_ELEMENTS = 1 << 24
"""Largest tensor that folding may create; a graph could ask for any size in a few bytes."""
MAX_FOLDED_TOTAL = 1 << 26
"""Most elements that folding may create altogether."""

_LIBRARIES = ("onnxscript", "onnx_ir")

_KEPT = frozenset(
    {
        # Weights that a DequantizeLinear reads stay integer.
        "DequantizeLinear",
        "DynamicQuantizeLinear",
        # Not known at compile time.
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Bernoulli",
        "Multinomial",
        # Would evaluate a body.
        "If",
        "Loop",
        "Scan",
        "SequenceMap",
    }
)


def clean(model: onnx.ModelProto) -> ir.Model:
    """The model with static shapes inferred and constants folded.

    Args:
        model: screened, with static input shapes.

    Raises:
        ImportModelError: a library refuses the model.
    """
    with library_call("the model cannot be simplified"), _quiet_libraries():
        graph_model = ir.from_proto(model)
        common.InlinePass()(graph_model)
        fold_constants_ir(
            graph_model,
            onnx_shape_inference=True,
            input_size_limit=MAX_FOLDED_ELEMENTS,
            output_size_limit=MAX_FOLDED_ELEMENTS,
            should_fold=_FoldBudget().may_fold,
        )
        drop_wrapping(graph_model.graph)
        for tidy in (
            common.RemoveUnusedNodesPass(),
            common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0),
            common.IdentityEliminationPass(),
            common.CommonSubexpressionEliminationPass(),
            common.RemoveUnusedNodesPass(),
        ):
            tidy(graph_model)
    return graph_model


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Keep warnings of the libraries off the user's terminal.

    They say which nodes could not be computed; those that matter are named by the translation.
    """
    loggers = [logging.getLogger(name) for name in _LIBRARIES]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


class _FoldBudget:
    """Decides which nodes of constant inputs are evaluated: those of known, bounded output."""

    def __init__(self) -> None:
        self._left = MAX_FOLDED_TOTAL

    def may_fold(self, node: ir.Node) -> bool:
        """True when a node may be evaluated; its output then counts against the budget."""
        if node.op_type in _KEPT or len(node.outputs) != 1 or is_weight_lookup(node):
            return False
        shape = static_shape(node.outputs[0])
        if shape is None or math.prod(shape) > min(MAX_FOLDED_ELEMENTS, self._left):
            return False
        self._left -= math.prod(shape)
        return True


def static_shape(value: ir.Value) -> tuple[int, ...] | None:
    """The inferred shape of a value; None where a dimension is unknown."""
    if value.shape is None or not value.shape.is_static():
        return None
    return tuple(value.shape.numpy())
