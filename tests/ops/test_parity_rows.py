"""Layers in turns of a few rows: every part of every tensor equals that of the whole network."""

import numpy as np
import pytest
from parity import compiled, samples_of
from random_net import Net
from random_parts import moved_codes
from random_rows import conv_plus_itself, cut, image_network, larger, sum_of

from edgec.base.options import Placement
from edgec.codegen.library import emit_library
from edgec.ir import qops
from edgec.ir.verify import Stage, verify
from edgec.kernels.select import select_kernels
from edgec.lower.placed import lowered
from edgec.lower.resident import Share
from edgec.passes.rows.reads import row_reads
from edgec.passes.rows.row_graph import in_turns
from edgec.passes.rows.timeline import Pace
from edgec.passes.rows.times import timeline
from edgec.sim.compare import compare_outputs, compare_trace
from edgec.sim.host import HostModel
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.toolchain.cc import WARNING_FLAGS

PACE = Pace(1)
FLAGS = ("-O1", *WARNING_FLAGS, "-fsanitize=undefined", "-fno-sanitize-recover=all")


def check_in_turns(seed, folder, board="host", *, by_rows=False):
    """Number of layers in turns."""
    graph = image_network(Net.seeded(seed), 8)
    rows = cut(graph, np.random.default_rng(seed), by_rows=by_rows)
    return check_chains(graph, rows, folder, board)


def check_chains(graph, rows, folder, board):
    verify(rows, Stage.INTEGER, "rows")
    if not rows.chains:
        return 0
    check_program(graph, compiled(rows, folder / "library", board=board), folder)
    return sum(len(chain.firings) for chain in rows.chains)


def check_program(graph, program, folder):
    model = HostModel(folder / "library", folder / "build", flags=FLAGS)
    for sample in samples_of(graph)[:3]:
        compare_trace(program, sample.oracle, model.trace(sample.inputs))
        outputs = model.run([array.reshape(1, -1) for array in sample.inputs])
        compare_outputs(program, sample.oracle, [each[0] for each in outputs], "host")


def chain_of(graph, pace=PACE, handed=None):
    reads = {node.name: found for node in graph.nodes if (found := row_reads(graph, node))}
    return timeline(graph, graph.nodes, reads, frozenset(graph.outputs), pace, handed)


def test_two_windows_over_one_tensor(tmp_path):
    net = Net.seeded(3)
    x = net.input((1, 12, 8, 4))
    net.builder.outputs = [conv_plus_itself(net, conv_plus_itself(net, x))]
    graph = net.builder.build()
    check_chains(graph, in_turns(graph, [chain_of(graph)]), tmp_path, "nucleo_l4r5zi")


@pytest.mark.parametrize("by_rows", [False, True])
def test_larger_images_in_a_chain(tmp_path, by_rows):
    net = Net.seeded(7)
    x = net.input((1, 6, 8, 4))
    net.builder.outputs = [conv_plus_itself(net, larger(net, conv_plus_itself(net, x)))]
    graph = net.builder.build()
    assert graph.shape(graph.outputs[0])[1] > 6
    found = chain_of(graph, handed=x if by_rows else None)
    assert len(found.nodes) == 3
    assert check_chains(graph, in_turns(graph, [found]), tmp_path, "nucleo_l4r5zi") == 3


@pytest.mark.parametrize(("spare", "copied"), [(0, False), (1 << 20, True)])
@pytest.mark.parametrize("by_rows", [False, True])
def test_weights_in_flash_are_copied_where_there_is_room(spare, copied, by_rows, tmp_path):
    """Before all turns, or before each call where rows come from outside between the turns."""
    net = Net.seeded(5)
    x = net.input((1, 8, 128, 8))
    net.builder.outputs = [conv_plus_itself(net, conv_plus_itself(net, x))]
    graph = net.builder.build()
    rows = in_turns(graph, [chain_of(graph, handed=x if by_rows else None)])
    board = load_board("nucleo_l4r5zi")
    choices = select_kernels(rows, Target.of(board))
    program = lowered(rows, choices, board, Share(Placement.FLASH), spare).program
    copies = [step.copy for step in program.steps if step.copy]
    assert len(copies) == (2 if copied else 0)
    assert all(copy.each_call == by_rows for copy in copies)
    emit_library(program, tmp_path / "library")
    check_program(graph, program, tmp_path)


def test_a_branch_that_waits_begins_late(tmp_path):
    """Beside two windows of three rows, a shorter branch has two rows and not three."""
    net = Net.seeded(9)
    x = net.input((1, 16, 8, 4))
    image = pooled(net, x, (1, 1), (1, 1))
    short = pooled(net, image, (1, 1), (2, 2))
    long = moved_codes(net, qops.QMaxPool((3, 3), (2, 2), (0, 0, 1, 1), (1, 1)), [image])
    long = moved_codes(net, qops.QMaxPool((3, 3), (1, 1), (1, 1, 1, 1), (1, 1)), [long])
    net.builder.outputs = [sum_of(net, short, long)]
    graph = net.builder.build()
    found = chain_of(graph)
    assert found.depths[short] == 2
    check_chains(graph, in_turns(graph, [found]), tmp_path, "host")


def test_rows_of_padding_alone(tmp_path):
    """The last window, of 2 rows at a distance of 2, lies below the image."""
    net = Net.seeded(7)
    x = net.input((1, 10, 8, 4))
    tall = pooled(net, x, (1, 1), (1, 1))
    image = pooled(net, tall, (3, 1), (1, 1))
    net.builder.outputs = [pooled(net, image, (2, 2), (2, 2), below=2)]
    graph = net.builder.build()
    assert [graph.shape(name)[1] for name in (image, graph.outputs[0])] == [8, 5]
    number = 0
    for pace in (Pace(1), Pace(2), Pace(2, shrinks=True)):
        for handed in (None, x):
            chain = chain_of(graph, pace, handed)
            if chain is not None:
                number += 1
                check_chains(graph, in_turns(graph, [chain]), tmp_path / f"{number}", "host")
    assert number >= 3


def pooled(net, x, kernel, strides, below=0):
    return moved_codes(net, qops.QMaxPool(kernel, strides, (0, 0, below, 0), (1, 1)), [x])


def test_tables_that_repeat_no_rows_do_not_run_in_turns():
    net = Net.seeded(7)
    x = net.input((1, 6, 8, 4))
    rows, cols = (net.constant(np.array(each, np.int32)) for each in ([0] * 12, range(8)))
    net.builder.outputs = [moved_codes(net, qops.QResizeNearest(), [x, rows, cols])]
    graph = net.builder.build()
    assert row_reads(graph, graph.nodes[0]) is None


def test_a_view_has_no_room_for_padding():
    net = Net.seeded(3)
    flat = net.input((1, 12 * 8 * 4))
    x = moved_codes(net, qops.QReshape((1, 12, 8, 4)), [flat])
    net.builder.outputs = [conv_plus_itself(net, conv_plus_itself(net, x))]
    graph = net.builder.build()
    assert chain_of(graph.replace(nodes=graph.nodes[1:])) is not None
    reads = {node.name: row_reads(graph, node) for node in graph.nodes[1:]}
    kept = frozenset(graph.outputs)
    assert timeline(graph, graph.nodes[1:], reads, kept, Pace(1)) is None


def test_many_rows_take_no_more_time():
    net = Net.seeded(3)
    x = net.input((1, 1 << 20, 4, 1))
    net.builder.outputs = [conv_plus_itself(net, conv_plus_itself(net, x))]
    found = chain_of(net.builder.build(), Pace(8))
    assert {firing.rows for firing in found.firings.values()} == {8}


@pytest.mark.parametrize("board", ["host", "nucleo_l4r5zi", "nucleo_g0b1re"])
@pytest.mark.parametrize("seed", range(10))
def test_random_chains(seed, board, tmp_path):
    check_in_turns(seed, tmp_path, board)


@pytest.mark.parametrize("board", ["host", "nucleo_l4r5zi", "nucleo_g0b1re"])
@pytest.mark.parametrize("seed", range(8))
def test_random_chains_of_images_that_come_by_rows(seed, board, tmp_path):
    check_in_turns(seed, tmp_path, board, by_rows=True)
