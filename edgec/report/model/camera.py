"""Facts on a network that takes frames of a camera."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.report.model.tensors import TensorReport


@dataclass(frozen=True, slots=True)
class CameraReport:
    """The camera before a network.

    Attributes:
        text: its name with what differs from its defaults, as `--front-end` reads it.
        input: the input of the model's file that its images are for, with how pixels become its
            numbers.
        frame: what a frame holds, in words.
        frame_bytes: its size.
    """

    text: str
    input: TensorReport
    frame: str
    frame_bytes: int
