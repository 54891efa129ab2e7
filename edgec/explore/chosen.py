"""The chosen point: its command line, its `edgec.toml`, and its one look at the test data."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from edgec.base.options import OptionValue, Progress
from edgec.base.output_file import write_whole
from edgec.base.samples import SampleFile
from edgec.base.system import command_line
from edgec.commands.compile_cached import Built, build
from edgec.commands.output_folder import default_folder
from edgec.explore.front import Point
from edgec.explore.space import compiled_by, options_of, pool_of, words_of
from edgec.explore.task import Task
from edgec.explore.trial import model_of, place_of
from edgec.fit.choice import of_plain_options
from edgec.workflow.accuracy import float_share, labelled_data
from edgec.workflow.evaluation import Evaluation, evaluate
from edgec.workflow.integer import real_model


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chosen point, built and checked.

    Attributes:
        point: the point.
        project: its `edgec.toml`.
        built: its build.
        test: its accuracy on the test data; None without them.
        float_share: share of the test data that the first model tells right in float, before
            weights are pooled; None without them.
    """

    point: Point
    project: Path
    built: Built
    test: Evaluation | None
    float_share: float | None


def commands_of(task: Task, point: Point) -> tuple[str, ...]:
    """Command lines that make the build of a point again, one or two."""
    model = _shown(task.models[point.setting["model"]])
    samples: tuple[str, ...] = ("--calibration", _shown(task.calibration))
    if task.normalize is not None:
        samples += ("--normalize", task.normalize)
    given = [word for key, texts in _given(task).items() for t in texts for word in (f"--{key}", t)]
    found = []
    pool = pool_of(point.setting)
    if pool is not None:
        pooled = str(Path(model).with_suffix(".pool.onnx"))
        words = ("edgec", "compress", model, "--pool-size", pool.size, *samples, *given)
        found.append(command_line((*words, "--out", pooled)))
        model = pooled
    board = _shown(point.setting["board"])
    words = ("edgec", "compile", model, "--board", board, *samples, *given)
    found.append(command_line((*words, *words_of(point.setting))))
    return tuple(found)


def _shown(text: str) -> str:
    """A path as short as it can be from here."""
    path = Path(text)
    if not path.is_absolute():
        return text
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return text


def _given(task: Task) -> dict[str, list[str]]:
    """Texts of `--shape`, `--state` and `--value`, by their key in `edgec.toml`."""
    found = {
        "shape": [f"{n}={','.join(map(str, s))}" for n, s in task.shapes.items()],
        "state": list(task.state),
        "value": [f"{n}={','.join(map(repr, s))}" for n, s in task.values.items()],
    }
    return {key: texts for key, texts in found.items() if texts}


def keep(
    task: Task, point: Point, folder: Path, test: SampleFile | None, progress: Progress
) -> Chosen:
    """Write `edgec.toml` of a point, build it with all checks, and judge it on the test data.

    Args:
        task: the search.
        point: the chosen point.
        folder: gets `edgec.toml`, the pooled model if there is one, and the build.
        test: inputs and labels that nothing was chosen by; None: it is not judged.
        progress: told what is being done.

    Raises:
        EdgecError: a file cannot be written, or the build or its check fails.
    """
    progress("building the chosen point")
    folder.mkdir(parents=True, exist_ok=True)
    model = model_of(task, point.setting, folder)
    project = folder / "edgec.toml"
    plain = compiled_by(point.setting, task.options)
    chosen = of_plain_options(point.found, plain) if point.found else plain
    options = replace(chosen, verify=True)
    built = build(
        model,
        point.setting["board"],
        samples=task.calibration_file,
        out=default_folder(model, point.setting["board"], folder),
        options=options,
        progress=progress,
    )
    write_whole(project, "\n".join([*_lines(task, point, model, folder), ""]).encode())
    if test is None:
        return Chosen(point, project, built, None, None)
    progress("judging it on the test data")
    real = real_model(Path(next(iter(task.models.values()))), None, task.options)
    share = float_share(real, labelled_data(test, real), progress)
    found = evaluate(built.folder, test, on=place_of(built.folder))
    return Chosen(point, project, built, found, share)


def _lines(task: Task, point: Point, model: Path, folder: Path) -> Sequence[str]:
    def relative(path: str) -> str:
        return Path(os.path.relpath(path, folder.absolute())).as_posix()

    board = point.setting["board"]
    keys: dict[str, object] = {
        "model": relative(str(model.absolute())),
        "board": relative(board) if board.endswith(".toml") else board,
        "calibration": relative(task.calibration),
    }
    if task.normalize is not None:
        keys["normalize"] = task.normalize
    keys |= _given(task)
    keys |= _plain(point)
    lines = [f"# trial {point.number} of edgec explore"]
    # JSON's texts, numbers and lists of texts are TOML's, too.
    return lines + [f"{key} = {json.dumps(value)}" for key, value in keys.items()]


def _plain(point: Point) -> dict[str, OptionValue]:
    """Keys of `edgec.toml` for a point; what was searched stands there as it was found."""
    plain = options_of(point.setting).items()
    return {**{k: v for k, v in plain if k not in ("pool-size", "fit")}, **point.found}
