"""`edgec compress`: ONNX models in, ONNX models whose weights are indices into a pool out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgec.base.errors import InternalError
from edgec.base.options import IntegerOptions, Progress, WeightPoolOptions, no_progress
from edgec.base.output_file import write_whole
from edgec.commands.compress_jobs import Job, check_jobs, check_search
from edgec.commands.compress_load import Loaded, accuracy_of, loaded, recipe_of, tuned
from edgec.commands.compress_search import MaxDrop, Task, smallest_pools
from edgec.commands.training import Training, checkpoint_of
from edgec.finetune import need_pytorch
from edgec.finetune.pooled import FinetuneOptions
from edgec.ir.graph import Graph
from edgec.quant import keeps_activation_bits
from edgec.weightpool import CompressionReport, compress_graphs, report_of, with_best_order
from edgec.workflow.accuracy import Accuracy
from edgec.workflow.exported import exported
from edgec.workflow.pool_search import PoolCurve

_SHARED = (
    "other models use the same pool: it is counted here in full, but `edgec bundle` stores it once"
)

_REORDERED = (
    "channels between layers have another order than in the model, one in which pools fit better "
    "(--no-reorder keeps it)"
)


@dataclass(frozen=True, slots=True)
class Compression:
    """A compressed model on disk.

    Attributes:
        model: what was compressed.
        output: the file.
        file_bytes: its size.
        report: layers, errors, sizes.
        accuracy: on the evaluation data, or None.
        epochs: epochs of fine-tuning; 0 without it.
        curve: the pools that were tried, where they were chosen by the accuracy; else None.
    """

    model: Path
    output: Path
    file_bytes: int
    report: CompressionReport
    accuracy: Accuracy | None
    epochs: int = 0
    curve: PoolCurve | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        report: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self.report)))
        for layer, row in zip(self.report.layers, report["layers"], strict=True):
            row["bits_per_weight"] = layer.bits_per_weight
        sizes = self.report.sizes
        report["sizes"] |= {
            "int8_bytes": sizes.int8_bytes,
            "pooled_bytes": sizes.pooled_bytes,
            "compression": sizes.compression,
            "weight_compression": sizes.weight_compression,
        }
        return {
            "model": str(self.model),
            "output": str(self.output),
            "file_bytes": self.file_bytes,
            "epochs": self.epochs,
            "accuracy": None if self.accuracy is None else dataclasses.asdict(self.accuracy),
            "curve": None if self.curve is None else self.curve.to_json(),
            **report,
        }


@dataclass(frozen=True, slots=True)
class CompressOptions:
    """Options of `compress_models`.

    Attributes:
        pool: the weight pool.
        training: fine-tuning of the jobs that have training data.
        compilation: shapes; quantization of the accuracy that is measured.
        max_drop: choose size and sharing of the pools by the accuracy; None: they are those of
            `pool`.
        reorder: give channels the order in which pools fit best.
    """

    pool: WeightPoolOptions = field(default_factory=WeightPoolOptions)
    training: Training = field(default_factory=Training)
    compilation: IntegerOptions = field(default_factory=IntegerOptions)
    max_drop: MaxDrop | None = None
    reorder: bool = True


def compress_models(
    jobs: Sequence[Job],
    options: CompressOptions | None = None,
    progress: Progress = no_progress,
) -> tuple[Compression, ...]:
    """Compress models; several of them share one pool.

    Each file is replaced as a whole when everything has succeeded, or not at all.

    Args:
        jobs: models and their data.
        options: pool, fine-tuning, quantization.
        progress: told what is being done.

    Raises:
        EdgecError: a model cannot be imported, pooled or trained, data do not fit, PyTorch is
            missing, a file cannot be written.
    """
    options = options or CompressOptions()
    check_jobs(jobs, options.training.teacher)
    _check_training(jobs, options.training)
    if options.max_drop is not None:
        check_search(jobs, options.max_drop.page)
    everything = [_read(job, options, progress) for job in jobs]
    if options.max_drop is not None:
        found = [_searched(each, options.max_drop, options, progress) for each in everything]
    else:
        found = _pooled(everything, options, progress)
    for compression, data in found:
        write_whole(compression.output, data)
        if compression.epochs:
            checkpoint_of(compression.output).unlink(missing_ok=True)
    return tuple(compression for compression, _ in found)


def _pooled(
    loaded: Sequence[Loaded], options: CompressOptions, progress: Progress
) -> list[tuple[Compression, bytes]]:
    """Pools of the size and sharing that the options say."""
    pooled = compress_graphs(
        [each.model.graph for each in loaded],
        [each.calibration for each in loaded],
        _pool_options(loaded, options.pool),
        progress,
    )
    shared = len(loaded) > 1
    return [
        _finished(each, graph, report, options, progress, shared=shared)
        for each, (graph, report) in zip(loaded, pooled, strict=True)
    ]


def _searched(
    each: Loaded, max_drop: MaxDrop, options: CompressOptions, progress: Progress
) -> tuple[Compression, bytes]:
    """The smallest pools that keep enough of the accuracy."""
    if each.evaluation is None:
        raise InternalError("there are no samples to choose by", where=str(each.job.model))
    pool = _pool_options([each], options.pool)
    task = Task(each.model, each.calibration, each.evaluation, max_drop, pool, options.compilation)
    found = smallest_pools(task, progress)
    curve, data = found.curve, exported(found.graph)
    accuracy = Accuracy(curve.real, curve.int8, (curve.best.accuracy,), curve.n)
    report = dataclasses.replace(found.report, notes=(*found.report.notes, *each.notes))
    job = each.job
    return Compression(job.model, job.output, len(data), report, accuracy, curve=curve), data


def _check_training(jobs: Sequence[Job], training: Training) -> None:
    """Check that PyTorch and the device for fine-tuning are there."""
    if any(job.train for job in jobs):
        need_pytorch(training.device, training.devices)


def _read(job: Job, options: CompressOptions, progress: Progress) -> Loaded:
    """A job with channels in the order that fits pools best."""
    each = loaded(job, options.training, options.compilation, progress)
    if not options.reorder:
        return each
    graph = with_best_order(each.model.graph, options.pool, progress)
    if graph is each.model.graph:
        return each
    model = dataclasses.replace(each.model, graph=graph)
    return dataclasses.replace(each, model=model, notes=(*each.notes, _REORDERED))


def _finished(
    each: Loaded,
    graph: Graph,
    report: CompressionReport,
    options: CompressOptions,
    progress: Progress,
    *,
    shared: bool,
) -> tuple[Compression, bytes]:
    """Fine-tuning, export, and accuracy of what was exported."""
    job = each.job
    whole = keeps_activation_bits(each.model.graph)
    plain = FinetuneOptions(bits=(8,) if whole else FinetuneOptions().bits, train_pool=not shared)
    graph, epochs = tuned(each, graph, recipe_of(job, options.training, plain), progress)
    if epochs:
        report = report_of(each.model.graph, graph, each.calibration, options.pool)
    notes = (*each.notes, *((_SHARED,) if shared else ()))
    report = dataclasses.replace(report, notes=(*report.notes, *notes))
    data = exported(graph)
    accuracy = accuracy_of(each, data, options.compilation, progress)
    found = Compression(job.model, job.output, len(data), report, accuracy, epochs)
    return found, data


def _pool_options(loaded: Sequence[Loaded], pool: WeightPoolOptions) -> WeightPoolOptions:
    """Ranges as they are before fine-tuning: it chooses them itself, and has to see all values.

    A transformer's activations always have 8 bits.
    """
    wide = any(each.train is not None or keeps_activation_bits(each.model.graph) for each in loaded)
    return dataclasses.replace(pool, range_bits=8) if wide else pool
