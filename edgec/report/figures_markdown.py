"""Changes of figures as a Markdown table, for the page of a pull request or of a CI run."""

from __future__ import annotations

from collections.abc import Sequence

from edgec.base.names import printable
from edgec.report.figure_changes import FigureChange
from edgec.report.figures import FigureFile

_STATES = {"worse": "**worse**", "missing": "**missing**"}


def figures_markdown(found: FigureFile, changes: Sequence[FigureChange]) -> str:
    """A heading, a table with a row for each figure, and the verdict."""
    rows = [(*each.texts[:-1], _STATES.get(each.state, each.state)) for each in changes]
    bad = sum(each.fails for each in changes)
    verdict = f"{bad} worse than allowed" if bad else "nothing is worse than allowed"
    return "\n".join(
        [
            f"### {_escaped(found.model)} on {_escaped(found.board)}: {verdict}",
            "",
            "| figure | committed | now | change | allowed | |",
            "|---|---:|---:|---:|---:|---|",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
        ]
    )


def _escaped(text: str) -> str:
    """A name from a model, of which nothing is Markdown or HTML."""
    return "".join(
        f"\\{c}" if c in r"\`*_{}[]()#+-.!|<>&~" and c not in "-._" else c for c in printable(text)
    )
