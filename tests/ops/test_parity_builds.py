"""Oracle = generated C for every compiler, optimisation level and sanitizer."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from c_programs import BUILDS, Build
from parity import Sample, check_build, compiled, samples_of
from random_graphs import all_operators, grow_network
from random_net import Net

from edgec.ir import Graph
from edgec.lower import Program

GRAPHS = {
    "operators": lambda: all_operators(seed=1, each=3),
    "network": lambda: grow_network(Net.seeded(9), nodes=40),
}


@dataclass(frozen=True)
class Case:
    """A compiled graph and what it must compute."""

    graph: Graph
    library: Path
    program: Program
    samples: list[Sample]


@pytest.fixture(scope="module", params=GRAPHS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    graph = GRAPHS[request.param]()
    library = tmp_path_factory.mktemp("library")
    return Case(graph, library, compiled(graph, library), samples_of(graph))


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_every_build_equals_the_oracle(build: Build, case: Case, tmp_path: Path):
    check_build(build, case.library, case.program, case.samples, tmp_path)


def test_every_operator_is_there(case: Case):
    """The graphs are rich enough to mean something: many nodes, and codes that vary."""
    nodes = [node for node in case.graph.nodes if node.op != "QReshape"]
    assert len(nodes) >= 30
    varied = [
        node
        for node in nodes
        if any(len(set(sample.oracle[node.output].ravel().tolist())) > 1 for sample in case.samples)
    ]
    assert len(varied) >= len(nodes) // 2
