"""Samples for a compiled model: their form, and the runs that they take.

A model that runs frame by frame takes samples of the whole window as the model's file does, each
for one output, or the frames of runs, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.samples import InputSpec
from edgec.base.samples.request import SensorForm
from edgec.report.model import FrontEndReport, Report, StreamReport, TensorReport
from edgec.workflow.camera import front_of_camera


def input_specs(report: Report) -> list[InputSpec]:
    """Inputs of the compiled model."""
    heard = report.front_end
    rate = None if heard is None or heard.sensor_axes else int(heard.rate)
    sensor = (
        SensorForm(heard.sensor_axes, heard.full_scale) if heard and heard.sensor_axes else None
    )
    camera = None if report.camera is None else front_of_camera(report.camera).form
    return [
        InputSpec(
            tensor.name,
            tensor.shape,
            tensor.length_axis,
            tensor.dtype != "float32",
            tensor.normalize,
            tensor.rows,
            rate,
            sensor,
            camera,
        )
        for tensor in report.inputs
    ]


def frames_of(windows: Array, axis: int, frames: int) -> Array:
    """Windows [N, ...] one after the other, cut into steps of some frames."""
    moved = np.moveaxis(windows, axis, 1)
    kept = moved[:, moved.shape[1] % frames :]
    steps = kept.reshape(-1, frames, *kept.shape[2:])
    return np.ascontiguousarray(np.moveaxis(steps, 1, axis))


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Samples as runs of a model.

    Attributes:
        inputs: [N, ...] by input name, a run each; of a stream, the steps of one.
        rows: the runs whose outputs are wanted, ascending.
        every: runs after which the state is reset; 0: it is not.
    """

    inputs: Mapping[str, Array]
    rows: Array
    every: int = 0

    @property
    def resets(self) -> Array:
        """Before which runs the state is reset, bool [N]."""
        count = len(next(iter(self.inputs.values())))
        return np.asarray(np.arange(count) % (self.every or max(count, 1)) == 0)


def fitting(
    report: Report, read: Callable[[Sequence[InputSpec]], Mapping[str, Array]]
) -> dict[str, Array]:
    """Samples of the model's shape; of a stream these are windows, or else the frames of runs.

    Args:
        report: the report of the build.
        read: gives samples of a form, or raises ConfigError.

    Raises:
        ConfigError: they have neither form.
    """
    specs, stream = input_specs(report), report.steps
    recordings = (".wav", ".csv") if any(spec.sensor for spec in specs) else (".wav",)
    try:
        return dict(read(specs))
    except ConfigError as error:
        labels = error.what.startswith("labels ")
        if stream is None or labels or error.where.endswith(recordings):
            raise
        frames = frame_specs(report, stream)
        try:
            return dict(read(frames))
        except ConfigError:
            forms = (
                f"{shown(each.name)} [N, {', '.join(map(str, each.shape[1:]))}]" for each in frames
            )
            hint = f"give windows of that form, or the frames of runs: {', '.join(forms)}"
            raise ConfigError(error.what, where=error.where, hint=hint) from None


def frame_specs(report: Report, stream: StreamReport | FrontEndReport) -> list[InputSpec]:
    """Inputs whose samples are the frames of a run."""
    return [
        replace(spec, shape=_sized(spec.shape, stream.axes[spec.name], stream.frames), rate=None)
        if spec.name in stream.axes
        else spec
        for spec in input_specs(report)
    ]


def runs_without_output(report: Report, samples: Mapping[str, Array]) -> int:
    """The samples of `fitting` that have none: the first frames of a stream."""
    stream = report.steps
    return stream.warm_up if stream is not None and is_frames(stream, samples) else 0


def is_frames(stream: StreamReport | FrontEndReport, samples: Mapping[str, Array]) -> bool:
    """Whether samples are the frames of runs, not windows."""
    name = next(name for name in stream.axes if name in samples)
    array = samples[name]
    return array.ndim > stream.axes[name] and array.shape[stream.axes[name]] == stream.frames


def steps_of(report: Report, samples: Mapping[str, Array]) -> Steps:
    """Samples [N, ...] by input as the runs that they take.

    Of a stream, each window is brought whole, so that what was before it plays no part.  Frames
    before its first one, which a stream that has no padding may ask for, are zeros, as those after
    its last one where outputs come late.

    Raises:
        ConfigError: frames that are too few for an output.
    """
    stream = report.steps
    count = len(next(iter(samples.values())))
    if stream is None:
        return Steps(samples, np.arange(count))
    if is_frames(stream, samples):
        if count < stream.runs:
            raise ConfigError(
                f"the first output comes after {stream.runs} runs, and there are frames of {count}",
                where="samples",
                hint=f"give {stream.runs * stream.frames} frames or more",
            )
        return Steps(samples, np.arange(stream.warm_up, count))
    inputs = {tensor.name: _steps(samples[tensor.name], tensor, stream) for tensor in report.inputs}
    heard = report.front_end
    every = stream.runs if heard is not None and heard.remembers else 0
    return Steps(inputs, np.arange(1, count + 1) * stream.runs - 1, every)


def _steps(windows: Array, tensor: TensorReport, stream: StreamReport | FrontEndReport) -> Array:
    """Windows of one input as steps; of one without frames each as often as there are steps."""
    if tensor.name not in stream.axes:
        return np.repeat(windows, stream.runs, axis=0)
    axis, total = stream.axes[tensor.name], stream.runs * stream.frames
    size = windows.shape[axis]
    around = [(0, 0)] * windows.ndim
    around[axis] = (max(0, total - size - stream.delay), stream.delay)
    whole = np.pad(windows, around, constant_values=_zero(tensor))
    last = np.moveaxis(whole, axis, 1)[:, -total:]
    return frames_of(np.moveaxis(last, 1, axis), axis, stream.frames)


def _zero(tensor: TensorReport) -> int:
    """The number of silence as the model takes it."""
    if tensor.dtype == "float32":
        return 0
    zero_point = int(np.asarray(tensor.quant.zero_point).flat[0])
    return zero_point + 128 if tensor.dtype == "uint8" else zero_point


def stacked(codes: Array, tensor: TensorReport, less: int) -> Array:
    """Outputs of samples [N, ...]: along the batch axis, or a new one where there is none."""
    shape = tensor.library_shape_less(less)
    sample = shape[1:] if tensor.shape[:1] == (1,) else shape
    return codes.reshape(len(codes), *sample)


def about_outputs(
    report: Report, samples: Mapping[str, Array], labels: Array | None
) -> dict[str, Any]:
    """Samples of the model's shape and labels, one for each output that `steps_of` wants.

    Args:
        report: the report of the build.
        samples: windows, or the frames of runs, [N, ...] by input.
        labels: [N]; None: not known.

    Returns:
        `samples` and `labels`.
    """
    stream = report.steps
    if stream is None or not is_frames(stream, samples):
        return {"samples": samples, "labels": labels}
    rows = steps_of(report, samples).rows
    return {
        "samples": {name: _windows(stream, name, each, rows) for name, each in samples.items()},
        "labels": None if labels is None else labels[rows],
    }


def _windows(stream: StreamReport | FrontEndReport, name: str, frames: Array, rows: Array) -> Array:
    """The window that each output is about; zeros before the first frame, which play no part."""
    if name not in stream.axes:
        return frames[rows]
    axis = stream.axes[name]
    moved = np.moveaxis(frames, axis, 1)
    line = moved.reshape(-1, *moved.shape[2:])
    line = np.concatenate([np.zeros((stream.window, *line.shape[1:]), line.dtype), line])
    ends = stream.window + (rows + 1) * stream.frames - stream.delay
    cut = np.stack([line[end - stream.window : end] for end in ends])
    return np.ascontiguousarray(np.moveaxis(cut, 1, axis))


def _sized(shape: tuple[int, ...], axis: int, count: int) -> tuple[int, ...]:
    return (*shape[:axis], count, *shape[axis + 1 :])
