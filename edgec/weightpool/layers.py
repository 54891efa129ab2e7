"""Choice of the layers to pool, with the reasons against the others."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from edgec.base.errors import WeightPoolError
from edgec.base.names import printable
from edgec.base.options import WeightPoolOptions
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.weightpool.vectors import PoolLayer, pool_layer

LEAST_VECTORS = 64
"""A layer of fewer vectors saves less than half a kilobyte, which is not worth its error."""


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A layer whose weights stay as they are.

    Attributes:
        node: its name.
        reason: why, in a few words.
    """

    node: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Layers to pool, and those that are left alone.

    Attributes:
        pooled: in graph order.
        left_alone: the other layers with weights, in graph order.
    """

    pooled: tuple[PoolLayer, ...]
    left_alone: tuple[LeftAlone, ...]


def choose_layers(graph: Graph, options: WeightPoolOptions) -> Choice:
    """Choose the layers to pool.

    Args:
        graph: REAL stage.
        options: group and patterns.

    Raises:
        WeightPoolError: nothing can be pooled, something is pooled already, a pattern matches no
            layer or only such that cannot be pooled, or weights are not finite.
    """
    layers = [node for node in graph.nodes if isinstance(node.attrs, ops.Weighted)]
    check_unpooled(graph, layers)
    check_patterns(graph, layers, options.layers, "--layers", "be pooled")
    pooled: list[PoolLayer] = []
    left_alone: list[LeftAlone] = []
    for node in layers:
        reason = impossible(graph, node) or _unwanted(graph, node, layers, options)
        if reason:
            left_alone.append(LeftAlone(node.name, reason))
        else:
            pooled.append(pool_layer(graph, node, options.group))
    if not pooled:
        reasons = "; ".join(f"{printable(each.node)}: {each.reason}" for each in left_alone[:5])
        raise WeightPoolError(
            f"no layer to pool ({reasons or 'the model has no weights'})",
            where=graph.name,
            hint="name layers with --layers, or compile the model as it is",
        )
    return Choice(tuple(pooled), tuple(left_alone))


def impossible(graph: Graph, node: Node) -> str:
    """Reason why a layer cannot be pooled; empty when it can."""
    if not isinstance(node.attrs, ops.Conv | ops.Gemm):
        return f"{node.attrs.title} is not supported"
    weight = ops.layer_inputs(node).w
    if weight not in graph.constants:
        return "its weights are computed"
    if isinstance(node.attrs, ops.Conv) and node.attrs.group > 1:
        each = graph.shape(weight)[-1]
        return f"depthwise or grouped: a filter reads {each} channel{'s' * (each > 1)}"
    if _is_of_recurrent(graph, node):
        return "a gate of a recurrent operator: its file holds the weights of all gates as floats"
    return ""


def _is_of_recurrent(graph: Graph, node: Node) -> bool:
    """Whether a layer is a part of a recurrent operator of the file (GRU, LSTM, RNN)."""
    states = (n for n in graph.nodes if isinstance(n.attrs, ops.Carry | ops.Update))
    return any(set(node.sources) & set(state.sources) for state in states)


def _unwanted(graph: Graph, node: Node, layers: list[Node], options: WeightPoolOptions) -> str:
    """Reason why a layer should not be pooled; empty when it should."""
    if options.layers:
        return "" if matches(node, options.layers) else "not among --layers"
    *outer, channels = graph.shape(ops.layer_inputs(node).w)
    if channels < options.group:
        return f"{channels} input channels do not fill a vector of {options.group}"
    if node is layers[-1]:
        return "the last layer: its errors go straight to the output"
    vectors = -(-channels // options.group)
    for size in outer:
        vectors *= size
    if vectors < LEAST_VECTORS:
        return f"only {vectors} vectors: saves little"
    return ""


def matches(node: Node, patterns: tuple[str, ...]) -> bool:
    """Whether a pattern fits a layer's own name, its weights', or one of the model's nodes."""
    names = (node.name, ops.layer_inputs(node).w, *node.sources)
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def check_unpooled(graph: Graph, layers: list[Node]) -> None:
    """Refuse a model with pools: a pool of a pool is far from the network that was trained."""
    for node in layers:
        weight = graph.constants.get(ops.layer_inputs(node).w)
        if weight is not None and weight.pooled is not None:
            pool = weight.pooled.pool
            raise WeightPoolError(
                f"the model's weights are in a pool already ({pool.size} vectors of {pool.group})",
                where=f"{graph.name}: {node.name}",
                hint="compress the model that the pool was made from",
            )


def check_patterns(
    graph: Graph, layers: list[Node], patterns: tuple[str, ...], option: str, goal: str = ""
) -> None:
    """Each pattern of an option must match a layer.

    Args:
        graph: REAL stage.
        layers: its layers.
        patterns: those of the option.
        option: its name, for messages.
        goal: words for what one of them must be possible for; empty: none need be.

    Raises:
        WeightPoolError: a pattern matches none.
    """
    for pattern in patterns:
        found = [node for node in layers if matches(node, (pattern,))]
        reasons = [impossible(graph, node) for node in found] if goal else []
        if not found or (reasons and all(reasons)):
            raise WeightPoolError(
                f"matches no layer{f' that can {goal}: {reasons[0]}' if reasons else ''}",
                where=f"{option} {pattern}",
                hint="layers: " + ", ".join(node.name for node in layers[:12]),
            )
