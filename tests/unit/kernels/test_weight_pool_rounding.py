"""Rounded responses: how far they move outputs, and that they do so in no direction."""

import numpy as np
import pytest
from pooled_models import integer_stage, pooled_network, small_network

from edgec.base.dtypes import Array
from edgec.ir import Graph
from edgec.ir.qops.pooled import responses_of, round_codes
from edgec.ir.weight_pool_graph import limited_bits, pooled_nodes
from edgec.ir.weighted import unpooled
from edgec.kernels.weightpool.plan.rounding import rounding_steps, rounds_too_much, with_rounding

SHIFT = 6


@pytest.fixture(scope="module", params=[8, 5, 4, 3, 2])
def graph(request: pytest.FixtureRequest) -> Graph:
    """INTEGER stage; the pooled layers see this many bits of their activations."""
    return limited_bits(integer_stage(pooled_network(small_network())), request.param)


def _errors(pool: Array, bits: int) -> Array:
    """Errors of responses to random pixels, in steps of the accumulator."""
    codes = np.random.default_rng(2).integers(-128, 128, (4000, pool.shape[1]))
    rounded = round_codes(codes, bits) - round_codes(np.array(-128), bits)
    exact = responses_of(rounded, pool, 0)
    return np.asarray((responses_of(rounded, pool, SHIFT) << SHIFT) - exact, np.float64)


def test_the_bias_takes_the_mean_error_back(graph: Graph) -> None:
    rounded = with_rounding(graph, {node.name: SHIFT for node in pooled_nodes(graph)})
    for before, after in zip(pooled_nodes(graph), pooled_nodes(rounded), strict=True):
        assert after.attrs.rounding.response_shift == SHIFT
        pool, indices, bias = (graph.constants[name].array for name in before.inputs[1:4])
        taken = bias.astype(np.int64) - rounded.constants[after.inputs[3]].array
        mean = _errors(pool, before.attrs.rounding.activation_bits).mean()
        assert np.allclose(taken, indices[0].size * mean, atol=indices[0].size)


def test_the_deviation_is_foretold(graph: Graph) -> None:
    for node in pooled_nodes(graph):
        pool, indices, _, multiplier = (graph.constants[name].array for name in node.inputs[1:5])
        gains = multiplier / 2.0 ** unpooled(node.attrs).output.shift
        deviation = _errors(pool, node.attrs.rounding.activation_bits).std()
        wanted = deviation * np.sqrt(indices[0].size * np.square(gains).mean())
        assert rounding_steps(graph, node, SHIFT) == pytest.approx(wanted, rel=0.05)


def test_a_shift_within_the_step_of_activations_changes_nothing(graph: Graph) -> None:
    """Responses are multiples of the step then."""
    node = pooled_nodes(graph)[0]
    shift = 8 - node.attrs.rounding.activation_bits
    assert rounding_steps(graph, node, shift) == 0
    assert not rounds_too_much(graph, node, shift)
    rounded = with_rounding(graph, {each.name: shift for each in pooled_nodes(graph)})
    assert pooled_nodes(rounded)[0].inputs == node.inputs


def test_the_share_of_coarse_activations_is_accepted(graph: Graph) -> None:
    """The larger the shift the worse, and not all is accepted."""
    node = pooled_nodes(graph)[0]
    verdicts = [rounds_too_much(graph, node, shift) for shift in range(16)]
    assert verdicts == sorted(verdicts)
    assert not verdicts[0]
    assert verdicts[-1]
