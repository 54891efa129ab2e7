"""`edgec compress --bits`: an ONNX model in, one with weights of few bits out."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgec.base.errors import ConfigError
from edgec.base.options import (
    MAX_ACTIVATION_BITS,
    FewBitsOptions,
    IntegerOptions,
    Progress,
    WeightTypes,
    no_progress,
)
from edgec.base.output_file import write_whole
from edgec.commands.compress_jobs import Job, check_jobs
from edgec.commands.compress_load import accuracy_of, loaded, recipe_of, tuned
from edgec.commands.training import Training, checkpoint_of
from edgec.exporters.onnx.few_bits import check_weight_types
from edgec.exporters.onnx.qonnx import check_loops
from edgec.finetune import need_pytorch
from edgec.finetune.pooled import FinetuneOptions
from edgec.ir.graph import Graph
from edgec.weightpool import NarrowReport, narrow_layers, narrow_report, narrowed
from edgec.workflow.accuracy import Accuracy
from edgec.workflow.exported import exported

SUFFIX = ".bits.onnx"
_RATE = 5e-4
"""Peak of the learning rate.

The start is nearly as good as the float network: the rate of pools, four times this, spoils more of
it than a short training mends (docs/few-bits.md).
"""
_RATE_OF_BOTH = 1e-3
"""Peak of the learning rate with activations of few bits, where there is more to mend."""


@dataclass(frozen=True, slots=True)
class BitsOptions:
    """Options of `narrow_model`.

    Attributes:
        weights: numbers that weights are, and layers.
        training: fine-tuning, where the job has training data.
        compilation: shapes; quantization of the accuracy that is measured.
        types: narrowest element type of weights in the file.
        qonnx: write quantizers as nodes of QONNX, which onnxruntime does not run.
    """

    weights: FewBitsOptions
    training: Training = field(default_factory=Training)
    compilation: IntegerOptions = field(default_factory=IntegerOptions)
    types: WeightTypes = WeightTypes.INT8
    qonnx: bool = False


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A model with weights of few bits on disk.

    Attributes:
        model: the model before.
        output: the file.
        file_bytes: its size.
        report: layers, errors, sizes.
        accuracy: on the evaluation data (`pooled` is that of the new file); None without.
        epochs: epochs of fine-tuning; 0 without it.
    """

    model: Path
    output: Path
    file_bytes: int
    report: NarrowReport
    accuracy: Accuracy | None
    epochs: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        found = self.accuracy
        accuracy = None
        if found is not None:
            shares = {"real": found.real, "int8": found.int8, "narrow": found.pooled[0]}
            accuracy = {**shares, "n": found.n}
        report = dataclasses.asdict(self.report)
        return {
            "model": str(self.model),
            "output": str(self.output),
            "file_bytes": self.file_bytes,
            "epochs": self.epochs,
            "accuracy": accuracy,
            **json.loads(json.dumps(report, default=lambda item: item.value)),
        }


def narrow_model(job: Job, options: BitsOptions, progress: Progress = no_progress) -> Narrowing:
    """Give a model weights of few bits, train it if there are data, and write the file.

    Args:
        job: the model, its data, and the file to write.
        options: how.
        progress: told what is being done.

    Raises:
        EdgecError: the model cannot be imported, no layer can be given few bits, data do not fit,
            PyTorch is missing, onnx is too old, or the file cannot be written.
    """
    training = options.training
    check_weight_types(options.types, quantized=False, qonnx=options.qonnx)
    check_jobs([job], training.teacher)
    if options.weights.activation_bits < MAX_ACTIVATION_BITS:
        _check_activations(job)
    if job.train is not None:
        need_pytorch(training.device, training.devices)

    def check(graph: Graph) -> None:
        chosen = narrow_layers(graph, options.weights)
        if options.qonnx:
            check_loops(graph, [layer.node for layer in chosen.pooled])

    each = loaded(job, training, options.compilation, progress, check)
    graph = narrowed(each.model.graph, each.calibration, options.weights, progress)
    rate = _RATE_OF_BOTH if options.weights.activation_bits < MAX_ACTIVATION_BITS else _RATE
    plain = FinetuneOptions(bits=(8,), levels=options.weights.bits.levels, rate=rate)
    graph, epochs = tuned(each, graph, recipe_of(job, training, plain), progress)
    report = narrow_report(each.model.graph, graph, each.calibration, options.weights)
    data = exported(graph, options.types, qonnx=options.qonnx)
    accuracy = accuracy_of(each, data, options.compilation, progress)
    write_whole(job.output, data)
    if epochs:
        checkpoint_of(job.output).unlink(missing_ok=True)
    report = dataclasses.replace(report, notes=(*report.notes, *each.notes))
    return Narrowing(job.model, job.output, len(data), report, accuracy, epochs)


def _check_activations(job: Job) -> None:
    """Refuse activations of few bits without data.

    Raises:
        ConfigError: there are none.
    """
    if job.calibration is None and job.train is None:
        raise ConfigError(
            "the steps are those of least error on data, or learned from there",
            where="--activation-bits",
            hint="add --calibration, or --train",
        )
