"""Networks with a camera before them: frames as samples of their file, builds that take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from edgec.base.camera import BIG, RGB565, CameraForm
from edgec.base.description import Description
from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.base.options.front_end import OPTION, FrontEndOptions
from edgec.base.samples import InputSpec, SampleFile, Samples, check_samples, load_samples
from edgec.frontends.image import Camera, ImageFrontEnd
from edgec.frontends.parameters import image_parameters_of
from edgec.ir.graph import Graph, Value
from edgec.report.model import CameraReport
from edgec.workflow.own_input import own_input

if TYPE_CHECKING:
    from edgec.workflow.integer import IntegerModel

_SAID = "the front end says it: scale, mean and std of --front-end image"


def camera_before(camera: Camera, imported: Graph, about: Description) -> ImageFrontEnd:
    """The camera of a model.

    Args:
        camera: what is asked for.
        imported: REAL stage as imported.
        about: what its file says of pixels.

    Raises:
        ConfigError: it has several inputs or a state; see `ImageFrontEnd.of`.
    """
    count = len(imported.inputs)
    if count != 1:
        what = f"a front end needs a model with one input, and this one has {count}"
        raise ConfigError(what, where=OPTION)
    if imported.has_state:
        raise ConfigError("a camera needs a model without a state", where=OPTION)
    name = imported.only_input
    spec = InputSpec(name, imported.shape(name), normalize=about.normalize.get(name))
    return camera.before(spec, takes_bytes=imported.values[name].dtype is DType.UINT8)


def frame_spec(name: str, front: ImageFrontEnd) -> InputSpec:
    """An input whose samples are frames, int8 [N, bytes]."""
    form = front.form
    return InputSpec(name, (1, form.frame_bytes), integers=True, camera=form)


def seen(
    front: ImageFrontEnd,
    given: Samples | Mapping[str, ArrayLike] | None,
    name: str,
    own: Callable[[], dict[str, Array] | None],
) -> dict[str, Array] | None:
    """Calibration data as the model's file takes them.

    Args:
        front: the camera.
        given: files of images, or arrays of frames or of the model's own numbers.
        name: the model's input.
        own: reads the latter.

    Raises:
        ConfigError: they have neither form.
    """
    if given is None:
        return None
    spec = frame_spec(name, front)
    try:
        if not isinstance(given, Mapping):
            file = SampleFile.of(given)
            refuse_without_effect([Effect("--normalize", file.normalize is not None, False, _SAID)])
            frames = load_samples(file, [spec])[name]
        else:
            frames = check_samples(given, [spec], "calibration")[name]
    except ConfigError as error:
        if isinstance(given, SampleFile) and (given.path.is_dir() or given.normalize is not None):
            raise
        try:
            return own()
        except ConfigError:
            raise error from None
    return {name: front.images_of(frames)}


def seen_model(model: IntegerModel, camera: Camera) -> IntegerModel:
    """The model that takes frames.

    Raises:
        ConfigError: see `camera_before`.
    """
    front = camera_before(camera, model.imported, model.about)
    name = model.imported.only_input
    graph = front.before(model.integer, model.imported.shape(name))
    frame = graph.only_input
    value = Value(frame, graph.shape(frame), DType.INT8, graph.values[frame].quant)
    imported = model.imported.replace(
        values={**model.imported.values, frame: value}, inputs=(frame,)
    )
    own = replace(own_input(model, name), normalize=front.normalize)
    report = CameraReport(front.name, own, _words(front.form), front.form.frame_bytes)
    return replace(model, imported=imported, integer=graph, calibration={}, camera=report)


def camera_of(options: FrontEndOptions) -> Camera:
    """The camera that is asked for.

    Raises:
        ConfigError: a parameter is unknown or out of range.
    """
    return Camera(str(options), image_parameters_of(options))


def _words(form: CameraForm) -> str:
    """The pixels of a frame, in words."""
    order = f", {'red' if form.order == BIG else 'blue'} first" if form.pixels == RGB565 else ""
    return f"{form.width} x {form.height} pixels of {form.pixels}{order}"


def front_of_camera(report: CameraReport) -> ImageFrontEnd:
    """The camera of a build."""
    tensor = report.input
    spec = InputSpec(tensor.name, tensor.shape, normalize=tensor.normalize)
    camera = camera_of(FrontEndOptions.parse(report.text))
    return camera.before(spec, takes_bytes=tensor.dtype == "uint8")


def original_images(report: CameraReport, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Frames as the model's file takes them, by the name of its input."""
    (frames,) = inputs.values()
    front = front_of_camera(report)
    return {report.input.name: front.images_of(np.ascontiguousarray(frames.astype(np.int8)))}
