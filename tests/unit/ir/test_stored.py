"""A stored graph is the same graph: every field, every array."""

from __future__ import annotations

import json

import integer_samples
import pooled_graphs
import pytest
import variable_nets
from lower_samples import small_net

from edgec.base.digests import canonical_digest
from edgec.base.errors import ConfigError
from edgec.ir.graph import Graph
from edgec.ir.stored import graph_from_data, graph_to_data


@pytest.mark.parametrize(
    "make",
    [
        *(lambda seed=seed: integer_samples.random_integer_graph(seed) for seed in range(8)),
        lambda: pooled_graphs.pooled_operators(1, 2),
        lambda: variable_nets.integer_graph(variable_nets.vit),
        lambda: variable_nets.integer_graph(variable_nets.bert),
        small_net,
    ],
)
def test_nothing_is_lost(make) -> None:
    graph: Graph = make()
    data, arrays = graph_to_data(graph)
    again = graph_from_data(json.loads(json.dumps(data)), arrays)
    assert canonical_digest(_all(again)) == canonical_digest(_all(graph))


def _all(graph: Graph) -> list[object]:
    return [getattr(graph, name) for name in graph.__dataclass_fields__]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"class": "edgec.ir.graph:Graph"},
        {"class": "edgec.ir.graph:Nothing", "name": "x"},
        {"class": "edgec.ir.nothing:Graph"},
        {"class": "os:system", "command": "true"},
        {"class": "edgec.ir.stored:graph_to_data", "graph": 1},
        {"class": "edgec.ir.stored:importlib.import_module", "name": "os"},
        {"enum": "edgec.base.dtypes:DType", "value": "int9"},
        {"enum": "edgec.base.dtypes:DType", "value": "int8"},
        {"array": 7},
        {"map": [1]},
    ],
)
def test_what_is_no_graph_is_refused(data) -> None:
    with pytest.raises(ConfigError, match="not a graph of this version"):
        graph_from_data(data, [])
