"""The fastest kernels of a network's layers, from few builds that measure many kernels each.

In the first build every layer has the kernel that estimates choose, in the next one its second
kernel, and so on.  What a layer takes also depends a little on the code beside it, so the fastest
kernels are built together and measured again, and of all builds the fastest one is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from edgec.base.errors import MemoryPlanError
from edgec.commands.tune_builds import Builds, Kernels, Measured

_SURELY = 0.995
"""Part of the cycles of the estimates' kernel that another one must stay below."""
_WORTH_A_BUILD = 0.0005
"""Part of the cycles of a run that a layer could gain by a change that is measured by itself."""
_MOST_CHANGES = 8
_AS_FAST = 1.001
"""Builds that take this many times the cycles of the fastest one at most are as fast."""
CLOSE = 0.03
"""Largest loss of a choice that is no fault."""
_ROUNDS = 5
"""Most builds of fastest kernels together."""


@dataclass(frozen=True, slots=True)
class LayerTuning:
    """Equal layers of a network, and their kernels.

    Attributes:
        layer: their signature.
        names: names of their nodes, untrusted.
        kernels: candidates that were measured, with the least cycles that each took in a build;
            first the one that estimates choose.
        chosen: the kernel that is kept.
        estimate: cycles of the estimates' kernel as it is estimated; None: nobody counts it.
        before, after: cycles in the build by estimates, and in the tuned one.
        known: the kernel was in the file, and was not measured again.
    """

    layer: str
    names: tuple[str, ...]
    kernels: Mapping[str, int]
    chosen: str
    estimate: int | None
    before: int
    after: int
    known: bool

    @property
    def estimated(self) -> str:
        """The kernel that estimates choose."""
        return next(iter(self.kernels))

    @property
    def least(self) -> int:
        """The least cycles that any kernel took in any build."""
        return min(self.after, *self.kernels.values())

    def loss(self, cycles: int) -> float:
        """Share of the least cycles by which others are more."""
        return cycles / self.least - 1 if self.least else 0.0


@dataclass(frozen=True, slots=True)
class EqualLayers:
    """Equal layers of a network, and the kernels that could compute them.

    Attributes:
        layer: their signature.
        names: names of their nodes.
        ways: name of each kernel, the one that estimates choose first, and its name in reports.
        scratch: working memory of each kernel.
        estimate: cycles of the first kernel, of all these layers.
    """

    layer: str
    names: tuple[str, ...]
    ways: Mapping[str, str]
    scratch: Mapping[str, int]
    estimate: float | None

    @property
    def first(self) -> str:
        """The kernel that estimates choose."""
        return next(iter(self.ways))


class Search:
    """The search for the fastest build.

    Attributes:
        before: the build by estimates.
        after: the tuned one.
    """

    def __init__(
        self, layers: Sequence[EqualLayers], known: Mapping[str, str], builds: Builds
    ) -> None:
        self._layers, self._known, self._builds = layers, known, builds
        self._taken: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._least: dict[tuple[str, str], int] = {}
        self._tried: dict[Kernels, Measured] = {}
        self.before = self.after = Measured({}, 0)

    def run(self) -> tuple[LayerTuning, ...]:
        """Measure, and choose.

        Raises:
            MemoryPlanError: the build by estimates does not fit the board.
        """
        base = self._kernels({})
        first, *_ = self._measure([(), base, *self._ranks()])
        if first is None:
            raise MemoryPlanError("the firmware does not fit the board, so nothing can be measured")
        self.before = first
        for _ in range(_ROUNDS):
            wanted = self._fastest()
            if wanted in self._tried or self._measure([wanted])[0] is None:
                break
        self._change_single(self._best())
        best = self._best()
        self.after = self._tried[best]
        chosen = dict(best)
        return tuple(self._result(each, chosen) for each in self._layers)

    def _change_single(self, best: Kernels) -> None:
        """Change a layer at a time to the kernel that took least anywhere, then all that helped.

        Args:
            best: the build.
        """
        made, chosen = self._tried[best], dict(best)
        gains: dict[Kernels, tuple[int, tuple[str, str]]] = {}
        for each in self._layers:
            if each.layer in self._known or not self._of(each):
                continue
            way = min(self._of(each), key=lambda way: self._least[each.layer, way])
            gain = _cycles(made, each) - self._least[each.layer, way]
            if way != chosen.get(each.layer, each.first) and gain > _WORTH_A_BUILD * made.cycles:
                change = (each.layer, way)
                gains[self._kernels({**chosen, each.layer: way})] = gain, change
        wanted = sorted(gains, key=lambda key: (-gains[key][0], key))[:_MOST_CHANGES]
        built = zip(wanted, self._measure(wanted), strict=True)
        helped = [
            gains[key][1]
            for key, found in built
            if found is not None and found.cycles < made.cycles
        ]
        if len(helped) > 1:
            self._measure([self._kernels({**chosen, **dict(helped)})])

    def _best(self) -> Kernels:
        """The fastest build; of those as fast the one with the fewest layers far from their least.

        Few cycles of a run are a matter of the place of code, and so are many of a small layer.
        """
        # Where layers are known, the build by estimates alone is not to be kept.
        made = {key: each for key, each in self._tried.items() if key or not self._known}
        made = made or self._tried
        least = min(each.cycles for each in made.values())
        fast = {key: each for key, each in made.items() if each.cycles <= _AS_FAST * least}
        return min(fast, key=lambda key: (self._far(fast[key]), fast[key].cycles, key))

    def _far(self, made: Measured) -> int:
        """Number of layers that take over 3 % more than the least that was seen."""
        found = 0
        for each in self._layers:
            least = min((self._least[each.layer, way] for way in self._of(each)), default=0)
            cycles = _cycles(made, each)
            found += len(each.names) if cycles > (1 + CLOSE) * least else 0
        return found

    def _kernels(self, changes: Mapping[str, str]) -> Kernels:
        """Kernels of a build: what is known, and changes; layers by estimates are left out."""
        first = {each.layer: each.first for each in self._layers}
        chosen = {**changes, **self._known}
        return tuple(sorted(item for item in chosen.items() if first[item[0]] != item[1]))

    def _ranks(self) -> list[Kernels]:
        """A build for each rank: every layer that is not known has its kernel of this rank."""
        free = [each for each in self._layers if each.layer not in self._known]
        most = max((len(each.ways) for each in free), default=1)
        return [
            self._kernels(
                {each.layer: list(each.ways)[rank] for each in free if rank < len(each.ways)}
            )
            for rank in range(1, most)
        ]

    def _measure(self, wanted: Sequence[Kernels]) -> list[Measured | None]:
        """Builds; of one that does not fit, the halves, until single layers are left."""
        found = self._builds(wanted)
        halves: list[Kernels] = []
        for kernels, made in zip(wanted, found, strict=True):
            free = [item for item in kernels if item[0] not in self._known]
            if made is not None:
                self._learn(kernels, made)
            elif len(free) > 1:
                middle = len(free) // 2
                halves += [self._kernels(dict(half)) for half in (free[:middle], free[middle:])]
        if halves:
            self._measure(halves)
        return found

    def _learn(self, kernels: Kernels, made: Measured) -> None:
        """Take over what each layer took."""
        if kernels in self._tried:
            return
        self._tried[kernels] = made
        chosen = dict(kernels)
        for each in self._layers:
            way = chosen.get(each.layer, each.first)
            found = [made.layers[name] for name in each.names if name in made.layers]
            # A kernel that another one stands for, since memory was short, was not measured.
            if len(found) == len(each.names) and all(x.kernel == each.ways[way] for x in found):
                cycles = sum(x.cycles for x in found)
                self._taken[each.layer, way].append(cycles)
                self._least[each.layer, way] = min(
                    cycles, self._least.get((each.layer, way), cycles)
                )

    def _fastest(self) -> Kernels:
        """The kernels that took the least cycles in the mean of their builds."""
        changes = {}
        for each in self._layers:
            taken = {way: mean(self._taken[each.layer, way]) for way in self._of(each)}
            if each.layer in self._known or not taken:
                continue
            best = min(taken, key=lambda way: taken[way])
            if taken[best] < _SURELY * taken.get(each.first, 0.0):
                changes[each.layer] = best
        return self._kernels(changes)

    def _of(self, layer: EqualLayers) -> list[str]:
        """Kernels of a layer that were measured."""
        return [way for way in layer.ways if (layer.layer, way) in self._least]

    def _result(self, layer: EqualLayers, chosen: Mapping[str, str]) -> LayerTuning:
        return LayerTuning(
            layer.layer,
            layer.names,
            {way: self._least[layer.layer, way] for way in self._of(layer)},
            chosen.get(layer.layer, layer.first),
            None if layer.estimate is None else round(layer.estimate),
            _cycles(self.before, layer),
            _cycles(self.after, layer),
            layer.layer in self._known,
        )


def _cycles(made: Measured, layer: EqualLayers) -> int:
    """Cycles that a build spends in equal layers."""
    return sum(made.layers[name].cycles for name in layer.names)
