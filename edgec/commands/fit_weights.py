"""Weights of few bits for `compile --fit`, where flash does not suffice otherwise.

Each layer may keep weights of 8 bits, or get 4, 3 or 2.  What that costs is priced on the network
with as few bits in all layers (`kernels.price`), what it adds as noise is measured for each layer
alone, and a mixed-integer program finds the bits that add the least noise and fit.  The search of
`commands.fit` goes on from there, and its builds say whether the program has to save more.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from edgec.base.errors import BudgetError, WeightPoolError
from edgec.base.options import (
    CompileOptions,
    FewBitsOptions,
    FitLimits,
    LayerBits,
    Optimize,
    Progress,
    QuantOptions,
    WeightBits,
    no_progress,
)
from edgec.commands.fit import Search
from edgec.commands.fit_choice import Built, Fitted, Setting, said
from edgec.commands.fit_learned import Layer
from edgec.commands.fit_prices import Pricing
from edgec.fit.problem import Bounds, Cell, Cost, Need, Problem, State
from edgec.fit.solve import Aim, best
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.kernels.price import BoardPrices
from edgec.target.board import Board
from edgec.weightpool import narrow_layers
from edgec.weightpool.network import with_codes
from edgec.weightpool.vectors import PoolLayer
from edgec.workflow.integer import Calibration, RealModel, quantized_model
from edgec.workflow.weight_bits import Reference, with_weight_bits

_log = logging.getLogger(__name__)
_BITS = (WeightBits.FOUR, WeightBits.THREE, WeightBits.TWO)
_MOST_TRIES = 4
"""Times that weights are chosen again since builds are larger than the program thought."""
_NOTHING: State = frozenset()


@dataclass(frozen=True, slots=True)
class _Way:
    """A layer with weights of few bits.

    Attributes:
        node: the layer's name.
        bits: the numbers that its weights are.
        prices: the layer in generated code, by what code prefers.
        noise: share of an output's energy that such weights add, alone.
    """

    node: str
    bits: WeightBits
    prices: Mapping[Optimize, Layer]
    noise: float

    @property
    def name(self) -> str:
        return str(LayerBits(self.node, self.bits))


def fitted(
    model: Path,
    board: Board,
    samples: Calibration,
    options: CompileOptions,
    limits: FitLimits,
    progress: Progress = no_progress,
) -> Fitted:
    """The best build within limits; weights of few bits where flash does not suffice otherwise.

    Args:
        model: ONNX or TensorFlow Lite file.
        board: a microcontroller.
        samples: calibration data; None: without, and then weights keep their bits.
        options: those of the user; what is chosen takes the place of theirs.
        limits: limits of the build.
        progress: told what is being done.

    Raises:
        BudgetError: nothing is within the limits; says the nearest miss.
        EdgecError: any other of its kinds.
    """
    search = Search(model, board, samples, options, limits, progress)
    if limits.flash_bytes is None or samples is None:
        return search.run()
    built = search.prepare()
    least = min((each.figures.flash_bytes for each in built.values()), default=math.inf)
    missed: BudgetError | None = None
    if least <= limits.flash_bytes or _is_promised(search):
        try:
            return search.run()
        except BudgetError as error:
            missed = error
    weights = _Weights(search, board, options, progress)
    extra = 0.0
    for _ in range(_MOST_TRIES if built else 0):
        chosen = weights.chosen(built, extra)
        if chosen is None:
            break
        _log.info("weights of few bits: %s", ", ".join(map(str, chosen)))
        narrow = replace(options, weight_bits=(*options.weight_bits, *chosen))
        search = Search(model, board, samples, narrow, limits, progress)
        found = search.prepare().values()
        over = min(each.figures.flash_bytes for each in found) - limits.flash_bytes
        if over <= 0.0:
            return search.run()
        if _is_promised(search):
            with suppress(BudgetError):  # the program has to save more
                return search.run()
        extra += over
    if missed is not None:
        raise missed
    return search.run()


def _is_promised(search: Search) -> bool:
    """Whether int16 tensors make the firmware small enough: layers of one type share functions."""
    return search.best(search.bounds, search.aim) is not None


class _Weights:
    """The layers of a network whose weights can have few bits, and what that costs."""

    def __init__(
        self, search: Search, board: Board, options: CompileOptions, progress: Progress
    ) -> None:
        """Choose weights of few bits for all layers, price them and measure each alone."""
        self._search, self._board, self._progress = search, board, progress
        self._options = replace(options, quant=_int8(options.quant))
        self._bounds = search.bounds
        self._ways = self._found(search.real)

    def chosen(
        self, built: Mapping[Setting, Built], extra_bytes: float
    ) -> tuple[LayerBits, ...] | None:
        """The weights that add the least noise, and with which flash and time suffice.

        Args:
            built: builds with int8 codes and all bits, by setting.
            extra_bytes: bytes to be saved beyond what prices say.

        Returns:
            None: nothing suffices.
        """
        bits = {way.name: LayerBits(way.node, way.bits) for ways in self._ways for way in ways}
        if not bits:
            return None
        limit = self._bounds.flash_bytes - extra_bytes
        bounds = Bounds(cycles=self._bounds.cycles, flash_bytes=limit)
        found: list[tuple[float, float, int, tuple[str, ...]]] = []
        for number, (setting, each) in enumerate(built.items()):
            problem = self._problem(setting, each)
            names = best(problem, bounds, Aim.NOISE)
            figures = problem.figures(names) if names else None
            if names and figures is not None:
                found.append((figures.noise, figures.cycles, number, names))
        return tuple(bits[name] for name in min(found)[-1]) if found else None

    def _problem(self, setting: Setting, built: Built) -> Problem:
        """The bits of each layer, in numbers; the rest of the firmware is as it was built."""
        pricing, optimize = self._search.pricing, setting.optimize
        plain = pricing.layers_of(_NOTHING, optimize)
        cells: list[Cell] = []
        code: dict[object, float] = dict(pricing.code(optimize, plain.values()))
        offered = {ways[0].node: ways for ways in self._ways}
        names = _layers_by_node(self._search.real.graph, pricing.plan_of(_NOTHING).graph)
        nodes = {output: node for node, output in names.items()}
        for output, layer in plain.items():
            ways = offered.get(nodes.get(output, ""), ())
            costs: dict[State, Cost | None] = {_NOTHING: _cost(pricing, optimize, layer)}
            for way in ways:
                price = way.prices[optimize]
                costs[frozenset({way.name})] = _cost(pricing, optimize, price)
                code |= pricing.code(optimize, [price])
            cells.append(Cell(output, frozenset(way.name for way in ways), costs))
        every = [way for each in self._ways for way in each]
        whole = Problem(
            tensors=tuple(way.name for way in every),
            cells=cells,
            functions=code,
            needs=[Need(0, {})],
            noises={way.name: -way.noise for way in every},
            floor=sum(way.noise for way in every),
            flash_bytes=0.0,
            ram_bytes=0.0,
            int8_noise=0.0,
        )
        priced = whole.figures(())
        assert priced is not None
        rest = built.figures.flash_bytes - priced.flash_bytes
        outside = built.figures.cycles - priced.cycles
        cells.append(Cell("", _NOTHING, {_NOTHING: Cost(outside, 0, frozenset())}))
        return replace(whole, flash_bytes=rest)

    def _found(self, real: RealModel) -> list[tuple[_Way, ...]]:
        """For each layer that can have few bits, its ways."""
        try:
            layers = narrow_layers(real.graph, FewBitsOptions(WeightBits.FOUR)).pooled
        except WeightPoolError:  # none
            return []
        reference = Reference(real.graph, real.calibration or {})
        optimizes = dict.fromkeys(each.optimize for each in self._search.settings)
        found: dict[str, list[_Way]] = {layer.node.name: [] for layer in layers}
        for bits in _BITS:
            asked = tuple(LayerBits(layer.node.name, bits) for layer in layers)
            options = replace(self._options, weight_bits=asked)
            self._progress(f"weights of {bits.value} bits")
            graph = with_weight_bits(real.graph, real.calibration, options)
            narrow = replace(self._options, weight_bits=())
            prices = BoardPrices(self._board)
            model = quantized_model(replace(real, graph=graph), narrow, prices=prices)
            pricing = Pricing(model, self._board, narrow, None)
            names = _layers_by_node(graph, pricing.plan_of(_NOTHING).graph)
            for layer in layers:
                name = layer.node.name
                priced = {each: pricing.layers_of(_NOTHING, each) for each in optimizes}
                if all(names.get(name) in each for each in priced.values()):
                    prices_of = {each: priced[each][names[name]] for each in optimizes}
                    noise = reference.noise(_with_layer_of(real.graph, graph, layer))
                    found[name].append(_Way(name, bits, prices_of, noise))
        return [tuple(ways) for ways in found.values() if ways]


def _with_layer_of(graph: Graph, narrow: Graph, layer: PoolLayer) -> Graph:
    """A network with the weights that one of its layers has in another."""
    node = next(each for each in narrow.nodes if each.name == layer.node.name)
    inputs = ops.layer_inputs(node)
    weight = narrow.constants[inputs.w]
    assert weight.quant is not None
    assert inputs.b is not None
    scale = np.asarray(weight.quant.scale, np.float64)
    bias = narrow.constants[inputs.b].array
    return with_codes(graph, layer, weight.array.reshape(len(scale), -1), scale, bias)


def _layers_by_node(real: Graph, integer: Graph) -> dict[str, str]:
    """Output of the layer in an integer graph that reads the weights of a real one's node."""
    readers = {name: node.output for node in integer.nodes for name in node.inputs}
    weights = {
        node.name: ops.layer_inputs(node).w
        for node in real.nodes
        if isinstance(node.attrs, ops.Weighted)
    }
    return {node: readers[name] for node, name in weights.items() if name in readers}


def _cost(pricing: Pricing, optimize: Optimize, layer: Layer) -> Cost:
    return Cost(layer.cycles, layer.constant_bytes, frozenset(pricing.code(optimize, [layer])))


def _int8(quant: QuantOptions) -> QuantOptions:
    return said(quant, ())
