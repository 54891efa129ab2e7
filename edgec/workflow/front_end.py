"""Networks with a front end: recordings as samples of their file, and builds that take samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.base.options.front_end import NONE, OPTION, FrontEndOptions
from edgec.base.samples import (
    InputSpec,
    SampleFile,
    Samples,
    check_samples,
    load_samples,
    recordings,
)
from edgec.base.samples.request import SensorForm
from edgec.base.samples.sound_faults import sound_faults
from edgec.base.streams import RESETS
from edgec.frontends.image import Camera, ImageParameters
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import parameters_of
from edgec.ir.graph import Graph, Value
from edgec.passes.front_end import Heard, with_front_end
from edgec.report.model import FrontEndReport
from edgec.workflow.camera import camera_of, seen_model
from edgec.workflow.own_input import own_input

if TYPE_CHECKING:
    from edgec.workflow.integer import IntegerModel


def front_end_of(options: FrontEndOptions | None) -> FrontEnd | Camera | None:
    """The front end that is asked for; None: for none.

    Raises:
        ConfigError: there is no such one, or a parameter is out of range.
    """
    if options is None or options.name == NONE:
        return None
    if options.name == ImageParameters.NAME:
        return camera_of(options)
    return FrontEnd(str(options), parameters_of(options))


def heard_by(front: FrontEnd, imported: Graph) -> Heard:
    """The frames that a model's input has.

    Raises:
        ConfigError: it has none, or no integers hold the numbers of the front end.
    """
    front.graph(1)
    if len(imported.inputs) != 1:
        raise ConfigError(
            f"a front end needs a model with one input, and this one has {len(imported.inputs)}",
            where=OPTION,
        )
    name = imported.only_input
    return Heard.of(imported.shape(name), front.features, name)


def recording_spec(name: str, front: FrontEnd, frames: int) -> InputSpec:
    """An input whose samples are recordings, each as long as some frames."""
    shape = (1, front.window + (frames - 1) * front.hop)
    if front.is_sound:
        return InputSpec(name, shape, integers=True, rate=int(front.rate))
    form = SensorForm(front.axes, front.full_scale)
    return InputSpec(name, shape, integers=True, sensor=form)


def recorded(given: Samples | Mapping[str, ArrayLike] | None, spec: InputSpec) -> dict[str, Array]:
    """Recordings as samples.

    Args:
        given: samples on disk, or arrays by name.
        spec: what `recording_spec` gives.

    Raises:
        ConfigError: see `base.samples`.
    """
    if isinstance(given, SampleFile | Path | str):
        return load_samples(given, [spec])
    return check_samples(given or {}, [spec], "calibration")


def table_of_times(
    given: Samples | Mapping[str, ArrayLike] | None, spec: InputSpec
) -> dict[str, Array] | None:
    """The recording of a sensor in a `.csv` file whose columns are its axes; None: it is none.

    Its lines could be features, too, where there are as many of them as of axes.

    Raises:
        ConfigError: it is one that cannot be read, or is too short.
    """
    path = SampleFile.of(given).path if isinstance(given, SampleFile | Path | str) else Path()
    if spec.sensor is None or path.suffix.lower() not in recordings.SUFFIXES:
        return None
    try:
        return recorded(given, spec)
    except recordings.OtherColumnsError:
        return None


def runs_of_recording(front: FrontEnd, heard: Heard, imported: Graph) -> int:
    """Runs of the model's file in a recording: one, or those of a second where it has a state."""
    if not imported.has_state:
        return 1
    return max(int((front.rate - front.window) // front.hop + 1) // heard.frames, 1)


def steps_of_features(heard: Heard, features: Array, runs: int) -> dict[str, Array]:
    """Features of recordings as the model's file takes them.

    Args:
        heard: what its input is.
        features: float32 [N, frames, features].
        runs: in which it takes the frames of a recording, each as many.

    Returns:
        "x" [N * runs, ...] and, where there are several runs, the first ones as `RESETS`.
    """
    steps = heard.arranged(features.reshape(-1, heard.frames, heard.features))
    if runs == 1:
        return {"x": steps}
    return {"x": steps, RESETS: np.arange(len(steps)) % runs == 0}


def codes_of(front: FrontEnd, samples: Array) -> Array:
    """Recordings, of integers or of numbers of the full scale, as samples of 16 bits."""
    return (
        samples.astype(np.int16)
        if samples.dtype.kind in "iu"
        else front.sample_codes.quantize(samples)
    )


def front_of(report: FrontEndReport) -> FrontEnd:
    """The front end of a build."""
    return FrontEnd(report.text, parameters_of(FrontEndOptions.parse(report.text)))


def faults_of(front: FrontEnd, samples: Array) -> tuple[str, ...]:
    """Sentences on what is wrong with recordings of sound, int16 [N, L]."""
    return sound_faults(samples, int(front.rate)) if front.is_sound else ()


def heard_model(model: IntegerModel, front: FrontEnd | Camera | None) -> IntegerModel:
    """The model that takes sound, or frames of a camera, if it is to be one.

    Raises:
        ConfigError: see `passes.front_end`, `workflow.camera`.
    """
    if front is None:
        return model
    if isinstance(front, Camera):
        return seen_model(model, front)
    heard = heard_by(front, model.imported)
    steps = runs_of_recording(front, heard, model.imported)
    graph, found = with_front_end(model.integer, front, heard, steps * heard.frames)
    samples = graph.only_input
    value = Value(samples, (1, found.window), DType.INT16, front.sample_codes)
    imported = model.imported.replace(
        values={**model.imported.values, samples: value}, inputs=(samples,)
    )
    # The sample before a recording is 0, so at least one comes from the zeros before it.
    remembers = front.remembers or found.remembers
    more = 1 if front.parameters.before and not found.lead and not remembers else 0
    report = FrontEndReport(
        text=front.name,
        rate=front.rate,
        input=own_input(model, found.name),
        window=found.window,
        frames=found.run,
        lead=found.lead,
        warm_up=found.warm_up,
        runs=found.warm_up + steps + more,
        steps=steps,
        axes={samples: 1},
        remembers=remembers,
        sensor_axes=0 if front.is_sound else front.axes,
        full_scale=front.full_scale,
    )
    return replace(model, imported=imported, integer=graph, calibration={}, front_end=report)


def original_inputs(report: FrontEndReport, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Features of recordings, real numbers, as the model's file takes them, and `RESETS` where
    it takes those of a recording in several runs.
    """
    front = front_of(report)
    heard = Heard.of(report.input.shape, front.features, report.input.name)
    (sound,) = (array for name, array in inputs.items() if name in report.axes)
    found = steps_of_features(heard, front.features_of(codes_of(front, sound)), report.steps)
    found[report.input.name] = found.pop("x")
    return found
