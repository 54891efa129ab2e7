"""`edgec explore`: fronts, lost workers, storages, and what more workers gain.

    python benchmarks/explore.py fronts                     # digits on M0+, M4, M7
    python benchmarks/explore.py fronts --networks digits_vit gru_imu    # an example, a GRU
    python benchmarks/explore.py fronts --boards raspberry_pi_3     # by instructions
    python benchmarks/explore.py fronts --networks dscnn resnet8 --data-dir FOLDER
    python benchmarks/explore.py fronts --model M.onnx --calibration C.npz --data D.npz
    python benchmarks/explore.py kills                      # four workers, two of them killed
    python benchmarks/explore.py storages --trials 1000     # a synthetic objective
    python benchmarks/explore.py speed                      # one worker and two

Networks of the data folder and GRUs (`zoo_recurrent.py`, weights by chance) are calibrated on 32
samples and judged by 200 others, GRUs by agreement with the float network.

Hypervolume: the share of the box between the best figures of all trials and the worst ones, a tenth
larger (all but accuracy by the logarithm), that a set of builds beats.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import math
import os
import random
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import optuna
from data_folder import add_data_option, chosen_data_folder
from distributed import LocalCluster
from optuna.samplers import RandomSampler as _Dice
from optuna.storages import BaseStorage
from public_data import TASKS

from edgec.base.options import CompileOptions, no_progress
from edgec.explore import search
from edgec.explore.cluster import Place, dask_cluster, processes, wait
from edgec.explore.figures import MICROCONTROLLERS
from edgec.explore.front import Point, front_of
from edgec.explore.run import Asked, State, explore
from edgec.explore.space import DEFAULT, Setting, switches
from edgec.explore.storage import Beat, open_storage, quiet
from edgec.explore.task import Task
from edgec.explore.trial import Measured, Outcome, run_trial
from edgec.workflow.integer import real_model

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
BOARDS = ("nucleo_g0b1re", "nucleo_f446re", "nucleo_f767zi")
"""M0+, M4, M7."""
_CALIBRATE, _JUDGE = 32, 200
OBJECTIVES = 4
"""Figures that proposals are judged by, the first ones of a point."""
MACHINES = 100
_BUILD_S = 10.0
"""Seconds of a build of a small network, for the figures on paper."""


def hypervolume(points: Sequence[Sequence[float]]) -> float:
    """Volume that points dominate below the corner of ones; all figures are in [0, 1]."""
    rest = sorted(set(map(tuple, points)))
    if not rest:
        return 0.0
    if len(rest[0]) == 1:
        return 1.0 - rest[0][0]
    # Slices along the last figure: between two neighbours the same points count.
    levels = sorted({point[-1] for point in rest})
    total = 0.0
    for level, following in zip(levels, [*levels[1:], 1.0], strict=True):
        inside = [point[:-1] for point in rest if point[-1] <= level]
        total += (following - level) * hypervolume(_nondominated(inside))
    return total


def _nondominated(points: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    kept: list[tuple[float, ...]] = []
    for point in sorted(set(points)):
        if not any(all(a <= b for a, b in zip(k, point, strict=True)) for k in kept):
            kept.append(point)
    return kept


def unit(points: Sequence[Point], of: Sequence[Point]) -> list[tuple[float, ...]]:
    """Figures of points in the box that the figures of `of` span, to [0, 1]."""

    def scaled(point: Point) -> tuple[float, ...]:
        drop, *rest = point.values[:OBJECTIVES]  # on one board energy says what time says
        return (drop, *(math.log(max(each, 1e-9)) for each in rest))  # some have no weights

    columns = list(zip(*map(scaled, of), strict=True))
    low = [min(column) for column in columns]
    span = [1.1 * max(max(c) - min(c), 1e-9) for c in columns]
    return [
        tuple((v - a) / s for v, a, s in zip(scaled(point), low, span, strict=True))
        for point in points
    ]


def network(name: str, options: argparse.Namespace, folder: Path) -> tuple[Path, Path, Path | None]:
    """Model, calibration data and data that judge; what is made for it lies in a folder."""
    if not name:
        return options.model, options.calibration, options.data
    if name.startswith("digits"):
        return EXAMPLES / f"{name}.onnx", EXAMPLES / "digits_calibration.npz", None
    files = folder / f"{name}_calibration.npz", folder / f"{name}_data.npz"
    if name in TASKS:
        task, data = TASKS[name], chosen_data_folder(options)
        model = data / "models" / task.model
        (only,) = real_model(model, None, CompileOptions()).imported.inputs
        first, second = task.data(data, "calibration"), task.data(data, "validation")
        labels = {} if second.y is None else {"y": second.y[:_JUDGE]}
        np.savez(files[0], **{only: first.x[:_CALIBRATE]})
        np.savez(files[1], **{only: second.x[:_JUDGE], **labels})
    else:
        from recurrent import exported  # noqa: PLC0415  (needs PyTorch, as these alone do)
        from zoo_recurrent import NETWORKS, inputs_of  # noqa: PLC0415

        model = exported(name, folder)
        arrays = inputs_of(NETWORKS[name], _CALIBRATE + _JUDGE)
        np.savez(files[0], **{key: array[:_CALIBRATE] for key, array in arrays.items()})
        np.savez(files[1], **{key: array[_CALIBRATE:] for key, array in arrays.items()})
    return model, *files


def fronts(options: argparse.Namespace) -> None:
    """Search for each board, and hold the front against the default build and single switches."""
    for name, board in itertools.product(options.networks, options.boards):
        with tempfile.TemporaryDirectory() as place:
            model, calibration, data = network(name, options, Path(place))
            asked = Asked(
                (model,),
                (board,),
                calibration,
                Path(place, "out"),
                data=data,
                vary=tuple(options.vary),
                trials=options.trials,
                workers=options.workers,
            )
            start = time.perf_counter()
            state = explore(asked, no_progress)
            seconds = time.perf_counter() - start
            _compare(board, state, _single(state), seconds)


def _single(state: State) -> list[Point]:
    """Builds with one knob changed, those of the search as far as it has them."""
    found = []
    for number, setting in enumerate(switches(state.task.space)):
        known = next((p for p in state.points if dict(p.setting) == setting), None)
        figures = run_trial(state.task, setting).figures if known is None else known.figures
        if figures is not None:
            found.append(Point(len(state.points) + number, setting, figures))
    return found


def _compare(board: str, state: State, single: Sequence[Point], seconds: float) -> None:
    built = [point for point in state.points if point.figures is not None]
    usual = next(point for point in built if point.number == 0)
    box = [*built, *single]

    def volume(points: Sequence[Point]) -> float:
        return hypervolume(unit(front_of(points, {}), box))

    alone = max(single, key=lambda point: volume([usual, point]))
    name, value = next((k, v) for k, v in alone.setting.items() if v != usual.setting[k])
    print(
        f"{', '.join(state.task.models)} on {board}: {len(state.points)} trials in {seconds:.0f} "
        f"s, {len(state.points) - len(built)} refused, {len(state.front)} on the front; "
        f"hypervolume: default {volume([usual]):.3f}, with the best single switch "
        f"({name} {value}) {volume([usual, alone]):.3f}, with all {len(single)} single switches "
        f"{volume([usual, *single]):.3f}, search {volume(built):.3f}",
        flush=True,
    )
    for point in state.front:
        objectives = state.task.figures.objectives
        figures = "  ".join(
            f"{each.said.format(each.text(point.value(each.name))):>17}" for each in objectives
        )
        text = ", ".join(
            f"{k} {v}" for k, v in point.setting.items() if k in SHOWN and v != DEFAULT
        )
        print(f"    {figures}  {text}")


SHOWN = ("precision", "observer", "effort", "pool", "optimize", "rows", "placement")
SPACE = {
    "model": ("net",),
    "board": ("nucleo_f446re",),
    **{name: tuple("01234567") for name in SHOWN},
}


def synthetic(task: Task, setting: Setting) -> Outcome:
    """A sum of squares for each figure, after a pause; the process is written to a log."""
    notes = json.loads(task.note)
    if notes["log"]:
        with Path(notes["log"]).open("a") as log:
            log.write(f"{os.getpid()}\n")
    time.sleep(notes["pause"])
    numbers = [float(setting[name]) for name in SHOWN]
    drop = sum((n - 7) ** 2 for n in numbers[:3])
    figures: Measured = {
        "drop": drop,
        "ms": 1 + sum(numbers[:4]),
        "flash": 1e4 + 50 * numbers[4],
        "ram": 4e3 + numbers[5],
        "microjoules": None,
    }
    return Outcome(figures)


def synthetic_task(pause: float = 0.0, log: str = "") -> Task:
    """A task without files."""
    note = json.dumps({"pause": pause, "log": log})
    file = str(Path(__file__).resolve())
    return Task(
        {}, file, file, None, None, 1.0, True, SPACE, MICROCONTROLLERS, "", 1, {}, (), {}, note
    )


def kills(options: argparse.Namespace) -> None:
    """Four workers, two of them killed at random moments."""
    for text in ("{}/study.journal", "sqlite:///{}/study.db"):
        with tempfile.TemporaryDirectory() as folder:
            _killed(text.format(folder), Path(folder, "log"), options.trials, options.seed)


def _killed(text: str, log: Path, total: int, seed: int) -> None:
    dice = random.Random(seed)
    task = synthetic_task(0.5, str(log))
    place = Place(text, "edgec", total, Beat(1, 5))
    storage = open_storage(place.storage, place.beat)
    study = search.begin(storage, task, place.name, place.storage, place.total)
    moments = sorted(dice.uniform(0.1, 0.8) * total for _ in range(2))
    killed: list[int] = []
    start = time.perf_counter()
    with processes(place, task, 4, synthetic) as watch:

        def show() -> None:
            begun = log.read_text().split() if log.exists() else []
            alive = [p for p in dict.fromkeys(map(int, begun)) if p not in killed]
            if len(killed) < 2 and len(begun) > moments[len(killed)] and alive:
                killed.append(dice.choice(alive[:4]))
                os.kill(killed[-1], signal.SIGKILL)

        wait(lambda: len(search.points_of(study)) >= total, watch, show)
    points = search.points_of(study)
    print(
        f"{_kind(text)}: {len(killed)} of 4 workers killed; "
        f"{len(points)} of {total} trials done, {search.lost(study)} run again, "
        f"{len(points) - len({p.number for p in points})} twice; "
        f"{len(log.read_text().split())} begun, {time.perf_counter() - start:.0f} s",
        flush=True,
    )


def _kind(text: str) -> str:
    return "sqlite" if text.startswith("sqlite") else "journal"


def storages(options: argparse.Namespace) -> None:
    """Trials of no work through each storage: the cost of a trial, and what many machines do."""
    for text in ("{}/study.journal", "sqlite:///{}/study.db"):
        with tempfile.TemporaryDirectory() as folder:
            _stored(text.format(folder), options.trials, None)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
    ):
        _stored(f"{folder}/study.journal", options.trials, str(cluster.scheduler_address))


def _stored(text: str, total: int, scheduler: str | None) -> None:
    task = synthetic_task()
    place = Place(text, "edgec", total)
    storage = open_storage(place.storage, place.beat)
    study = search.begin(storage, task, place.name, place.storage, place.total)
    alone = _alone(storage)
    if scheduler is None:
        workers = processes(place, task, 2, synthetic)
    else:
        workers = dask_cluster(place, task, scheduler, storage, 2, synthetic)
    with workers as watch:
        start = time.perf_counter()
        wait(lambda: len(search.points_of(study)) >= total, watch, lambda: None)
        seconds = time.perf_counter() - start
    points = search.points_of(study)
    print(
        f"{_kind(text) if scheduler is None else 'dask'}: {len(points)} of {total} trials, "
        f"{len(points) - len({p.number for p in points})} twice, in {seconds:.1f} s, "
        f"{1e3 * seconds / total:.1f} ms each with 2 workers and proposals; the storage alone "
        f"takes {1e3 * alone:.1f} ms a trial, so {1.0 / alone:,.0f} a second from all machines; "
        f"{MACHINES} with builds of {_BUILD_S:.0f} s finish {MACHINES / _BUILD_S:.0f}",
        flush=True,
    )


def _alone(storage: BaseStorage) -> float:
    """Seconds that a storage takes for a trial: begun, its values written, ended."""
    with quiet():
        study = optuna.create_study(
            storage=storage, study_name="alone", directions=["minimize"] * 4, sampler=_Dice()
        )
        count, start = 100, time.perf_counter()

        def objective(trial: optuna.Trial) -> tuple[float, ...]:
            for name, options in SPACE.items():
                trial.suggest_categorical(name, options)
            trial.set_user_attr("outcome", {"figures": [1.0] * 5, "refused": ""})
            trial.set_constraint("refused", -1.0)
            return (1.0, 1.0, 1.0, 1.0)

        study.optimize(objective, n_trials=count)
        return (time.perf_counter() - start) / count


def speed(options: argparse.Namespace) -> None:
    """The same real search with one worker and with two, without a cache of builds."""
    os.environ["EDGEC_CACHE_LIMIT"] = "0"
    found = []
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as place:
            asked = Asked((options.model,), (BOARDS[1],), options.calibration, Path(place))
            asked = dataclasses.replace(
                asked, trials=options.trials, workers=workers, vary=("effort=fast",)
            )
            start = time.perf_counter()
            explore(asked, no_progress)
            found.append(time.perf_counter() - start)
            print(f"{workers} workers: {options.trials} trials in {found[-1]:.1f} s", flush=True)
    print(f"speed-up {found[0] / found[1]:.2f}")


def main() -> None:
    """Run one of the four measurements."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("what", choices=["fronts", "kills", "storages", "speed"])
    parser.add_argument("--networks", nargs="+", default=[""], help="in place of --model")
    parser.add_argument("--model", type=Path, default=EXAMPLES / "digits_resnet.onnx")
    parser.add_argument("--calibration", type=Path, default=EXAMPLES / "digits_calibration.npz")
    parser.add_argument("--data", type=Path)
    add_data_option(parser)
    parser.add_argument("--boards", nargs="+", default=BOARDS)
    parser.add_argument("--vary", nargs="*", default=(), help="of fronts: as edgec explore has it")
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    {"fronts": fronts, "kills": kills, "storages": storages, "speed": speed}[options.what](options)


if __name__ == "__main__":
    main()
