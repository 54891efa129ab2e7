"""Facts on a network that takes samples of sound or of a sensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edgec.report.model.tensors import TensorReport


@dataclass(frozen=True, slots=True)
class FrontEndReport:
    """The front end of a network, and the samples that its runs take.

    Attributes:
        text: its name with what differs from its defaults, as `--front-end` reads it.
        rate: samples a second, of all axes together.
        input: the input of the model's file that its features are for.
        window: samples that an output depends on; of one that depends on all sound, those of a
            recording.
        frames: samples that a run takes.
        lead: zeros before the first sample of a stream, which `push_samples` adds.
        warm_up: runs after a reset that give no output yet.
        runs: runs in which all of a recording of `window` samples is brought.
        axes: axis of time by input.
        delay: always 0: no output is about earlier samples.
        remembers: outputs depend on all sound since the last reset, so each recording begins with
            one.
        steps: runs of the model's file in a recording; more than one where it has a state.
        sensor_axes: axes of a sensor, whose samples come in turn; 0: it takes sound.
        full_scale: the number that a sample of 32768 stands for.
    """

    text: str
    rate: int | float
    input: TensorReport
    window: int
    frames: int
    lead: int
    warm_up: int
    runs: int
    axes: Mapping[str, int]
    delay: int = 0
    remembers: bool = False
    steps: int = 1
    sensor_axes: int = 0
    full_scale: float = 1.0
