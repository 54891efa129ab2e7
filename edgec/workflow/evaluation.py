"""Accuracy of a compiled model beside its float original, on labelled data."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from edgec.base.description import ONNX_SUFFIX
from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import StatePairs
from edgec.base.output_file import write_whole
from edgec.base.samples import SampleFile, Samples, load_labelled
from edgec.base.streams import RESETS, streams
from edgec.floatrun.activations import activations
from edgec.floatrun.executor import is_quantized
from edgec.floatrun.float_model import FloatModel
from edgec.report.model import Report, TensorReport
from edgec.workflow.camera import original_images
from edgec.workflow.codes import to_model
from edgec.workflow.evaluation_check import agreement_warnings, evaluation_warnings
from edgec.workflow.front_end import codes_of, faults_of, front_of, original_inputs
from edgec.workflow.model_samples import input_specs
from edgec.workflow.session import MODEL_COPY, Progress, check_width, open_session

_LAST = "evaluation.json"
_MAX_LAST_BYTES = 64 * 1024
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of `evaluate`.

    Attributes:
        accuracy: share of samples whose argmax is the label.
        float_accuracy: the same of the model that was compiled: in onnxruntime, or in float64 if
            it holds integers.
        agreement: share of samples whose argmax equals the float model's.
        n: number of samples.
        on: what ran it: "host", "emulator" or "device".
        bits: most bits of an activation that layers with pooled weights saw; None: as compiled.
        warnings: what is odd about the data or the decisions, a sentence each.
    """

    accuracy: float
    float_accuracy: float
    agreement: float
    n: int
    on: str
    bits: int | None = None
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Decisions of a build on each sample.

    Attributes:
        labels, found, original: numbers of classes, int [N]: the labels, the decisions of the
            build, and those of the model that was compiled.
        samples: inputs by name, [N, ...].
        names: a name for each class, untrusted; empty: classes have numbers only.
    """

    labels: Array
    found: Array
    original: Array
    samples: Mapping[str, Array]
    names: tuple[str, ...]


def evaluate(
    folder: Path | str,
    data: Samples,
    on: str = "host",
    limit: int | None = None,
    progress: Progress | None = None,
    port: str | None = None,
) -> Evaluation:
    """Evaluate a compiled classifier.

    Args:
        folder: build folder.
        data: inputs and labels on disk (see `base.samples`).
        on: "host", "emulator" or "device".
        limit: use only this many samples, from the start.
        progress: told (samples done, samples).
        port: serial port of the device; None: found by itself.

    Raises:
        ConfigError: data that do not fit, or a model that gives no scores for classes.
    """
    return evaluate_samples(folder, data, on, limit, progress, port)[0]


def evaluate_samples(
    folder: Path | str,
    data: Samples,
    on: str = "host",
    limit: int | None = None,
    progress: Progress | None = None,
    port: str | None = None,
) -> tuple[Evaluation, Decisions]:
    """Evaluate a compiled classifier, and say how it decided each sample.

    Args:
        folder: build folder.
        data: inputs and labels on disk (see `base.samples`).
        on: "host", "emulator" or "device".
        limit: use only this many samples, from the start.
        progress: told (samples done, samples).
        port: serial port of the device; None: found by itself.

    Raises:
        ConfigError: data that do not fit, or a model that gives no scores for classes.
    """
    folder = Path(folder)
    report = Report.read(folder)
    (result,) = _evaluated(folder, report, data, (None,), on, limit, progress, port)
    _remember(folder, report, result[0])
    return result


def evaluate_widths(
    folder: Path | str,
    data: Samples,
    widths: Sequence[int],
    on: str = "host",
    limit: int | None = None,
    progress: Progress | None = None,
    port: str | None = None,
) -> tuple[Evaluation, ...]:
    """Evaluate a classifier with pooled weights at several widths of activations.

    Args:
        folder: build folder, compiled with run-time widths.
        data: labelled data, as for `evaluate`.
        widths: most bits that a layer with pooled weights sees of an activation, 1 to 8 each.
        on: "host", "emulator" or "device".
        limit: use only this many samples, from the start.
        progress: told (samples done, samples), all widths taken together.
        port: serial port of the device; None: found by itself.

    Returns:
        One result per width, in order.

    Raises:
        ConfigError: see `evaluate`; also if the build's widths are fixed.
    """
    folder = Path(folder)
    report = Report.read(folder)
    for bits in widths:
        check_width(report, bits, folder)
    found = _evaluated(folder, report, data, widths, on, limit, progress, port)
    return tuple(result for result, _ in found)


def _evaluated(
    folder: Path,
    report: Report,
    data: Samples,
    widths: Sequence[int | None],
    on: str,
    limit: int | None,
    progress: Progress | None,
    port: str | None,
) -> tuple[tuple[Evaluation, Decisions], ...]:
    output = decision(report)
    specs = input_specs(report)
    # Recordings begin anew each.
    steps = bool(report.state) and report.front_end is None
    samples, labels = load_labelled(data, specs, output.labels, steps=steps)
    labels = labels[:limit]
    samples = {name: array[:limit] for name, array in samples.items()}
    parts = list(streams(samples.pop(RESETS))) if steps else [slice(None)]
    check_labels(labels, output, SampleFile.of(data).path)
    sessions = [open_session(folder, on, bits, port) for bits in widths]
    runs = len(widths) + 1
    inputs = _float_inputs(report, samples)
    if steps:
        inputs[RESETS] = np.isin(np.arange(len(labels)), [part.start for part in parts])
    (original,) = original_outputs(folder, report, inputs, [output], _part(progress, 0, runs))
    wanted = classes_of(original)
    odd = evaluation_warnings(_with_ranges(report), samples)
    if report.front_end is not None:
        (sound,) = samples.values()
        front = front_of(report.front_end)
        odd = (*odd, *faults_of(front, codes_of(front, sound)))
    results = []
    for number, (bits, session) in enumerate(zip(widths, sessions, strict=True), start=1):
        tell = _part(progress, number, runs)
        results_of = [
            session.run({name: array[part] for name, array in samples.items()}, tell)
            for part in parts
        ]
        found = classes_of(np.concatenate([each[output.name] for each in results_of]))
        agreement = float(np.mean(found == wanted))
        # Fewer bits are a choice: it is for them that decisions are measured.
        poor = agreement_warnings(agreement) if bits is None else ()
        result = Evaluation(
            accuracy=float(np.mean(found == labels)),
            float_accuracy=float(np.mean(wanted == labels)),
            agreement=agreement,
            n=len(labels),
            on=on,
            bits=bits,
            warnings=(*odd, *poor),
        )
        decided = Decisions(labels, found, wanted, samples, tuple(output.labels))
        results.append((result, decided))
    return tuple(results)


def _with_ranges(report: Report) -> tuple[TensorReport, ...]:
    """The inputs whose codes span the calibration data; those of trees span their thresholds."""
    trees = any(layer.op == "TreeEnsemble" for layer in report.layers)
    return tuple(each for each in report.inputs if not (trees and each.feature_scales))


def last_evaluation(folder: Path, report: Report) -> Evaluation | None:
    """Result of the last `evaluate` of this very build; None when there was none."""
    path = folder / _LAST
    try:
        if path.stat().st_size > _MAX_LAST_BYTES:
            return None
        data = json.loads(path.read_text("utf-8"))
        known = data.pop("digest") == report.digest
        return TypeAdapter(Evaluation).validate_python(data) if known else None
    except (OSError, ValueError, TypeError, AttributeError, KeyError):  # none, or not written by us
        return None


def _remember(folder: Path, report: Report, result: Evaluation) -> None:
    """Leave the result for `edgec compare`, beside the files that the compilation owns."""
    text = json.dumps({"digest": report.digest, **result.to_json()}, indent=1)
    try:
        write_whole(folder / _LAST, f"{text}\n".encode())
    except ConfigError as error:  # a folder that cannot be written to can still be evaluated
        _log.warning("the result is not kept for edgec compare: %s", error.what)


def _part(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """The progress of one of several equal parts of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, parts * total)


def decision(report: Report) -> TensorReport:
    """The output that decides: scores for classes, else a class number (a final ArgMax).

    The number of a class comes first where the file has labels for it: the decision function of two
    classes of a support vector machine has the signs of the scores the other way round.
    """
    scores = [t for t in report.outputs if t.dtype != "int64" and math.prod(t.shape) > 1]
    numbers = [t for t in report.outputs if t.dtype == "int64" and math.prod(t.shape) == 1]
    for found in ([each for each in numbers if each.labels], scores, numbers):
        if len(found) == 1:
            return found[0]
    raise ConfigError(
        "the model has no single output with scores for classes",
        where=report.model,
        hint="use edgec run and judge its outputs yourself",
    )


def original_outputs(
    folder: Path,
    report: Report,
    inputs: Mapping[str, Array],
    outputs: Sequence[TensorReport],
    progress: Progress | None,
) -> tuple[Array, ...]:
    """Outputs [N, ...] of the model that was compiled, or their elements [N, C].

    onnxruntime runs float ONNX models.  Models of other formats are executed in float64; so are
    those with integers inside, as ONNX defines them: onnxruntime's integer sums differ between
    processors.
    """
    heard = report.front_end
    if report.camera is not None:
        own = report.camera.input
        images = original_images(report.camera, inputs)
        inputs = {name: to_model(array, own) for name, array in images.items()}
    if heard is None:
        return _of_samples(folder, report, inputs, outputs, progress)
    features = original_inputs(heard, inputs)
    # Codes of features, and the first runs of recordings as they are.
    inputs = {
        name: array if name == RESETS else to_model(array, heard.input)
        for name, array in features.items()
    }
    found = _of_samples(folder, report, inputs, outputs, progress)
    return tuple(array[heard.steps - 1 :: heard.steps] for array in found)


def _of_samples(
    folder: Path,
    report: Report,
    inputs: Mapping[str, Array],
    outputs: Sequence[TensorReport],
    progress: Progress | None,
) -> tuple[Array, ...]:
    """Outputs of the model's file for what it takes; of one with a state, of each step."""
    names = [output.name for output in outputs]
    path = next(iter(folder.glob(f"{MODEL_COPY}.*")), folder / f"{MODEL_COPY}{ONNX_SUFFIX}")
    is_onnx = path.suffix == ONNX_SUFFIX
    if is_onnx and report.has_integers is False:
        return _in_onnxruntime(path, report, inputs, outputs, progress)
    from edgec.importers.formats import import_model  # noqa: PLC0415  (takes a second to load)

    shapes = {n: (1, *array.shape[1:]) for n, array in inputs.items() if n != RESETS}
    state = StatePairs(report.state, automatic=False)
    graph = import_model(path, shapes, state)
    if is_onnx and not is_quantized(graph):
        return _in_onnxruntime(path, report, inputs, outputs, progress)
    batches = []
    samples = len(next(iter(inputs.values())))
    for done, batch in activations(graph, names, inputs):
        batches.append([batch[name].reshape(len(batch[name]), -1) for name in names])
        if progress is not None:
            progress(done, samples)
    return tuple(np.concatenate(parts) for parts in zip(*batches, strict=True))


def _in_onnxruntime(
    path: Path,
    report: Report,
    inputs: Mapping[str, Array],
    outputs: Sequence[TensorReport],
    progress: Progress | None,
) -> tuple[Array, ...]:
    model, names = FloatModel(path), [output.name for output in outputs]
    if report.state:
        found = model.run_steps(inputs, report.state, names, progress)
    else:
        found = model.run(inputs, names, progress)
    return tuple(_numbered(found[output.name], output) for output in outputs)


def _numbered(found: Array, output: TensorReport) -> Array:
    """Labels of classes, which a model may give in their place, as the numbers of the classes."""
    places = {label: number for number, label in enumerate(output.labels)}
    labels = [str(label) for label in found.reshape(-1)] if output.dtype == "int64" else []
    if not labels or not all(label in places for label in labels):
        return found
    return np.asarray([places[label] for label in labels]).reshape(found.shape)


def check_labels(labels: Array, output: TensorReport, data: Path) -> None:
    """Refuse labels that are no classes of an output.

    Raises:
        ConfigError: with the labels that there are.
    """
    classes = math.prod(output.shape)
    if classes > 1 and (labels.min() < 0 or labels.max() >= classes):
        raise ConfigError(
            f"labels run from {labels.min()} to {labels.max()}; the model has {classes} classes",
            where=f"{data}: y",
            hint=f"number the classes from 0 to {classes - 1}",
        )


def _float_inputs(report: Report, samples: Mapping[str, Array]) -> dict[str, Array]:
    """Samples in the dtype of the model's own inputs: real numbers, or its integers."""
    return {tensor.name: to_model(samples[tensor.name], tensor) for tensor in report.inputs}


def classes_of(scores: Array) -> Array:
    """Class numbers [N] from scores [N, ...], or from a model that ends in ArgMax."""
    flat = scores.reshape(len(scores), -1)
    return np.asarray(flat[:, 0] if flat.shape[1] == 1 else np.argmax(flat, axis=1))
