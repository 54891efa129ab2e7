"""Pools of parts of a network: which layers share one, and how large it is."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pooled_models import integer_stage, small_network

from edgec.base.options import PoolKernelOptions, PoolSharing, WeightPoolOptions
from edgec.exporters.onnx.export import export_real
from edgec.importers.onnx.importer import import_model
from edgec.interp import run_graph
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify
from edgec.kernels.weightpool.plan.plan import plan_pools
from edgec.target.board import load_board
from edgec.weightpool import compress_graph, stored_sizes

OPTIONS = WeightPoolOptions(size=64, rounds=1, layers=("inner_w", "second_w", "wide_w"))
"""Vectors of 8 weights: 288 in `inner` and `second`, whose outputs are equally large; 576 in
`wide`, whose output is smaller."""


def pools(graph: Graph) -> dict[str, bytes]:
    return {
        name: constant.pooled.pool.vectors.tobytes()
        for name, constant in graph.constants.items()
        if constant.pooled is not None
    }


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("sharing", "size", "sizes"),
    [
        (PoolSharing.STAGE, 64, [64, 64, 64]),
        # A pool takes no more than a quarter of the vectors of its layers.
        (PoolSharing.STAGE, 256, [128, 128, 128]),
        (PoolSharing.LAYER, 256, [64, 64, 128]),
        (PoolSharing.LAYER, 250, [62, 62, 125]),
        (PoolSharing.NETWORK, 256, [256, 256, 256]),
    ],
)
def test_layers_of_a_part_share_a_pool(
    sharing: PoolSharing, size: int, sizes: list[int], tmp_path: Path
) -> None:
    graph = small_network()
    found, report = compress_graph(graph, None, replace(OPTIONS, size=size, sharing=sharing))
    verify(found, Stage.REAL)
    own = pools(found)
    inner, second, wide = (own[f"{name}_w"] for name in ("inner", "second", "wide"))
    assert (inner == second) == (sharing is not PoolSharing.LAYER)
    assert (inner == wide) == (sharing is PoolSharing.NETWORK)
    assert [layer.pool_size for layer in report.layers] == sizes
    assert report.pools == len(set(own.values()))
    assert report.sizes.pool == sum(map(len, set(own.values())))
    path = tmp_path / "several.onnx"
    path.write_bytes(export_real(found, model_layout=True).SerializeToString())
    again = import_model(path)
    assert sorted(pools(again).values()) == sorted(own.values())
    assert stored_sizes(again, signed=False).pool == report.sizes.pool


def test_halves_of_signed_pools_are_even() -> None:
    options = replace(OPTIONS, size=250, sharing=PoolSharing.LAYER, signed=True)
    _, report = compress_graph(small_network(), None, options)
    assert [layer.pool_size for layer in report.layers] == [62, 62, 124]


def test_own_pools_fit_better() -> None:
    errors = []
    for sharing in (PoolSharing.NETWORK, PoolSharing.LAYER):
        _, report = compress_graph(small_network(), None, replace(OPTIONS, sharing=sharing))
        errors.append(sum(layer.weight_error for layer in report.layers))
    assert errors[1] < 0.9 * errors[0]


def test_a_plan_serves_several_pools() -> None:
    options = replace(OPTIONS, sharing=PoolSharing.LAYER, size=16)
    graph = integer_stage(compress_graph(small_network(), None, options)[0])
    plan = plan_pools(graph, load_board("nucleo_f446re"), PoolKernelOptions())
    x = np.random.default_rng(1).integers(-128, 128, (1, 8, 8, 3)).astype(np.int8)
    found, wanted = run_graph(plan.graph, {"x": x}), run_graph(graph, {"x": x})
    for name in graph.outputs:
        assert np.abs(found[name].astype(int) - wanted[name]).max() <= 3
