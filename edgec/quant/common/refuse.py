"""Refusal of operators without an integer form: at once, before anything is calibrated."""

from __future__ import annotations

from collections.abc import Callable, Collection

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError, UnsupportedModelError, UnsupportedNode
from edgec.base.names import shown
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.dft import LEAST_POINTS, MOST_POINTS, MOST_RADIX, is_computed
from edgec.ir.searched import is_open

_ENDLESS = 1e30
"""A scale that only numbers in the place of infinity have."""
_WITHOUT_CODES = (ops.Attention, ops.Embedding)
"""Operators that have no integer form from and to any int8 codes; rows that are pinned have one."""
_OF_INTEGERS = (
    ops.Attention,
    ops.Cast,
    ops.Compare,
    ops.Embedding,
    ops.Reshape,
    ops.Slice,
    ops.Transpose,
    ops.TurnSlice,
    ops.Unary,
    ops.Where,
)
"""Operators that take token ids, indices and masks."""
Obstacle = tuple[str, str]
"""Reason why a node cannot be compiled, and a remedy for the user."""


def refuse_real_only(graph: Graph, has_form: Callable[[Node], bool]) -> None:
    """Check that every operator has an integer form in a network whose ranges are observed.

    Args:
        graph: REAL stage.
        has_form: whether a node's operator has one, as far as `_is_real_only` has nothing against.

    Raises:
        UnsupportedModelError: all the nodes that have none.
    """
    refused = [node for node in graph.nodes if not has_form(node) or _is_real_only(graph, node)]
    _refuse(graph, refused)


def refuse_in_transformer(graph: Graph, supported: Collection[type]) -> None:
    """Check that every operator has an integer form in a network whose scales are searched.

    Args:
        graph: REAL stage.
        supported: operators that have one, as far as `_obstacle` has nothing against a node.

    Raises:
        UnsupportedModelError: all the nodes that have none.
    """
    refused = [n for n in graph.nodes if type(n.attrs) not in supported or _obstacle(graph, n)]
    _refuse(graph, refused)


def refuse_some_pins(graph: Graph) -> None:
    """Check that a network whose scales are searched brings none of its own.

    Args:
        graph: REAL stage, with norms or attention of tensors that are not pinned.

    Raises:
        QuantizationError: it pins some tensors.
    """
    if all(value.quant is None for value in graph.values.values()):
        return
    node = next(node for node in graph.nodes if is_open(graph, node))
    raise QuantizationError(
        "the model quantizes some of its tensors (QuantizeLinear), but not those around this "
        f"{node.attrs.title}",
        where=shown(node.sources[-1] if node.sources else node.name),
        hint="quantize all tensors of the model, or give the float model: edgec quantizes it",
    )


def refuse_endless_outputs(graph: Graph) -> None:
    """Check that no output holds numbers that stand for infinity beside its others.

    A mask is added as the lowest number of float32; its 8-bit scale would make all else zero.

    Args:
        graph: INTEGER stage.

    Raises:
        QuantizationError: an output does.
    """
    for name in graph.outputs:
        quant = graph.values[name].quant
        if quant is not None and max(quant.scale) > _ENDLESS:
            raise QuantizationError(
                "the output holds numbers that stand for infinity: no 8-bit scale keeps the others",
                where=shown(name),
                hint="let the network end before the mask is added",
            )


def _refuse(graph: Graph, nodes: list[Node]) -> None:
    if nodes:
        raise UnsupportedModelError(tuple(_problem(graph, node) for node in nodes))


def _is_real_only(graph: Graph, node: Node) -> bool:
    lacks = isinstance(node.attrs, _WITHOUT_CODES) and is_open(graph, node)
    if isinstance(node.attrs, ops.LogMel) and _sound_obstacle(graph, node):
        return True
    return lacks or _moves_integers(graph, node)


def _moves_integers(graph: Graph, node: Node) -> bool:
    """Whether integers of the run go through an operator whose integer form has codes only."""
    return _reads_integers(graph, node) and not isinstance(node.attrs, _OF_INTEGERS)


def _obstacle(graph: Graph, node: Node) -> Obstacle | None:
    """Reason why a node of an operator with an integer form has none, and a remedy; else None."""
    if isinstance(node.attrs, ops.Attention):
        bias = ops.Attention.Inputs.of(node.inputs).bias
        if bias and not graph.is_constant(bias):
            return (
                "a bias on the logits, or a mask of pairs, is computed at run time",
                "use a constant bias, and a mask with one number a key",
            )
    if isinstance(node.attrs, ops.Spectrum | ops.LogMel):
        return _sound_obstacle(graph, node)
    if _moves_integers(graph, node):
        return (
            "it moves single integers of the run",
            "let it move the real numbers that are made of them (Gather, Where, Cast)",
        )
    return None


def _sound_obstacle(graph: Graph, node: Node) -> Obstacle | None:
    """Reason why integers do not compute features of sound."""
    attrs = node.attrs_as(ops.Spectrum, ops.LogMel)
    if isinstance(attrs, ops.Spectrum):
        return (
            "spectra are computed on their way to logarithms of energies only",
            "let a power or magnitude, filters and a logarithm follow it whose operand is kept "
            "above 0: log(x + 1e-6), or log(clamp(x, min=1e-6))",
        )
    if not is_computed(attrs.points):
        return (
            f"spectra of {attrs.points} points are not computed",
            f"take {LEAST_POINTS} to {MOST_POINTS} for n_fft, with no prime factor above "
            f"{MOST_RADIX}; a shorter window may stay (win_length)",
        )
    window = graph.constants[ops.LogMel.Inputs.of(node.inputs).window].array
    if window.min() < 0 or window.max() <= 0:
        return "its window has numbers below 0", "take one of the usual windows"
    return None


def _reads_integers(graph: Graph, node: Node) -> bool:
    return any(
        name in graph.values and graph.values[name].dtype is DType.INT32 for name in node.inputs
    )


def _missing(graph: Graph, node: Node) -> Obstacle:
    """Reason why a node of an operator without an integer form has none, and a remedy."""
    if isinstance(node.attrs, _WITHOUT_CODES) and any(v.quant for v in graph.values.values()):
        return (
            "the model brings scales of its own, which this operator cannot keep",
            "give the float model: edgec quantizes it",
        )
    if _reads_integers(graph, node):
        return (
            "it computes with integers at run time",
            "let token ids choose rows (Gather) and masks hide keys, one number a key; compute "
            "anything else in the program that calls the network",
        )
    return (
        "there is no integer arithmetic for it",
        "end the network before it and compute it in the program that calls the network",
    )


def _problem(graph: Graph, node: Node) -> UnsupportedNode:
    reason, remedy = _obstacle(graph, node) or _missing(graph, node)
    return UnsupportedNode(
        name=shown(node.sources[-1] if node.sources else node.name),
        op=node.attrs.title,
        shape="x".join(map(str, graph.shape(node.output))),
        reason=reason,
        remedy=remedy,
    )
