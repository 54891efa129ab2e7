"""One trial: a real build of a setting, traced and judged."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from edgec.base.errors import ConfigError, EdgecError
from edgec.base.options import CompileOptions, OptionValue
from edgec.base.output_file import write_whole
from edgec.commands.compile_cached import build, build_cache
from edgec.commands.compress import CompressOptions, compress_models
from edgec.commands.compress_jobs import Job
from edgec.commands.preflight import check_compile
from edgec.explore.figures import LINUX, MICROCONTROLLERS
from edgec.explore.installed import check_measures
from edgec.explore.space import Setting, compiled_by, limits_of, pool_of
from edgec.explore.task import Task
from edgec.fit.choice import plain_options
from edgec.fit.program.solve import check_solver
from edgec.fit.search import Search
from edgec.profile.instructions import count_instructions
from edgec.profile.run import profile
from edgec.report.model import MemoryReport
from edgec.target.board import load_board
from edgec.workflow.evaluation import evaluate
from edgec.workflow.session import places_of

_LONGEST_REASON = 300

Measured = Mapping[str, float | None]
"""Figures of a build by their key, in the order of `Figures.all`; None: nobody knows it.

`drop` is percentage points of accuracy below the float model; without labels, those of decisions
that differ from its own.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a trial: figures, or the reason that there are none.

    Attributes:
        figures: those of the build; None: there is none.
        refused: why there is none; "" where there is one.
        found: options that limits of the trial's own led to, by the keys of `edgec.toml`.
    """

    figures: Measured | None
    refused: str = ""
    found: Mapping[str, OptionValue] = field(default_factory=dict)


def run_trial(task: Task, setting: Setting) -> Outcome:
    """Build a setting and measure it; what speaks against the setting is the outcome.

    Args:
        task: the search.
        setting: a value for each knob.

    Raises:
        EdgecError: this machine cannot build anything: a compiler is missing, the disk is full.
    """
    try:
        with tempfile.TemporaryDirectory() as place:
            return _measured(task, setting, Path(place))
    except Exception as error:  # a fault of edgec in one setting must not end the search
        with tempfile.TemporaryDirectory() as place:
            _check_machine(task, setting, Path(place))
        text = error.what if isinstance(error, EdgecError) else f"{type(error).__name__}: {error}"
        return Outcome(None, _short(text))


def _check_machine(task: Task, setting: Setting, place: Path) -> None:
    """Refuse a machine that could not even build the default setting.

    Raises:
        EdgecError: the first thing that it lacks.
    """
    if limits_of(setting) is not None:
        check_solver()
    model, board = Path(task.models[setting["model"]]), load_board(setting["board"])
    samples = task.calibration_file.path
    check_compile(model, board, samples, place / "build", task.options)
    check_measures(board)


def _short(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_REASON]


def model_of(task: Task, setting: Setting, place: Path) -> Path:
    """The model file of a setting; pooled weights are written into a folder.

    Raises:
        EdgecError: the model cannot be pooled.
    """
    model = Path(task.models[setting["model"]])
    pool = pool_of(setting)
    if pool is None:
        return model
    output = place / f"{model.stem}.pool.onnx"
    # Trials of other knobs have the same pool, and clustering takes longer than a build.
    key = task.pool_key(setting["model"], pool)
    store = build_cache()
    kept = None if store is None else store.get(key)
    if kept is not None:
        write_whole(output, kept)
        return output
    compress_models(
        [Job(model, output, task.calibration_file)],
        CompressOptions(pool=pool, compilation=task.options),
    )
    if store is not None:
        with contextlib.suppress(ConfigError):  # the next trial clusters again
            store.put(key, output.read_bytes())
    return output


def build_options(task: Task, setting: Setting, model: Path) -> CompileOptions:
    """Options of the build of a setting; those that its own limits ask for are searched.

    Args:
        task: the search.
        setting: a value for each knob.
        model: file of `model_of`.

    Raises:
        EdgecError: nothing is within the limits of the setting, or they do not go with the rest.
    """
    options, limits = compiled_by(setting, task.options), limits_of(setting)
    if limits is None:
        return options
    board = load_board(setting["board"])
    return Search(model, board, task.calibration_file, options, limits).run().options


def _measured(task: Task, setting: Setting, place: Path) -> Outcome:
    model = model_of(task, setting, place)
    folder = place / "build"
    options = build_options(task, setting, model)
    made = build(
        model,
        setting["board"],
        samples=task.calibration_file,
        out=folder,
        options=options,
    )
    ran = _RUNS[task.kind](folder, made.report.memory)
    share = evaluate(folder, task.data_file, on=place_of(folder)).accuracy
    drop = round(100.0 * (task.float_share - share), 6)
    figures = dict(zip((each.key for each in task.figures.all), (drop, *ran), strict=True))
    return Outcome(figures, found={} if limits_of(setting) is None else plain_options(options))


def place_of(folder: Path) -> str:
    """The host, or the emulator where the host has no processor for the kernels of a build."""
    return next(iter(places_of(folder)), "host")


def _timed(folder: Path, memory: MemoryReport) -> tuple[float | None, ...]:
    """Milliseconds at the board's clock, as `edgec profile` finds them, bytes of the image, bytes
    of variables, arena and reserved stack, and energy, where the board's file has a current.
    """
    traced = profile(folder)
    energy = None if traced.energy is None else traced.energy.microjoules
    return traced.time_ms, float(memory.flash_bytes or 0), float(memory.ram_bytes or 0), energy


def _counted(folder: Path, memory: MemoryReport) -> tuple[float | None, ...]:
    """Millions of instructions, bytes of all constants, and bytes of the arena."""
    count = count_instructions(folder).total.instructions
    return count / 1e6, float(memory.weight_bytes), float(memory.arena_bytes)


_RUNS = {MICROCONTROLLERS: _timed, LINUX: _counted}
"""By the kind of boards, what measures the figures of a build that follow the lost accuracy."""
