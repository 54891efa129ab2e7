"""Whole words of channels where the price of a board says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from integer_samples import IntegerMaker, assert_same_codes

from edgec.base.options import Budget, CompileOptions, Optimize, QuantSettings, Rows
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.kernels.price import alternatives
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.workflow.integer import IntegerModel
from edgec.workflow.rounded_channels import rounded_channels, with_rounded_channels

BOARD = load_board("nucleo_l4r5zi")
TARGET = Target.of(BOARD)


def conv(m: IntegerMaker, x: str, filters: int, *, depthwise: bool = False) -> str:
    """3x3 with padding and codes of the whole range, as kernels with the DSP extension end."""
    channels = m.shape(x)[3]
    group = channels if depthwise else 1
    attrs = qops.QConv((1, 1), (1,) * 4, (1, 1), group, qops.Requant31(32, 5))
    weights = m.weights(filters, 3, 3, channels // group, constant=0)
    return m.op(attrs, x, *weights, zero=5)


def between(channels: int, *, depthwise: bool = False) -> Graph:
    """Two convolutions with a tensor between them, and perhaps a depthwise one."""
    m = IntegerMaker(1)
    hidden = conv(m, m.input(1, 16, 16, 40), channels)
    if depthwise:
        hidden = conv(m, hidden, channels, depthwise=True)
    return m.graph(conv(m, hidden, 40))


def cycles(graph: Graph) -> float:
    found = [alternatives(graph, node, TARGET)[0].price.total_cycles for node in graph.nodes]
    return sum(each for each in found if each is not None)


@pytest.mark.parametrize("depthwise", [False, True])
def test_one_channel_less_than_a_word_is_filled_up(depthwise: bool) -> None:
    graph = between(39, depthwise=depthwise)
    after = rounded_channels(graph, TARGET, ())
    assert after.shape(graph.nodes[0].output)[-1] == 40
    assert cycles(after) < 0.98 * cycles(graph)
    assert_same_codes(graph, after)


@pytest.mark.parametrize("channels", [5, 9, 40])
def test_much_more_or_nothing_to_fill_changes_nothing(channels: int) -> None:
    graph = between(channels)
    assert rounded_channels(graph, TARGET, ()) is graph


def test_layers_that_are_decided_stay() -> None:
    graph = between(39)
    assert rounded_channels(graph, TARGET, {graph.nodes[1].name}) is graph


@pytest.mark.parametrize(
    "target",
    [
        Target.of(BOARD, Optimize.SIZE),
        Target.of(load_board("host")),
        Target.of(load_board("raspberry_pi_4")),
    ],
)
def test_targets_without_prices_or_for_size_keep_the_graph(target: Target) -> None:
    graph = between(39)
    assert rounded_channels(graph, target, ()) is graph


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        (CompileOptions(), True),
        (CompileOptions(rows=Rows.ALWAYS), False),
        (CompileOptions(budget=Budget(ram_bytes=200_000)), True),
        (CompileOptions(budget=Budget(ram_bytes=12_000)), False),
        (CompileOptions(budget=Budget(flash_bytes=100_000)), True),
        (CompileOptions(budget=Budget(flash_bytes=60_000)), False),
    ],
)
def test_the_smallest_arena_and_what_must_fit_keep_their_channels(
    options: CompileOptions, changes: bool
) -> None:
    graph = between(39)
    nothing = cast(Any, None)
    model = IntegerModel(graph, None, graph, nothing, {}, 0, ("before",), QuantSettings())
    ready, pools = with_rounded_channels(model, PoolPlan(graph, {}, ()), BOARD, options)
    assert (ready.integer is not graph, pools.graph is not graph) == (changes, changes)
    more = ("whole words of channels, to take fewer cycles: 39 -> 40",) if changes else ()
    assert ready.notes == ("before", *more)


@pytest.mark.parametrize(("flash_bytes", "changes"), [(128 << 10, True), (64 << 10, False)])
def test_constants_leave_room_for_code_in_the_flash_of_the_board(
    flash_bytes: int, changes: bool
) -> None:
    graph, memory = between(39), BOARD.memory
    assert memory is not None
    board = replace(
        BOARD, memory=replace(memory, flash=replace(memory.flash, size_bytes=flash_bytes))
    )
    nothing = cast(Any, None)
    model = IntegerModel(graph, None, graph, nothing, {}, 0, (), QuantSettings())
    _, pools = with_rounded_channels(model, PoolPlan(graph, {}, ()), board, CompileOptions())
    assert (pools.graph is not graph) == changes
