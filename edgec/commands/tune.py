"""`tune`: kernels of layers as they are measured, not as they are estimated.

All kernels of a layer compute the same numbers, so any may be taken.  What is found goes into a
tune file, by signature of the layer and target.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import ConfigError
from edgec.base.names import printable
from edgec.base.options import CompileOptions, Optimize
from edgec.base.system import cores
from edgec.commands.compile_placed import Placed, placed, planned
from edgec.commands.tune_builds import Builds, TuneJob, of_builds
from edgec.commands.tune_search import CLOSE, EqualLayers, LayerTuning, Search
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.family import name_of
from edgec.kernels.price import BoardPrices
from edgec.kernels.select import KernelChoice, kernel_candidates
from edgec.kernels.tuned import signature
from edgec.report.progress import Say
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.target.tune_file import (
    TUNE_FILE,
    TunedEntry,
    TunedTarget,
    fresh_entries,
    read_tune_file,
    with_entries,
    write_tune_file,
)
from edgec.workflow.front_end import front_end_of
from edgec.workflow.integer import Calibration, quantized_model, real_model
from edgec.workflow.said_front_end import with_said_front_end

_WORTH = 1.3
"""Kernels whose estimate is this many times that of the chosen one are not measured."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """Answer of `tune_model`.

    Attributes:
        model: name of the network, untrusted.
        board: name of the board.
        file: the tune file; None: nothing was written.
        layers: layers that several kernels could compute, in the order of the network.
        others: layers that have one kernel only.
        before, after: cycles of a run, of the build by estimates and of the tuned one.
        builds: builds that were measured.
        lengths: lengths of the runs whose mean the cycles are; empty: all runs have one length.
    """

    model: str
    board: str
    file: Path | None
    layers: tuple[LayerTuning, ...]
    others: int
    before: int
    after: int
    builds: int
    lengths: tuple[int, ...] = ()

    @property
    def far(self) -> int:
        """Layers that lose more than 3 % by the choice of estimates."""
        return self._over([each.loss(each.before) for each in self.layers])

    @property
    def far_tuned(self) -> int:
        """Layers of the tuned build that lose more than 3 %."""
        return self._over([each.loss(each.after) for each in self.layers])

    def _over(self, losses: Sequence[float]) -> int:
        each = zip(self.layers, losses, strict=True)
        return sum(len(layer.names) for layer, loss in each if loss > CLOSE)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        data = dataclasses.asdict(self)
        data["file"] = None if self.file is None else str(self.file)
        return data


def tune_model(
    model: Path,
    board: Board,
    *,
    say: Say,
    calibration: Calibration = None,
    options: CompileOptions | None = None,
    file: Path | None = None,
    again: bool = False,
    workers: int | None = None,
    cache: bool = True,
) -> Tuning:
    """Measure the kernels of a network's layers, and keep the fastest ones in a tune file.

    Args:
        model: ONNX or TensorFlow Lite file.
        board: a microcontroller with a cycle model.
        say: told what is being done.
        calibration: calibration data; None: synthetic, which changes no cycles to speak of.
        options: as those of the builds that will use the file.
        file: the tune file, which other networks and targets share; None: the one beside the model.
        again: measure layers that the file has, too.
        workers: builds at the same time; None: one on each core.
        cache: use what earlier commands measured, and keep what this one does.

    Raises:
        EdgecError: any of its kinds; the file is then as it was.
    """
    options = of_builds(with_said_front_end(options or CompileOptions(), model))
    check_tunable(board, options)
    place = model.parent / TUNE_FILE if file is None else file
    targets = read_tune_file(place) if place.exists() else ()
    front = front_end_of(options.front_end)
    real = real_model(model, calibration, options, say, front)
    exact = quantized_model(real, options, say, BoardPrices(board))
    ready, pools = planned(exact, board, options, say)
    found = placed(pools, board, options, say)
    layers = _layers(found, pools.configs, Target.of(board, options.optimize))
    known = {} if again else _known(targets, board, options.optimize, layers)
    job = TuneJob(model, board, calibration, options, exact)
    builds = Builds(job, workers or cores(), say, cache=cache)
    search = Search(layers, known, builds)
    tuned = search.run()
    result = Tuning(
        ready.imported.name,
        board.name,
        place if layers else None,
        tuned,
        len(found.choices) - sum(len(each.names) for each in tuned),
        search.before.cycles,
        search.after.cycles,
        builds.count,
        tuple(length for length in job.lengths if length is not None),
    )
    if layers:
        entries = [_entry(each, result.model) for each in tuned if not each.known]
        # Read again: others may have written it during the builds.
        now = read_tune_file(place) if place.exists() else ()
        write_tune_file(place, with_entries(now, board, options.optimize, entries))
    return result


def check_tunable(board: Board, options: CompileOptions) -> None:
    """Refuse what cannot be measured, or would not be used.

    Raises:
        ConfigError: says why.
    """
    what, hint = "", ""
    if board.is_hosted:
        what = f"{board.name} has no cycle model, so its kernels cannot be measured"
        hint = "choose a microcontroller: edgec boards"
    elif options.optimize is Optimize.SIZE:
        what = "--optimize size asks for the smallest code, and tuning for the fastest"
        hint = "leave out --optimize size"
    if what:
        raise ConfigError(what, where="tune", hint=hint)


def _layers(
    found: Placed, decided: Mapping[str, object], target: Target
) -> tuple[EqualLayers, ...]:
    """Layers that several kernels could compute, apart from those that a planner decides for."""
    estimator = Estimator.of(target)
    equal: dict[str, list[KernelChoice]] = defaultdict(list)
    ways: dict[str, tuple[KernelChoice, ...]] = {}
    for choice in found.choices:
        if choice.node.name in decided or choice.family.is_kept(target):
            continue
        layer = signature(found.graph, choice.node)
        if layer not in ways:
            ways[layer] = kernel_candidates(found.graph, choice.node, target)
        # Another kernel than the first one was taken for the sake of memory.
        if choice.way == ways[layer][0].way:
            equal[layer].append(choice)
    made = []
    for layer, choices in equal.items():
        first = choices[0]
        fixed = found.graph.length is None  # nobody prices shorter runs
        least = estimator.cycles(first.family, first.spec) if fixed else None
        measured = [
            each
            for each in ways[layer]
            if least is None or (estimator.cycles(each.family, each.spec) or 0.0) <= _WORTH * least
        ]
        if len({each.way for each in measured}) > 1:
            made.append(
                EqualLayers(
                    layer,
                    tuple(each.node.name for each in choices),
                    {each.way: name_of(each.spec) for each in measured},
                    {each.way: each.scratch_bytes for each in measured},
                    None if least is None else least * len(choices),
                )
            )
    return tuple(made)


def _known(
    targets: Iterable[TunedTarget], board: Board, optimize: Optimize, layers: Iterable[EqualLayers]
) -> dict[str, str]:
    """Kernels of layers that the file has, as far as these layers could have them."""
    entries = {each.layer: each.kernel for each in fresh_entries(targets, board, optimize)}
    return {
        each.layer: entries[each.layer] for each in layers if entries.get(each.layer) in each.ways
    }


def _entry(layer: LayerTuning, model: str) -> TunedEntry:
    count = len(layer.names)
    return TunedEntry(
        layer=layer.layer,
        kernel=layer.chosen,
        cycles=round(layer.after / count),
        estimated=layer.estimated,
        estimated_cycles=round(layer.before / count),
        model=printable(model)[:200],
    )
