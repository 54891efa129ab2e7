"""The choice of a kernel for each node: by estimated cycles, or the first family that fits.

Where nobody has measured what a family's kernels take on a core, precedence decides alone.  A
kernel that was measured for the layer itself (`edgec tune`) is taken before any estimate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from edgec.base.errors import InternalError, LoweringError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir.graph import Graph, Node
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.common.spec import LEAST, by_itself, sharing_shapes
from edgec.kernels.family import KernelFamily, KernelSpec
from edgec.kernels.places import BORDERS, VIEWS, copied_borders
from edgec.kernels.registry import FAMILIES
from edgec.kernels.tuned import signature
from edgec.kernels.variable_length import for_all_lengths
from edgec.memory import Overlap
from edgec.target.target import Target

Families = Sequence[KernelFamily[Any]]
_SURELY_LESS = 0.98
"""The part of the first family's estimate that another one must stay below: estimates of kernels
that take as long as each other differ by about as much."""


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """The kernel of a node.

    Attributes:
        node: a node of the integer graph; never one whose output is a view (`kernels.places`).
        family: that serves it.
        spec: what is generated.
        overlaps: how far the output may lie over each input; names are those of the graph's values,
            aliases not yet resolved.
    """

    node: Node
    family: KernelFamily[Any]
    spec: KernelSpec
    overlaps: tuple[Overlap, ...]

    @property
    def scratch_bytes(self) -> int:
        """Working memory of a call."""
        return self.spec.scratch_bytes

    @property
    def reads(self) -> tuple[str, ...]:
        """The inputs of the node that its kernel reads as tensors, in the kernel's order."""
        return self.family.tensors(self.node)

    @property
    def way(self) -> str:
        """Name of the kernel among all that could compute the node."""
        return self.family.way(self.spec)


def select_kernels(
    graph: Graph,
    target: Target,
    decisions: Mapping[str, object] = MappingProxyType({}),
    families: Families = FAMILIES,
) -> tuple[KernelChoice, ...]:
    """The kernel of every node that computes or copies something, in the graph's order.

    Where the target wants layers to share functions, they do if enough of them can: the ways of all
    nodes are found once, and chosen from again where too few layers would share.

    Args:
        graph: INTEGER stage.
        target: the processor that runs them.
        decisions: what planners decided, by name of the node; a family knows its own
            (`KernelFamily.planned`).
            Nodes without one get the kernel with the least estimate, or the first family that
            accepts them.
        families: in order of precedence.

    Raises:
        LoweringError: no kernel serves a node, or a tensor is beyond what kernels can index.
    """
    sizes = {name: value.size_bytes for name, value in graph.values.items()}
    sizes |= {name: constant.array.nbytes for name, constant in graph.constants.items()}
    for name, size_bytes in sizes.items():
        if size_bytes > INT32_MAX:
            raise LoweringError(
                f"a tensor of {size_bytes} bytes is too large for 32-bit indices", where=name
            )
    estimator = Estimator.of(target)

    def ways(node: Node) -> _Ways:
        return _ways(graph, node, target, decisions.get(node.name), families, estimator)

    found = {
        node.name: ways(node)
        for node in graph.nodes
        if not isinstance(node.attrs, (*VIEWS, *BORDERS))
    }
    chosen = {name: each.cheapest(estimator) for name, each in found.items()}
    copied = copied_borders(graph, tuple(chosen.values()))
    found |= {node.name: ways(node) for node in graph.nodes if node.name in copied}
    chosen |= {name: found[name].cheapest(estimator) for name in copied}
    if 0 < sharing_shapes(choice.spec for choice in chosen.values()) < LEAST:
        chosen = {name: each.by_themselves().cheapest(estimator) for name, each in found.items()}
    return tuple(chosen[node.name] for node in graph.nodes if node.name in chosen)


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """The kernels that a node may get.

    Attributes:
        graph: INTEGER stage.
        node: one of it.
        first: by precedence alone, or as decided.
        others: with their families; none where the first one is not to be compared.
    """

    graph: Graph
    node: Node
    first: tuple[KernelFamily[Any], KernelSpec]
    others: tuple[tuple[KernelFamily[Any], KernelSpec], ...] = ()

    def by_themselves(self) -> _Ways:
        """These kernels, made so that layers share no functions."""
        first, *others = ((family, by_itself(spec)) for family, spec in (self.first, *self.others))
        return _Ways(self.graph, self.node, first, tuple(others))

    def cheapest(self, estimator: Estimator) -> KernelChoice:
        """The first one, or the one that surely takes fewer cycles."""
        chosen = self.first
        least = estimator.cycles(*chosen) if self.others else None
        if least is not None:
            least *= _SURELY_LESS
            for way in self.others:
                cycles = estimator.cycles(*way)
                if cycles is not None and cycles < least:
                    chosen, least = way, cycles
        return choice_of(self.graph, self.node, *chosen)


def kernel_candidates(
    graph: Graph, node: Node, target: Target, families: Families = FAMILIES
) -> tuple[KernelChoice, ...]:
    """All kernels that could compute a node, fast or not, the one that is chosen first.

    Args:
        graph: INTEGER stage.
        node: one for which no planner decides; never a `QReshape`.
        target: the processor that runs it.
        families: in order of precedence.

    Raises:
        LoweringError: no kernel serves the node.
    """
    estimator = Estimator.of(target)
    chosen = _ways(graph, node, target, None, families, estimator).cheapest(estimator)
    found = {chosen.spec: chosen}
    for family, spec in _possible(graph, node, target, families):
        found.setdefault(spec, choice_of(graph, node, family, spec))
    return tuple(found.values())


def tuned_count(graph: Graph, choices: Sequence[KernelChoice], target: Target) -> int:
    """Number of layers that have the kernel that was measured to be the fastest.

    Args:
        graph: INTEGER stage.
        choices: what `select_kernels` chose for it.
        target: the processor that runs them.
    """
    if target.tuned is None:
        return 0
    return sum(target.tuned.kernel_of(signature(graph, each.node)) == each.way for each in choices)


def _possible(
    graph: Graph, node: Node, target: Target, families: Families
) -> Iterator[tuple[KernelFamily[Any], KernelSpec]]:
    """All specifications that could compute a node, fast or not, in order of precedence."""
    for family in families:
        computes = family.computes or family.accepts
        if family.has_code_for(graph, node) and computes(graph, node, target):
            spec = family.spec(graph, node, target)
            for each in (spec, *family.variants(spec)):
                serves = for_all_lengths(family, graph, node, each)
                if serves is not None:
                    yield family, serves


def _measured(
    graph: Graph, node: Node, target: Target, families: Families
) -> tuple[KernelFamily[Any], KernelSpec] | None:
    """The kernel that was measured to be the fastest; None: nobody measured, or it is gone."""
    name = None if target.tuned is None else target.tuned.kernel_of(signature(graph, node))
    if name is None:
        return None
    ways = _possible(graph, node, target, families)
    return next((way for way in ways if way[0].way(way[1]) == name), None)


def _ways(
    graph: Graph,
    node: Node,
    target: Target,
    decision: object,
    families: Families,
    estimator: Estimator,
) -> _Ways:
    first = _first(graph, node, target, decision, families)
    kept = decision is not None or first[0].is_kept(target)
    measured = None if kept else _measured(graph, node, target, families)
    if measured is not None:
        return _Ways(graph, node, measured)
    if kept or graph.length is not None or not (estimator.compares and estimator.knows(first[0])):
        return _Ways(graph, node, first)
    others = (
        (family, family.spec(graph, node, target))
        for family in families
        if family is not first[0]
        and not family.is_kept(target)
        and not (target.has_neon and family.vectorized)
        and family.has_code_for(graph, node)
        and estimator.knows(family)
        and (family.computes or family.accepts)(graph, node, target)
    )
    return _Ways(graph, node, first, tuple(others))


def _first(
    graph: Graph, node: Node, target: Target, decision: object, families: Families
) -> tuple[KernelFamily[Any], KernelSpec]:
    """By precedence alone."""
    for family in families:
        if family.has_code_for(graph, node):
            found = _spec(family, graph, node, target, decision)
            spec = None if found is None else for_all_lengths(family, graph, node, found)
            if spec is not None:
                return family, spec
    raise LoweringError(
        f"no kernel serves the operator {node.op}",
        where=node.name,
        hint="this operator exists only before quantization, which is a bug of edgec",
    )


def _spec(
    family: KernelFamily[Any], graph: Graph, node: Node, target: Target, decision: object
) -> KernelSpec | None:
    """For the longest run; None where the family does not serve the node."""
    found: KernelSpec | None = None
    if decision is not None:
        found = family.planned(graph, node, decision)
    elif family.accepts(graph, node, target):
        found = family.spec(graph, node, target)
    return found


def choice_of(
    graph: Graph, node: Node, family: KernelFamily[Any], spec: KernelSpec
) -> KernelChoice:
    """The choice of one specification for a node."""
    names, found = family.tensors(node), family.overlap(spec)
    if len(found) != len(names):
        raise InternalError(f"{family.name}: one distance per operand expected", where=node.name)
    overlaps = tuple(
        Overlap(node.outputs[0], name, distance)
        for name, distance in zip(names, found, strict=True)
        if distance is not None
        and name in graph.values
        # A distance is that of an only output; several are written in an order of their own.
        and len(node.outputs) == 1
    )
    return KernelChoice(node, family, spec, overlaps)
