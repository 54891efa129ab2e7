"""Frames of tensors, which are one tensor with its axes reordered, and the choice among them.

References of the layout pass: tensors that are one tensor with its axes rearranged.

A *root* is a graph input or the output of an operator that computes something.  Every value is a
root, or a rearrangement of one made by `Transpose` and by `Reshape`s that only add, drop or merge
axes; `Ref` says which.  Each root may be stored in any *frame*, a permutation of its axes, that its
operator can produce; then reading it in another order of axes costs a `Transpose`, and reading it
in the same order at most a `Reshape`, which is free.

Choice of a frame for every root: the fewest elements to transpose, found by descent.

Starts from the frames the graph has, and only accepts steps that lower the cost, so it ends and
never makes a graph worse.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.layout import Freedom, Perm, compose, inverse
from edgec.ir.real import RealOperator

Order = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ref:
    """A value as a rearrangement of a root.

    Attributes:
        root: name of the root.
        groups: for each axis of the value, the axes of the root that it is made of, in row-major
            order; () for an axis of length 1.
    """

    root: str
    groups: tuple[Order, ...]

    @property
    def order(self) -> Order:
        """The root's axes (those longer than 1) in the row-major order of the value."""
        return tuple(axis for group in self.groups for axis in group)

    def permuted(self, perm: Perm) -> Ref:
        """The reference of ``value.transpose(perm)``."""
        return Ref(self.root, tuple(self.groups[axis] for axis in perm))


@dataclass(frozen=True, slots=True)
class Use:
    """One reading of a root.

    Attributes:
        ref: what is read.
        reader: root that the reader computes, if that is of free layout; else None.
        free_tail: the axes inside the last group may come in any order (the columns of a `Gemm`).
        is_output: the reader is the outside world.
    """

    ref: Ref
    reader: str | None
    free_tail: bool = False
    is_output: bool = False

    def needs(self, frames: Mapping[str, Perm]) -> Ref:
        """Reference in the frames that the roots are given."""
        return self.ref if self.reader is None else self.ref.permuted(frames[self.reader])

    def accepts(self, wanted: Ref, available: Order) -> bool:
        """Whether a tensor with axes in `available` order serves without a `Transpose`."""
        if self.is_output:
            return output_layout(wanted, available) is not None
        order = wanted.order
        if not self.free_tail:
            return order == available
        lead = len(order) - len(wanted.groups[-1])
        return order[:lead] == available[:lead]


def output_layout(wanted: Ref, available: Order) -> Perm | None:
    """The permutation of the wanted axes that has `available` order, or None if there is none."""
    position = {axis: index for index, axis in enumerate(available)}
    for group in wanted.groups:
        run = [position[axis] for axis in group]
        if run and run != list(range(run[0], run[0] + len(run))):
            return None
    return place([position[group[0]] if group else None for group in wanted.groups])


def place(keys: Iterable[int | None]) -> Perm:
    """The permutation that sorts axes by key and leaves the axes with key None where they are."""
    listed = list(keys)
    by_key = iter(sorted((key, axis) for axis, key in enumerate(listed) if key is not None))
    return tuple(axis if key is None else next(by_key)[1] for axis, key in enumerate(listed))


@dataclass(frozen=True, slots=True, eq=False)
class Refs:
    """All roots and values of a graph.

    Attributes:
        shapes: shape of each root.
        freedom: the freedom of each root's operator.
        refs: each value as a rearrangement of a root.
        uses: the readings of each root.
        aliases: names of the nodes that only rearrange.
    """

    shapes: Mapping[str, tuple[int, ...]]
    freedom: Mapping[str, Freedom]
    refs: Mapping[str, Ref]
    uses: Mapping[str, tuple[Use, ...]]
    aliases: frozenset[str]

    def order(self, root: str, frame: Perm) -> Order:
        """Order of the axes (those longer than 1) of a root in a frame."""
        return tuple(axis for axis in frame if self.shapes[root][axis] != 1)

    def elements(self, root: str) -> int:
        """Number of elements of a root."""
        return math.prod(self.shapes[root])


def collect(graph: Graph) -> Refs:
    """Find the roots of a graph and express every value by them."""
    shapes: dict[str, tuple[int, ...]] = {}
    freedom: dict[str, Freedom] = {}
    refs: dict[str, Ref] = {}
    aliases: set[str] = set()
    uses: dict[str, list[Use]] = {}

    def add_root(name: str, how: Freedom) -> None:
        shapes[name] = graph.shape(name)
        freedom[name] = how
        uses[name] = []
        groups = tuple((axis,) if size != 1 else () for axis, size in enumerate(shapes[name]))
        refs[name] = Ref(name, groups)

    for name in graph.inputs:
        add_root(name, Freedom.ANY)
    for node in graph.nodes:
        alias = _alias(graph, node, refs, shapes)
        if alias is not None:
            refs[node.output] = alias
            aliases.add(node.name)
            continue
        add_root(node.output, _freedom(graph, node))
        reader = None if freedom[node.output] is Freedom.FIXED else node.output
        for name in node.inputs:
            if name in refs:
                use = Use(refs[name], reader, free_tail=has_free_columns(graph, node))
                uses[refs[name].root].append(use)
    for name in graph.outputs:
        uses[refs[name].root].append(Use(refs[name], None, is_output=True))
    frozen_uses = {name: tuple(found) for name, found in uses.items()}
    return Refs(shapes, freedom, refs, frozen_uses, frozenset(aliases))


def has_free_columns(graph: Graph, node: Node) -> bool:
    """Whether the weight columns of a node may change places: vectors of a pool lie along them."""
    if not isinstance(node.attrs, ops.Gemm):
        return False
    return graph.constants[ops.Gemm.Inputs.of(node.inputs).w].pooled is None


def _alias(
    graph: Graph, node: Node, refs: Mapping[str, Ref], shapes: Mapping[str, tuple[int, ...]]
) -> Ref | None:
    """The output of a `Transpose` or `Reshape` as a rearrangement, or None if it is none."""
    if not isinstance(node.attrs, ops.Transpose | ops.Reshape) or node.input not in refs:
        return None
    if graph.values[node.input].quant != graph.values[node.output].quant:
        return None
    ref = refs[node.input]
    if isinstance(node.attrs, ops.Transpose):
        return ref.permuted(node.attrs.perm)
    groups = _regrouped(ref.order, shapes[ref.root], node.attrs.shape)
    return None if groups is None else Ref(ref.root, groups)


def _regrouped(
    order: Order, root_shape: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[Order, ...] | None:
    """Split `order` into runs whose sizes multiply to `shape`; None if an axis would be cut."""
    groups: list[Order] = []
    at = 0
    for size in shape:
        start, product = at, 1
        while product < size and at < len(order):
            product *= root_shape[order[at]]
            at += 1
        if product != size:
            return None
        groups.append(order[start:at])
    return tuple(groups) if at == len(order) else None


def _freedom(graph: Graph, node: Node) -> Freedom:
    rank = len(graph.shape(node.output))
    values = [name for name in node.inputs if name and not graph.is_constant(name)]
    if any(len(graph.shape(name)) != rank for name in values):
        return Freedom.FIXED
    return node.attrs_as(RealOperator).freedom


Frames = dict[str, Perm]
Region = Mapping[str, Perm]
"""Roots whose frames move together: ``frame[root] = compose(region[root], seed frame)``."""


def choose_frames(refs: Refs) -> Frames:
    """A frame for every root; identity where nothing can be gained."""
    frames = {root: tuple(range(len(shape))) for root, shape in refs.shapes.items()}
    regions = [*_regions(refs), *_single(refs)]
    feeds = _feeds(refs)
    improved = True
    while improved:
        improved = False
        for region in regions:
            improved |= _improve(refs, feeds, frames, region)
    return frames


def transposed_elements(refs: Refs, frames: Mapping[str, Perm], roots: Iterable[str]) -> int:
    """Elements that have to be transposed to serve all readings of some roots."""
    total = 0
    for root in roots:
        available = refs.order(root, frames[root])
        missing = set()
        for use in refs.uses[root]:
            wanted = use.needs(frames)
            if not use.accepts(wanted, available):
                missing.add(wanted.order)
        total += refs.elements(root) * len(missing)
    return total


def _single(refs: Refs) -> list[Region]:
    return [
        {root: tuple(range(len(shape)))}
        for root, shape in refs.shapes.items()
        if refs.freedom[root] is not Freedom.FIXED and len(shape) > 1
    ]


def _feeds(refs: Refs) -> dict[str, tuple[Use, ...]]:
    """The readings that each root's operator makes."""
    feeds: dict[str, list[Use]] = {root: [] for root in refs.shapes}
    for uses in refs.uses.values():
        for use in uses:
            if use.reader is not None:
                feeds[use.reader].append(use)
    return {root: tuple(found) for root, found in feeds.items()}


def _regions(refs: Refs) -> list[Region]:
    """Maximal sets of roots of free layout that read each other with no loss of axes."""
    neighbours = _neighbours(refs)
    regions: list[Region] = []
    seen: set[str] = set()
    for seed in neighbours:
        if seed in seen:
            continue
        region = {seed: tuple(range(len(refs.shapes[seed])))}
        queue = deque([seed])
        while queue:
            root = queue.popleft()
            for other, step in neighbours[root]:
                if other not in region:
                    region[other] = compose(step, region[root])
                    queue.append(other)
        seen.update(region)
        if len(region) > 1:
            regions.append(region)
    return regions


def _neighbours(refs: Refs) -> dict[str, list[tuple[str, Perm]]]:
    """For each free root the free roots it reads or that read it, with ``frame[other] =
    compose(step, frame[root])``.
    """
    found: dict[str, list[tuple[str, Perm]]] = {
        root: [] for root, how in refs.freedom.items() if how is Freedom.ANY
    }
    for root, others in found.items():
        for use in refs.uses[root]:
            if use.reader is not None and use.reader in found:
                perm = _as_permutation(refs, use.ref)
                if perm is not None:
                    others.append((use.reader, inverse(perm)))
                    found[use.reader].append((root, perm))
    return found


def _as_permutation(refs: Refs, ref: Ref) -> Perm | None:
    """The permutation that makes the value from its root, if it is one axis to one axis."""
    shape = refs.shapes[ref.root]
    if len(shape) != len(ref.groups) or any(len(group) > 1 for group in ref.groups):
        return None
    ones = iter(axis for axis, size in enumerate(shape) if size == 1)
    return tuple(group[0] if group else next(ones) for group in ref.groups)


def _improve(
    refs: Refs, feeds: Mapping[str, tuple[Use, ...]], frames: Frames, region: Region
) -> bool:
    """Move one region to its cheapest frames; whether that lowered the cost."""
    now = {root: frames[root] for root in region}
    # Mostly nothing else is possible; then the readings need not be counted.
    others = [trial for trial in _trials(refs, feeds, frames, region) if trial != now]
    if not others:
        return False
    touched = set(region) | {use.ref.root for root in region for use in feeds[root]}
    best = now
    before = cost = transposed_elements(refs, frames, touched)
    for trial in others:
        trial_cost = transposed_elements(refs, {**frames, **trial}, touched)
        if trial_cost < cost:
            best, cost = trial, trial_cost
    frames.update(best)
    return cost < before


def _trials(
    refs: Refs, feeds: Mapping[str, tuple[Use, ...]], frames: Frames, region: Region
) -> Iterable[Frames]:
    """Frames that the roots of a region may take together."""
    for seed in sorted(set(_seeds(refs, feeds, frames, region))):
        trial = {root: compose(step, seed) for root, step in region.items()}
        if all(_allowed(refs, root, frame) for root, frame in trial.items()):
            yield trial


def _allowed(refs: Refs, root: str, frame: Perm) -> bool:
    return refs.freedom[root] is not Freedom.LAST or frame[-1] == len(frame) - 1


def _seeds(
    refs: Refs, feeds: Mapping[str, tuple[Use, ...]], frames: Frames, region: Region
) -> Iterable[Perm]:
    """Seed frames that make a reading across the region's border free, and the identity."""
    for root, step in region.items():
        back = inverse(step)
        yield back
        for use in refs.uses[root]:
            if not use.is_output and use.reader not in region:
                wanted = use.needs(frames).order
                rank = len(refs.shapes[root])
                yield compose(back, place(_position(wanted, axis) for axis in range(rank)))
        for use in feeds[root]:
            if use.ref.root not in region:
                available = refs.order(use.ref.root, frames[use.ref.root])
                keys = (
                    _position(available, group[0]) if group else None for group in use.ref.groups
                )
                yield compose(back, place(keys))


def _position(order: tuple[int, ...], axis: int) -> int | None:
    return order.index(axis) if axis in order else None
