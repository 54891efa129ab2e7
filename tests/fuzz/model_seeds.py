"""Sound small models of all families of operators, which the campaign `models` then damages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx

TESTS = Path(__file__).resolve().parent.parent
_LARGEST_BYTES = 64 * 1024
_RANDOM_GRAPHS = 24


def seed_models() -> list[onnx.ModelProto]:
    """All seeds, in the same order every time."""
    folder = str(TESTS / "unit" / "importers")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return [*_single_operators(), *_networks(), *_pooled(), *_exported()]


def _single_operators() -> Iterator[onnx.ModelProto]:
    """One model for each operator that the importer knows, as its own tests have them."""
    from import_models import N, model_of
    from test_import_ops import CASES

    for op, shape, constants, opset, attributes in CASES.values():
        if shape[0] != 1:  # no batch of 1: refused before anything happens
            continue
        arrays = {name: np.asarray(array) for name, array in constants.items()}
        node = N(op, ["x", *constants], ["y"], **attributes)
        yield model_of([node], {"x": shape}, arrays, opset=opset)


def _networks() -> Iterator[onnx.ModelProto]:
    """Networks in float, and what becomes of them in int8."""
    from qdq_files import dense_qdq
    from quant_samples import branches, residual_network
    from random_real_graphs import random_graph
    from small_transformers import vit

    from edgec.base.errors import EdgecError
    from edgec.base.options import QuantOptions
    from edgec.exporters.onnx.export import export_qdq, export_real
    from edgec.quant import annotate

    yield dense_qdq()
    yield export_real(vit(1))
    for graph in (residual_network(), branches(), *map(random_graph, range(_RANDOM_GRAPHS))):
        yield export_real(graph)
        try:
            yield export_qdq(annotate(graph, None, QuantOptions())[0])
        except EdgecError:  # a graph whose weights are codes already
            continue


def _pooled() -> Iterator[onnx.ModelProto]:
    from pooled_models import pooled_network, small_network

    from edgec.exporters.onnx.export import export_real

    yield export_real(pooled_network(small_network(channels=8)))


def _exported() -> Iterator[onnx.ModelProto]:
    """Small transformers as PyTorch's exporters wrote them."""
    for path in sorted((TESTS / "exported").glob("*.onnx")):
        if path.stat().st_size <= _LARGEST_BYTES:
            yield onnx.load(path)
