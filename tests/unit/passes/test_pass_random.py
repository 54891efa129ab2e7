"""Random real graphs through the whole pipeline, without and with pinned quantizations."""

from __future__ import annotations

import numpy as np
import pytest
from pass_samples import assert_same_function, run_float
from random_real_graphs import random_graph, round_some, rounded

from edgec.passes import REAL_PASSES, run_passes
from edgec.passes.layout import transposes


@pytest.mark.parametrize("seed", range(60))
def test_float_graphs(seed: int):
    graph = random_graph(seed)
    after = run_passes(graph, REAL_PASSES).graph
    assert_same_function(graph, after)
    assert transposes(after) <= transposes(graph)


@pytest.mark.parametrize("seed", range(60))
def test_pinned_graphs_round_where_the_model_rounds(seed: int):
    graph = round_some(random_graph(seed), seed)
    after = run_passes(graph, REAL_PASSES).graph
    assert transposes(after) <= transposes(graph)
    written_out = rounded(after, {name: value.quant for name, value in after.values.items()})
    for expected, found in zip(
        run_float(graph).values(), run_float(written_out).values(), strict=True
    ):
        # Float rounding may move a number across a step here and there; a step is at most 0.2.
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1.0)
        assert np.mean(np.abs(found - expected) > 1e-3) < 0.05
