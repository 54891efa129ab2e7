"""Prices of all choices of a network on a board, as `edgec.fit` reads them, and what builds teach.

The integer graph is made for some sets of int16 tensors (`fit_probes`) such that every layer is
seen with each state of the tensors at its ends; `kernels.price` prices it there.  What prices do
not know (compiler flags, caches, int16 codes) is learned from builds (`fit_learned`), and noise
from measurements (`fit_noise`).  Functions have the sizes that the compiler gives them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from edgec.base.errors import MemoryPlanError
from edgec.base.options import (
    CompileOptions,
    Optimize,
    Placement,
    Rows,
)
from edgec.commands.compile_facts import share_of
from edgec.commands.compile_placed import placed, planned
from edgec.commands.fit_choice import Built, Setting
from edgec.commands.fit_learned import Layer, Learned
from edgec.commands.fit_noise import Noises
from edgec.commands.fit_probes import covering_sets, first_sets, told_apart
from edgec.fit.problem import Cell, Cost, Cut, Need, Problem, State
from edgec.ir.graph import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.family import KernelSpec
from edgec.kernels.price import price_of
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.memory import Peak
from edgec.quant.precision.goal import Space
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.workflow.function_sizes import function_sizes
from edgec.workflow.integer import IntegerModel
from edgec.workflow.rows import CONSOLE_VARIABLE_BYTES

_UNCOUNTED_CYCLES = 11.0
"""Cycles of an element that nobody counted, as of a table (`commands.compile_speed`)."""
_WIDER = 2
"""Times that layers may turn out to depend on further tensors."""
_NOTHING: State = frozenset()


class Pricing:
    """A network on a board: `problem` for each setting."""

    def __init__(
        self,
        model: IntegerModel,
        board: Board,
        options: CompileOptions,
        space: Space | None,
        ram_bytes: float = math.inf,
    ) -> None:
        """Make the probes.

        Args:
            model: the integer graph with int8 codes.
            board: the target.
            options: those of the user.
            space: tensors that could have int16 codes; None: none can.
            ram_bytes: RAM of the firmware, of which weights take what is left over.
        """
        self._ram_bytes = ram_bytes
        self._model, self._board, self._options, self._space = model, board, options, space
        self.tensors = () if space is None else space.names
        self._members = {} if space is None else space.members
        self._pools: dict[State, PoolPlan] = {}
        self._layers: dict[tuple[State, Optimize], dict[str, Layer]] = {}
        self._cells: dict[Optimize, dict[str, tuple[State, dict[State, Layer | None]]]] = {}
        self._sections: dict[Optimize, dict[KernelSpec, Mapping[str, int]]] = {}
        self._steps: dict[Optimize, list[Need]] = {}
        self._turned: dict[Setting, float] = {}
        self._cuts: dict[Setting, list[Cut]] = defaultdict(list)
        memory = board.memory
        stack = 0 if memory is None else memory.stack_bytes
        self._learned = Learned(stack + CONSOLE_VARIABLE_BYTES)
        self.probed = self._probes()
        self.noises = Noises(space)

    def plan_of(self, int16: Collection[str]) -> PoolPlan:
        """The graph with int16 codes for some tensors, ready for kernels."""
        key = frozenset(int16)
        if key not in self._pools:
            found = planned(self.model_of(key), self._board, self._options)
            if len(self._pools) > 2 * len(self.tensors) + 64:
                return found[1]
            self._pools[key] = found[1]
        return self._pools[key]

    def model_of(self, int16: Collection[str]) -> IntegerModel:
        """The model with int16 codes for some tensors."""
        if self._space is None or not int16:
            return self._model
        names = [name for name in self.tensors if name in int16]
        return replace(self._model, integer=self._space.integer(names))

    def _probes(self) -> list[State]:
        """Sets of int16 tensors that show layers in all their states."""
        everything = frozenset(self.tensors)
        if not everything:
            return [_NOTHING]
        ends = [self._ends(self.plan_of(each).graph) for each in (_NOTHING, everything)]
        found = first_sets(self.tensors, [tensors for each in ends for tensors in each])
        for _ in range(_WIDER):
            seen = {each: self.layers_of(each, self._options.optimize) for each in found}
            found += covering_sets(self._matters(seen).values(), found)
        return found

    def _matters(self, seen: Mapping[State, Mapping[str, Layer]]) -> dict[str, State]:
        """The tensors that the price of each layer depends on.

        Args:
            seen: layers by name of the output, by int16 tensors.
        """
        ends: dict[str, State] = defaultdict(frozenset)
        for name, layer in (pair for layers in seen.values() for pair in layers.items()):
            ends[name] |= layer.tensors
        found = {}
        for name, cell in ends.items():
            near = (other for other in ends.values() if other & cell)
            shown = [(int16, name in layers) for int16, layers in seen.items()]
            found[name] = told_apart(cell, shown, frozenset().union(*near))
        return found

    def _ends(self, graph: Graph) -> list[State]:
        return [self._tensors(graph, (*node.inputs, *node.outputs)) for node in graph.nodes]

    def _tensors(self, graph: Graph, names: Sequence[str]) -> State:
        forms = (graph.values[name].form_of or name for name in names if name in graph.values)
        return frozenset(self._members[name] for name in forms if name in self._members)

    def layers_of(self, int16: State, optimize: Optimize) -> dict[str, Layer]:
        """Layers of a choice with their prices, by name of the output."""
        key = int16, optimize
        if key not in self._layers:
            plan = self.plan_of(int16)
            target = self._target(optimize)
            estimator = Estimator.of(target)
            choices = select_kernels(plan.graph, target, plan.configs)
            self._layers[key] = {
                each.node.output: self._layer(plan.graph, each, estimator) for each in choices
            }
        return self._layers[key]

    def _target(self, optimize: Optimize) -> Target:
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
            constant_bytes=price.constant_bytes,
            function=price.code,
            kind=(type(choice.spec).__name__, tuple(dtype.name for dtype in price.types)),
            tensors=self._tensors(graph, names),
        )

    def _cells_of(self, optimize: Optimize) -> dict[str, tuple[State, dict[State, Layer | None]]]:
        """Tensors that matter to each layer, and its price by their state."""
        if optimize not in self._cells:
            seen = {each: self.layers_of(each, optimize) for each in self.probed}
            found: dict[str, tuple[State, dict[State, Layer | None]]] = {}
            for name, tensors in self._matters(seen).items():
                states: dict[State, Layer | None] = {}
                for int16, layers in seen.items():
                    state, layer = tensors & int16, layers.get(name)
                    known = states.get(state)
                    # Where still more tensors matter, the dearer one.
                    if known is None or (layer is not None and layer.cycles > known.cycles):
                        states[state] = layer
                found[name] = tensors, states
            self._cells[optimize] = found
        return self._cells[optimize]

    def problem(self, setting: Setting) -> Problem:
        """The choices of a setting, with all that was learned."""
        cells = [
            Cell(name, tensors, {s: self._cost(setting, name, s, e) for s, e in states.items()})
            for name, (tensors, states) in self._cells_of(setting.optimize).items()
        ]
        outside = self._learned.outside(setting)
        cells.append(Cell("", _NOTHING, {_NOTHING: Cost(outside, 0, frozenset())}))
        found = (each for _, s in self._cells_of(setting.optimize).values() for each in s.values())
        functions = self.code(setting.optimize, (each for each in found if each is not None))
        return Problem(
            tensors=self.tensors,
            cells=cells,
            functions=functions,
            needs=self._needs(setting),
            noises=self.noises.singles,
            floor=self.noises.floor,
            flash_bytes=self._learned.flash_bytes(setting),
            ram_bytes=self._learned.ram_bytes(setting),
            copied=1.0 if setting.placement is Placement.SRAM else 0.0,
            cuts=tuple(self._cuts[setting]),
            int8_noise=self.noises.int8,
        )

    def code(self, optimize: Optimize, layers: Iterable[Layer]) -> dict[Hashable, float]:
        """Bytes of the code and tables that layers need, by section; what is shared is there once.

        All functions of the probes are compiled at once, those of other choices when they come.
        """
        layers = list(layers)
        known = self._sections.setdefault(optimize, {})
        if not known:
            probed = (self.layers_of(each, optimize).values() for each in self.probed)
            layers_seen = [layer for each in probed for layer in each]
        else:
            layers_seen = layers
        new = dict.fromkeys(e.function for e in layers_seen if e.function not in known)
        known |= function_sizes(new, self._board, optimize)
        return {
            name: float(size) for layer in layers for name, size in known[layer.function].items()
        }

    def _cost(self, setting: Setting, name: str, state: State, layer: Layer | None) -> Cost | None:
        if layer is None:
            return None
        cycles = self._learned.cycles(setting, name, state, layer)
        if cycles is None:
            cycles = layer.cycles * self._learned.ratio(setting, layer, self._slower(setting))
        needed = frozenset(self.code(setting.optimize, [layer]))
        return Cost(cycles, layer.constant_bytes, needed)

    def _slower(self, setting: Setting) -> float:
        """Time of the int8 network in turns, as a multiple of that of layers as a whole."""
        if setting.rows is Rows.NEVER:
            return 1.0
        if setting not in self._turned:
            ways = (setting.rows, Rows.NEVER)
            cycles = [(replace(setting, rows=rows)).options(self._options, ()) for rows in ways]
            speeds = [placed(self.plan_of(()), self._board, each).speed for each in cycles]
            turned, whole = (1.0 if speed is None else speed.cycles for speed in speeds)
            self._turned[setting] = max(turned / whole, 1.0)
        return self._turned[setting]

    def _needs(self, setting: Setting) -> list[Need]:
        if setting.rows is Rows.ALWAYS:
            return [Need(self.plan(setting, ()).arena_bytes, {})]
        if setting.optimize not in self._steps:
            self._steps[setting.optimize] = self._steps_of(setting.optimize)
        return self._steps[setting.optimize]

    def _steps_of(self, optimize: Optimize) -> list[Need]:
        """Bytes of the arena that each layer of the int8 network needs, and int16 codes add."""
        plan = self.plan_of(())
        choices = select_kernels(plan.graph, self._target(optimize), plan.configs)
        buffers, overlaps, _ = buffers_of(plan.graph, choices)
        peak = Peak.of(buffers, overlaps)
        found = []
        for step, needed in enumerate(peak.by_step):
            more: dict[str, int] = defaultdict(int)
            for each in peak.buffers.values():
                if each.first_step <= step < each.end_step and each.name in plan.graph.values:
                    for name in self._tensors(plan.graph, (each.name,)):
                        more[name] += each.size_bytes
            found.append(Need(needed, more))
        return found

    def plan(self, setting: Setting, int16: Collection[str]) -> Cut:
        """Memory of a choice as it is planned, which is kept as a cut."""
        chosen = frozenset(int16)
        cuts = self._cuts[setting]
        known = next((cut for cut in cuts if cut.tensors == chosen), None)
        if known is None:
            options = setting.options(self._options, (), self.kept(setting))
            made = placed(self.plan_of(chosen), self._board, options).made
            constants = made.program.constants
            copied = sum(constants[e.constant].array.nbytes for e in made.residence.constants)
            known = Cut(chosen, made.program.arena_bytes, copied)
            cuts.append(known)
        return known

    def kept(self, setting: Setting) -> int | None:
        """RAM that builds of a setting have to be told, for some of their weights lie there."""
        options = setting.options(self._options, ())
        some = share_of(options, self._board).placement is Placement.AUTO
        return int(self._ram_bytes) if some and math.isfinite(self._ram_bytes) else None

    def copies_fit(self, options: CompileOptions) -> bool:
        """Whether all constants of the int8 network find room in RAM."""
        try:
            placed(self.plan_of(()), self._board, replace(options, placement=Placement.SRAM))
        except MemoryPlanError:
            return False
        return share_of(options, self._board).placement is not Placement.SRAM

    def telling(self, setting: Setting) -> tuple[State, float] | None:
        """The set of int16 tensors whose build would tell most, and the share of its cycles.

        Returns:
            None where every function was built.
        """
        best: tuple[State, float] | None = None
        for int16 in self.probed:
            layers = self.layers_of(int16, setting.optimize).values()
            whole = sum(layer.cycles for layer in layers)
            new = sum(layer.cycles for layer in layers if not self._learned.shows(setting, layer))
            if whole > 0.0 and new > (0.0 if best is None else best[1]) * whole:
                best = int16, new / whole
        return best

    def learn(self, setting: Setting, int16: Collection[str], built: Built) -> None:
        """Take over what a build shows."""
        chosen, optimize = frozenset(int16), setting.optimize
        layers = self.layers_of(chosen, optimize)
        cells = self._cells_of(optimize)
        seen = {
            name: (layer, (cells[name][0] if name in cells else layer.tensors) & chosen)
            for name, layer in layers.items()
        }
        constants = sum(layer.constant_bytes for layer in layers.values())
        code = sum(self.code(optimize, layers.values()).values())
        flash = built.figures.flash_bytes - constants - code
        ram = built.figures.ram_bytes - built.arena_bytes - built.copied_bytes
        self._learned.take(setting, seen, built, flash, ram)
