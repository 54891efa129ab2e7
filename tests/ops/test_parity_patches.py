"""Layers in vertical strips: every part of every tensor equals that of the whole network."""

import numpy as np
import pytest
from parity import compiled
from random_net import Net
from random_parts import any_weights, moved_codes
from random_rows import conv_plus_itself, image_network, in_patches, patched
from test_parity_rows import check_chains, check_program

from edgec.ir import qops
from edgec.ir.verify import Stage, verify
from edgec.passes.rows.groups import groups_at
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


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("number", [0, 1])
def test_groups_of_channels(number, board, tmp_path):
    """A convolution and the maximum of its whole image, some channels at a time."""
    net = Net.seeded(4)
    x = net.input((1, 3, 5, 8))
    parameters, shift = any_weights(net, (32, 1, 1, 8))
    quant = net.quant()
    form = net.form(shift, quant.tensor_zero_point)
    attrs = qops.QConv((1, 1), (0, 0, 0, 0), (1, 1), 1, form)
    image = net.node(attrs, [x, *parameters], net.output((1, 3, 5, 32), quant))
    pool = qops.QMaxPool((3, 5), (1, 1), (0, 0, 0, 0), (1, 1))
    net.builder.outputs = [moved_codes(net, pool, [image])]
    graph = net.builder.build()
    groups = list(groups_at(graph, 0))
    assert [len(each.strips) for each in groups] == [2, 4]
    cut = groups[number].within(graph)
    verify(cut, Stage.INTEGER, "groups")
    program = compiled(cut, tmp_path / "library", board=board)
    check_program(graph, program, tmp_path)
    whole = compiled(graph, tmp_path / "whole", board=board)
    assert program.arena_bytes < whole.arena_bytes
