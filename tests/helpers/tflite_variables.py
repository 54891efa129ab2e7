"""TensorFlow Lite files with variables, as the converter writes streaming networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tflite_models import Net, Op, T, const, write_tflite

from edgec.base.dtypes import Array

RESOURCE = T((), None, "resource")
CODES = {"int8": (0.05, -9), "int16": (0.001, 0)}


@dataclass
class File:
    """A file in the making: operators as they are added.

    Attributes:
        kind: type of the elements of variables and of most tensors.
        shape: of x and, unless `add` says something else, of all other tensors.
    """

    kind: str = "int8"
    shape: Sequence[int] = (1, 1, 1, 4)
    tensors: dict[str, T] = field(default_factory=dict)
    operators: list[Op] = field(default_factory=list)
    bodies: list[Net] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tensors["x"] = self.like(self.shape)

    def like(self, shape: Sequence[int], data: Array | None = None) -> T:
        """A tensor of the elements of the file."""
        if self.kind not in CODES:
            return T(shape, data, self.kind)
        scale, zero = CODES[self.kind]
        return T(shape, data, self.kind, [scale], [zero])

    def handle(self, name: str, variable: str = "", container: str | None = None) -> None:
        self.tensors[name] = RESOURCE
        self.operators.append(handle_of(name, variable or name, container))

    def read(self, handle: str, name: str, shape: Sequence[int] | None = None) -> None:
        self.add(Op("READ_VARIABLE", [handle], [name]), shape)

    def assign(self, handle: str, value: str) -> None:
        self.operators.append(Op("ASSIGN_VARIABLE", [handle, value], []))

    def add(self, op: Op, shape: Sequence[int] | None = None) -> None:
        for name in op.outputs:
            self.tensors[name] = self.like(self.shape if shape is None else shape)
        self.operators.append(op)

    def sum(self, a: str, b: str, y: str) -> None:
        self.add(Op("ADD", [a, b], [y], "AddOptions"))

    def ring(self, handle: str, row: str, past: int, name: str) -> None:
        """The last rows: `past` of earlier runs, and this one's; along axis 1."""
        *first, count, width, depth = self.tensors[row].shape
        rows = past + count
        self.read(handle, f"{name}/past", (*first, past, width, depth))
        joined = Op(
            "CONCATENATION", [f"{name}/past", row], [name], "ConcatenationOptions", {"Axis": 1}
        )
        self.add(joined, (*first, rows, width, depth))
        bounds = ([0, count, 0, 0], [0] * 4, [1] * 4)
        names = [f"{name}/{part}" for part in ("begin", "end", "strides")]
        for each, numbers in zip(names, bounds, strict=True):
            self.tensors[each] = const(np.array(numbers, np.int32))
        masks = {"BeginMask": 0b1101, "EndMask": 0b1111}
        op = Op("STRIDED_SLICE", [name, *names], [f"{name}/last"], "StridedSliceOptions", masks)
        self.add(op, (*first, past, width, depth))
        self.assign(handle, f"{name}/last")

    def begin(self, values: Mapping[str, Array]) -> None:
        """Let a network that is called once assign values to variables, by their names."""
        tensors: dict[str, T] = {}
        operators = []
        for number, (variable, array) in enumerate(values.items()):
            own = f"h{number}", f"v{number}"
            tensors |= {own[0]: RESOURCE, own[1]: self.like(array.shape, array)}
            operators.append(handle_of(own[0], variable))
            operators.append(Op("ASSIGN_VARIABLE", own, []))
        self.bodies.append(Net(tensors, operators))
        options = {"InitSubgraphIndex": len(self.bodies)}
        self.operators.insert(0, Op("CALL_ONCE", [], [], "CallOnceOptions", options))

    def write(self, path: Path, outputs: Sequence[str] = ("y",)) -> Path:
        return write_tflite(path, self.tensors, self.operators, outputs=outputs, bodies=self.bodies)


def handle_of(name: str, variable: str, container: str | None = None) -> Op:
    options = {"SharedName": variable} | ({} if container is None else {"Container": container})
    return Op("VAR_HANDLE", [], [name], "VarHandleOptions", options)
