"""Translation of a file node by node; nodes that cannot be translated are noted with the reason.

A model with nodes that cannot be compiled is walked to its end, so that one error names them all.

Reasons why operators are not supported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edgec.base.errors import (
    ImportModelError,
    QuantizationError,
    UnsupportedModelError,
    UnsupportedNode,
)
from edgec.base.names import shown
from edgec.importers.common.builder import RealBuilder, SourceNode
from edgec.importers.common.tensors import Tensor, UnknownTensorError, UnsupportedError

Handle = Callable[[], Tensor | tuple[Tensor, ...]]


@dataclass(frozen=True, slots=True)
class TranslatedNode:
    """Outcome of translating one node of the file.

    Attributes:
        problem: set when the node cannot be compiled.
        examined: False when an unsupported node before it left its input shapes unknown.
    """

    source: SourceNode
    problem: UnsupportedNode | None = None
    examined: bool = True


def problems(nodes: tuple[TranslatedNode, ...]) -> tuple[UnsupportedNode, ...]:
    """The nodes that cannot be compiled."""
    return tuple(node.problem for node in nodes if node.problem is not None)


def refuse_problems(nodes: tuple[TranslatedNode, ...]) -> None:
    """Nothing if all nodes can be compiled.

    Raises:
        UnsupportedModelError: names all that cannot.
    """
    found = problems(nodes)
    if found:
        raise UnsupportedModelError(found)


def attempt(builder: RealBuilder, source: SourceNode, handle: Handle) -> TranslatedNode:
    """Translate one node; its outputs are bound to their names in the file.

    Args:
        builder: the graph under construction.
        source: the node.
        handle: emits what the node stands for; gives its outputs.

    Raises:
        ImportModelError: the node is impossible, whatever edgec supports.
    """
    builder.begin(source)
    try:
        with np.errstate(all="ignore"):
            result = handle()
    except UnsupportedError as error:
        problem = UnsupportedNode(
            shown(source.name), source.op, _shape_text(source), error.reason, error.remedy
        )
        _stand_in(builder, source)
        return TranslatedNode(source, problem)
    except UnknownTensorError:
        _stand_in(builder, source)
        return TranslatedNode(source, examined=False)
    except (ImportModelError, QuantizationError) as error:
        where = error.where or f"{shown(source.name)} ({source.op})"
        raise ImportModelError(error.what, where=where, hint=error.hint) from error
    outputs = result if isinstance(result, tuple) else (result,)
    for name, tensor in zip(source.outputs, outputs, strict=False):
        if name:
            builder.bind(name, tensor)
    return TranslatedNode(source)


def _stand_in(builder: RealBuilder, source: SourceNode) -> None:
    """Let the outputs of a node that cannot be compiled stand as the file declares them."""
    for value in source.declared:
        builder.tensors[value.name] = value


def _shape_text(source: SourceNode) -> str:
    return "shape unknown" if source.shape is None else "x".join(map(str, source.shape)) or "scalar"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Reason why an operator is not supported, and a remedy."""

    reason: str
    remedy: str
