"""Fine-tuning of networks with discrete weights: pooled, or whole numbers of few bits.

Owns: pools with trainable vectors and assignments (`pools`), whole numbers with learned steps
(`levels`), both by one interface (`weights`), the student (`model`), the recipe
(`train`, `average`) and the way back to a graph (`export`).
"""

from __future__ import annotations

from edgec.base.options import Progress, no_progress
from edgec.finetune import need_pytorch
from edgec.finetune.options import TrainingData
from edgec.finetune.pooled.options import FinetuneOptions, MoveLimits
from edgec.ir.graph import Graph

__all__ = ["FinetuneOptions", "MoveLimits", "finetune"]


def finetune(
    graph_float: Graph,
    graph_pooled: Graph,
    data: TrainingData,
    options: FinetuneOptions | None = None,
    progress: Progress = no_progress,
    teacher: Graph | None = None,
) -> Graph:
    """Train a network with pooled weights, or weights of few bits, towards a float network.

    Weights keep their pool and layers; vectors, indices, scales, biases, gamma and beta of norms,
    and the weights that are not pooled are trained, batch normalization is put after each
    convolution and folded again, and the activations that pooled layers read get a fixed range
    (``Clip(0, high)``).  Where the graph rounds these to few bits, the step is trained instead
    (`finetune.steps`).

    Args:
        graph_float: REAL stage, after `passes.pipeline.REAL_PASSES`: its weights were pooled.
        graph_pooled: the same with some weights pooled (`weightpool.compress_graph`) or of few bits
            (`weightpool.narrowed`; `options.levels` says which): the start, the better the shorter
            the training.
        data: training samples with the number of their class.
        options: the recipe; the defaults are the ones measured in docs/benchmarks-pools.md.
        progress: told about every epoch.
        teacher: REAL stage, with inputs of the same names and shapes; None: `graph_float`.

    Returns:
        REAL stage, nodes and values of `graph_pooled`, with the trained constants.

    Raises:
        ConfigError: PyTorch or the device is missing, data that do not fit, a checkpoint of
            another run.
        WeightPoolError: nothing is pooled, or has few bits.
        TrainingError: an operator that cannot be trained, a teacher of other classes, a loss that
            is no number.
    """
    options = options or FinetuneOptions()
    need_pytorch(options.device)
    from edgec.finetune.pooled.train import trained_graph  # noqa: PLC0415  (imports PyTorch)

    return trained_graph(graph_float, graph_pooled, data, options, progress, teacher)
