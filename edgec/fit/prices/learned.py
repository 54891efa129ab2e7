"""Prices of `compile --fit` as builds correct them.

Cycles of a layer in a state that was built are known, and so are those of a layer with the same
function.  Elsewhere a price is scaled: by what layers of its kernel family took that read and write
the same types, and by what this layer took beside others of its kind.  A build in another setting
tells more of a layer than other layers do in this one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from edgec.fit.choice import Built, Setting
from edgec.fit.program.problem import State
from edgec.kernels.family import KernelSpec

Kind = tuple[str, tuple[str, ...]]
"""Kernel family, and the types that a layer reads and writes."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of a graph with some int16 tensors.

    Attributes:
        cycles: its price.
        constant_bytes: weights, biases and tables of its own.
        shared_bytes: bytes of the pools and tables that it shares with other layers, by digest.
        function: key of its function.
        kind: its family and types.
        tensors: those at its ends that could be int16.
    """

    cycles: float
    constant_bytes: int
    shared_bytes: Mapping[str, int]
    function: KernelSpec
    kind: Kind
    tensors: State

    @property
    def plain(self) -> Kind:
        """Its family, and whether any type is int16."""
        family, types = self.kind
        return family, ("INT16",) if "INT16" in types else ()


class Learned:
    """Figures of a board's builds, by setting."""

    def __init__(self, ram_bytes: float = 0.0) -> None:
        """Nothing was built.

        Args:
            ram_bytes: RAM beside arena and constants, about, until a build tells.
        """
        self._usual_ram_bytes = ram_bytes
        self._exact: dict[tuple[Setting, str, State], tuple[Layer, float]] = {}
        self._functions: dict[tuple[Setting, KernelSpec, float], float] = {}
        self._sums: dict[Setting, dict[Kind, tuple[float, float]]] = {}
        self._own: dict[tuple[Setting, str, str], dict[Kind, float]] = defaultdict(dict)
        self._ratios: dict[tuple[Setting, Setting], float | None] = {}
        self._outside: dict[Setting, float] = {}
        self._flash: dict[Setting, float] = {}
        self._ram: dict[Setting, float] = {}

    def take(
        self,
        setting: Setting,
        layers: Mapping[str, tuple[Layer, State]],
        built: Built,
        flash_bytes: float,
        ram_bytes: float,
    ) -> None:
        """Take over what a build shows.

        Args:
            setting: the one that was built.
            layers: those of the graph, with the int16 tensors among those that matter to them.
            built: its figures.
            flash_bytes: flash beside constants and functions.
            ram_bytes: RAM beside the arena, and beside constants that lie there.
        """
        self._ratios.clear()
        inside = 0.0
        sums = self._sums.setdefault(setting, {})
        for name, (layer, state) in layers.items():
            cycles = built.layers.get(name)
            if cycles is None:
                continue
            inside += cycles
            self._exact[setting, name, state] = layer, cycles
            self._functions[setting, layer.function, layer.cycles] = cycles
            if layer.cycles <= 0.0:
                continue
            self._own[setting, name, layer.kind[0]][layer.kind] = cycles / layer.cycles
            for kind in {layer.kind, layer.plain}:
                measured, priced = sums.get(kind, (0.0, 0.0))
                sums[kind] = measured + cycles, priced + layer.cycles
        self._outside[setting] = built.figures.cycles - inside
        self._flash[setting] = flash_bytes
        self._ram[setting] = ram_bytes

    def shows(self, setting: Setting, layer: Layer) -> bool:
        """Whether a build had the function of a layer."""
        return (setting, layer.function, layer.cycles) in self._functions

    def cycles(
        self, setting: Setting, name: str, state: State, layer: Layer, slower: float
    ) -> float:
        """Cycles of a layer: as it was built, in another setting, or as layers like it.

        Args:
            setting: one of which there may be no build.
            name: name of the layer's output.
            state: the choices that matter to it.
            layer: the layer.
            slower: what the setting's turns of rows cost, as a multiple; 1: layers are as a whole.
        """
        # A layer differs more from others of its kind than from itself in other code or placement.
        for is_like in (True, False):
            near = [each for each in self._outside if (each.rows is setting.rows) is is_like]
            near.sort(key=lambda each: _unlike(each, setting))
            for tells in (self._told, self._beside, self._usual):
                for known in near:
                    told = tells(known, name, state, layer)
                    if told is not None:
                        return told * self._between(setting, known, 1.0 if is_like else slower)
        return layer.cycles * slower

    def _told(self, setting: Setting, name: str, state: State, layer: Layer) -> float | None:
        """Cycles of a layer; None: no build in this setting tells."""
        same, known = self._exact.get((setting, name, state), (None, None))
        if known is None or same != layer:
            known = self._functions.get((setting, layer.function, layer.cycles))
        if known is not None:
            return known
        ratio = self._own.get((setting, name, layer.kind[0]), {}).get(layer.kind)
        return None if ratio is None else layer.cycles * ratio

    def _between(self, setting: Setting, other: Setting, usual: float) -> float:
        """Cycles of what both settings were built with, as a multiple of those in the other one.

        Where they have nothing in common it is `usual`.
        """
        if setting == other:
            return 1.0
        if (setting, other) not in self._ratios:
            self._ratios[setting, other] = self._ratio(setting, other)
        ratio = self._ratios[setting, other]
        return usual if ratio is None else ratio

    def _ratio(self, setting: Setting, other: Setting) -> float | None:
        pairs = [
            (self._exact[setting, name, state][1], cycles)
            for (where, name, state), (_, cycles) in self._exact.items()
            if where == other and (setting, name, state) in self._exact
        ]
        here, there = math.fsum(pair[0] for pair in pairs), math.fsum(pair[1] for pair in pairs)
        return here / there if there > 0.0 else None

    def _beside(self, setting: Setting, name: str, state: State, layer: Layer) -> float | None:
        """Cycles by how a layer stood to others of its kinds; None: no build tells."""
        usual, here = self._sums[setting], self._usual(setting, name, state, layer)
        own = self._own.get((setting, name, layer.kind[0]), {})
        beside = [r * usual[kind][1] / usual[kind][0] for kind, r in own.items() if r > 0.0]
        return here * math.fsum(beside) / len(beside) if here is not None and beside else None

    def _usual(self, setting: Setting, _: str, __: State, layer: Layer) -> float | None:
        """Cycles as layers of its kind took; None: no build tells."""
        usual = self._sums[setting]
        here = usual.get(layer.kind) or usual.get(layer.plain)
        return None if here is None else layer.cycles * here[0] / here[1]

    def outside(self, setting: Setting) -> float:
        """Cycles of a run beside those of layers."""
        return _near(self._outside, setting, 0.0)

    def flash_bytes(self, setting: Setting) -> float:
        """Flash beside constants and functions."""
        return _near(self._flash, setting, 0.0)

    def ram_bytes(self, setting: Setting) -> float:
        """RAM beside the arena."""
        return _near(self._ram, setting, self._usual_ram_bytes)


def _near(known: Mapping[Setting, float], setting: Setting, default: float) -> float:
    """The figure known of a setting, or of the one that is most like it."""
    return known[min(known, key=lambda each: _unlike(each, setting))] if known else default


def _unlike(one: Setting, other: Setting) -> int:
    optimize, placement = one.optimize is not other.optimize, one.placement is not other.placement
    return 4 * optimize + 2 * placement + (one.rows is not other.rows)
