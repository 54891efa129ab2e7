"""Frames of a camera before a network that sees images: parameters, and the node."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from edgec.base.camera import (
    AREA,
    BIG,
    BYTES_OF_PIXEL,
    LITTLE,
    MOST_PIXELS,
    MOST_SIDE,
    NEAREST,
    RGB565,
    YUV,
    CameraForm,
    Rectangle,
    middle,
)
from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.options.front_end import IMAGE, NONE, OPTION, bad_parameter
from edgec.base.samples.images import Frame
from edgec.base.samples.normalize import Normalize
from edgec.base.samples.request import InputSpec
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.pixels import pixel_codes
from edgec.ir.qparams import QuantParams

FIT = "fit"
RGB, BGR = "rgb", "bgr"
_GEOMETRY = re.compile(r"([0-9]{1,4})x([0-9]{1,4})(?:\+([0-9]{1,4})\+([0-9]{1,4}))?")
_FRAMES_AT_ONCE = 16
_BYTES = QuantParams.per_tensor(1.0, 0, DType.INT8)


@dataclass(frozen=True, slots=True)
class ImageParameters:
    """A camera's frame becomes the image that a network takes.

    Attributes:
        width, height: columns and rows of the frame.
        pixels: its format: ``rgb565``, ``rgb888``, ``bgr888``, ``yuyv``, ``uyvy`` or ``gray``.
        order: the byte of ``rgb565`` that comes first: ``big``, with red, or ``little``.
        crop: the part that is used: ``fit``, the largest one in the middle that has the shape of
            the image; ``none``, all of it; ``240x240``, in the middle; ``240x240+40+0``, columns
            from the left and rows from the top.
        resize: ``area``, means over areas, or ``nearest``.
        colours: the order of the network's channels: ``rgb`` or ``bgr``.
        scale, mean, std: a byte v becomes ``(v * scale - mean) / std``, with + between the numbers
            of channels; ``none``: the model's file says it.
    """

    NAME: ClassVar[str] = IMAGE

    width: int = 320
    height: int = 240
    pixels: str = RGB565
    order: str = BIG
    crop: str = FIT
    resize: str = AREA
    colours: str = RGB
    scale: str = NONE
    mean: str = NONE
    std: str = NONE

    def __post_init__(self) -> None:
        checks = {
            "width": (1 <= self.width <= MOST_SIDE, f"1 to {MOST_SIDE}"),
            "height": (1 <= self.height <= MOST_SIDE, f"1 to {MOST_SIDE}"),
            "pixels": (self.pixels in BYTES_OF_PIXEL, ", ".join(BYTES_OF_PIXEL)),
            "order": (self.order in (BIG, LITTLE), f"{BIG} or {LITTLE}, of the bytes of {RGB565}"),
            "colours": (self.colours in (RGB, BGR), f"{RGB} or {BGR}"),
            "resize": (self.resize in (AREA, NEAREST), f"{AREA} or {NEAREST}"),
            "crop": (
                self.crop in (FIT, NONE) or _GEOMETRY.fullmatch(self.crop) is not None,
                f"{FIT}, {NONE}, or like 240x240 or 240x240+40+0",
            ),
        }
        for name, (fits, hint) in checks.items():
            if not fits:
                raise bad_parameter(name, getattr(self, name), hint)
        if self.pixels in YUV and self.width % 2:
            raise bad_parameter("width", self.width, f"even, as pixels of {self.pixels} are pairs")
        part = self.part(1, 1)
        beyond = part.top + part.height > self.height or part.left + part.width > self.width
        if beyond or min(part.top, part.left) < 0 or min(part.height, part.width) < 1:
            hint = f"a part of the frame of {self.width}x{self.height} pixels"
            raise bad_parameter("crop", self.crop, hint)
        if part.height * part.width > MOST_PIXELS:
            raise bad_parameter("crop", self.crop, f"at most {MOST_PIXELS:,} pixels")
        self.said()

    @property
    def idle(self) -> dict[str, str]:
        """Parameters that have no effect beside the others, with the reason."""
        return {} if self.pixels == RGB565 else {"order": f"pixels of {self.pixels} have none"}

    def part(self, height: int, width: int) -> Rectangle:
        """The part of a frame that is used for an image of some rows and columns."""
        if self.crop == NONE:
            return Rectangle(self.height, self.width, 0, 0)
        found = _GEOMETRY.fullmatch(self.crop)
        if found is None:
            return middle(self.height, self.width, height, width)
        wide, tall = int(found[1]), int(found[2])
        if found[3] is None:
            return Rectangle(tall, wide, (self.height - tall) // 2, (self.width - wide) // 2)
        return Rectangle(tall, wide, int(found[4]), int(found[3]))

    def said(self) -> Normalize | None:
        """The parameters' own normalization; None: they say nothing of it.

        Raises:
            ConfigError: numbers that cannot be read, or a division by zero.
        """
        given = {"scale": self.scale, "mean": self.mean, "std": self.std}
        parts = [f"{key}={text}" for key, text in given.items() if text != NONE]
        return Normalize.parse(",".join(parts), f"{OPTION} {self.NAME}", "+") if parts else None


@dataclass(frozen=True, slots=True)
class Camera:
    """A camera that is asked for, before it is known what network it is for.

    Attributes:
        name: in reports, with what differs from its defaults.
        parameters: its numbers.
    """

    name: str
    parameters: ImageParameters

    def before(self, spec: InputSpec, *, takes_bytes: bool) -> ImageFrontEnd:
        """The camera of a model; see `ImageFrontEnd.of`."""
        return ImageFrontEnd.of(self.name, self.parameters, spec, takes_bytes=takes_bytes)


@dataclass(frozen=True, slots=True)
class ImageFrontEnd:
    """A camera before a network.

    Attributes:
        name: in reports, with what differs from its defaults.
        parameters: its numbers.
        input: the image that the model takes.
        normalize: how bytes become the model's numbers; None: it takes bytes themselves.
    """

    name: str
    parameters: ImageParameters
    input: Frame
    normalize: Normalize | None

    @classmethod
    def of(
        cls, name: str, p: ImageParameters, spec: InputSpec, *, takes_bytes: bool
    ) -> ImageFrontEnd:
        """The front end of a model.

        Args:
            name: what it is called in reports.
            p: its numbers.
            spec: the model's input, with what its file says of pixels.
            takes_bytes: the model itself takes uint8.

        Raises:
            ConfigError: the input is no image, or has other channels; it is not said, or said
                twice, which numbers it takes.
        """
        image = Frame.found(spec)
        if image is None:
            raise ConfigError(
                f"input {shown(spec.name)} {list(spec.shape)} takes no image",
                where=OPTION,
                hint="images are for inputs [1, 3, H, W], [1, H, W, 3], with 1 for 3, or [1, H, W]",
            )
        # That of an image with other sides than a square may be larger.
        part = p.part(image.height, image.width)
        if part.height * part.width > MOST_PIXELS:
            raise bad_parameter("crop", p.crop, f"at most {MOST_PIXELS:,} pixels")
        if image.channels == 1 and p.colours != RGB:
            raise bad_parameter("colours", p.colours, f"{RGB}: the model takes gray images")
        said = p.said()
        if takes_bytes and said is not None:
            raise ConfigError(
                "the model takes bytes themselves",
                where=OPTION,
                hint="leave out scale, mean and std",
            )
        found = said or spec.normalize
        if found is None and not takes_bytes:
            raise ConfigError(
                "it is not said which numbers the model takes for bytes of 0 to 255",
                where=OPTION,
                hint="add scale=1/255 for 0 to 1, scale=1 for 0 to 255, or scale=1/255,"
                "mean=0.5+0.4+0.4,std=0.2+0.2+0.2 as in training",
            )
        if found is not None:
            found.check(image.channels, OPTION, "+")
        return cls(name, p, image, None if takes_bytes else found)

    @property
    def form(self) -> CameraForm:
        """The frames that it takes."""
        p = self.parameters
        part = p.part(self.input.height, self.input.width)
        return CameraForm(p.height, p.width, p.pixels, p.order, part)

    def images_of(self, frames: Array) -> Array:
        """Frames as the model's file takes them.

        Args:
            frames: int8 or uint8 [N, bytes of a frame].

        Returns:
            [N, ...] in the model's own order of axes: uint8 where it takes bytes, else float32.
        """
        # Sums of pixels take eight times their bytes: some frames at a time.
        starts = range(0, max(len(frames), 1), _FRAMES_AT_ONCE)
        parts = [self._images_of(frames[start : start + _FRAMES_AT_ONCE]) for start in starts]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _images_of(self, frames: Array) -> Array:
        p, image = self.parameters, self.input
        bytes_ = frames.view(np.uint8)
        found = self.form.image(bytes_, image.height, image.width, image.channels, p.resize)
        found = found[..., ::-1] if p.colours == BGR else found
        if self.normalize is not None:
            found = self.normalize.apply(found)
        moved = found.transpose(0, 3, 1, 2) if self.input.channels_first else found
        return np.ascontiguousarray(moved)

    def before(self, graph: Graph, shape: tuple[int, ...]) -> Graph:
        """The network with the camera before it.

        Args:
            graph: INTEGER stage, with one input.
            shape: what the model's own input has.

        Returns:
            A graph whose input is a frame, int8 [1, bytes].

        Raises:
            ConfigError: the input holds whole numbers, no codes.
        """
        name = graph.only_input
        value, image, form = graph.values[name], self.input, self.form
        if value.quant is None:
            hint = "compile a model whose input is float32, int8 or uint8"
            raise ConfigError(
                f"the model takes {value.dtype.value}, no pixels", where=OPTION, hint=hint
            )
        perm = graph.input_layouts.get(name, tuple(range(len(shape))))
        builder = GraphBuilder.of(graph)
        frame = builder.value(
            Value(builder.fresh("frame"), (1, form.frame_bytes), DType.INT8, _BYTES)
        )
        codes = builder.constant("pixel codes", np.stack(pixel_codes(value.quant, self.normalize)))
        p, size = self.parameters, (1, image.height, image.width, image.channels)
        attrs = qops.QFrame(form, *size[1:], p.resize, blue_first=p.colours == BGR)
        found = builder.value(replace(value, name=builder.fresh("image"), shape=size))
        builder.node(found, attrs, qops.QFrame.Inputs(frame, codes), (found,), ("front end",))
        # The image has its channels last; where the graph has them first, they are moved.
        if image.channels > 1 and image.channels_first and perm == tuple(range(4)):
            turned = builder.fresh("image turned")
            builder.value(replace(value, name=turned, shape=graph.shape(name)))
            builder.node(turned, qops.QTranspose((0, 3, 1, 2)), (found,), (turned,))
            found = turned
        elif graph.shape(name) != size:
            made = builder.fresh("image shaped")
            builder.value(replace(value, name=made, shape=graph.shape(name)))
            builder.node(made, qops.QReshape(graph.shape(name)), (found,), (made,))
            found = made
        builder.rewire(name, found)
        builder.inputs = [frame]
        builder.input_layouts = {}
        return builder.build()
