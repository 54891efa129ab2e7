"""`explore`: from what a user asks for to the points of a finished search."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from optuna.storages import BaseStorage

from edgec.base.errors import ConfigError
from edgec.base.given_files import check_model_file, check_sample_file
from edgec.base.options import CompileOptions, Progress, StatePairs, check_seed
from edgec.base.system import cores
from edgec.commands.output_folder import default_folder
from edgec.commands.preflight import check_compile
from edgec.explore.cluster import Place, Run, dask_cluster, processes, wait
from edgec.explore.figures import KINDS, LINUX, Figures, kind_of, limits_of
from edgec.explore.front import Point, check_any, front_of
from edgec.explore.installed import check_measures
from edgec.explore.prepare import can_pool, prepared
from edgec.explore.search import STUDY, begin, load, lost, points_of, task_in
from edgec.explore.space import DEFAULT, ON_LINUX, Space, check_on_linux, space_of
from edgec.explore.storage import Beat, is_file, open_storage
from edgec.explore.task import Task, sample_file
from edgec.explore.trial import run_trial
from edgec.fit.program.solve import check_solver
from edgec.target.board import load_board

JOURNAL = "study.journal"
TRIALS = 60


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as a user asks for it.

    Attributes:
        models: model files; the float form of the first is what all trials are held against.
        boards: names, aliases or files of boards.
        calibration: samples that choose scales and weights.
        out: folder for the journal, the page and the samples that were split.
        data: samples that judge trials; None: a part of `calibration`.
        normalize: what `--normalize` says of both; None: nothing.
        vary: values of knobs, ``KNOB=VALUE/VALUE``.
        fit: limits; None: none.
        trials: trials of the study as a whole.
        seed: number that all proposals follow from.
        storage: journal file or URL; None: a journal in `out`.
        study: name of the study in the storage.
        workers: processes, or builds at the same time of a cluster; None: all cores.
        scheduler: address of a Dask scheduler; None: processes of this machine.
        shapes, state, values: as `edgec compile` takes them.
        beat: signs of life of workers.
    """

    models: tuple[Path, ...]
    boards: tuple[str, ...]
    calibration: Path
    out: Path
    data: Path | None = None
    normalize: str | None = None
    vary: tuple[str, ...] = ()
    fit: str | None = None
    trials: int = TRIALS
    seed: int = 0
    storage: str | None = None
    study: str = STUDY
    workers: int | None = None
    scheduler: str | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    state: tuple[str, ...] = ()
    values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    beat: Beat = field(default_factory=Beat)

    @property
    def place(self) -> Place:
        """The study as workers find it."""
        storage = self.storage or str(self.out / JOURNAL)
        if is_file(storage):
            storage = str(Path(storage).absolute())
        return Place(storage, self.study, self.trials, self.beat)


@dataclass(frozen=True, slots=True)
class State:
    """A search so far.

    Attributes:
        task: the search.
        place: its study.
        points: finished trials.
        lost: trials that were run again since their worker was lost.
    """

    task: Task
    place: Place
    points: tuple[Point, ...]
    lost: int = 0

    @property
    def front(self) -> tuple[Point, ...]:
        """Points that no other one beats."""
        return front_of(self.points, self.task.bounds)


def explore(
    asked: Asked,
    progress: Progress,
    show: Callable[[State], None] = lambda _: None,
    run: Run = run_trial,
) -> State:
    """Search, or continue a search, until its trials are finished.

    Args:
        asked: the search.
        progress: told what is being done before trials run.
        show: told the state while they do.
        run: runs a trial.

    Raises:
        EdgecError: something cannot be read, opened or reached, the storage holds another study,
            or no trial is within the limits.
    """
    check_asked(asked)
    place = asked.place
    storage = open_storage(place.storage, place.beat)
    progress("reading models and samples")
    task = task_of(asked)
    study = begin(storage, task, place.name, place.storage, place.total)

    def state() -> State:
        return State(task, place, points_of(study), lost(study))

    if len(points_of(study)) < place.total:
        with _workers(asked, task, storage, run) as watch:
            wait(lambda: len(points_of(study)) >= place.total, watch, lambda: show(state()))
    found = state()
    check_any(found.points, found.front, task.bounds)
    return found


@contextlib.contextmanager
def _workers(
    asked: Asked, task: Task, storage: BaseStorage, run: Run
) -> Iterator[Callable[[], None]]:
    if asked.scheduler is not None:
        with dask_cluster(asked.place, task, asked.scheduler, storage, asked.workers, run) as watch:
            yield watch
        return
    with processes(asked.place, task, asked.workers or cores(), run) as watch:
        yield watch


def help_out(text: str, name: str, workers: int | None, progress: Progress) -> int:
    """Work on a study that was begun elsewhere, until it is finished.

    Args:
        text: its storage.
        name: its name.
        workers: processes; None: all cores.
        progress: told how far the study is.

    Returns:
        Finished trials of the study.

    Raises:
        ConfigError: there is no such study, or this machine has another edgec or other files.
    """
    storage = open_storage(text, there=True)
    task, trials = task_in(storage, name, text)
    place = Place(text, name, trials)
    study = load(storage, name)

    def done() -> int:
        return len(points_of(study))

    with processes(place, task, workers or cores()) as watch:
        wait(lambda: done() >= trials, watch, lambda: progress("working", done(), trials))
    return done()


def check_asked(asked: Asked) -> None:
    """Refuse at once what cannot end well.

    Raises:
        EdgecError: the first thing that is wrong.
    """
    check_seed(asked.seed)
    names = [model.stem for model in asked.models]
    if len(set(names)) < len(names):
        raise ConfigError("two models have one name", where="explore", hint="rename one of them")
    for model in asked.models:
        check_model_file(model)
    for file in (asked.calibration, asked.data):
        if file is not None:
            check_sample_file(file)
    kind = _kind(asked)
    if asked.fit is not None:
        limits_of(asked.fit, KINDS[kind])
    space = _space(asked, kind, pools=True)
    if kind == LINUX:
        check_on_linux(space)
    if any(value != DEFAULT for value in space["fit"]):
        check_solver()
    for name in asked.boards:
        board = load_board(name)
        options = CompileOptions(verify=False)
        folder = default_folder(asked.models[0], board, asked.out)
        check_compile(asked.models[0], board, None, folder, options)
        check_measures(board)


def task_of(asked: Asked) -> Task:
    """The task of a search, with its samples split where they have to be.

    Raises:
        EdgecError: a model or samples cannot be read, or do not fit.
    """
    state = StatePairs.parse(asked.state)
    options = CompileOptions(shapes=asked.shapes, state=state, values=asked.values)
    calibration = sample_file(asked.calibration, asked.normalize)
    data = None if asked.data is None else sample_file(asked.data, asked.normalize)
    found = prepared(asked.models[0], calibration, data, asked.out, options)
    # What was split or labelled holds the model's own numbers.
    texts = [
        None if f.normalize is None else asked.normalize for f in (found.calibration, found.data)
    ]
    pools = all(can_pool(model, options) for model in asked.models)
    kind = _kind(asked)
    return Task(
        models={model.stem: str(model.absolute()) for model in asked.models},
        calibration=str(found.calibration.path.absolute()),
        data=str(found.data.path.absolute()),
        normalize=texts[0],
        data_normalize=texts[1],
        float_share=found.float_share,
        labelled=found.labelled,
        space=_space(asked, kind, pools=pools),
        kind=kind,
        limits=asked.fit or "",
        seed=asked.seed,
        shapes=asked.shapes,
        state=asked.state,
        values=asked.values,
        note=found.note,
    )


def _kind(asked: Asked) -> str:
    return kind_of([load_board(name) for name in asked.boards])


def figures_of(asked: Asked) -> Figures:
    """Figures that the boards of a search are compared by.

    Raises:
        ConfigError: no such board, or boards that cannot be compared.
    """
    return KINDS[_kind(asked)]


def _space(asked: Asked, kind: str, *, pools: bool) -> Space:
    fewer = {**({} if pools else {"pool": (DEFAULT,)}), **(ON_LINUX if kind == LINUX else {})}
    boards = [_board(each) for each in asked.boards]
    return space_of([model.stem for model in asked.models], boards, asked.vary, fewer)


def _board(name: str) -> str:
    """A board's own name; the absolute path of a board's file."""
    return str(Path(name).absolute()) if name.endswith(".toml") else load_board(name).name
