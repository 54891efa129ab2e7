"""Layers in turns of a few rows, where the arena is to be small: the chains, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.options import App, CompileOptions, Progress, Rows
from edgec.ir.graph import Graph
from edgec.kernels.select import select_kernels
from edgec.report.model import RowsReport
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.workflow.row_kernels import peak_of
from edgec.workflow.row_search import RowsChoice, RowSearch, front_of, planned

_ROOMY = 1.25
"""Plans of memory take at most a quarter more than their floor."""
_INPUT_ROWS = "--input-rows"
CONSOLE_VARIABLE_BYTES = 512
"""RAM of the console's variables on every board (`tests/firmware/test_build_boards.py`)."""
_OTHER_VARIABLE_BYTES = 2048
"""RAM of the variables of other main programs, about."""


def check_rows(graph: Graph, options: CompileOptions) -> None:
    """Refuse `--rows always` and `--input-rows` for models that run as a whole.

    Args:
        graph: REAL stage.
        options: those of the compilation.

    Raises:
        ConfigError: says why they do.
    """
    if options.rows is not Rows.ALWAYS and not options.input_rows:
        return
    option = _INPUT_ROWS if options.input_rows else "--rows always"
    reasons = {
        "a stream takes a few frames a run as it is": options.stream is not None,
        "a front end gives its features as a whole": options.front_end is not None,
        "runs of several lengths have layers of several heights": options.max_length is not None,
        "a model with loops or a state runs its layers as they are": not graph.is_straight,
    }
    found = next((reason for reason, holds in reasons.items() if holds), None)
    if found is not None:
        raise ConfigError(found, where=option, hint=f"leave out {option}")
    if options.input_rows:
        _check_input(graph)


def _check_input(graph: Graph) -> None:
    """Refuse inputs that cannot be handed over by rows.

    Raises:
        ConfigError: there are several, or the input is no image.
    """
    what = ""
    if len(graph.inputs) > 1:
        what = f"takes one input, and the model has {len(graph.inputs)}"
    elif len(shape := graph.shape(graph.only_input)) != 4 or shape[0] != 1:
        form = "x".join(map(str, shape))
        what = f"takes rows of one image, and the input {shown(graph.only_input)} is {form}"
    if what:
        raise ConfigError(what, where=_INPUT_ROWS, hint=f"leave out {_INPUT_ROWS}")


def arena_limit(board: Board, options: CompileOptions) -> int | None:
    """Bytes that the arena may have on a board and within a budget; None: any number."""
    limit, memory, budget = board.arena_limit_bytes, board.memory, options.budget
    if limit is None or memory is None:
        return limit
    console = options.app is App.CONSOLE and options.main is None
    variables = CONSOLE_VARIABLE_BYTES if console else _OTHER_VARIABLE_BYTES
    found = [limit - variables if memory.arena_in == memory.data_in else limit]
    if budget is not None and budget.ram_bytes is not None:
        found.append(budget.ram_bytes - memory.stack_bytes - variables)
    return max(min(found), 0)


def chosen_rows(
    graph: Graph,
    target: Target,
    decisions: Mapping[str, object],
    rows: Rows,
    limit_bytes: int | None,
    progress: Progress,
    *,
    input_rows: bool = False,
    passes: int = 1,
) -> tuple[RowsChoice, RowsReport | None]:
    """Kernels of a graph, whose layers run in turns where that is asked for or needed.

    Args:
        graph: INTEGER stage.
        target: the processor.
        decisions: what planners decided, by name of the node.
        rows: what the user asked for.
        limit_bytes: bytes that the arena may have; None: any number.
        progress: told what is being done.
        input_rows: the caller hands the input over by rows.
        passes: how often it can do so for one run.

    Returns:
        The choice, and the ways that were compared; None where none were looked for.

    Raises:
        ConfigError: no layers can take the input by rows.
    """
    choices = select_kernels(graph, target, decisions)
    floor = peak_of(graph, choices).arena_bytes
    whole = RowsChoice(graph, choices, floor, None)
    roomy = limit_bytes is None or floor * _ROOMY <= limit_bytes
    if input_rows:
        progress("looking for layers that can take the input by rows")
        whole = planned(graph, choices, target)
        search = RowSearch(whole, target, decisions, graph.only_input)
        ways = _with_patches(front_of(search.ways(limit_bytes)), search, rows, limit_bytes, passes)
        return _chosen(_some(ways), rows, limit_bytes, whole)
    fixed = not graph.is_straight or graph.length is not None
    if rows is Rows.NEVER or fixed or (rows is Rows.AUTO and roomy):
        return whole, None
    whole = planned(graph, choices, target)
    if rows is Rows.AUTO and (limit_bytes is None or whole.arena_bytes <= limit_bytes):
        return whole, None
    progress("looking for layers that can run in turns of a few rows")
    search = RowSearch(whole, target, decisions)
    found = front_of((whole, *search.ways(limit_bytes)))
    return _chosen(_with_patches(found, search, rows, limit_bytes), rows, limit_bytes)


def _with_patches(
    found: tuple[RowsChoice, ...],
    search: RowSearch,
    rows: Rows,
    limit_bytes: int | None,
    passes: int = 1,
) -> tuple[RowsChoice, ...]:
    """The ways, and those with patches where a limit asks for them."""
    if rows is not Rows.AUTO or limit_bytes is None:
        return found
    if any(each.arena_bytes <= limit_bytes for each in found):
        return found
    return front_of((*found, *search.patched(limit_bytes, passes)))


def _some(ways: tuple[RowsChoice, ...]) -> tuple[RowsChoice, ...]:
    """Ways to take the input by rows.

    Raises:
        ConfigError: there are none.
    """
    if not ways:
        raise ConfigError(
            "the first layers cannot compute a few rows of this input at a time",
            where=_INPUT_ROWS,
            hint="docs/rows.md says which layers can; leave out --input-rows",
        )
    return ways


def _chosen(
    found: Sequence[RowsChoice],
    rows: Rows,
    limit_bytes: int | None,
    beside: RowsChoice | None = None,
) -> tuple[RowsChoice, RowsReport]:
    """The fastest of the ways that fit; without a limit, or with `--rows always`, the smallest.

    Args:
        found: the smallest first, the fastest last.
        rows: what the user asked for.
        limit_bytes: bytes that the arena may have; None: any number.
        beside: the graph as it is, to compare with, where it is none of the ways.
    """
    fitting = [
        number
        for number, each in enumerate(found)
        if limit_bytes is not None and each.arena_bytes <= limit_bytes
    ]
    chosen = fitting[-1] if rows is Rows.AUTO and fitting else 0
    handed = [chain.handed for chain in found[chosen].graph.chains if chain.handed is not None]
    input_rows = handed[0].firing.rows if handed else 0
    points = tuple(each.point for each in (*found, *((beside,) if beside else ())))
    return found[chosen], RowsReport(chosen, points, input_rows, max(len(handed), 1))
