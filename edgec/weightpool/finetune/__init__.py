"""Fine-tuning of pooled networks with PyTorch.

Owns: what a user trains with (`options`), REAL graphs as PyTorch networks (`operators`, `layers`,
`network`), pools with trainable vectors and assignments (`pools`), what rounding of activations
does to them (`ranges`), the recipe (`train`, `batches`, `checkpoint`) and the way back to a graph
(`export`).  The only importer of torch, which is loaded when training starts.
"""

from __future__ import annotations

from edgec.base.errors import ConfigError
from edgec.base.options import Progress, no_progress
from edgec.ir.graph import Graph
from edgec.weightpool.finetune.options import Augmentation, FinetuneOptions, TrainingData

__all__ = ["Augmentation", "FinetuneOptions", "TrainingData", "finetune"]


def finetune(
    graph_float: Graph,
    graph_pooled: Graph,
    data: TrainingData,
    options: FinetuneOptions | None = None,
    progress: Progress = no_progress,
) -> Graph:
    """Train a pooled network towards its float original.

    Weights keep their pool and layers; vectors, indices, scales, biases and the weights that are
    not pooled are trained, batch normalization is put after each convolution and folded again,
    and the activations that pooled layers read get a fixed range (``Clip(0, high)``).

    Args:
        graph_float: REAL stage, after `passes.pipeline.REAL_PASSES`: the teacher.
        graph_pooled: the same with some weights pooled (`weightpool.compress_graph`): the start,
            the better the shorter the training.
        data: training samples with the number of their class.
        options: the recipe; the defaults are the ones measured in docs/benchmarks.md.
        progress: told about every epoch.

    Returns:
        REAL stage, nodes and values of `graph_pooled`, with the trained constants.

    Raises:
        ConfigError: PyTorch or the device is missing, data that do not fit, a checkpoint of
            another run.
        WeightPoolError: nothing is pooled, or an operator that cannot be trained.
    """
    try:
        from edgec.weightpool.finetune.train import trained_graph  # noqa: PLC0415  (optional extra)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ConfigError(
            "fine-tuning needs PyTorch, which is not installed",
            hint="pip install torch (the extra `train` of edgec)",
        ) from error
    return trained_graph(graph_float, graph_pooled, data, options or FinetuneOptions(), progress)
