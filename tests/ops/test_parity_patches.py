"""Layers in vertical strips: every part of every tensor equals that of the whole network."""

import numpy as np
import pytest
from random_net import Net
from random_rows import conv_plus_itself, image_network, in_patches, patched
from test_parity_rows import check_chains

from edgec.passes.rows.timeline import Pace

BOARDS = ("host", "nucleo_l4r5zi", "nucleo_g0b1re")


@pytest.mark.parametrize("board", ["host", "nucleo_l4r5zi"])
@pytest.mark.parametrize("count", [2, 8])
@pytest.mark.parametrize("pace", [1, 2])
@pytest.mark.parametrize("by_rows", [False, True])
def test_patches(tmp_path, count, board, pace, by_rows):
    net = Net.seeded(3)
    x = net.input((1, 12, 16, 4))
    net.builder.outputs = [conv_plus_itself(net, conv_plus_itself(net, x))]
    graph = net.builder.build()
    rows = in_patches(graph, 0, len(graph.nodes), count, Pace(pace), x if by_rows else None)
    assert len(rows.chains) == count
    assert check_chains(graph, rows, tmp_path, board)


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("group", range(4))
def test_random_patches(group, board, by_rows, tmp_path):
    cut = 0
    for seed in range(40 * group, 40 * group + 40):
        graph = image_network(Net.seeded(seed), 8)
        rows = patched(graph, np.random.default_rng(seed), by_rows=by_rows)
        if rows is not None:
            cut += check_chains(graph, rows, tmp_path / f"{seed}", board) > 0
        if cut == 3:
            break
    assert cut
