"""Weights of few bits and pools as options of each layer, for the program of `compile --fit`.

Each layer but the first and the last one, and those that would save little, keeps its weights, gets
4, 3 or 2 bits, or indices into a pool of the network.  (Ternary weights take as much flash as those
of 2 bits, and the same kernel, so that no program would choose them.)  Their prices are those of
networks that have the same in all of these layers, under the sets of int16 tensors that show them
in all states; their noise is measured with one layer at a time.  The vectors of a pool are those of
all layers that could be in it: a choice of fewer layers has a pool of its own, which fits them
better, and is measured before it is built.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from edgec.base.errors import WeightPoolError
from edgec.base.options import (
    CompileOptions,
    FewBitsOptions,
    InPool,
    LayerBits,
    Numbers,
    Optimize,
    Progress,
    WeightBits,
    WeightPoolOptions,
)
from edgec.fit.prices.layers import Layers
from edgec.fit.prices.learned import Layer
from edgec.fit.program.problem import State
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.weightpool import bits_of_layers, narrow_layers
from edgec.weightpool.layers import choose_layers
from edgec.weightpool.network import with_constants
from edgec.weightpool.vectors import PoolLayer
from edgec.workflow.integer import RealModel
from edgec.workflow.weight_bits import Reference, with_weight_bits

_BITS = (WeightBits.FOUR, WeightBits.THREE, WeightBits.TWO)
_POOLS = (InPool(64, decode=True), InPool(256, decode=True))
_LEAST_USES = 8
"""Vectors of layers for each of a pool: a pool that fewer share takes more bytes than it saves."""

States = dict[State, Layer | None]
"""A layer by the choices that matter to it; None: it is not there."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Weights of few bits of each layer, and their figures.

    Attributes:
        asked: the option that asks for each, by its name in the program, in graph order.
        noises: share of an output's energy that each adds, alone.
        networks: the network with these numbers in all layers that could have them.
        probes: sets of int16 tensors that show the layers in their states.
    """

    asked: Mapping[str, LayerBits]
    noises: Mapping[str, float]
    networks: Mapping[Numbers, Layers]
    probes: Sequence[State]

    def bits_of(self, chosen: Collection[str]) -> tuple[LayerBits, ...]:
        """The weights of a choice, in graph order."""
        return tuple(bits for name, bits in self.asked.items() if name in chosen)

    def states_of(
        self, cells: Mapping[str, tuple[State, States]], plain: Layers, optimize: Optimize
    ) -> dict[str, tuple[State, States]]:
        """The layers of a network with what their weights could be.

        Args:
            cells: tensors that matter to each layer, and its price by their state.
            plain: the network with all bits.
            optimize: what code prefers.
        """
        names = {bits.layers for bits in self.asked.values()}
        readers = {
            each: _readers(plain.plan_of(each, optimize).graph, names) for each in self.probes
        }
        narrow = {
            (bits, each): _readers(network.plan_of(each, optimize).graph, names)
            for bits, network in self.networks.items()
            for each in self.probes
        }
        found = dict(cells)
        for name, (tensors, states) in cells.items():
            nodes = {each[name] for each in (*readers.values(), *narrow.values()) if name in each}
            if len(nodes) != 1:
                continue  # no such layer, or one that reads the weights of several
            own = {key: bits for key, bits in self.asked.items() if bits.layers in nodes}
            wider = dict(states)
            for int16 in self.probes:
                usual = plain.of(int16, optimize).get(name)
                for key, bits in own.items():
                    if not tensors & int16 <= set(self.networks[bits.bits].tensors):
                        continue  # with such weights a tensor cannot have int16 codes
                    # Where neither network reads the weights here, they do not matter.
                    reads = name in readers[int16] or name in narrow[bits.bits, int16]
                    network = self.networks[bits.bits]
                    layer = network.of(int16, optimize).get(name) if reads else usual
                    state = tensors & int16 | {key}
                    known = wider.get(state)
                    if known is None or (layer is not None and layer.cycles > known.cycles):
                        wider[state] = layer
            found[name] = tensors.union(own), wider
        return found


def ways_of(
    real: RealModel,
    options: CompileOptions,
    plain: Layers,
    probes: Sequence[State],
    layers_of: Callable[[RealModel, tuple[LayerBits, ...]], Layers],
    progress: Progress,
) -> Ways | None:
    """Choose weights of few bits and pools for all layers, and measure those of each alone.

    Args:
        real: the network, with its calibration data.
        options: those of the user, whose layers keep the bits that they ask for.
        plain: the network with all bits.
        probes: sets of int16 tensors that show its layers.
        layers_of: quantizes a network that has the weights which options ask for.
        progress: told what is being done.

    Returns:
        None: no layer can have few bits.
    """
    own = bits_of_layers(real.graph, options.weight_bits)
    reference = Reference(real.graph, real.calibration or {})
    networks, noises, found = dict[Numbers, Layers](), dict[str, float](), list[LayerBits]()
    for bits in (*_BITS, *_POOLS):
        layers = [each for each in _could_have(real.graph, bits) if each.node.name not in own]
        if not layers:
            continue
        progress(bits.title)
        asked = tuple(LayerBits(layer.node.name, bits) for layer in layers)
        whole = (*options.weight_bits, *asked)
        wanted = replace(options, weight_bits=whole)
        graph = with_weight_bits(real.graph, real.calibration, wanted)
        network = layers_of(replace(real, graph=graph), whole)
        if not set(network.tensors) <= set(plain.tensors):
            continue  # prices would be those of other choices
        networks[bits] = network
        found += [each for each in asked if str(each) not in plain.tensors]
        for each, layer in zip(asked, layers, strict=True):
            noises[str(each)] = reference.noise(_with_layer_of(real.graph, graph, layer))
    if not found:
        return None
    places = {node.name: place for place, node in enumerate(real.graph.nodes)}
    found.sort(key=lambda each: places[each.layers])
    shown = _covering(probes, [cell for each in probes for cell in plain.ends(each)])
    return Ways({str(each): each for each in found}, noises, networks, shown)


def _could_have(graph: Graph, bits: Numbers) -> tuple[PoolLayer, ...]:
    """Layers that such weights could pay for."""
    try:
        if isinstance(bits, InPool):
            layers = choose_layers(graph, WeightPoolOptions(size=bits.size)).pooled
        else:
            layers = narrow_layers(graph, FewBitsOptions(bits)).pooled
    except WeightPoolError:  # none
        return ()
    # A program adds up layers: weights that several read are no choice of one of them.
    layers = tuple(each for each in layers if len(graph.consumers[each.weight_name]) == 1)
    if isinstance(bits, InPool):
        # Each of them alone may be all that is in the pool.
        layers = tuple(each for each in layers if each.vectors >= bits.size)
        if sum(each.vectors for each in layers) < _LEAST_USES * bits.size:
            return ()
    return layers


def _covering(probes: Sequence[State], cells: Collection[State]) -> list[State]:
    """As few of the probes as show the tensors at each layer in all states that any shows."""
    missing = {(cell, cell & each) for cell in set(cells) for each in probes}
    found: list[State] = []
    while missing:
        shows = [{(cell, s) for cell, s in missing if cell & each == s} for each in probes]
        most = max(range(len(probes)), key=lambda n: len(shows[n]))
        found.append(probes[most])
        missing -= shows[most]
    return found


def _readers(integer: Graph, names: Collection[str]) -> dict[str, str]:
    """The layer whose weights a layer of an integer graph reads, by the latter's output."""
    return {node.output: node.name for node in integer.nodes if node.name in names}


def _with_layer_of(graph: Graph, narrow: Graph, layer: PoolLayer) -> Graph:
    """A network with the weights that one of its layers has in another."""
    node = next(each for each in narrow.nodes if each.name == layer.node.name)
    inputs = ops.layer_inputs(node)
    assert inputs.b is not None
    weight = replace(narrow.constants[inputs.w], name=layer.weight_name)
    return with_constants(graph, layer, weight, narrow.constants[inputs.b].array)
