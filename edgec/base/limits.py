"""Limits of what edgec reads and works on, in one place; docs/limits.md is their table.

They bound time and memory for files that nobody vouches for.  What passes a limit is refused with
one message, before work is done for it.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_MODEL_BYTES = 512 << 20
"""Most bytes of a model file; a model of a microcontroller is far smaller."""
MAX_EXTERNAL_BYTES = 512 << 20
"""Most bytes of all external data of a model."""
MAX_ELEMENTS = 2**31 - 1
"""Most elements of one tensor; indices are 32-bit on the target."""
MAX_RANK = 8
"""Most dimensions of a tensor; numpy stops at 64, and nobody needs as many."""
MAX_NODES = 20_000
"""Most operators of a model; 10,000 in a chain take about a minute."""
MAX_LOOPS = 256
"""Most loops of a model."""
MAX_LOOP_DEPTH = 8
"""Most loops within one another."""
MAX_TURNS = 1_000_000
"""Most turns of a loop in a run, those of the loops around it multiplied."""
MAX_TURN_CONSTANTS = 1 << 20
"""Most elements, of all turns, of a constant that differs from turn to turn."""
MAX_ENDS = 2_000
"""Most inputs, and most outputs, of a model; all of them are alive at one time."""
MAX_ACTIVATION_ELEMENTS = 1 << 23
"""Most elements of an activation: calibration keeps several of them in float64."""
MAX_WEIGHT_ELEMENTS = 1 << 25
"""Most elements of all constants of a model together."""
MAX_TERMS = 4
"""Most vectors of a weight pool that are added up to one vector of a layer."""
MAX_WINDOW_CELLS = 1 << 15
"""Largest kernel, stride, dilation or padding along one axis."""
MAX_WINDOW_TAPS = 1 << 16
"""Most cells of the window of a convolution or of a pooling operator."""
MAX_SAMPLE_BYTES = 4 << 30
"""Most bytes of the samples of one input."""
MAX_BOARD_BYTES = 64 << 10
"""Largest board or project file."""
MAX_TUNE_BYTES = 4 << 20
"""Largest tune file: some thousand layers."""
MAX_BOARD_LINE = 1_000
"""Longest line of a board file: the time that a key of many parts takes grows as its square."""
SWEEP_BLOCK_NODES = 128
"""Nodes that a pass rewrites at a time in a large graph."""
SWEEP_WHOLE_NODES = 1_000
"""Nodes of the largest graph that a pass rewrites as a whole."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A row of docs/limits.md.

    Attributes:
        what: what is limited.
        most: how much of it there may be, in the unit.
        unit: bytes, elements, or what else is counted.
    """

    what: str
    most: int
    unit: str

    @property
    def text(self) -> str:
        """The limit for people: sizes in binary units."""
        for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
            if self.unit == "bytes" and self.most % (1 << shift) == 0:
                return f"{self.most >> shift} {unit}"
        return f"{self.most:,} {self.unit}"


LIMITS = (
    Limit("model file", MAX_MODEL_BYTES, "bytes"),
    Limit("external data of a model, together", MAX_EXTERNAL_BYTES, "bytes"),
    Limit("operators of a model", MAX_NODES, "operators"),
    Limit("inputs of a model; outputs likewise", MAX_ENDS, "tensors"),
    Limit("loops of a model", MAX_LOOPS, "loops"),
    Limit("loops within one another", MAX_LOOP_DEPTH, "loops"),
    Limit("turns of a loop in a run, with those of the loops around it", MAX_TURNS, "turns"),
    Limit("a constant of all turns of a loop", MAX_TURN_CONSTANTS, "elements"),
    Limit("dimensions of a tensor", MAX_RANK, "dimensions"),
    Limit("an initializer", MAX_ELEMENTS, "elements"),
    Limit("an activation", MAX_ACTIVATION_ELEMENTS, "elements"),
    Limit("constants of a model, together", MAX_WEIGHT_ELEMENTS, "elements"),
    Limit("kernel, stride, dilation, padding along an axis", MAX_WINDOW_CELLS, "cells"),
    Limit("window of a convolution or pooling operator", MAX_WINDOW_TAPS, "cells"),
    Limit("vectors of a weight pool that make up one of a layer", MAX_TERMS, "vectors"),
    Limit("samples of one input", MAX_SAMPLE_BYTES, "bytes"),
    Limit("board or project file", MAX_BOARD_BYTES, "bytes"),
    Limit("tune file", MAX_TUNE_BYTES, "bytes"),
    Limit("line of a board, project or tune file", MAX_BOARD_LINE, "characters"),
)
