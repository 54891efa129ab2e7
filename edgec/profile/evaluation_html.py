"""The page of `edgec evaluate --html`: which classes are taken for which, and the wrong samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.output_file import write_whole
from edgec.codegen.env import html_environment, values
from edgec.profile.compile_rows import Tile
from edgec.profile.pictures import Picture, picture_of
from edgec.report.console import shortened
from edgec.report.model import Report
from edgec.workflow.evaluation import Decisions, Evaluation

_MOST_CLASSES = 30
"""Classes of the largest matrix: a larger one is not read by anyone."""
_MOST_CONFUSIONS = 12
_MOST_SAMPLES = 24
_NAME_CHARACTERS = 14
_SHADE = 45
"""Percent of colour of the darkest cell: its text is read on it."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """Samples of a class that were taken for one class.

    Attributes:
        text: how many; "" for none.
        style: "right" on the diagonal, else "wrong".
        shade: share of the samples of the row, as CSS of a colour.
        title: it in words.
    """

    text: str
    style: str
    shade: str
    title: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """Samples of a class: its name, how many there are, what they were taken for."""

    name: str
    total: int
    share: str
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """A class that was taken for another, and how often."""

    label: str
    found: str
    times: int


@dataclass(frozen=True, slots=True)
class WrongSample:
    """A sample that was decided wrongly.

    Attributes:
        number: its place in the data, from 0 on.
        words: its label, what it was taken for, and what the float model says.
        pictures: what it looks like, of each input.
    """

    number: int
    words: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class EvaluationPart:
    """Sections about the accuracy of a build.

    Attributes:
        tiles: the figures.
        warnings: what is odd, a sentence each.
        names: heads of the matrix's columns; empty: there are too many classes for one.
        rows: the matrix.
        confusions: the most frequent ones.
        wrong_words: how many samples are wrong, and which of them are shown.
        wrong: samples.
    """

    tiles: tuple[Tile, ...]
    warnings: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    confusions: tuple[Confusion, ...]
    wrong_words: str
    wrong: tuple[WrongSample, ...]


@dataclass(frozen=True, slots=True)
class EvaluationPage:
    """Everything that the template shows.

    Attributes:
        model: its name, untrusted.
        lead: the board and the data.
        accuracy: the sections.
    """

    template: ClassVar[str] = "profile/evaluation.html.j2"

    model: str
    lead: str
    accuracy: EvaluationPart


def write_evaluation_html(
    report: Report, found: Evaluation, decisions: Decisions, path: Path
) -> None:
    """Write the page; an earlier file is replaced as a whole or not at all.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_whole(path, render_evaluation_html(report, found, decisions).encode("utf-8", "replace"))


def render_evaluation_html(report: Report, found: Evaluation, decisions: Decisions) -> str:
    """The page of an evaluation.

    Args:
        report: the build.
        found: its accuracy.
        decisions: what it said of each sample.
    """
    lead = f"compiled for {report.board.title} · {found.n:,} samples on {found.on}"
    page = EvaluationPage(report.model, lead, evaluation_part(found, decisions))
    return html_environment().get_template(page.template).render(values(page))


def evaluation_part(found: Evaluation, decisions: Decisions) -> EvaluationPart:
    """The sections about the accuracy of a build."""
    times = _times(decisions)
    classes = sorted({*range(len(decisions.names)), *(each for pair in times for each in pair)})
    few = len(classes) <= _MOST_CLASSES
    wrong = np.flatnonzero(decisions.labels != decisions.found)
    return EvaluationPart(
        tiles=_tiles(found, len(wrong)),
        warnings=found.warnings,
        names=tuple(_class_name(each, decisions) for each in classes) if few else (),
        rows=_rows(times, classes, decisions) if few else (),
        confusions=_confusions(times, decisions),
        wrong_words=_wrong_words(len(wrong), found.n),
        wrong=tuple(_wrong_sample(int(number), decisions) for number in wrong[:_MOST_SAMPLES]),
    )


def _times(decisions: Decisions) -> dict[tuple[int, int], int]:
    """Number of times that a class (first of the key) was taken for a class, where it was.

    A model that gives numbers of classes may give any: a table of all pairs could be of any size.
    """
    pairs = np.stack([decisions.labels, decisions.found])
    found, times = np.unique(pairs, axis=1, return_counts=True)
    keys = zip(*found.tolist(), strict=True)
    return dict(zip(keys, times.tolist(), strict=True))


def _class_name(number: int, decisions: Decisions) -> str:
    """The name of a class in one line, or the number of one that has none."""
    if 0 <= number < len(decisions.names):
        return shortened(decisions.names[number], _NAME_CHARACTERS)
    return str(number)


def _tiles(found: Evaluation, wrong: int) -> tuple[Tile, ...]:
    return (
        Tile("accuracy", f"{found.accuracy:.2%}", f"integers, on {found.on}"),
        Tile("float model", f"{found.float_accuracy:.2%}", "the model that was compiled"),
        Tile("equal decisions", f"{found.agreement:.2%}", "as the float model"),
        Tile("wrong", f"{wrong:,}", f"of {found.n:,} samples"),
    )


def _rows(
    times: Mapping[tuple[int, int], int], classes: Sequence[int], decisions: Decisions
) -> tuple[MatrixRow, ...]:
    """The matrix of a few classes."""
    names = {number: _class_name(number, decisions) for number in classes}
    rows = []
    for label in classes:
        line = [times.get((label, number), 0) for number in classes]
        total = sum(line)
        cells = tuple(
            MatrixCell(
                text=f"{count:,}" if count else "",
                style="right" if label == number else "wrong",
                shade=f"{_SHADE * count / max(total, 1):.1f}%",
                title=f"{count:,} of {names[label]} taken for {names[number]}",
            )
            for number, count in zip(classes, line, strict=True)
        )
        share = f"{times.get((label, label), 0) / total:.1%}" if total else ""
        rows.append(MatrixRow(names[label], total, share, cells))
    return tuple(rows)


def _confusions(
    times: Mapping[tuple[int, int], int], decisions: Decisions
) -> tuple[Confusion, ...]:
    """Pairs of classes by how often the first was taken for the second, the most frequent first."""
    pairs = [(-count, label, found) for (label, found), count in times.items() if label != found]
    return tuple(
        Confusion(_class_name(label, decisions), _class_name(found, decisions), -count)
        for count, label, found in sorted(pairs)[:_MOST_CONFUSIONS]
    )


def _wrong_words(wrong: int, samples: int) -> str:
    if not wrong:
        return f"None of {samples:,} samples is decided wrongly."
    shown = f"; the first {_MOST_SAMPLES} are shown" if wrong > _MOST_SAMPLES else ""
    return f"{wrong:,} of {samples:,} samples are decided wrongly{shown}."


def _wrong_sample(number: int, decisions: Decisions) -> WrongSample:
    label, found, original = (
        _class_name(int(each[number]), decisions)
        for each in (decisions.labels, decisions.found, decisions.original)
    )
    says = "float agrees" if original == found else f"float says {original}"
    looks = [picture_of(array[number]) for array in decisions.samples.values()]
    return WrongSample(
        number, f"{label}, taken for {found}; {says}", tuple(each for each in looks if each)
    )
