"""Frames of a value of a stream: where they stand in the window, and what they were computed from.

A network with a window of time computes each value for all frames of the window.  In a stream a
run brings a few new frames and computes the frames of each value that are new then.  The arithmetic
here says which those are.  It takes the network without its padding in time, with all frames that
ever were before the window and all that will be after it: a frame that padding reaches in the
window is another number there.

Positions of frames are those in the window of the value, from 0 on; positions before and after the
window are frames of the stream as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of a value over time.

    Attributes:
        axis: axis of the value that counts them.
        length: frames of the whole window.
        stride: frames of the input from one of them to the next.
        delay: how many frames before the last one of the window the newest of a run stands.
        depth: frames of the input, counted back from the newest of the run, that the newest one
            depends on.
        front, back: frames at both ends of the window that its padding reaches.
    """

    axis: int
    length: int
    stride: int = 1
    delay: int = 0
    depth: int = 1
    front: int = 0
    back: int = 0

    @property
    def delay_of_input(self) -> int:
        """The delay in frames of the input."""
        return self.delay * self.stride


@dataclass(frozen=True, slots=True)
class Result:
    """A value that a run computes whole, from the frames of a window.

    Attributes:
        depth: frames of the input, counted back from the newest of the run, that it depends on.
        delay: frames of the input before the newest of the run at which its window ends.
        padded: padding of the window would reach it: there it is another number.
    """

    depth: int
    delay: int
    padded: bool


@dataclass(frozen=True, slots=True)
class Window:
    """A window over time, as convolutions and pooling have it.

    Attributes:
        reach: frames from its first tap to its last one, both counted.
        stride: frames between two positions.
        before, after: frames of padding at both ends; negative where the first position begins
            later than the input, as it may in a slice.
    """

    reach: int = 1
    stride: int = 1
    before: int = 0
    after: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether each frame is computed from the frame at its place."""
        return self == Window()


@dataclass(frozen=True, slots=True)
class Step:
    """A window over frames of a stream.

    Attributes:
        frames: what it gives.
        spare: newest frames of the input that it does not read yet.
    """

    frames: Frames
    spare: int


def windowed(own: Frames, window: Window, length: int, least_delay: int = 0) -> Step:
    """The frames that a window over time gives.

    Args:
        own: the frames that it reads.
        window: the window.
        length: frames that it gives for the whole window of `own`.
        least_delay: delay that the result has at least, in its own frames.
    """
    reach, stride, before = window.reach, window.stride, window.before
    # Position i reads i * stride - before and the `reach` - 1 frames after it.
    room = own.length - own.delay - reach + before
    newest = min(length - 1 - least_delay, room // stride)
    spare = room - newest * stride
    first_padded = -(-(own.length - own.back - reach + 1 + before) // stride)
    found = replace(
        own,
        length=length,
        stride=own.stride * stride,
        delay=length - 1 - newest,
        depth=own.depth + (spare + reach - 1) * own.stride,
        front=_within(-(-(own.front + before) // stride), length),
        back=_within(length - first_padded, length),
    )
    return Step(found, spare)


def whole(own: Frames, skipped: int = 0) -> Result:
    """A result of the frames of the window but the first `skipped` ones."""
    return Result(
        depth=own.depth + (own.length - skipped - 1) * own.stride,
        delay=own.delay_of_input,
        padded=own.back > 0 or own.front > skipped,
    )


def _within(count: int, most: int) -> int:
    return max(0, min(count, most))
