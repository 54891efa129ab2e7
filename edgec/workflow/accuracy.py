"""Accuracy of graphs on labelled data: float in float64, integers in the numpy oracle.

`evaluation` measures what was compiled; this measures models that have not been.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import IntegerOptions, Progress
from edgec.base.samples import SampleFile, Samples, load_labelled
from edgec.floatrun.activations import activations
from edgec.interp import run_graph_batch
from edgec.ir.graph import Graph
from edgec.ir.weight_pool_graph import limited_bits, pooled_nodes
from edgec.workflow.integer import RealModel, graph_side, input_specs, quantized_model

WIDTHS = (8, 4)
"""Widths of activations that pooled networks are measured at."""
_CHUNK = 50
"""Samples between two reports of progress."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledData:
    """Samples and the number of the class of each.

    Attributes:
        inputs: float32 [N, ...] by graph input, in the graph's axes.
        labels: int64 [N].
    """

    inputs: Mapping[str, Array]
    labels: Array


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Shares of samples whose largest output is the label.

    Attributes:
        real: share for the model as it came, in float.
        int8: share for the same model, quantized.
        pooled: shares for the pooled model, quantized, by `WIDTHS` of activations; for
            a transformer, whose activations have 8 bits, the first alone.
        n: number of samples.
    """

    real: float
    int8: float
    pooled: tuple[float, ...]
    n: int


def labelled_data(data: Samples, model: RealModel) -> LabelledData:
    """Samples and labels "y" of a file for a classifier.

    Raises:
        ConfigError: data that do not fit, labels beyond the classes, a model without classes.
    """
    scores = _scores(model.graph)
    names = model.about.labels.get(scores, ())
    samples, labels = load_labelled(data, input_specs(model.imported, model.about), names)
    classes = math.prod(model.graph.shape(scores))
    if labels.min() < 0 or labels.max() >= classes:
        raise ConfigError(
            f"labels run from {labels.min()} to {labels.max()}; the model has {classes} classes",
            where=f"{SampleFile.of(data).path}: y",
            hint=f"number the classes from 0 to {classes - 1}",
        )
    return LabelledData(graph_side(model.imported, model.graph, samples), labels)


def measured(
    model: RealModel,
    pooled: RealModel,
    data: LabelledData,
    options: IntegerOptions,
    progress: Progress,
) -> Accuracy:
    """Accuracy of a model as it came, as int8, and pooled.

    Args:
        model: the model, with calibration data.
        pooled: its pooled form, with calibration data.
        data: to measure on.
        options: quantization.
        progress: told what is being done.
    """
    real = float_share(model, data, progress)
    int8 = quantized_model(model, options, progress)
    integer = quantized_model(pooled, options, progress)
    shares = [integer_share(int8.integer, data, "int8", progress)]
    for bits in WIDTHS if pooled_nodes(integer.integer) else WIDTHS[:1]:
        text = f"pooled, {bits}-bit"
        limited = limited_bits(integer.integer, bits)
        shares.append(integer_share(limited, data, text, progress))
    return Accuracy(real, shares[0], tuple(shares[1:]), len(data.labels))


def float_share(model: RealModel, data: LabelledData, progress: Progress) -> float:
    """Share of samples that a model tells right, in float."""
    progress("measuring float accuracy")
    return float(np.mean(float_classes(model, data.inputs) == data.labels))


def float_classes(model: RealModel, inputs: Mapping[str, Array]) -> Array:
    """Classes that a model decides for in float, int64 [N].

    Args:
        model: the model.
        inputs: float32 [N, ...] by graph input, in the graph's axes.

    Raises:
        ConfigError: the model has no single output with scores for classes.
    """
    output = _scores(model.graph)
    found = [batch[output] for _, batch in activations(model.graph, [output], inputs)]
    return _classes(np.concatenate(found))


def integer_share(graph: Graph, data: LabelledData, what: str, progress: Progress) -> float:
    """Share of samples that an integer graph tells right; `what` names it to `progress`."""
    codes = {name: graph.quant(name).quantize(x) for name, x in data.inputs.items()}
    output = _scores(graph)
    found, count = [], len(data.labels)
    for start in range(0, count, _CHUNK):
        progress(f"measuring {what} accuracy", start, count)
        part = {name: array[start : start + _CHUNK] for name, array in codes.items()}
        found.append(run_graph_batch(graph, part)[output])
    return _share(np.concatenate(found), data)


def _share(scores: Array, data: LabelledData) -> float:
    return float(np.mean(_classes(scores) == data.labels))


def _classes(scores: Array) -> Array:
    classes: Array = np.argmax(scores.reshape(len(scores), -1), axis=1)
    return classes


def _scores(graph: Graph) -> str:
    """The output that holds scores for classes."""
    scores = [name for name in graph.outputs if math.prod(graph.shape(name)) > 1]
    if len(scores) != 1:
        raise ConfigError(
            "the model has no single output with scores for classes",
            where=graph.name,
            hint="labelled data need a classifier; leave --train and --eval out",
        )
    return scores[0]
