"""The choice of a kernel for each node: by estimated cycles, or the first family that fits.

Where nobody has measured what a family's kernels take on a core, precedence decides alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from edgec.base.errors import InternalError, LoweringError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.common.sharing import LEAST, sharing_shapes
from edgec.kernels.family import KernelFamily, KernelSpec
from edgec.kernels.registry import FAMILIES
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
        node: a node of the integer graph; never a `QReshape`, which needs no kernel.
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


def select_kernels(
    graph: Graph,
    target: Target,
    decisions: Mapping[str, object] = MappingProxyType({}),
    families: Families = FAMILIES,
) -> tuple[KernelChoice, ...]:
    """The kernel of every node that computes something, in the graph's order.

    Where the target wants layers to share functions, they do if enough of them can.

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
    choices = _choices(graph, target, decisions, families)
    if 0 < sharing_shapes(choice.spec for choice in choices) < LEAST:
        return _choices(graph, dataclasses.replace(target, alone=True), decisions, families)
    return choices


def _choices(
    graph: Graph, target: Target, decisions: Mapping[str, object], families: Families
) -> tuple[KernelChoice, ...]:
    estimator = Estimator.of(target)
    return tuple(
        _choose(graph, node, target, decisions.get(node.name), families, estimator)
        for node in graph.nodes
        if not isinstance(node.attrs, qops.QReshape)
    )


def kernel_candidates(
    graph: Graph, node: Node, target: Target, families: Families = FAMILIES
) -> tuple[KernelChoice, ...]:
    """All kernels that could compute a node, fast or not, the one that is chosen first.

    Args:
        graph: INTEGER stage, of fixed length.
        node: one for which no planner decides; never a `QReshape`.
        target: the processor that runs it.
        families: in order of precedence.

    Raises:
        LoweringError: no kernel serves the node.
    """
    chosen = _choose(graph, node, target, None, families, Estimator.of(target))
    found = {chosen.spec: chosen}
    for family in families:
        computes = family.computes or family.accepts
        if isinstance(node.attrs, family.operators) and computes(graph, node, target):
            spec = family.spec(graph, node, target)
            for each in (spec, *family.variants(spec)):
                overlaps = _overlaps(family, graph, node, each)
                found.setdefault(each, KernelChoice(node, family, each, overlaps))
    return tuple(found.values())


def operands(node: Node) -> tuple[str, ...]:
    """The inputs of a node that its kernel reads as tensors, in the kernel's order."""
    return qops.tensors_of(node.attrs.Inputs.of(node.inputs))


def first_spec(
    graph: Graph, node: Node, target: Target, families: Families = FAMILIES
) -> KernelSpec:
    """The specification by the first family that accepts a node, for the longest run.

    Raises:
        LoweringError: no kernel serves the node.
    """
    for family in families:
        if isinstance(node.attrs, family.operators) and family.accepts(graph, node, target):
            found: KernelSpec = family.spec(graph, node, target)
            return found
    raise _unserved(node)


def _choose(
    graph: Graph,
    node: Node,
    target: Target,
    decision: object,
    families: Families,
    estimator: Estimator,
) -> KernelChoice:
    first = _first(graph, node, target, decision, families)
    if decision is not None or graph.length is not None:
        return first
    least = estimator.cycles(first.family, first.spec)
    if least is None:
        return first
    least *= _SURELY_LESS
    chosen: tuple[KernelFamily[Any], KernelSpec] | None = None
    for family in families:
        if family is first.family or not isinstance(node.attrs, family.operators):
            continue
        if estimator.knows(family) and (family.computes or family.accepts)(graph, node, target):
            spec = family.spec(graph, node, target)
            cycles = estimator.cycles(family, spec)
            if cycles is not None and cycles < least:
                chosen, least = (family, spec), cycles
    if chosen is None:
        return first
    return KernelChoice(node, *chosen, _overlaps(chosen[0], graph, node, chosen[1]))


def _first(
    graph: Graph, node: Node, target: Target, decision: object, families: Families
) -> KernelChoice:
    """By precedence alone."""
    for family in families:
        if isinstance(node.attrs, family.operators):
            found = _spec(family, graph, node, target, decision)
            spec = None if found is None else for_all_lengths(family, graph, node, found)
            if spec is not None:
                return KernelChoice(node, family, spec, _overlaps(family, graph, node, spec))
    raise _unserved(node)


def _unserved(node: Node) -> LoweringError:
    return LoweringError(
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


def _overlaps(
    family: KernelFamily[Any], graph: Graph, node: Node, spec: KernelSpec
) -> tuple[Overlap, ...]:
    names = operands(node)
    found = family.overlap(spec)
    if len(found) != len(names):
        raise InternalError(f"{family.name}: one distance per operand expected", where=node.name)
    return tuple(
        Overlap(node.output, name, distance)
        for name, distance in zip(names, found, strict=True)
        if distance is not None and name in graph.values
    )
