"""What the choice of kernels by estimates loses beside a measured one: `edgec tune` on networks.

    python benchmarks/tune.py --boards nucleo_l4r5zi nucleo_f207zg     # the table of docs/tune.md
    python benchmarks/tune.py --networks dscnn-qdq
    python benchmarks/tune.py --file build/all.tune.toml     # keep what was measured

A row is a network on a board: the layers with a choice, those that take over 3 % more than the
least that was seen in any build, by estimates and as tuned, and the cycles of a run.  Each network
is tuned alone, unless --file names one file for all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from data_folder import add_data_option, chosen_data_folder
from kernel_choice import BOARDS, OPTIONS
from profile_networks import ALL, DEFAULT, OWN, model_of

from edgec.base.errors import MemoryPlanError
from edgec.commands.tune import Tuning, tune_model
from edgec.commands.tune_search import CLOSE
from edgec.target.board import load_board

_HEAD = ("network", "board", "layers", f"over {CLOSE:.0%}", "worst", "cycles", "tuned", "saved")
_MORE = (f"over {CLOSE:.0%}", "worst", "builds")


def tuned(network: str, board: str, file: Path) -> Tuning:
    """A network, tuned for a board; all layers are measured."""
    path, samples = model_of(network)

    def say(text: str, done: int = 0, total: int = 0) -> None:
        if total:
            print(f"{network} {board}: {text} {done} of {total}", end="\r", file=sys.stderr)

    return tune_model(
        path,
        load_board(board),
        say=say,
        calibration=samples,
        options=OPTIONS,
        file=file,
        again=True,
    )


def cells(network: str, found: Tuning) -> tuple[str, ...]:
    """A row of the table."""
    worst = [
        max((each.loss(cycles) for each, cycles in pairs), default=0.0)
        for pairs in (
            [(each, each.before) for each in found.layers],
            [(each, each.after) for each in found.layers],
        )
    ]
    layers = sum(len(each.names) for each in found.layers)
    return (
        *(network, found.board, str(layers), str(found.far), f"{worst[0]:.1%}"),
        *(f"{found.before:,}", f"{found.after:,}", f"{1 - found.after / found.before:.2%}"),
        *(str(found.far_tuned), f"{worst[1]:.1%}", str(found.builds)),
    )


def rows(networks: list[str], boards: list[str], file: Path | None) -> Iterator[Tuning]:
    """Tune each pair and print its row."""
    for network in networks:
        for board in boards:
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder, "edgec.tune.toml") if file is None else file
                try:
                    found = tuned(network, board, place)
                except MemoryPlanError:
                    print(f"| {network} | {board} | does not fit |", flush=True)
                    continue
            print("| " + " | ".join(cells(network, found)) + " |", flush=True)
            yield found


def main() -> None:
    """Print a Markdown table and what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="*", choices=[*ALL, *OWN], default=list(DEFAULT))
    parser.add_argument("--boards", nargs="*", default=list(BOARDS))
    parser.add_argument("--file", type=Path, help="one tune file for all, which is kept")
    add_data_option(parser)
    arguments = parser.parse_args()
    chosen_data_folder(arguments)
    print("| " + " | ".join((*_HEAD, *_MORE)) + " |")
    print("|---" * 2 + "|---:" * (len(_HEAD) + len(_MORE) - 2) + "|")
    found = list(rows(arguments.networks, arguments.boards, arguments.file))
    layers = sum(len(each.names) for tuning in found for each in tuning.layers)
    before, after = (sum(getattr(each, name) for each in found) for name in ("before", "after"))
    print(
        f"\n{layers} layers with a choice: {sum(each.far for each in found)} over {CLOSE:.0%} by "
        f"estimates, {sum(each.far_tuned for each in found)} as tuned; "
        f"{1 - after / before if before else 0.0:.2%} of the cycles saved"
    )


if __name__ == "__main__":
    main()
