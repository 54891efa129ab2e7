"""`edgec compress --max-drop`: the smallest pools that keep enough of the accuracy."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edgec.base.digests import canonical_digest
from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, WeightPoolError
from edgec.base.options import (
    IntegerOptions,
    PoolSharing,
    Progress,
    WeightPoolOptions,
    check_drop,
)
from edgec.base.result_cache import ResultCache
from edgec.commands.compile_cached import build_cache, program_digest
from edgec.ir.graph import Graph
from edgec.ir.weight_pool_graph import limited_bits
from edgec.profile.pools_html import write_pools_html
from edgec.target.board import Board
from edgec.weightpool import CompressionReport, compress_graph
from edgec.workflow.accuracy import LabelledData, float_share, integer_share
from edgec.workflow.exported import exported, read_again
from edgec.workflow.integer import RealModel, quantized_model
from edgec.workflow.pool_search import (
    PoolCurve,
    PoolPoint,
    is_enough,
    most_trials,
    point_name,
    pool_figures,
    smallest,
    ways_of,
)

_WIDEST = 8
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class MaxDrop:
    """Accuracy that small pools may cost.

    Attributes:
        points: percentage points below the float model.
        sharing: which layers may share a pool.
        board: the target, of which cycles and memory are estimated; None: of none.
        page: file to draw to what was tried, also where nothing is good enough; None: no page.
    """

    points: float
    sharing: tuple[PoolSharing, ...] = tuple(PoolSharing)
    board: Board | None = None
    page: Path | None = None

    def __post_init__(self) -> None:
        check_drop(self.points)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A network, and what decides about its pools.

    Attributes:
        model: the network.
        calibration: graph-side samples, or None.
        data: samples and labels.
        drop: how much accuracy may be lost.
        pool: options of the pools, apart from size, sharing and ratio.
        compilation: quantization of what is measured.
    """

    model: RealModel
    calibration: Mapping[str, Array] | None
    data: LabelledData
    drop: MaxDrop
    pool: WeightPoolOptions
    compilation: IntegerOptions

    @property
    def digest(self) -> str:
        """Equal digests mean equal points of equal pools: `cached`."""
        return canonical_digest(
            (
                _SCHEMA,
                program_digest(),
                exported(self.model.graph),
                self.calibration,
                dict(self.data.inputs),
                self.data.labels,
                self.drop.board,
                self.compilation,
            )
        )


@dataclass(frozen=True, slots=True, eq=False)
class Smallest:
    """The result of a search.

    Attributes:
        graph: REAL stage, with the pools that were chosen.
        report: what these pools did, layer by layer.
        curve: all that was tried.
    """

    graph: Graph
    report: CompressionReport
    curve: PoolCurve


def smallest_pools(task: Task, progress: Progress) -> Smallest:
    """Search as `workflow.pool_search` does.

    Points that were measured before come from the cache of builds.

    Raises:
        WeightPoolError: nothing can be pooled, or nothing that was tried is good enough, which the
            page shows, too.
        ConfigError: the page cannot be written.
    """
    ways = ways_of(task.model.graph, task.pool, task.drop.sharing)
    model = dataclasses.replace(task.model, calibration=task.calibration)
    real = float_share(model, task.data, progress)
    int8 = quantized_model(model, task.compilation, progress).integer
    of_int8 = integer_share(int8, task.data, "int8", progress)
    points: dict[int, PoolPoint] = {}
    made: dict[int, tuple[Graph, CompressionReport]] = {}
    store, common = build_cache(), task.digest

    def is_good(point: PoolPoint) -> bool:
        return is_enough(point.accuracy, real, task.drop.points)

    def holds(number: int) -> bool:
        options = ways[number].options
        key = canonical_digest((common, options))
        point = _kept(store, key)
        if point is None:
            say = _saying(progress, len(points), len(ways), options)
            made[number] = compress_graph(task.model.graph, task.calibration, options, say)
            point = _measured(task, options, *made[number], say)
            _keep(store, key, point)
        points[number] = point
        return is_good(point)

    best = smallest(len(ways), holds)
    # Sums may take less than the most that their ratio allows: only now it is known.
    tried = sorted(points, key=lambda number: (points[number].stored_bytes, number))
    if best is not None:
        best = next(each for each in tried if is_good(points[each]))
    curve = PoolCurve(
        model=task.model.graph.name,
        board="" if task.drop.board is None else task.drop.board.title,
        n=len(task.data.labels),
        max_drop=task.drop.points,
        real=real,
        int8=of_int8,
        int8_bytes=ways[0].int8_bytes,
        configurations=len(ways),
        points=tuple(points[number] for number in tried),
        chosen=None if best is None else tried.index(best),
    )
    page = task.drop.page
    if page is not None:
        write_pools_html(curve, page)
    if best is None:
        raise _nothing_found(curve, page)
    if best not in made:
        made[best] = compress_graph(
            task.model.graph, task.calibration, ways[best].options, progress
        )
    return Smallest(*made[best], curve)


def _saying(progress: Progress, tried: int, count: int, options: WeightPoolOptions) -> Progress:
    name = point_name(options.sharing.value, options.size, options.ratio)
    name += f" ({tried + 1} of about {most_trials(count)})"

    def say(text: str, done: int = 0, total: int = 0) -> None:
        progress(f"{name}: {text}", done, total)

    return say


def _measured(
    task: Task,
    options: WeightPoolOptions,
    graph: Graph,
    report: CompressionReport,
    progress: Progress,
) -> PoolPoint:
    """The point of some pools: accuracy of the integers that a compile makes of their file."""
    file = read_again(exported(graph), "pooled.onnx")
    model = dataclasses.replace(file, calibration=task.calibration)
    ready = quantized_model(model, task.compilation, progress)
    integer, cycles, arena_bytes = limited_bits(ready.integer, _WIDEST), None, None
    if task.drop.board is not None:
        figures = pool_figures(ready, task.drop.board)
        integer, cycles, arena_bytes = figures.graph, figures.cycles, figures.arena_bytes
    return PoolPoint(
        sharing=options.sharing.value,
        size=options.size,
        ratio=options.ratio,
        pools=report.pools,
        stored_bytes=report.sizes.pooled_bytes,
        compression=report.sizes.compression,
        accuracy=integer_share(integer, task.data, "pooled", progress),
        cycles=cycles,
        arena_bytes=arena_bytes,
    )


def _kept(store: ResultCache | None, key: str) -> PoolPoint | None:
    data = None if store is None else store.get(key)
    try:
        return None if data is None else PoolPoint(**json.loads(data))
    except (ValueError, TypeError):
        return None


def _keep(store: ResultCache | None, key: str, point: PoolPoint) -> None:
    if store is not None:
        with contextlib.suppress(ConfigError):  # the next search measures it again
            store.put(key, json.dumps(dataclasses.asdict(point)).encode())


def _nothing_found(curve: PoolCurve, page: Path | None) -> WeightPoolError:
    best = max(curve.points, key=lambda point: point.accuracy)
    # Rounded up: a user who allows that many gets these pools.
    drop = math.ceil(1e4 * (curve.real - best.accuracy) - 1e-6) / 100
    tried = "; ".join(
        f"{each.name} {each.stored_bytes:,} bytes {each.accuracy:.2%}" for each in curve.points
    )
    return WeightPoolError(
        f"no pools that were tried keep the accuracy within {curve.max_drop:g} points of the float "
        f"model's {curve.real:.2%}: {tried}",
        where=curve.model,
        hint=f"the best of them loses {drop:.2f} points: allow as much, give more calibration "
        "samples, or train pools of one size: --train and --pool-size without --max-drop"
        f"{'' if page is None else f'; {page} draws them'}",
    )
