"""The digits network with pooled weights, and what it is fine-tuned on."""

from __future__ import annotations

from functools import cache

from trained_digits import digits, trained_digits

from edgec.base.options import Progress, TermsRule, WeightPoolOptions
from edgec.finetune.options import TrainingData
from edgec.ir.graph import Graph
from edgec.weightpool import compress_graph


@cache
def pooled_digits(*terms: str) -> Graph:
    """Sixteen vectors, chosen without training; `terms` are rules as of ``--terms``."""
    calibration = {"x": digits().train_x[:200]}
    options = WeightPoolOptions(size=16, terms=tuple(map(TermsRule.parse, terms)))
    graph, _ = compress_graph(trained_digits(), calibration, options)
    return graph


def data(count: int = 600) -> TrainingData:
    """The first training images."""
    return TrainingData({"x": digits().train_x[:count]}, digits().train_y[:count])


def constants(graph: Graph) -> dict[str, bytes]:
    """All that training may change, to compare graphs by."""
    return {name: constant.real().tobytes() for name, constant in graph.constants.items()}


def interrupting(epochs: int) -> Progress:
    """Ends a training like Ctrl-C, as soon as it tells the loss of so many epochs."""
    told: set[str] = set()

    def interrupt(text: str, _done: int = 0, _total: int = 0) -> None:
        told.update([text] if "loss" in text else [])
        if len(told) == epochs:
            raise KeyboardInterrupt

    return interrupt
