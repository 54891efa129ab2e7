"""Prices of all choices of a network on a board, as the program reads them, and what builds teach.

The integer graph is made for some sets of int16 tensors (`probes`) such that every layer is
seen with each state of the tensors at its ends; `kernels.price` prices it there.  What prices do
not know (compiler flags, caches, int16 codes) is learned from builds (`learned`), and noise
from measurements (`noise`).  Functions have the sizes that the compiler gives them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import replace

from edgec.base.errors import MemoryPlanError
from edgec.base.options import CompileOptions, LayerBits, Optimize, Placement, Progress, Rows
from edgec.commands.compile_facts import share_of
from edgec.commands.compile_placed import placed
from edgec.fit.choice import Built, Setting
from edgec.fit.prices.layers import Layers
from edgec.fit.prices.learned import Layer, Learned
from edgec.fit.prices.noise import Noises
from edgec.fit.prices.probes import covering_sets, first_sets, told_apart
from edgec.fit.prices.ways import States, Ways, ways_of
from edgec.fit.program.problem import Cell, Cost, Cut, Figures, Need, Problem, State
from edgec.kernels.buffers import buffers_of
from edgec.kernels.family import KernelSpec
from edgec.kernels.select import select_kernels
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.memory import Peak
from edgec.quant.precision.goal import Space
from edgec.target.board import Board
from edgec.workflow.function_sizes import function_sizes
from edgec.workflow.integer import IntegerModel, RealModel
from edgec.workflow.rows import CONSOLE_VARIABLE_BYTES

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
        narrowed: Callable[[RealModel, CompileOptions], tuple[IntegerModel, Space | None]],
        ram_bytes: float = math.inf,
    ) -> None:
        """Make the probes.

        Args:
            model: the integer graph with int8 codes.
            board: the target.
            options: those of the user.
            space: tensors that could have int16 codes; None: none can.
            narrowed: quantizes a network as options say: the integer graph, and its tensors.
            ram_bytes: RAM of the firmware, of which weights take what is left over.
        """
        self._ram_bytes = ram_bytes
        self._board, self._options, self._narrowed = board, options, narrowed
        self._plain = Layers(model, space, board, options)
        self.tensors = self._plain.tensors
        self._networks: dict[tuple[LayerBits, ...], Layers] = {(): self._plain}
        self._real: RealModel | None = None
        self._ways: Ways | None = None
        self._cells: dict[Optimize, dict[str, tuple[State, States]]] = {}
        self._sections: dict[Optimize, dict[KernelSpec, Mapping[str, int]]] = {}
        self._steps: dict[Optimize, list[Need]] = {}
        self._turned: dict[Setting, float] = {}
        self._cuts: dict[Setting, list[Cut]] = defaultdict(list)
        memory = board.memory
        stack = 0 if memory is None else memory.stack_bytes
        self._learned = Learned(stack + CONSOLE_VARIABLE_BYTES)
        self.probed = self._probes()
        self.noises = Noises(space)

    def offer(self, real: RealModel, progress: Progress) -> None:
        """Price weights of few bits, which choices may have from now on.

        Args:
            real: the network, with its calibration data.
            progress: told what is being done.
        """

        def layers_of(narrow: RealModel, bits: tuple[LayerBits, ...]) -> Layers:
            made = self._narrowed(narrow, replace(self._options, weight_bits=()))
            return Layers(*made, self._board, replace(self._options, weight_bits=bits))

        found = ways_of(real, self._options, self._plain, self.probed, layers_of, progress)
        if found is None:
            return
        self._ways, self._real = found, real
        self._cells.clear()
        self.noises.offer(found.noises, lambda chosen: self._network(chosen).space)

    def bits_of(self, chosen: Collection[str]) -> tuple[LayerBits, ...]:
        """Weights of few bits of a choice."""
        return () if self._ways is None else self._ways.bits_of(chosen)

    def _network(self, chosen: Collection[str]) -> Layers:
        """The network with the weights of a choice."""
        bits = self.bits_of(chosen)
        if bits not in self._networks:
            assert self._real is not None
            asked = (*self._options.weight_bits, *bits)
            options = replace(self._options, weight_bits=asked)
            made = self._narrowed(self._real, options)
            self._networks[bits] = Layers(*made, self._board, options)
        return self._networks[bits]

    def quantizes_beyond(self, chosen: Collection[str], most: int) -> bool:
        """Whether a choice needs one more network with weights of its own than `most` of them."""
        return self.bits_of(chosen) not in self._networks and len(self._networks) > most

    def plan_of(self, chosen: Collection[str], optimize: Optimize) -> PoolPlan:
        """The graph of a choice, ready for kernels."""
        return self._network(chosen).plan_of(self._int16(chosen), optimize)

    def model_of(self, chosen: Collection[str]) -> IntegerModel:
        """The model of a choice."""
        return self._network(chosen).model_of(self._int16(chosen))

    def drop(self, chosen: Collection[str]) -> float:
        """Percentage points of decisions that a choice loses; 0 where nobody counts them."""
        space = self._network(chosen).space
        return 0.0 if space is None else space.drop([e for e in self.tensors if e in chosen])

    def has(self, chosen: Collection[str]) -> bool:
        """Whether the network with the weights of a choice can have its int16 codes, too."""
        return self._int16(chosen) <= set(self._network(chosen).tensors)

    def _int16(self, chosen: Collection[str]) -> State:
        return frozenset(chosen) & frozenset(self.tensors)

    def _probes(self) -> list[State]:
        """Sets of int16 tensors that show layers in all their states."""
        everything = frozenset(self.tensors)
        if not everything:
            return [_NOTHING]
        ends = [self._plain.ends(each) for each in (_NOTHING, everything)]
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

    def layers_of(self, chosen: State, optimize: Optimize) -> dict[str, Layer]:
        """Layers of a choice with their prices, by name of the output."""
        return self._network(chosen).of(self._int16(chosen), optimize)

    def _cells_of(self, optimize: Optimize) -> dict[str, tuple[State, States]]:
        """Tensors that matter to each layer, and its price by their state."""
        if optimize not in self._cells:
            seen = {each: self.layers_of(each, optimize) for each in self.probed}
            found: dict[str, tuple[State, States]] = {}
            for name, tensors in self._matters(seen).items():
                states: States = {}
                for int16, layers in seen.items():
                    state, layer = tensors & int16, layers.get(name)
                    known = states.get(state)
                    # Where still more tensors matter, the dearer one.
                    if known is None or (layer is not None and layer.cycles > known.cycles):
                        states[state] = layer
                found[name] = tensors, states
            if self._ways is not None:
                found = self._ways.states_of(found, self._plain, optimize)
                # All at once, for each run of the compiler takes its time.
                every = (each for _, states in found.values() for each in states.values())
                self.code(optimize, (each for each in every if each is not None))
            self._cells[optimize] = found
        return self._cells[optimize]

    def problem(self, setting: Setting) -> Problem:
        """The choices of a setting, with all that was learned."""
        cells = []
        for name, (tensors, states) in self._cells_of(setting.optimize).items():
            there = {s: self._cost(setting, name, s, e) for s, e in states.items() if e is not None}
            cells.append(Cell(name, tensors, dict.fromkeys(states) | there))
        outside = self._learned.outside(setting)
        cells.append(Cell("", _NOTHING, {_NOTHING: Cost(outside, 0, frozenset())}))
        found = (each for _, s in self._cells_of(setting.optimize).values() for each in s.values())
        functions = self.code(setting.optimize, (each for each in found if each is not None))
        return Problem(
            tensors=self.tensors,
            cells=cells,
            functions=functions,
            needs=self._needs(setting),
            ways=() if self._ways is None else tuple(self._ways.asked),
            noises=self.noises.singles,
            floor=self.noises.floor,
            flash_bytes=self._learned.flash_bytes(setting),
            ram_bytes=self._learned.ram_bytes(setting),
            copied=1.0 if setting.placement is Placement.SRAM else 0.0,
            cuts=tuple(self._cuts[setting]),
            int8_noise=self.noises.int8,
        )

    def figures(self, setting: Setting, chosen: State) -> Figures:
        """Predicted figures of a choice, by the layers that it has indeed.

        A program knows layers by the few tensors that matter most to each.
        """
        own = self._own(setting, chosen)
        costs = [Cost(self._learned.outside(setting), 0, frozenset())]
        costs += [self._cost(setting, name, state, layer) for name, (layer, state) in own.items()]
        code = self.code(setting.optimize, (layer for layer, _ in own.values()))
        return replace(self.problem(setting), functions=code).figures_of(chosen, costs)

    def _own(self, setting: Setting, chosen: State) -> dict[str, tuple[Layer, State]]:
        """The layers of a choice, and its part that matters to each."""
        cells = self._cells_of(setting.optimize)
        return {
            name: (layer, (cells[name][0] if name in cells else layer.tensors) & chosen)
            for name, layer in self.layers_of(chosen, setting.optimize).items()
        }

    def code(self, optimize: Optimize, layers: Iterable[Layer]) -> dict[Hashable, float]:
        """Bytes of code and tables that layers share, by section or digest; each is there once.

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
            name: float(size)
            for layer in layers
            for name, size in (*known[layer.function].items(), *layer.shared_bytes.items())
        }

    def _cost(self, setting: Setting, name: str, state: State, layer: Layer) -> Cost:
        cycles = self._learned.cycles(setting, name, state, layer, self._slower(setting))
        needed = frozenset(self.code(setting.optimize, [layer]))
        return Cost(cycles, layer.constant_bytes, needed)

    def _slower(self, setting: Setting) -> float:
        """Time of the int8 network in turns, as a multiple of that of layers as a whole."""
        if setting.rows is Rows.NEVER:
            return 1.0
        if setting not in self._turned:
            plan, ways = self.plan_of((), setting.optimize), (setting.rows, Rows.NEVER)
            asked = [replace(setting, rows=rows).options(self._options, ()) for rows in ways]
            speeds = [placed(plan, self._board, each).speed for each in asked]
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
        plan = self.plan_of((), optimize)
        choices = select_kernels(plan.graph, self._plain.target(optimize), plan.configs)
        buffers, overlaps, _ = buffers_of(plan.graph, choices)
        peak = Peak.of(buffers, overlaps)
        found = []
        for step, needed in enumerate(peak.by_step):
            more: dict[str, int] = defaultdict(int)
            for each in peak.buffers.values():
                if each.first_step <= step < each.end_step and each.name in plan.graph.values:
                    for name in self._plain.tensors_of(plan.graph, (each.name,)):
                        more[name] += each.size_bytes
            found.append(Need(needed, more))
        return found

    def plan(self, setting: Setting, names: Collection[str]) -> Cut:
        """Memory of a choice as it is planned, which is kept as a cut."""
        chosen = frozenset(names)
        cuts = self._cuts[setting]
        known = next((cut for cut in cuts if cut.tensors == chosen), None)
        if known is None:
            options = setting.options(self._options, (), self.kept(setting))
            made = placed(self.plan_of(chosen, options.optimize), self._board, options).made
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
            placed(
                self.plan_of((), options.optimize),
                self._board,
                replace(options, placement=Placement.SRAM),
            )
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

    def learn(self, setting: Setting, names: Collection[str], built: Built) -> None:
        """Take over what a build shows."""
        chosen, optimize = frozenset(names), setting.optimize
        seen = self._own(setting, chosen)
        layers = [layer for layer, _ in seen.values()]
        constants = sum(layer.constant_bytes for layer in layers)
        code = sum(self.code(optimize, layers).values())
        flash = built.figures.flash_bytes - constants - code
        ram = built.figures.ram_bytes - built.arena_bytes - built.copied_bytes
        self._learned.take(setting, seen, built, flash, ram)
