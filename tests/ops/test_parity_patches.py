"""Layers in vertical strips: every part of every tensor equals that of the whole network."""

import numpy as np
import pytest
from parity import compiled
from random_net import Net
from random_parts import any_weights, moved_codes
from random_rows import (
    conv_plus_itself,
    image_network,
    in_patches,
    in_sections,
    patched,
    sum_of,
)
from test_parity_rows import check_chains, check_program

from edgec.ir import qops
from edgec.ir.verify import Stage, verify
from edgec.kernels.select import select_kernels
from edgec.passes.rows.groups import groups_at
from edgec.passes.rows.strips import with_strips
from edgec.passes.rows.timeline import Pace
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.workflow.row_search import RowSearch, planned

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
def test_neighbouring_patches_that_share_a_tensor(board, tmp_path):
    """Both sections read the first image, and the strips of each have copies of its columns."""
    net = Net.seeded(5)
    image = conv_plus_itself(net, net.input((1, 12, 16, 4)))
    first = conv_plus_itself(net, conv_plus_itself(net, image))
    second = sum_of(net, conv_plus_itself(net, first), image)
    net.builder.outputs = [second]
    graph = net.builder.build()
    rows = in_sections(graph, [(1, 3, 2), (3, 5, 4)], Pace(1))
    assert len(rows.chains) == 6
    assert check_chains(graph, rows, tmp_path, board)


@pytest.mark.parametrize(("seed", "parts"), [(183, (0.75, 0.5)), (318, (0.9, 0.5))])
def test_patches_that_a_search_finds(seed, parts, tmp_path):
    """Limits at which the search weighs patches beside patches that read the same tensors."""
    graph = image_network(Net.seeded(seed), 12)
    board = "nucleo_g0b1re"
    target = Target.of(load_board(board))
    whole = planned(graph, select_kernels(graph, target, {}), target)
    search = RowSearch(whole, target, {})
    least = min(each.arena_bytes for each in (whole, *search.ways()))
    for part in parts:
        found = search.patched(int(least * part), passes=1)
        assert found
        smallest = min(found, key=lambda each: each.arena_bytes)
        check_chains(graph, smallest.graph, tmp_path / f"{part}", board)


@pytest.mark.parametrize("board", BOARDS)
def test_groups_of_convolutions_that_share_weights(board, tmp_path):
    net = Net.seeded(6)
    image = net.input((1, 3, 5, 8))
    parameters, shift = any_weights(net, (16, 1, 1, 8))
    pools = []
    for _ in range(2):
        quant = net.quant()
        form = net.form(shift, quant.tensor_zero_point)
        attrs = qops.QConv((1, 1), (0, 0, 0, 0), (1, 1), 1, form)
        wide = net.node(attrs, [image, *parameters], net.output((1, 3, 5, 16), quant))
        pool = qops.QMaxPool((3, 5), (1, 1), (0, 0, 0, 0), (1, 1))
        pools.append(moved_codes(net, pool, [wide]))
    net.builder.outputs = pools
    graph = net.builder.build()
    halves = [next(groups_at(graph, first)) for first in (0, 2)]
    cut = with_strips(graph, halves)
    verify(cut, Stage.INTEGER, "groups")
    assert len(cut.constants) == len(graph.constants) + 2 * 2 * 3
    check_program(graph, compiled(cut, tmp_path / "library", board=board), tmp_path)


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
