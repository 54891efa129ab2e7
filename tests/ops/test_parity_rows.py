"""Layers in turns of a few rows: every part of every tensor equals that of the whole network."""

import numpy as np
import pytest
from parity import compiled, samples_of
from random_net import Net
from random_rows import cut, image_network

from edgec.ir.verify import Stage, verify
from edgec.sim.compare import compare_outputs, compare_trace
from edgec.sim.host import HostModel
from edgec.toolchain.cc import WARNING_FLAGS

FLAGS = ("-O1", *WARNING_FLAGS, "-fsanitize=undefined", "-fno-sanitize-recover=all")


def check_in_turns(seed, folder, board="host"):
    """Number of layers in turns."""
    graph = image_network(Net.seeded(seed), 8)
    rows = cut(graph, np.random.default_rng(seed))
    verify(rows, Stage.INTEGER, "rows")
    if not rows.chains:
        return 0
    program = compiled(rows, folder / "library", board=board)
    model = HostModel(folder / "library", folder / "build", flags=FLAGS)
    for sample in samples_of(graph)[:3]:
        compare_trace(program, sample.oracle, model.trace(sample.inputs))
        outputs = model.run([array.reshape(1, -1) for array in sample.inputs])
        compare_outputs(program, sample.oracle, [each[0] for each in outputs], "host")
    return sum(len(chain.firings) for chain in rows.chains)


@pytest.mark.parametrize("board", ["host", "nucleo_l4r5zi", "nucleo_g0b1re"])
@pytest.mark.parametrize("seed", range(10))
def test_random_chains(seed, board, tmp_path):
    check_in_turns(seed, tmp_path, board)
