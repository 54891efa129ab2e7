"""How far estimates of kernels with a weight pool are off, and what wrong choices cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from pool_layers import Layer, Measured

from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.registry import family_of
from edgec.kernels.weightpool.decision import PoolFamily
from edgec.target.board import Board
from edgec.target.target import Target

_DOCS = Path(__file__).resolve().parents[1] / "docs" / "weight-pools.md"


def estimate_ideal(found: Measured, board: Board) -> float:
    """Estimated cycles with memory that never waits."""
    estimator = Estimator.of(Target.of(board))
    cycles = estimator.ideal_cycles(family_of(found.spec), found.spec, found.layer.bits)
    return float("nan") if cycles is None else cycles


def kind_of(found: Measured) -> str:
    """The kernel in words."""
    config = found.layer.config
    if config is None:
        return "expand"
    if config.family is PoolFamily.DECODE:
        return "decode, DSP" if config.dsp else "decode"
    family = "responses" if config.family is PoolFamily.RESPONSES else "direct"
    return f"{family}, {config.builder.value}"


def table_of(found: Mapping[str, Sequence[Measured]], boards: Mapping[str, Board]) -> str:
    """Median and worst error of each kernel on each core, and the regret: Markdown."""
    errors = {core: _errors(layers, boards[core]) for core, layers in found.items()}
    kinds = list(dict.fromkeys(kind for each in errors.values() for kind in each))
    lines = ["| kernel | " + " | ".join(found) + " |", "|---" * (len(found) + 1) + "|"]
    lines += [_row(kind, [each.get(kind, []) for each in errors.values()]) for kind in kinds]
    lines.append(_row("all", [list(chain(*each.values())) for each in errors.values()]))
    regrets = [_regrets(layers, boards[core]) for core, layers in found.items()]
    wrong = [f"{sum(r > 0 for r in each)} of {len(each)}" for each in regrets]
    lost = [f"{np.mean(each):.1%}, {max(each):.1%}" for each in regrets]
    lines.append("| shapes where another kernel is faster | " + " | ".join(wrong) + " |")
    lines.append("| cycles lost by that, mean and most | " + " | ".join(lost) + " |")
    return "\n".join(lines)


def _errors(layers: Sequence[Measured], board: Board) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for each in layers:
        error = estimate_ideal(each, board) / each.cycles - 1
        found.setdefault(kind_of(each), []).append(error)
    return found


def _row(kind: str, errors: Sequence[Sequence[float]]) -> str:
    cells = (
        f"{np.median(np.abs(each)):.1%}, {max(each, key=abs):+.0%}" if each else ""
        for each in errors
    )
    return f"| {kind} | " + " | ".join(cells) + " |"


def _regrets(layers: Sequence[Measured], board: Board) -> list[float]:
    """What the kernel with the least estimate takes beyond the fastest, by shape and width."""
    shapes: dict[Layer, list[tuple[float, int]]] = {}
    for each in layers:
        ways = shapes.setdefault(replace(each.layer, config=None), [])
        ways.append((estimate_ideal(each, board), each.cycles))
    return [min(ways)[1] / min(cycles for _, cycles in ways) - 1 for ways in shapes.values()]


def write_docs(name: str, text: str) -> None:
    """Put a table between the markers of this name in docs/weight-pools.md."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, found, rest = _DOCS.read_text("utf-8").partition(begin)
    if not found:
        raise SystemExit(f"{_DOCS.name} has no place for this table: {begin.strip()}")
    _DOCS.write_text(before + begin + text + "\n" + end + rest.partition(end)[2], "utf-8")
