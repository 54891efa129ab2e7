"""From a model file to an integer graph: import, clean, calibrate, quantize, optimise.

`compile_model` and `quantize_model` share it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from edgec.base.description import NOTHING_SAID, Description
from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError, ImportModelError
from edgec.base.names import shown
from edgec.base.options import IntegerOptions, ModelOptions, Progress, QuantSettings, no_progress
from edgec.base.samples import InputSpec, SampleFile, Samples, check_samples, load_samples
from edgec.base.samples.sound_faults import is_silent
from edgec.base.streams import RESETS, RESETS_IN_FILES, resets_of
from edgec.frontends.image import Camera
from edgec.frontends.nodes import FrontEnd
from edgec.importers.formats import batch_notes_of, describe, import_model, shapes_at
from edgec.ir import Graph, ops
from edgec.ir.infer import total_macs
from edgec.ir.metadata import import_notes
from edgec.passes import REAL_PASSES, run_passes
from edgec.passes.stream import Streamed
from edgec.quant import QuantReport, quantize
from edgec.quant.features import with_feature_scales, with_scales_of
from edgec.quant.precision.goal import Chooser, Prices
from edgec.quant.precision.notes import precision_warnings
from edgec.report.model import CameraReport, FrontEndReport
from edgec.workflow.calibration_check import calibration_warnings, few_samples_warnings
from edgec.workflow.camera import camera_before, seen
from edgec.workflow.front_end import (
    codes_of,
    faults_of,
    heard_by,
    recorded,
    recording_spec,
    runs_of_recording,
    steps_of_features,
    table_of_times,
)
from edgec.workflow.quality import quality_warnings
from edgec.workflow.rounding import rounding_notes, with_rounding
from edgec.workflow.weight_bits import weight_bits_notes, with_weight_bits

Calibration = Samples | Mapping[str, ArrayLike] | None


@dataclass(frozen=True, slots=True)
class IntegerModel:
    """A model on its way through the compiler, at three points.

    Attributes:
        imported: REAL stage as imported: the model's own inputs and outputs.
        annotated: ANNOTATED stage: what `edgec quantize` exports; None where `quant.Quantized`
            has none.
        integer: INTEGER stage, optimised: what is lowered.
        quantization: how ranges were found, SQNR per layer.
        calibration: real graph-side samples that were used, by input; empty without data.
        macs_in_file: multiply-accumulates before channels were removed.
        notes: what passes want the user to know.
        settings: how it was to be quantized.
        about: what the file says of itself.
        balanced: REAL stage that `annotated` stands for, channels scaled; None where nothing was
            annotated.
        partly: `annotated` without a quantization of values with int16 codes, as
            `quant.Quantized` has it.
        stream: how `integer` runs frame by frame; None: it does not.
        front_end: how `integer` takes sound, and `imported` says so; None: it does not.
        camera: how `integer` takes frames of a camera, and `imported` says so; None: it does not.
    """

    imported: Graph
    annotated: Graph | None
    integer: Graph
    quantization: QuantReport
    calibration: Mapping[str, Array]
    macs_in_file: int
    notes: tuple[str, ...]
    settings: QuantSettings
    about: Description = NOTHING_SAID
    balanced: Graph | None = None
    partly: Graph | None = None
    stream: Streamed | None = None
    front_end: FrontEndReport | None = None
    camera: CameraReport | None = None


@dataclass(frozen=True, slots=True)
class RealModel:
    """A model before it is quantized.

    Attributes:
        imported: REAL stage as imported: the model's own inputs and outputs.
        graph: REAL stage, cleaned: what is calibrated.
        calibration: real graph-side samples by input, or None without data.
        notes: what passes want the user to know.
        shorter: `graph` for the maximum length less 1, for a model of variable length.
        about: what the file says of itself.
        warnings: what is wrong with the calibration data.
    """

    imported: Graph
    graph: Graph
    calibration: Mapping[str, Array] | None
    notes: tuple[str, ...]
    shorter: Graph | None = None
    about: Description = NOTHING_SAID
    warnings: tuple[str, ...] = ()


def real_model(
    path: Path,
    calibration: Calibration,
    options: IntegerOptions,
    progress: Progress = no_progress,
    front: FrontEnd | Camera | None = None,
) -> RealModel:
    """The model in `path`, cleaned, with its calibration data.

    Args:
        path: model file.
        calibration: .npz file, or model-side samples [N, ...] by input name, or None.
        options: shapes, the variable length, and the rounding.
        progress: told what is being done.
        front: what makes features of samples, which the calibration data then may be.

    Raises:
        ImportModelError, ConfigError: see `importers.formats`, `base.samples`.
    """
    progress("importing")
    shapes = input_shapes(path, options)
    found = import_model(path, shapes, options.state, options.values).replace(name=path.stem)
    imported = with_rounding(found, options.rounding)
    about = describe(path)
    faults: tuple[str, ...] = ()
    if front is None:
        samples = _samples(calibration, imported, about)
    elif isinstance(front, Camera):
        camera = camera_before(front, imported, about)
        name = imported.only_input
        samples = seen(camera, calibration, name, lambda: _samples(calibration, imported, about))
    else:
        samples, faults = _heard(calibration, imported, about, front)
    real = run_passes(imported, REAL_PASSES, options.dump_ir)
    moved = graph_side(imported, real.graph, samples) if samples is not None else None
    shorter = _shorter(path, options)
    # Features of sound share a scale, and so do pixels.
    graph, scaled = (
        with_feature_scales(real.graph, moved, options.quant.synthetic_range, shorter)
        if front is None or (isinstance(front, FrontEnd) and not front.is_sound)
        else (real.graph, moved)
    )
    notes = (
        *batch_notes_of(path),
        *rounding_notes(found, imported),
        *import_notes(found),
        *about.problems,
        *(note.text for note in real.notes),
    )
    if options.max_length is not None:
        _refuse_state(graph)
    if shorter is not None:
        shorter = with_scales_of(shorter, graph.input_features)
    return RealModel(imported, graph, scaled, notes, shorter, about, faults)


def _refuse_state(graph: Graph) -> None:
    """Check that a model of variable length keeps nothing from run to run, by the file's names."""
    kept = (graph.producers[name] for name in graph.state)
    names = dict.fromkeys(node.sources[0] if node.sources else node.name for node in kept)
    if names:
        raise ConfigError(
            "it keeps a state from run to run, in runs of one length only",
            where=", ".join(map(shown, names)),
            hint="compile it without --max-length, for a number of steps that --shape gives; or "
            "with --state none, so that each run begins anew",
        )


def input_shapes(path: Path, options: ModelOptions, less: int = 0) -> Mapping[str, tuple[int, ...]]:
    """Shapes of the inputs, as far as the options say them.

    Args:
        path: model file.
        options: shapes and the variable length.
        less: how much shorter the inputs are than in the longest run.

    Raises:
        ConfigError, ImportModelError: see `importers.formats.shapes_at`.
    """
    length = options.max_length
    if length is None:
        return options.shapes
    return shapes_at(path, length, options.shapes, length.maximum - less)


def _shorter(path: Path, options: ModelOptions) -> Graph | None:
    """The cleaned graph of a model of variable length, one shorter than the longest."""
    if options.max_length is None:
        return None
    try:
        shapes = input_shapes(path, options, 1)
        imported = import_model(path, shapes, options.state, options.values)
    except ImportModelError as error:
        raise ImportModelError(
            f"the model does not work for an input that is shorter by 1: {error.what}",
            where=path.stem,
            hint="export it with a dynamic axis that reaches all of its operators "
            "(torch.onnx.export with dynamo=True), or compile it without --max-length",
        ) from error
    return run_passes(imported, REAL_PASSES).graph


def integer_model(
    path: Path,
    calibration: Calibration,
    options: IntegerOptions,
    progress: Progress = no_progress,
) -> IntegerModel:
    """The integer form of the model in `path`.

    Args:
        path: model file.
        calibration: .npz file, or model-side samples [N, ...] by input name, or None.
        options: shapes and quantization options.
        progress: told what is being done.

    Raises:
        ImportModelError, QuantizationError, ConfigError: see `importers.formats`, `quant`,
            `samples`.
    """
    return quantized_model(real_model(path, calibration, options, progress), options, progress)


def quantized_model(
    model: RealModel,
    options: IntegerOptions,
    progress: Progress = no_progress,
    prices: Prices | None = None,
    chooser: Chooser | None = None,
) -> IntegerModel:
    """The integer form of a model; the second half of `integer_model`.

    Args:
        model: from `real_model`.
        options: those of quantization.
        progress: told what is being done.
        prices: the board that tensors with int16 codes have to fit; None: it is not known.
        chooser: names the tensors with int16 codes; None: the options do.

    Raises:
        ConfigError: an option has no effect on this network.
        WeightPoolError: a layer cannot have weights of few bits.
        QuantizationError: see `quant`.
    """
    graph = with_weight_bits(model.graph, model.calibration, options, progress)
    said = weight_bits_notes(model.graph, graph, model.calibration)

    def reweighed(samples: Mapping[str, Array]) -> Graph:
        return with_weight_bits(model.graph, samples, options)

    odd = calibration_warnings(model.graph, model.calibration, model.about.normalize)
    found = quantize(
        graph,
        model.calibration,
        options,
        progress,
        shorter=model.shorter,
        prices=prices,
        chooser=chooser,
        reference=model.graph,
        # A search has no use for the accuracy to expect, and many networks to quantize.
        reweigh=None if graph is model.graph or chooser else reweighed,
    )
    settings = options.quant.settings()
    # Whoever names classes, or says how many decisions may change, has a classifier.
    named = bool(model.about.labels) or settings.max_drop is not None
    told = found.report.about_classes() if named else found.report
    poor = quality_warnings(found.integer, told, settings)
    judged = precision_warnings(told.precision)
    warnings = (*model.warnings, *told.warnings, *few_samples_warnings(told), *judged, *odd, *poor)
    report = replace(told, warnings=warnings)
    return IntegerModel(
        imported=model.imported,
        annotated=found.annotated,
        integer=found.integer,
        quantization=report,
        calibration=model.calibration or {},
        macs_in_file=total_macs(graph),
        notes=(*model.notes, *said, *found.notes),
        about=model.about,
        settings=settings,
        balanced=found.real,
        partly=found.partly,
    )


def input_specs(imported: Graph, about: Description) -> tuple[InputSpec, ...]:
    """Inputs of a model, from its imported graph and the metadata of its file."""
    return tuple(
        InputSpec(
            name,
            imported.shape(name),
            integers=imported.values[name].dtype is not DType.FLOAT32,
            normalize=about.normalize.get(name),
            rows=rows_named_by(imported, name),
        )
        for name in imported.inputs
    )


def rows_named_by(graph: Graph, name: str) -> int | None:
    """Rows of the smallest table whose rows an input names; None where it names none."""
    readers = (node for node in graph.consumers[name] if isinstance(node.attrs, ops.Embedding))
    tables = (ops.Embedding.Inputs.of(node.inputs).table for node in readers)
    return min((graph.constants[table].shape[0] for table in tables), default=None)


def _samples(
    calibration: Calibration, imported: Graph, about: Description
) -> dict[str, Array] | None:
    """Samples by input; of a model with state also where streams begin."""
    specs = input_specs(imported, about)
    if calibration is None:
        return None
    if isinstance(calibration, Mapping):
        samples = check_samples(calibration, specs, "calibration")
        given = calibration.get(RESETS, calibration.get(RESETS_IN_FILES))
        if not imported.has_state:
            return samples
        steps = None if given is None else np.asarray(given)
        return {**samples, RESETS: resets_of(steps, len(next(iter(samples.values()))))}
    if isinstance(calibration, SampleFile | Path | str):
        return load_samples(calibration, specs, steps=imported.has_state)
    raise ConfigError(
        f"is a {type(calibration).__name__}",
        where="calibration",
        hint="give a path, or arrays by input name: {'x': array}",
    )


def _heard(
    calibration: Calibration, imported: Graph, about: Description, front: FrontEnd
) -> tuple[dict[str, Array] | None, tuple[str, ...]]:
    """Samples by input, features of recordings or as they are, and what is wrong with recordings.

    Raises:
        ConfigError: they have neither form, or all recordings are silent.
    """
    heard = heard_by(front, imported)
    name = imported.only_input
    runs = runs_of_recording(front, heard, imported)
    spec = recording_spec(name, front, runs * heard.frames)
    try:
        found = table_of_times(calibration, spec)
        if found is None:
            return _samples(calibration, imported, about), ()
    except ConfigError:
        # They are no features.
        found = recorded(calibration, spec)
    sound = codes_of(front, found[name])
    if front.is_sound and is_silent(sound).all():
        hint = "record again: they say nothing of the sound that the network will hear"
        raise ConfigError("all recordings are silent", where="--calibration", hint=hint)
    steps = steps_of_features(heard, front.features_of(sound), runs)
    return {name: steps.pop("x"), **steps}, faults_of(front, sound[:, : spec.elements])


def graph_side(imported: Graph, graph: Graph, samples: Mapping[str, Array]) -> dict[str, Array]:
    """Model-side samples as the graph takes them: axes moved, codes made real, features in steps.

    Args:
        imported: REAL stage as imported: says which inputs take integer codes.
        graph: REAL stage, after the layout pass.
        samples: checked samples [N, ...] by input name.

    Returns:
        float32 [N, ...] by input name.
    """
    result: dict[str, Array] = {}
    for name in graph.inputs:
        array = samples[name]
        axes = graph.input_layouts.get(name, tuple(range(array.ndim)))
        quant = graph.values[name].quant
        moved = np.ascontiguousarray(array.transpose(axes))
        dtype = imported.values[name].dtype
        if quant is not None and dtype is not DType.FLOAT32 and array.dtype.kind in "iu":
            shift = 128 if dtype is DType.UINT8 else 0
            moved = quant.dequantize(moved.astype(np.int32) - shift)
        # Token ids and masks stay whole numbers.
        real = np.int32 if dtype is DType.INT32 else np.float32
        moved = moved.astype(real)
        features = graph.input_features.get(name)
        result[name] = moved if features is None else features.in_steps(moved)
    if RESETS in samples:
        result[RESETS] = samples[RESETS]
    return result
