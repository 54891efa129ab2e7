"""Operators and short chains that move elements, one for each kind that networks hold.

Each takes a sketch and a tensor [1, 4, 6, 8] or the number of axes that it says, and adds nodes.
"""

from __future__ import annotations

from collections.abc import Callable

from sketch import Sketch

from edgec.ir import ops

Movement = Callable[[Sketch, str], str]


def _slice(starts: tuple[int, ...], steps: tuple[int, ...], sizes: tuple[int, ...]) -> Movement:
    return lambda s, x: s(ops.Slice(starts, steps, sizes), x)


def _chain(*attrs: object) -> Movement:
    def add(s: Sketch, x: str) -> str:
        for each in attrs:
            x = s(each, x)
        return x

    return add


def _pad(mode: ops.PadMode) -> Movement:
    return _chain(ops.Pad(((0, 0), (1, 0), (0, 1), (2, 1)), mode))


SHAPE = (1, 4, 6, 8)
MOVEMENTS: dict[str, Movement] = {
    "slice of channels": _slice((0, 0, 0, 2), (1, 1, 1, 1), (1, 4, 6, 4)),
    "slice of rows": _slice((0, 1, 0, 0), (1, 1, 1, 1), (1, 2, 6, 8)),
    "reversed channels": _slice((0, 0, 0, 7), (1, 1, 1, -1), SHAPE),
    "every other channel": _slice((0, 0, 0, 1), (1, 1, 1, 2), (1, 4, 6, 4)),
    "concat of channels": lambda s, x: s(ops.Concat(3), x, s.normal("k", 1, 4, 6, 3), x),
    "concat of rows": lambda s, x: s(ops.Concat(1), s.normal("k", 1, 1, 6, 8), x),
    "tile": lambda s, x: s(ops.Concat(2), x, x, x),
    "flatten": _chain(ops.Reshape((1, 192))),
    "reshape to fewer channels": _chain(ops.Reshape((1, 8, 6, 4))),
    "reshape to other channels": _chain(ops.Reshape((1, 4, 4, 12))),
    "squeeze": _chain(ops.Reshape((4, 6, 8))),
    "transpose": _chain(ops.Transpose((0, 3, 1, 2))),
    "transpose of rows": _chain(ops.Transpose((0, 2, 1, 3))),
    "depth to space, DCR": _chain(
        ops.Reshape((1, 4, 6, 2, 2, 2)),
        ops.Transpose((0, 1, 3, 2, 4, 5)),
        ops.Reshape((1, 8, 12, 2)),
    ),
    "depth to space, CRD": _chain(
        ops.Reshape((1, 4, 6, 2, 2, 2)),
        ops.Transpose((0, 1, 4, 2, 5, 3)),
        ops.Reshape((1, 8, 12, 2)),
    ),
    "channel shuffle": _chain(
        ops.Reshape((1, 4, 6, 2, 4)), ops.Transpose((0, 1, 2, 4, 3)), ops.Reshape(SHAPE)
    ),
    "pad": _pad(ops.PadMode.CONSTANT),
    "pad by reflection": _pad(ops.PadMode.REFLECT),
    "pad with the edge": _pad(ops.PadMode.EDGE),
    "expand": _chain(ops.Slice((0, 0, 0, 0), (1, 1, 1, 1), (1, 1, 6, 8)), ops.Expand((2, 4, 6, 8))),
}
"""By name; those that change places of channels but not their number are among them."""
