"""Oracle = generated C of functions of elements with NEON, under QEMU, for A64 and Armv7-A."""

from __future__ import annotations

from pathlib import Path

import pytest
from cross import MACHINES, check_cross
from element_nets import elements, gates
from parity import samples_of

from edgec.ir.graph import Graph
from edgec.kernels.neon.elements import VECTORS, ElementsNeon
from edgec.kernels.select import select_kernels
from edgec.passes.fuse_chains import fuse_chains
from edgec.target.board import load_board
from edgec.target.target import Target

GRAPHS = {
    "once": lambda: elements("once"),
    "twice": lambda: elements("twice"),
    "gates": lambda: fuse_chains(gates("once")),
    "gates-twice": lambda: fuse_chains(gates("twice")),
}
BOARDS = {"a53": "raspberry_pi_3", "a7": "raspberry_pi_2"}


def _specs(graph: Graph, machine: str) -> list[ElementsNeon]:
    choices = select_kernels(graph, Target.of(load_board(BOARDS[machine])))
    return [choice.spec for choice in choices if isinstance(choice.spec, ElementsNeon)]


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", GRAPHS)
def test_on_an_emulated_core(name: str, machine: str, tmp_path: Path) -> None:
    graph = GRAPHS[name]()
    assert _specs(graph, machine)
    check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path)


@pytest.mark.parametrize("machine", BOARDS)
def test_every_function_is_reached(machine: str) -> None:
    steps = [
        step for make in GRAPHS.values() for spec in _specs(make(), machine) for step in spec.steps
    ]
    assert {step.element.function for step in steps} == VECTORS


def test_gates_are_chains_of_many_functions() -> None:
    for name in ("gates", "gates-twice"):
        assert [len(spec.steps) for spec in _specs(GRAPHS[name](), "a53")] == [4, 5, 4, 5]
    assert any(x.repeated for spec in _specs(GRAPHS["once"](), "a53") for x in spec.reads)
