"""Dense layers with weights of 2 to 4 bits, which stay packed in flash.

The weights of a layer, or of some of its filters, are unpacked into scratch memory in the very
order in which another family reads them; then the function of that family computes.  So every core
keeps its kernels, each weight is unpacked once a call, and no arithmetic is new.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, ConstantRef, Params
from edgec.kernels.common.dense import WORD
from edgec.kernels.common.extent import Extent
from edgec.kernels.common.lengths import flagged
from edgec.kernels.common.overlap import with_ending
from edgec.kernels.common.packing import LEAST_SAVED_BYTES
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS
from edgec.kernels.family import Distances, KernelFamily, Lengths
from edgec.kernels.packed.codes import code_bits, packed, packed_bytes
from edgec.kernels.packed.filters.spec import FilterKernel, PackedFilters
from edgec.target.target import Target

Families = Sequence[KernelFamily[Any]]
_TOGETHER = 4
"""Filters that the kernels compute together, at most: a batch is a multiple."""
_SMALL_BYTES = 4096
"""Scratch memory that unpacked weights may take in any network."""


class Packing:
    """The parts of the record: what packs the weights of these families."""

    def __init__(self, families: Families, least_saved_bytes: int, small_bytes: int) -> None:
        """With the arguments of `packed_filters`."""
        self._families = families
        self._least_saved_bytes, self._small_bytes = least_saved_bytes, small_bytes
        self._by_type: Mapping[type, KernelFamily[Any]] = {f.spec_type: f for f in families}

    def accepts(self, graph: Graph, node: Node, target: Target) -> bool:
        """A layer of one group whose weights are few numbers, where that saves flash."""
        return self._found(graph, node, target) is not None

    def spec(self, graph: Graph, node: Node, target: Target) -> PackedFilters:
        """The specification for a layer that `accepts` accepts."""
        found = self._found(graph, node, target)
        assert found is not None
        return found

    def _found(self, graph: Graph, node: Node, target: Target) -> PackedFilters | None:
        weights = graph.constants[plain_inputs(node).w]
        bits = code_bits(weights.array)
        if bits is None or weights.pooled is not None or getattr(node.attrs, "group", 1) != 1:
            return None
        saved = weights.array.size - packed_bytes(weights.array.size, bits)
        if saved < self._least_saved_bytes:
            return None
        for family in self._families:
            if family.accepts(graph, node, target):
                whole = family.spec(graph, node, target).with_weights_alone()
                spec = PackedFilters(whole, bits, weights.shape[0], weights.shape[0])
                limit = target.scratch_limit_bytes
                room = min(max(_left_beside(graph, node), self._small_bytes), limit)
                return _in_batches(spec, room, limit)
        return None

    def overlap(self, spec: PackedFilters) -> Distances:
        """Distances of the called kernel; with several batches x is read again after outputs."""
        if spec.has_batches:
            return with_ending(spec, None, None)
        return self._of(spec).overlap(spec.called)

    def arguments(
        self, graph: Graph, node: Node, spec: PackedFilters, pool: ConstantPool
    ) -> tuple[Params, ...]:
        """The structs of the called kernel, weights packed, numbers filled up to whole batches."""
        own = ConstantPool()
        first, *others = self._of(spec).arguments(graph, node, spec.called, own)
        changes = {}
        for field in dataclasses.fields(first):
            reference = getattr(first, field.name)
            if isinstance(reference, ConstantRef):
                constant = own.constants[reference.index]
                fit = _packed_batches if field.name == "weights" else _filled
                changes[field.name] = pool.add(constant.stem, fit(constant.array, spec))
        return (dataclasses.replace(first, **changes), *others)

    def _of(self, spec: PackedFilters) -> KernelFamily[Any]:
        return self._by_type[type(spec.called)]

    def parts(self, spec: PackedFilters, run: Run) -> Parts | None:
        """Weights unpacked, outputs put together, and the called kernel, which reads from RAM."""
        family = self._of(spec)
        called = family.parts(spec.called, run)
        if called is None:
            return None
        copies = (1 + spec.adds) * spec.rows * spec.batches if spec.has_batches else 0
        return Parts(
            {
                "word unpacked": spec.batches * spec.called.stored_bytes / WORD,
                "row of outputs": copies,
                "byte of outputs": copies * spec.filters * spec.out_bytes,
            },
            weights=WeightReads(spec.batches * spec.batch_bytes, 1),
            called=(
                family.price_table,
                {part: count * spec.batches for part, count in called.counts.items()},
            ),
        )


class _Rows(Lengths[PackedFilters]):
    """A model of variable length: the rows of a run, where the called kernel serves them."""

    def __init__(self, families: Families) -> None:
        self._by_type = {family.spec_type: family for family in families}

    def spec(self, graph: Graph, node: Node, spec: PackedFilters) -> PackedFilters | None:
        """The specification with the called kernel's for all lengths."""
        lengths = self._by_type[type(spec.called)].lengths
        called = None if lengths is None else lengths.spec(graph, node, spec.called)
        return None if called is None else flagged(dataclasses.replace(spec, called=called))

    def sizes(self, graph: Graph, node: Node, spec: PackedFilters) -> tuple[Extent, ...]:
        """The sizes that the called kernel takes."""
        lengths = self._by_type[type(spec.called)].lengths
        assert lengths is not None
        return lengths.sizes(graph, node, spec.called)


def packed_filters(
    families: Families,
    least_saved_bytes: int = LEAST_SAVED_BYTES,
    small_bytes: int = _SMALL_BYTES,
) -> KernelFamily[PackedFilters]:
    """The family that packs the weights of others.

    Args:
        families: in order of precedence; each of them serves convolutions and matrix products, and
            its specification is a `FilterKernel`.
        least_saved_bytes: flash that has to be saved in a layer.
        small_bytes: scratch memory that unpacked weights may take in any network; they may take
            what the layer leaves of the memory that the arena has in any case, too.
    """
    packing = Packing(families, least_saved_bytes, small_bytes)
    return KernelFamily(
        spec_type=PackedFilters,
        operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
        types=is_int8_layer,
        spec=packing.spec,
        overlap=packing.overlap,
        accepts=packing.accepts,
        arguments=packing.arguments,
        lengths=_Rows(families),
        parts=packing.parts,
        saves_flash=True,
    )


def _left_beside(graph: Graph, node: Node) -> int:
    """Bytes that the tensors of a layer leave of those that the arena has in any case."""
    names = {name for name in (*node.inputs, node.output) if name in graph.values}
    return _most_held(graph) - sum(graph.values[name].size_bytes for name in names)


def _most_held(graph: Graph) -> int:
    """Most bytes of tensors between two steps; any arena holds them."""
    last = {name: step for step, node in enumerate(graph.nodes) for name in node.inputs}
    last |= dict.fromkeys(graph.outputs, len(graph.nodes))
    held = {name: graph.values[name].size_bytes for name in graph.inputs}
    most = sum(held.values())
    for step, node in enumerate(graph.nodes):
        held |= {name: graph.values[name].size_bytes for name in node.outputs}
        held = {name: size for name, size in held.items() if last.get(name, 0) > step}
        most = max(most, sum(held.values()))
    return most


def _in_batches(spec: PackedFilters, room: int, limit: int) -> PackedFilters | None:
    """All filters at once if there is room, else as many as fit; None if four break the limit."""
    if spec.called.stored_bytes <= room:
        return spec
    each = (
        -(-spec.called.stored_bytes // spec.filters) + (1 + spec.adds) * spec.rows * spec.out_bytes
    )
    most = max(room // each // _TOGETHER, 1) * _TOGETHER
    if most * each > max(room, limit):
        return None
    batches = -(-spec.filters // most)
    batch = -(-spec.filters // (batches * _TOGETHER)) * _TOGETHER
    if batch >= spec.filters:
        return spec
    return dataclasses.replace(spec, called=_narrowed(spec.called, batch), batch=batch)


def _narrowed(whole: Any, filters: int) -> FilterKernel:
    """The specification of a layer of fewer filters that is like another one in all else."""
    name = "units" if hasattr(whole, "units") else "out_channels"
    found: FilterKernel = dataclasses.replace(whole, **{name: filters})
    return found


def _packed_batches(stored: Array, spec: PackedFilters) -> Array:
    """The weights of each batch, packed by itself: int8 [batches * batch_bytes]."""
    size, flips = spec.called.stored_bytes, spec.called.flips_signs
    codes = stored.reshape(-1)
    parts = (codes[first : first + size] for first in range(0, spec.batches * size, size))
    return np.concatenate([packed(part, spec.bits, size, flips=flips) for part in parts])


def _filled(numbers: Array, spec: PackedFilters) -> Array:
    """Numbers of output channels, the last one repeated for the filters that are missing."""
    missing = max(spec.batches * spec.batch - len(numbers), 0) if spec.has_batches else 0
    return np.pad(numbers, [(0, missing)] + [(0, 0)] * (numbers.ndim - 1), mode="edge")
