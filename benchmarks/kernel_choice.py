"""Whether each layer gets the fastest of the kernels that could compute it: all of them are built.

    python benchmarks/kernel_choice.py                       # the table of docs/benchmarks-speed.md
    python benchmarks/kernel_choice.py --networks dscnn-qdq --boards nucleo_l4r5zi
    python benchmarks/kernel_choice.py --json build/choice.json # kept, with what is there already
    python benchmarks/kernel_choice.py --json build/choice.json --boards    # prints what is there

    python benchmarks/kernel_choice.py --networks mcunet resnet20 mobilenetv2_cifar10   # others

`edgec.kernels.select.kernel_candidates` lists what could compute a layer: families, and the loops
of a family.  The first build is what `edgec compile` makes; in each further one, every layer has
its next candidate.  All builds are traced on the same input with the flash of the board, and must
give the same outputs.  Of boards with Linux executed instructions take the place of cycles.  A
layer's gap is what its kernel takes in the first build, beyond the least that any candidate took.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from built import firmware_of
from choice_layers import run_steps
from data_folder import add_data_option, chosen_data_folder
from profile_networks import ALL, DEFAULT, OPTIONS, OWN, model_of

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError, MemoryPlanError
from edgec.commands.compile_facts import placement_report, share_of
from edgec.commands.compile_placed import planned
from edgec.commands.tune_search import CLOSE
from edgec.ir.graph import Graph
from edgec.kernels.select import KernelChoice, kernel_candidates, select_kernels
from edgec.lower.placed import lowered
from edgec.target.board import Board, load_board
from edgec.target.target import Target
from edgec.workflow.integer import integer_model

BOARDS = (
    "nucleo_l4r5zi",
    "nucleo_h7a3zi_q",
    "nucleo_u575zi_q",
    "nucleo_g0b1re",
    "nucleo_f207zg",
    "raspberry_pi_2",
    "raspberry_pi_3",
    "raspberry_pi_5",
)
_COLUMNS = ("network", "board", "layer", "chosen", "cycles", "best", "cycles", "gap")


@dataclass(frozen=True, slots=True)
class Row:
    """One layer on one board.

    Attributes:
        network, board, layer: which.
        chosen, cycles: the kernel of `edgec compile`, and its cycles in that build.
        best, best_cycles: the fastest candidate.
        others: cycles of all other candidates, by name.
    """

    network: str
    board: str
    layer: str
    chosen: str
    cycles: int
    best: str
    best_cycles: int
    others: dict[str, int]

    @property
    def gap(self) -> float:
        """What is lost by the choice."""
        return self.cycles / self.best_cycles - 1

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        return (
            *(self.network, self.board, self.layer, self.chosen, f"{self.cycles:,}"),
            *(self.best, f"{self.best_cycles:,}", f"{self.gap:.1%}"),
        )


def graph_of(network: str, board: Board) -> Graph:
    """The integer graph of a network, as a board computes it."""
    path, samples = model_of(network)
    return planned(integer_model(path, samples, OPTIONS), board, OPTIONS)[1].graph


def rows_of(network: str, board_name: str) -> Iterator[Row]:
    """The layers of a network that more than one kernel could compute."""
    board = load_board(board_name)
    graph = graph_of(network, board)
    target = Target.of(board)
    first = select_kernels(graph, target)
    ways = [kernel_candidates(graph, choice.node, target) for choice in first]
    cycles: list[list[int]] = [[] for _ in ways]
    outputs: list[Array] | None = None
    for rank in range(max(map(len, ways))):
        choices = [found[rank] if rank < len(found) else found[0] for found in ways]
        taken, given = _measured(graph, choices, board)
        if outputs is not None and not all(map(np.array_equal, outputs, given)):
            raise InternalError(f"candidates {rank} give other outputs: {network}, {board_name}")
        outputs = outputs or given
        for found, own, number in zip(ways, cycles, taken, strict=True):
            if rank < len(found):
                own.append(number)
    for step, (found, own) in enumerate(zip(ways, cycles, strict=True)):
        if len(found) > 1:
            yield _row(network, board, step, found, own)


def _measured(
    graph: Graph, choices: Sequence[KernelChoice], board: Board
) -> tuple[list[int], list[Array]]:
    """Cycles of each step, and the outputs.

    Raises:
        MemoryPlanError: it does not fit the board.
    """
    share = share_of(OPTIONS, board)
    made = lowered(graph, choices, board, share)
    limit = board.arena_limit_bytes
    if limit is not None and made.program.arena_bytes > limit:
        raise MemoryPlanError(f"an arena of {made.program.arena_bytes:,} bytes")
    rng = np.random.default_rng(1)
    inputs = [rng.integers(-128, 128, graph.shape(x)).astype(np.int8) for x in graph.inputs]
    with tempfile.TemporaryDirectory() as name:
        placement = placement_report(made, share, board)
        elf = firmware_of(made.program, board, Path(name), placement)
        counts, outputs = run_steps(elf, board, inputs)
    return [each.cycles for each in counts], outputs


def _row(
    network: str, board: Board, step: int, ways: Sequence[KernelChoice], cycles: Sequence[int]
) -> Row:
    names = [way.way for way in ways]
    best = min(range(len(ways)), key=lambda at: cycles[at])
    return Row(
        network,
        board.name,
        f"{step} {ways[0].spec.describe().partition('], ')[0]}]",
        names[0],
        cycles[0],
        names[best],
        cycles[best],
        dict(zip(names[1:], cycles[1:], strict=True)),
    )


def summary(rows: Sequence[Row]) -> list[str]:
    """What the rows come to, in sentences."""
    worst = max(rows, key=lambda row: row.gap)
    far = [row for row in rows if row.gap > CLOSE]
    lost = sum(row.cycles - row.best_cycles for row in rows) / sum(row.cycles for row in rows)
    return [
        f"{len(rows)} layers: {len(far)} over {CLOSE:.0%}; the worst gap is {worst.gap:.1%} "
        f"({worst.network}, {worst.board}, {worst.layer}); {lost:.2%} of their cycles are lost."
    ]


def main() -> None:
    """Print a Markdown table and what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="*", choices=[*ALL, *OWN], default=DEFAULT)
    parser.add_argument("--boards", nargs="*", default=BOARDS)
    parser.add_argument("--over", type=float, default=-1, help="rows with a larger gap only")
    parser.add_argument("--json", type=Path, help="keep the rows here, with those that it has")
    add_data_option(parser)
    arguments = parser.parse_args()
    chosen_data_folder(arguments)
    kept = _read(arguments.json)
    for network in arguments.networks:
        for board in arguments.boards:
            kept = [row for row in kept if (row.network, row.board) != (network, board)]
            kept += rows_of(network, board)
            if arguments.json is not None:
                text = json.dumps([dataclasses.asdict(row) for row in kept], indent=1)
                arguments.json.write_text(text + "\n", "utf-8")
    print("| " + " | ".join(_COLUMNS) + " |")
    print("|---" * 4 + "|---:|---|---:|---:|")
    for row in kept:
        if row.gap > arguments.over:
            print("| " + " | ".join(row.cells()) + " |")
    print("\n" + "\n".join(summary(kept)))


def _read(path: Path | None) -> list[Row]:
    if path is None or not path.exists():
        return []
    return [Row(**row) for row in json.loads(path.read_text("utf-8"))]


if __name__ == "__main__":
    main()
