"""The ways to run layers in turns that are offered: no smaller plan of memory is left out."""

from __future__ import annotations

import pytest
from random_net import Net
from random_rows import image_network

from edgec.ir.graph import Graph
from edgec.kernels.select import select_kernels
from edgec.passes.rows.partition import Lives, chains_of
from edgec.passes.rows.price import ChainPrice
from edgec.passes.rows.reads import reads_by_name
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.workflow import row_search
from edgec.workflow.row_kernels import NodeNeeds, arena_of, cycles_of, estimator_of, peak_of
from edgec.workflow.row_search import RowsChoice, RowSearch, front_of, planned


def way(graph: Graph, floor_bytes: int, cycles: float) -> RowsChoice:
    return RowsChoice(graph, (), floor_bytes, cycles)


def test_a_slower_way_is_planned_while_no_faster_plan_is_as_small_as_its_floor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Plans miss their floors by different sizes, so equal floors say little."""
    graph = image_network(Net.seeded(1), 4)
    fast, slow, slowest, needless = (
        way(graph, floor, cycles) for floor, cycles in ((10, 1.0), (10, 2.0), (9, 4.0), (11, 3.0))
    )
    plans = iter([13, 11, 9])  # of `fast`, `slow` and `slowest`; `needless` has no plan
    monkeypatch.setattr(row_search, "arena_of", lambda _graph, _choices: next(plans))
    found = row_search._planned_ways([slowest, needless, slow, fast])
    assert [(each.cycles, each.arena_bytes) for each in found] == [(1.0, 13), (2.0, 11), (4.0, 9)]


def test_a_limit_that_nothing_keeps_gives_patches_near_it() -> None:
    graph, target = image_network(Net.seeded(187), 12), Target.of(load_board("nucleo_g0b1re"))
    whole = planned(graph, select_kernels(graph, target, {}), target)
    search = RowSearch(whole, target, {})
    rows = min(each.arena_bytes for each in search.ways())
    near = min(each.arena_bytes for each in search.patched(rows // 2, passes=1))
    assert rows // 2 < near < rows


def test_chains_are_weighed_with_less_scratch_memory_too() -> None:
    """Slower kernels follow the fastest ones, where they make a chain smaller."""
    target, several = Target.of(load_board("nucleo_l4r5zi")), 0
    for seed in range(8):
        graph = image_network(Net.seeded(seed), 8)
        reads = reads_by_name(graph, graph.nodes)
        needs, lives = NodeNeeds(target, estimator_of(target)), Lives(graph, None)
        price = ChainPrice(graph, reads, needs, {})
        for section in chains_of(graph, 1 << 20, needs):
            assert section.chain is not None
            around = lives.around(section.first, section.end)
            ways = list(price.ways(section.chain, around.read, around.dying))
            sizes, costs = zip(*ways, strict=True)
            assert list(sizes) == sorted(sizes, reverse=True)
            assert list(costs) == sorted(costs)
            assert section.size_bytes - around.beside_bytes in sizes
            several += sizes[-1] < sizes[0]
    assert several >= 3


@pytest.mark.parametrize("seed", range(4))
def test_offered_arenas_are_those_of_plans(seed: int) -> None:
    graph, target = image_network(Net.seeded(seed), 12), Target.of(load_board("nucleo_l4r5zi"))
    choices = select_kernels(graph, target, {})
    whole = RowsChoice(graph, choices, arena_of(graph, choices), cycles_of(graph, choices, target))
    offered = front_of((whole, *RowSearch(whole, target, {}).ways()))
    assert all(each.arena_bytes == arena_of(each.graph, each.choices) for each in offered)
    assert all(
        peak_of(each.graph, each.choices).arena_bytes <= each.arena_bytes for each in offered
    )
