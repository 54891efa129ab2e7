"""Requests to readers of sample files, their results, and the limit of their size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from edgec.base.camera import CameraForm
from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.limits import MAX_SAMPLE_BYTES
from edgec.base.samples.normalize import Normalize


@dataclass(frozen=True, slots=True)
class SensorForm:
    """Recordings of a sensor, of which a front end takes samples of 16 bits.

    Attributes:
        axes: whose samples come in turn.
        full_scale: the number that a sample of 32768 stands for.
    """

    axes: int
    full_scale: float


@dataclass(frozen=True, slots=True)
class InputSpec:
    """Shape, element kind and normalization of one model input.

    Attributes:
        shape: the model's own input shape, batch axis (1) included.
        length_axis: axis of `shape` on which samples may be shorter: tokens.
        integers: the model takes integers, so that integer samples are its codes.
        normalize: how the file of the model says that pixels become its numbers.
        rows: number of rows of the table from which the integers choose, each at least 0 and less
            than this; None: they choose from none.
        rate: samples a second of sound that it takes as 16 bits; a longer recording gives what it
            begins with, or several samples; None: it takes none.
        sensor: what recordings of a sensor it takes; None: it takes none.
        camera: what frames of a camera it takes, as bytes; None: it takes none.
    """

    name: str
    shape: tuple[int, ...]
    length_axis: int | None = None
    integers: bool = False
    normalize: Normalize | None = None
    rows: int | None = None
    rate: int | None = None
    sensor: SensorForm | None = None
    camera: CameraForm | None = None

    @property
    def sample(self) -> tuple[int, ...]:
        """Shape of one sample, the longest where lengths differ."""
        return self.shape[1:]

    @property
    def elements(self) -> int:
        """Numbers in one sample, the longest where lengths differ."""
        return math.prod(self.sample)

    def of_length(self, shape: tuple[int, ...]) -> InputSpec:
        """The input in a run that is as long as samples of the shape [N, ...]."""
        if self.length_axis is None or len(shape) < len(self.shape):
            return self
        sizes = list(self.shape)
        given = shape[self.length_axis - len(sizes)]
        sizes[self.length_axis] = min(max(given, 1), sizes[self.length_axis])
        return replace(self, shape=tuple(sizes), length_axis=None)


@dataclass(frozen=True, slots=True)
class Request:
    """Request to a reader of a sample file.

    Attributes:
        inputs: what the model takes.
        labels: labels are wanted as well.
        normalize: how pixels and recordings become the model's numbers; None: not said.
        resample: recordings of another rate than the input's are brought to it.
        classes: names of the model's classes, in its order; empty where its file names none.
    """

    inputs: tuple[InputSpec, ...]
    labels: bool = False
    normalize: Normalize | None = None
    classes: tuple[str, ...] = ()
    resample: bool = False

    @property
    def single(self) -> InputSpec:
        """The only input, for formats that hold one array.

        Raises:
            ConfigError: the model has several.
        """
        if len(self.inputs) != 1:
            names = ", ".join(repr(spec.name) for spec in self.inputs)
            raise ConfigError(
                f"holds one array, and the model has {len(self.inputs)} inputs",
                hint=f"give a .npz file with the arrays {names}",
            )
        return next(iter(self.inputs))


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Arrays that a reader found in a sample file.

    Attributes:
        arrays: by name: "x" or the input's name, first axis counts samples; "y" are labels.
        listing: all that the file holds, for messages.
        why_no_labels: why the format has none; "" where it can have them.
    """

    arrays: Mapping[str, Array]
    listing: str
    why_no_labels: str = ""


def listing_of(shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Names and shapes of arrays, for messages."""
    return ", ".join(f"{name} {list(shape)}" for name, shape in shapes.items()) or "nothing"


def check_size(samples: int, spec: InputSpec, item_bytes: int = 4) -> None:
    """Refuse more samples than may be read, before memory is asked for.

    Raises:
        ConfigError: they take more than `MAX_SAMPLE_BYTES`.
    """
    size = samples * spec.elements * item_bytes
    if size > MAX_SAMPLE_BYTES:
        raise ConfigError(
            f"{samples:,} samples take {size >> 20:,} MB of memory",
            hint=f"give less than {MAX_SAMPLE_BYTES >> 20:,} MB; some hundred samples calibrate",
        )
