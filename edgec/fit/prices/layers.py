"""The layers of a network with some int16 tensors, and what `kernels.price` says of each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from edgec.base.options import CompileOptions, Optimize
from edgec.commands.compile_placed import planned
from edgec.fit.prices.learned import Layer
from edgec.fit.program.problem import State
from edgec.ir.graph import Graph
from edgec.ir.weight_pool_graph import pooled_nodes
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.price import price_of
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.quant.precision.goal import Space
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.workflow.integer import IntegerModel

_UNCOUNTED_CYCLES = 11.0
"""Cycles of an element that nobody counted, as of a table (`commands.compile_speed`)."""


class Layers:
    """One network, its weights as they are, on a board."""

    def __init__(
        self, model: IntegerModel, space: Space | None, board: Board, options: CompileOptions
    ) -> None:
        """Nothing is planned yet.

        Args:
            model: the integer graph with int8 codes.
            space: tensors that could have int16 codes; None: none can.
            board: the target.
            options: those of the user.
        """
        self.space = space
        self.tensors = () if space is None else space.names
        self._members = {} if space is None else space.members
        self._model, self._board, self._options = model, board, options
        # Kernels of pools, and with them the graph, hang on what code prefers.
        self._pools = bool(pooled_nodes(model.integer))
        self._plans: dict[tuple[State, Optimize], PoolPlan] = {}
        self._layers: dict[tuple[State, Optimize], dict[str, Layer]] = {}

    def plan_of(self, int16: Collection[str], optimize: Optimize) -> PoolPlan:
        """The graph with int16 codes for some tensors, ready for kernels.

        Args:
            int16: the tensors.
            optimize: what code prefers.
        """
        options = replace(self._options, optimize=optimize) if self._pools else self._options
        key = frozenset(int16), options.optimize
        if key not in self._plans:
            found = planned(self.model_of(key[0]), self._board, options)
            if len(self._plans) > 2 * len(self.tensors) + 64:
                return found[1]
            self._plans[key] = found[1]
        return self._plans[key]

    def model_of(self, int16: Collection[str]) -> IntegerModel:
        """The model with int16 codes for some tensors."""
        if self.space is None or not int16:
            return self._model
        names = [name for name in self.tensors if name in int16]
        return replace(self._model, integer=self.space.integer(names))

    def ends(self, int16: Collection[str]) -> list[State]:
        """The tensors at each layer of `plan_of`."""
        graph = self.plan_of(int16, self._options.optimize).graph
        return [self.tensors_of(graph, (*node.inputs, *node.outputs)) for node in graph.nodes]

    def tensors_of(self, graph: Graph, names: Sequence[str]) -> State:
        """The tensors that could be int16 among values of a graph."""
        forms = (graph.values[name].form_of or name for name in names if name in graph.values)
        return frozenset(self._members[name] for name in forms if name in self._members)

    def of(self, int16: Collection[str], optimize: Optimize) -> dict[str, Layer]:
        """Layers of a choice with their prices, by name of the output."""
        key = frozenset(int16), optimize
        if key not in self._layers:
            plan = self.plan_of(*key)
            target = self.target(optimize)
            estimator = Estimator.of(target)
            choices = select_kernels(plan.graph, target, plan.configs)
            self._layers[key] = {
                each.node.output: self._layer(plan.graph, each, estimator) for each in choices
            }
        return self._layers[key]

    def target(self, optimize: Optimize) -> Target:
        """The board, with code that prefers something."""
        tuned = self._options.tuned if optimize is self._options.optimize else None
        return Target.of(self._board, optimize, tuned)

    def _layer(self, graph: Graph, choice: KernelChoice, estimator: Estimator) -> Layer:
        price = price_of(graph, choice, estimator)
        node = choice.node
        elements = sum(graph.values[name].elements for name in node.outputs)
        cycles = price.total_cycles
        names = [name for name in (*choice.reads, *node.outputs) if name in graph.values]
        return Layer(
            cycles=_UNCOUNTED_CYCLES * elements if cycles is None else cycles,
            constant_bytes=price.constant_bytes - sum(price.shared_bytes.values()),
            shared_bytes=price.shared_bytes,
            function=price.code,
            kind=(type(choice.spec).__name__, tuple(dtype.name for dtype in price.types)),
            tensors=self.tensors_of(graph, names),
        )
