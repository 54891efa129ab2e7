"""`edgec quantize`: a float model in, a standard QDQ int8 ONNX model out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import QuantizationError
from edgec.base.options import IntegerOptions, Precision, Progress, WeightTypes, no_progress
from edgec.base.output_file import check_writable, write_whole
from edgec.base.samples import SampleFile, Samples
from edgec.commands.quantize_training import (
    IntegersTrained,
    IntegerTraining,
    prepared,
    trained,
)
from edgec.commands.training import checkpoint_of
from edgec.exporters.onnx.export import export_qdq
from edgec.exporters.onnx.few_bits import check_weight_types, store_narrow
from edgec.exporters.onnx.qonnx import as_qonnx, check_loops
from edgec.exporters.onnx.recurrent import are_recurrent
from edgec.finetune.integers import TrainingReport
from edgec.quant import QuantReport
from edgec.quant.precision.feedback import feedback_values
from edgec.workflow.accuracy import LabelledData, float_share, integer_share, labelled_data
from edgec.workflow.integer import Calibration, IntegerModel, RealModel, quantized_model, real_model
from edgec.workflow.known_samples import seen_before


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the evaluation samples whose largest output is the label.

    Attributes:
        real: the share that the model as it came tells right, in float.
        int8: the share of its integers after calibration alone.
        trained: the share of its integers after training; None without.
        n: number of samples.
    """

    real: float
    int8: float
    trained: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Quantization:
    """A quantized model on disk.

    Attributes:
        output: the file.
        report: how ranges were found, and the quality of each layer; after training, which moves
            weights away from those of the float model, no layer has one.
        training: what training did; None without.
        accuracy: on the evaluation data; None without.
        open_ranges: whether compiling the file takes calibration data: recurrent operators do not
            say the ranges of what is within them.
    """

    output: Path
    report: QuantReport
    training: TrainingReport | None = None
    accuracy: Shares | None = None
    open_ranges: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        report = dataclasses.asdict(self.report)
        data: dict[str, Any] = json.loads(json.dumps(report, default=lambda item: item.value))
        more = {
            "training": None if self.training is None else dataclasses.asdict(self.training),
            "accuracy": None if self.accuracy is None else dataclasses.asdict(self.accuracy),
        }
        return {"output": str(self.output), **more, **data}


def quantize_model(
    model: Path | str,
    output: Path | str,
    *,
    calibration: Calibration = None,
    options: IntegerOptions | None = None,
    train: IntegerTraining | None = None,
    evaluation: Samples | None = None,
    types: WeightTypes = WeightTypes.INT8,
    qonnx: bool = False,
    progress: Progress = no_progress,
) -> Quantization:
    """Quantize a model to QDQ ONNX that onnxruntime runs, and edgec compiles to the same integers.

    LSTM, GRU and RNN stay operators of the file, which computes in float within them; edgec then
    compiles the file to other integers, near those of the float model.

    Args:
        model: ONNX or TensorFlow Lite file.
        output: file to write; replaced as a whole or not at all.
        calibration: .npz file, or samples [N, ...] by input name; None: samples to train on, else
            synthetic ones, with a warning.
        options: shapes and quantization options.
        train: train the network in its integers.
        evaluation: inputs and labels on disk to measure accuracy on.
        types: narrowest element type of weights in the file.
        qonnx: write the quantizers as nodes of QONNX, which onnxruntime does not run.
        progress: told what is being done.

    Raises:
        EdgecError: the model cannot be imported, quantized or trained, data do not fit, PyTorch is
            missing, onnx is too old, QONNX cannot say the network, or the file cannot be written.
    """
    path, out, options = Path(model), Path(output), options or IntegerOptions()
    check_weight_types(types, quantized=True, qonnx=qonnx)
    check_writable(out, _reads(path, calibration, train, evaluation))
    real = real_model(path, calibration, options, progress)
    standard = not real.graph.is_straight and are_recurrent(real.graph)
    if qonnx and not (standard and train is None):
        check_loops(real.graph, real.graph.nodes)
    if options.quant.precision is None and not standard and feedback_values(real.graph):
        # The file says int8 for all tensors.
        quant = dataclasses.replace(options.quant, precision=Precision.INT8)
        options = dataclasses.replace(options, quant=quant)
    measured = None if evaluation is None else labelled_data(evaluation, real)
    task = None if train is None else prepared(train, real, out, options, progress)
    warnings = seen_before(
        None if measured is None else measured.inputs,
        None if task is None else task.data.inputs,
        real.calibration,
    )
    ready = quantized_model(real if task is None else task.model, options, progress)
    written = ready.partly if standard and options.quant.precision is None else ready.annotated
    if written is None:
        raise QuantizationError(
            "this integer network cannot be written as QDQ ONNX",
            where=str(model),
            hint="compile the float model: `edgec compile` quantizes it in the same way",
        )
    after = None if task is None else trained(task, ready, progress)
    if after is not None:
        written = after.annotated
    file = export_qdq(written)
    store_narrow(file, types)
    if qonnx:
        as_qonnx(file)
    data = file.SerializeToString(deterministic=True)
    accuracy = None
    if measured is not None:
        accuracy = _shares(real, ready, after, measured, progress)
    write_whole(out, data)
    found = ready.quantization if after is None else after.report
    report = dataclasses.replace(found, warnings=(*found.warnings, *warnings))
    if after is None:
        return Quantization(out, report, None, accuracy, standard)
    checkpoint_of(out).unlink(missing_ok=True)
    return Quantization(out, report, after.training, accuracy)


def _reads(
    model: Path,
    calibration: Calibration,
    train: IntegerTraining | None,
    evaluation: Samples | None,
) -> Iterator[Path | None]:
    """Files that outputs may not replace; the model where a resumed training reads it again."""
    if train is not None:
        yield from (model, train.how.teacher)
    for samples in (calibration, None if train is None else train.data, evaluation):
        if isinstance(samples, SampleFile | Path | str):
            yield SampleFile.of(samples).path


def _shares(
    model: RealModel,
    ready: IntegerModel,
    after: IntegersTrained | None,
    data: LabelledData,
    progress: Progress,
) -> Shares:
    real = float_share(model, data, progress)
    int8 = integer_share(ready.integer, data, "int8", progress)
    if after is None:
        return Shares(real, int8, None, len(data.labels))
    share = integer_share(after.integer, data, "trained", progress)
    return Shares(real, int8, share, len(data.labels))
