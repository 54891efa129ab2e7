"""Flash and RAM of public networks in built firmware (docs/data.md).

    python benchmarks/footprint.py [--board nucleo] [NETWORK ...]

Calibrated with a few samples: ranges do not change sizes, but which channels are constant may.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from pathlib import Path

from data_folder import add_data_option, chosen_data_folder
from public_data import QDQ_TASKS, TASKS

from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions
from edgec.commands.compile import compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.report.model import MemoryReport

_NETWORKS = {**TASKS, **QDQ_TASKS}
_COLUMNS = ("arena", "without overlaps", "weights", "code", "flash", "RAM")


def footprint(name: str, board: str, data: Path) -> MemoryReport:
    """Sizes of one network's firmware.

    Raises:
        EdgecError: it does not fit, for example.
    """
    task = _NETWORKS[name]
    path = data / "models" / task.model
    samples = None
    if name in TASKS:
        (input_name,) = FloatModel(path).input_names
        samples = {input_name: task.data(data, "calibration").x[:50]}
    with tempfile.TemporaryDirectory() as folder:
        options = CompileOptions(verify=False)
        result = compile_model(
            path, board, calibration=samples, out=Path(folder) / "out", options=options
        )
    return result.report.memory


def row(name: str, memory: MemoryReport) -> str:
    """One line of the Markdown table."""
    sizes = (
        memory.arena_bytes,
        memory.arena_disjoint_bytes,
        memory.weight_bytes,
        memory.code_bytes or 0,
        memory.flash_bytes or 0,
        memory.ram_bytes or 0,
    )
    return f"| {name} | " + " | ".join(f"{size:,}" for size in sizes) + " |"


def main() -> None:
    """Parse the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--board", default="nucleo")
    parser.add_argument("networks", nargs="*", help=f"of {', '.join(_NETWORKS)}")
    arguments = parser.parse_args()
    data = chosen_data_folder(arguments)
    logging.basicConfig(level=logging.ERROR)
    print(f"| network, bytes on {arguments.board} | " + " | ".join(_COLUMNS) + " |")
    print("|---" + "|---:" * len(_COLUMNS) + "|")
    for name in arguments.networks or _NETWORKS:
        try:
            line = row(name, footprint(name, arguments.board, data))
        except EdgecError as error:
            line = f"| {name} | {error.what.splitlines()[0]} " + "|" * len(_COLUMNS)
        print(line, flush=True)


if __name__ == "__main__":
    main()
