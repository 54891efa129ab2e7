"""Bytes of pools before there are any."""

import pytest
from pooled_models import small_network

from edgec.base.errors import WeightPoolError
from edgec.base.options import PoolSharing, WeightPoolOptions
from edgec.weightpool import chosen_layers, compress_graph, forecast


@pytest.mark.parametrize(
    ("sharing", "size", "group", "signed"),
    [
        (PoolSharing.NETWORK, 16, 8, False),
        (PoolSharing.STAGE, 20, 4, False),
        (PoolSharing.LAYER, 64, 8, True),
    ],
)
def test_a_forecast_is_what_is_stored(
    sharing: PoolSharing, size: int, group: int, signed: bool
) -> None:
    options = WeightPoolOptions(size, group, sharing=sharing, signed=signed, rounds=1)
    graph = small_network(channels=8)
    _, report = compress_graph(graph, None, options)
    assert forecast(graph, chosen_layers(graph, options), options) == report.sizes


def test_pools_that_cannot_be_are_refused() -> None:
    with pytest.raises(WeightPoolError, match="larger than the"):
        options, graph = WeightPoolOptions(1024), small_network(channels=8)
        forecast(graph, chosen_layers(graph, options), options)
