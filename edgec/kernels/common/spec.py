"""Parts that kernel specifications share.

Specifications that take the numbers of another one.

Names of C functions that layers share: one for each set of numbers that are compiled in.

Functions that layers of several shapes share: how many layers do, and whether it pays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from edgec.base.digests import canonical_digest
from edgec.kernels.common.window import Window
from edgec.target.target import Sharing


@dataclass(frozen=True, slots=True)
class Loop:
    """One of several nested loops over memory, outermost first.

    Attributes:
        size: iterations.
        strides: elements between two iterations, one entry per operand; 0 repeats, negative runs
            backwards.
    """

    size: int
    strides: tuple[int, ...]


VARIABLE = "variable"
"""Name of the field of a specification that serves shorter runs, too (`kernels.common.lengths`):
the sizes of the longest are compiled in, those of a run are the function's last arguments."""


@dataclass(frozen=True, slots=True)
class Plain:
    """Base of kernels without scratch and without multiply-accumulates."""

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def macs(self) -> int:
        """Always 0."""
        return 0


def describe_window(window: Window) -> str:
    """A window in words."""
    size = f"{window.kernel_h}x{window.kernel_w}"
    stride = f"stride {window.stride_h}x{window.stride_w}"
    dilation = f", dilation {window.dilation_h}x{window.dilation_w}"
    return f"{size} window, {stride}{dilation if window.reach_w > window.kernel_w else ''}"


def describe_image(height: int, width: int, channels: int) -> str:
    """The shape of an image in words."""
    return f"[{height}, {width}, {channels}]"


def fields_of(spec: Any) -> dict[str, Any]:
    """The fields of a specification, as keyword arguments of a class that derives from its own."""
    return {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}


_DIGITS = 12
"""Digits of a digest: two keys of one model meet with a chance below 1 in 10^10."""


def shared_name(stem: str, key: object) -> str:
    """The name of the function that all layers share whose constants are those of `key`.

    Args:
        stem: how the name begins.
        key: plain data (`edgec.base.digests`): all that the text of the function depends on.
    """
    return f"{stem}_{canonical_digest(key)[:_DIGITS]}"


CALLED = "called"
"""Field of a specification that holds that of another kernel, whose C function it calls."""
CALLED_NAME = "part"
"""Suffix of the C name of the called function."""
LEAST = 4
"""Shapes of layers that save more by sharing than the shared functions are larger.  Source: code
bytes of MLPerf Tiny's networks, `docs/benchmarks-speed.md`: a shape saves 150 bytes on the
Cortex-M4, 460 on the M0+ and 320 on the M3; the shared functions are larger by 130, 1,340 and
1,470."""


@runtime_checkable
class MayShare(Protocol):
    """A specification of a kernel whose functions layers of other shapes may call as well."""

    @property
    def shares_functions(self) -> bool:
        """Layers of other shapes call the same functions."""


def sharing_shapes(specs: Iterable[object]) -> int:
    """Number of specifications, each counted once, that share functions.

    Args:
        specs: specifications of a network's kernels; equal ones are one function anyway.
    """
    return len({spec for spec in specs if isinstance(spec, MayShare) and spec.shares_functions})


def by_itself(spec: Any) -> Any:
    """The specification whose functions no layer of another shape calls, nor those it calls."""
    changes: dict[str, object] = {}
    for each in dataclasses.fields(spec):
        if each.name == "sharing":
            changes[each.name] = Sharing.NOTHING
        elif each.name == CALLED:
            changes[each.name] = by_itself(getattr(spec, CALLED))
    return dataclasses.replace(spec, **changes) if changes else spec
