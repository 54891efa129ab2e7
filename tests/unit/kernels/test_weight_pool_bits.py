"""Widths of activations by sensitivity: `--activation-bits auto`."""

from dataclasses import replace

import numpy as np
import pytest
from pooled_models import pooled_network, small_network

from edgec.base.dtypes import Array
from edgec.base.options import (
    Optimize,
    PoolKernelOptions,
    PoolKernelRule,
    QuantOptions,
    no_progress,
)
from edgec.interp import run_graph_batch
from edgec.ir import Graph
from edgec.kernels.weightpool.plan.widths import drop_of, plan_with_widths
from edgec.passes.base import run_passes
from edgec.passes.pipeline import INTEGER_PASSES, REAL_PASSES
from edgec.quant import annotate, to_integer
from edgec.target.board import load_board

BOARD = load_board("nucleo_f207zg")
DIRECT = PoolKernelOptions("auto", rules=(PoolKernelRule.parse("direct"),))
"""A kernel that is faster with every bit less."""


def images(count: int, seed: int) -> Array:
    """Images whose colours differ, so that classes do; float32 [count, 8, 8, 3]."""
    rng = np.random.default_rng(seed)
    colours = rng.normal(size=(count, 1, 1, 3))
    return (rng.normal(size=(count, 8, 8, 3)) + 2 * colours).astype(np.float32)


@pytest.fixture(scope="module")
def graph() -> Graph:
    real = run_passes(pooled_network(small_network()), REAL_PASSES).graph
    annotated, _ = annotate(real, {"x": images(16, 0)}, QuantOptions())
    return run_passes(to_integer(annotated), INTEGER_PASSES).graph


@pytest.fixture(scope="module")
def samples(graph: Graph) -> dict[str, Array]:
    return {"x": graph.quant("x").quantize(images(40, 2))}


def test_widths_grow_with_what_may_not_be_lost(graph: Graph, samples: dict[str, Array]) -> None:
    sums = []
    wanted = run_graph_batch(graph, samples)
    for max_drop in (100.0, 10.0, 0.0):
        options = replace(DIRECT, max_drop=max_drop)
        plan, note = plan_with_widths(graph, samples, BOARD, options, Optimize.SPEED, no_progress)
        # The direct kernel is exact, so nothing is lost but by narrow activations.
        lost = drop_of(run_graph_batch(plan.graph, samples), wanted)
        assert lost <= max_drop
        assert f"{lost:.2f} points lost on 40 calibration samples" in note
        sums.append(sum(layer.activation_bits for layer in plan.layers))
    assert sums[0] == len(plan.layers)  # one bit each where everything may be lost
    assert sums == sorted(sums)
    assert sums[0] < sums[-1]


def test_no_bit_is_given_away_for_nothing(graph: Graph, samples: dict[str, Array]) -> None:
    """Responses from products cost the same at any width."""
    options = PoolKernelOptions("auto", 100.0, rules=(PoolKernelRule.parse("expand"),))
    with pytest.raises(Exception, match="expand"):
        plan_with_widths(graph, samples, BOARD, options, Optimize.SPEED, no_progress)
    decode = replace(options, rules=(PoolKernelRule.parse("decode"),))
    plan, note = plan_with_widths(graph, samples, BOARD, decode, Optimize.SPEED, no_progress)
    assert {layer.activation_bits for layer in plan.layers} == {8}
    assert "lowered in 0 of 3" in note


def test_drop() -> None:
    scores = np.array([[1, 2], [3, 1], [0, 5], [9, 1]], np.int8)
    other = np.array([[2, 1], [3, 1], [0, 5], [9, 1]], np.int8)
    assert drop_of({"y": other}, {"y": scores}) == 25.0
    assert drop_of({"y": scores}, {"y": scores}) == 0.0
    classes = np.array([[1], [2], [3], [4]], np.int32)
    assert drop_of({"y": classes + np.int32(1)}, {"y": classes}) == 100.0
    two = {"y": scores, "z": scores}
    assert 0 < drop_of({"y": other, "z": scores}, two) < 100
