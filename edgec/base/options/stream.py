"""Options of a network that runs frame by frame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from edgec.base.errors import ConfigError, Effect, refuse_without_effect

_MOST_FRAMES = 1_000_000


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """A window of time that becomes a stream.

    Attributes:
        axes: axis of time of each input that brings frames, in the model's order of axes; the name
            "" stands for the only input.
        frames: frames that a run brings; None: the fewest.
        allow_delay: outputs may come some frames late, where the network looks ahead.
    """

    axes: Mapping[str, int] = field(default_factory=dict)
    frames: int | None = None
    allow_delay: bool = False

    @classmethod
    def parse(
        cls, texts: Sequence[str], frames: int | None, allow_delay: bool
    ) -> StreamOptions | None:
        """Axes like ``1`` or ``x=1``, once for each input; None where there are none.

        Raises:
            ConfigError: not of that form, no number of frames, or an option without effect.
        """
        needs = "is about a network that runs frame by frame", "add --stream AXIS"
        refuse_without_effect(
            [
                Effect("--stream-frames", frames is not None, bool(texts), *needs),
                Effect("--allow-delay", allow_delay, bool(texts), *needs),
            ]
        )
        if not texts:
            return None
        axes: dict[str, int] = {}
        for text in texts:
            name, separator, axis = text.rpartition("=")
            fits = re.fullmatch("[0-9]{1,2}", axis) and bool(name) == bool(separator)
            if not fits or name in axes or ("" in (*axes, name) and axes):
                raise ConfigError(
                    f"cannot read {text[:60]!r}",
                    where="--stream",
                    hint="like --stream 1, or --stream x=1 for each input that brings frames",
                )
            axes[name] = int(axis)
        if frames is not None and not 1 <= frames <= _MOST_FRAMES:
            raise ConfigError(
                f"a run cannot bring {frames} frames",
                where="--stream-frames",
                hint="give 1 or more",
            )
        return cls(axes, frames, allow_delay)
