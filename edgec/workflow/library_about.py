"""Pixels and labels of a compiled model, for the helper functions in its header."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from edgec.base.dtypes import DType
from edgec.base.errors import ConfigError
from edgec.base.options import App
from edgec.base.samples import InputSpec, Normalize, SampleFile
from edgec.base.samples.images import Frame, holds_images
from edgec.codegen.about import LibraryAbout, PixelInput
from edgec.workflow.integer import Calibration, IntegerModel, input_specs
from edgec.workflow.labels import fits_labels, is_label


def library_about(
    model: IntegerModel, calibration: Calibration, pixels: Normalize | None, app: App
) -> LibraryAbout:
    """The facts for helper functions.

    Args:
        model: the model.
        calibration: its calibration data; images among them say how pixels are normalized.
        pixels: how pixels become the model's numbers, if the user said it.
        app: the main program of the firmware.

    Raises:
        ConfigError: no input takes the pixels that the user speaks of.
    """
    if model.camera is not None:
        return replace(_with_labels(model), frame=f"{model.camera.frame}, rows from the top")
    specs = input_specs(model.imported, model.about)
    images = [_Image.of(model, spec) for spec in specs]
    chosen = pixels or _of_images(calibration)
    found = {
        number: pixel
        for number, image in enumerate(images)
        if image is not None and (pixel := image.pixels(chosen)) is not None
    }
    # A runner's input need not be an image.
    is_asked = pixels is not None and app is App.CONSOLE
    if is_asked and all(pixel.normalize is None for pixel in found.values()):
        raise ConfigError(
            "no input of the model takes images",
            where="--pixels",
            hint="images are for inputs [1, 3, H, W], [1, H, W, 3], with 1 for 3, or [1, H, W]",
        )
    return replace(_with_labels(model), pixels=found)


def _with_labels(model: IntegerModel) -> LibraryAbout:
    """The facts on classes."""
    outputs = model.imported.outputs
    labels = _fitting_labels(model)
    labelled = next((number for number, name in enumerate(outputs) if name in labels), 0)
    return LibraryAbout(labels=labels.get(outputs[labelled], ()), labelled=labelled)


def _of_images(calibration: Calibration) -> Normalize | None:
    """Normalization of the calibration images, if there are some."""
    if calibration is None or isinstance(calibration, Mapping):
        return None
    file = SampleFile.of(calibration)
    return file.normalize if holds_images(file.path) else None


@dataclass(frozen=True, slots=True)
class _Image:
    """An input that codes of pixels may fill.

    Attributes:
        spec: the input.
        frame: the images that it takes; None: it takes none, only bytes.
        takes_bytes: the model itself takes uint8.
    """

    spec: InputSpec
    frame: Frame | None
    takes_bytes: bool

    @classmethod
    def of(cls, model: IntegerModel, spec: InputSpec) -> _Image | None:
        """An input as one; None: its codes stand for something else."""
        dtype = model.imported.values[spec.name].dtype
        has_codes = dtype in (DType.FLOAT32, DType.INT8, DType.UINT8)
        # What takes a few frames a run takes no images.
        takes_all = math.prod(model.integer.shape(spec.name)) == math.prod(spec.shape)
        if not has_codes or not takes_all or spec.name in model.integer.input_features:
            return None
        return cls(spec, Frame.found(spec), dtype is DType.UINT8)

    def pixels(self, given: Normalize | None) -> PixelInput | None:
        """Pixels as the input takes them: as given, else as the model's file says, else None."""
        if self.frame is not None and given is not None:
            given.check(self.frame.channels, "--pixels")
            return PixelInput(given, self.frame.channel_axis)
        own = self.spec.normalize
        if self.frame is not None and own is not None and own.fits(self.frame.channels):
            return PixelInput(own, self.frame.channel_axis)
        return PixelInput(None, None) if self.takes_bytes else None


def _fitting_labels(model: IntegerModel) -> dict[str, tuple[str, ...]]:
    """Labels by output, of those that have one for each element or are the number of one."""
    found = {}
    for name, labels in model.about.labels.items():
        value = model.imported.values.get(name)
        if value is None or not labels or not all(map(is_label, labels)):
            continue
        if fits_labels(value.shape, value.dtype.value, len(labels)):
            found[name] = labels
    return found
