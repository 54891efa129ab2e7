"""Names of the classes of a classifier of ai.onnx.ml, for outputs that hold numbers of classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
from onnx import numpy_helper

from edgec.base.limits import MAX_MODEL_BYTES
from edgec.importers.common.boundary import read_file
from edgec.importers.onnx.load import load_model

_ML = "ai.onnx.ml"
_LABELS = ("classlabels_ints", "classlabels_int64s", "classlabels_strings")


def labels_of(path: Path) -> Mapping[str, tuple[str, ...]]:
    """The labels of each output of a model, where all its classifiers have the same ones.

    Args:
        path: ONNX file.

    Returns:
        By output; empty for a model without classifiers of this domain.

    Raises:
        ImportModelError: the file is no sound model.
    """
    if _ML.encode() not in read_file(path, MAX_MODEL_BYTES):
        return {}  # without parsing a large model for nothing
    model = load_model(path)
    found = {labels for node in model.graph.node for labels in _labels(model.graph, node)}
    if len(found) != 1:
        return {}
    (labels,) = found
    return dict.fromkeys((output.name for output in model.graph.output), labels)


def _labels(graph: onnx.GraphProto, node: onnx.NodeProto) -> Iterator[tuple[str, ...]]:
    """The labels that a node states."""
    if node.domain != _ML:
        return
    for attribute in node.attribute:
        if attribute.name in _LABELS:
            texts = [text.decode("utf-8", "replace") for text in attribute.strings]
            labels = (*(str(number) for number in attribute.ints), *texts)
            if labels:
                yield labels
    if node.op_type == "ArrayFeatureExtractor":
        for tensor in graph.initializer:
            if tensor.name == node.input[0]:
                array = numpy_helper.to_array(tensor).reshape(-1)
                yield tuple(_text(label) for label in array.tolist())


def _text(label: object) -> str:
    return label.decode("utf-8", "replace") if isinstance(label, bytes) else str(label)
