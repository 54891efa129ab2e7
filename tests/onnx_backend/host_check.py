"""The C of a node test on this computer beside the integers of the oracle, every tensor."""

from __future__ import annotations

from pathlib import Path

from parity import compiled

from edgec.base.dtypes import Array
from edgec.interp import run_graph
from edgec.sim.compare import compare_trace
from edgec.sim.host import HostModel
from edgec.workflow.integer import IntegerModel


def host_check(model: IntegerModel, codes: list[dict[str, Array]], folder: Path) -> None:
    """Emit C, compile it without optimisation, run each sample.

    Raises:
        SimulationError: a tensor differs.
    """
    program = compiled(model.integer, folder / "library")
    host = HostModel(folder / "library", folder / "build", flags=("-O0",))
    for sample in codes:
        ordered = [sample[name] for name in model.integer.inputs]
        compare_trace(program, run_graph(model.integer, sample), host.trace(ordered))
