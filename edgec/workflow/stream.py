"""From a model that takes the whole window to one that takes a few frames a run."""

from __future__ import annotations

from dataclasses import replace

from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.options import StreamOptions
from edgec.ir.graph import Graph
from edgec.passes.hold_carried import hold_carried
from edgec.passes.stream import Streamed, check_window, streamed
from edgec.workflow.integer import IntegerModel
from edgec.workflow.model_samples import frames_of

_OPTION = "--stream"


def stream_axes(graph: Graph, options: StreamOptions | None) -> dict[str, int]:
    """Axis of time by input, in the graph's order of axes.

    Args:
        graph: a graph of any stage, with the layouts of its inputs.
        options: what the user said; None: nothing.

    Raises:
        ConfigError: there is no such input or axis, or no window to keep frames of.
    """
    if options is None:
        return {}
    found = {}
    for name, axis in options.axes.items():
        if not name and len(graph.inputs) > 1:
            names = ", ".join(map(shown, graph.inputs))
            raise ConfigError(
                f"which input brings frames is not said: {names}",
                where=_OPTION,
                hint=f"like --stream {shown(graph.inputs[0])}={axis}",
            )
        if name and name not in graph.inputs:
            names = ", ".join(map(shown, graph.inputs))
            raise ConfigError(f"there is no input {shown(name)}", where=_OPTION, hint=names)
        own = name or graph.inputs[0]
        shape = model_shape(graph, own)
        if not 1 <= axis < len(shape):
            raise ConfigError(
                f"axis {axis} of {shown(own)} is no axis of time: its shape is {list(shape)}",
                where=_OPTION,
                hint=f"axis 0 is the batch; give 1 to {len(shape) - 1}",
            )
        perm = graph.input_layouts.get(own, tuple(range(len(shape))))
        found[own] = perm.index(axis)
    check_window(graph, found, options.frames)
    return found


def model_shape(graph: Graph, name: str) -> tuple[int, ...]:
    """Shape of an input in the model's order of axes."""
    shape, perm = graph.shape(name), graph.input_layouts.get(name)
    if perm is None:
        return shape
    return tuple(shape[perm.index(axis)] for axis in range(len(shape)))


def with_stream(model: IntegerModel, options: StreamOptions | None) -> IntegerModel:
    """The model that takes a few frames a run, if it is to be one, of that of the whole window.

    Its calibration data become the steps of one stream.

    Raises:
        ConfigError, UnsupportedModelError: see `passes.stream.streamed`.
    """
    if options is None:
        return model
    axes = stream_axes(model.integer, options)
    found = streamed(model.integer, axes, options.frames, options.allow_delay)
    found = replace(found, graph=hold_carried(found.graph))
    steps = {
        name: frames_of(array, axes[name], found.frames) if name in axes else array
        for name, array in model.calibration.items()
    }
    least = min((len(array) for array in steps.values()), default=0)
    return replace(
        model,
        integer=found.graph,
        calibration={name: array[:least] for name, array in steps.items()},
        stream=found,
    )


def model_axes(graph: Graph, found: Streamed) -> dict[str, int]:
    """Axis of time by input and output, in the model's order of axes."""
    layouts = {**graph.input_layouts, **graph.output_layouts}
    return {
        name: layouts[name][axis] if name in layouts else axis for name, axis in found.axes.items()
    }
