"""Recurrent networks as WHILE of two networks, as Keras and TensorFlow's converter write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from tflite_models import Net, Op, T, const, write_tflite

SCALAR: tuple[int, ...] = ()


def number(value: int) -> T:
    return const(np.array(value, np.int32))


def numbers(*values: int) -> T:
    return const(np.array(values, np.int32))


@dataclass
class Rolled:
    """A network with a loop over the rows of x [1, steps, features]; y has all steps, or the last.

    Attributes:
        cell: "gru", "lstm", or "sum", which adds up the rows.
        listed: how a row of the list is written: "update" or "concat".
        read: how a row of x is read: "gather" or "slice".
        every: y has all steps.
        backwards: the last step comes first.
        passed: x is an input of the loop that it passes on, as are the weights.
        limit: the condition asks for a second number, too.
        seed: of the weights.
        kind: "float32", or "int8" of a sum.
    """

    cell: str = "gru"
    steps: int = 7
    features: int = 5
    units: int = 6
    listed: str = "update"
    read: str = "gather"
    every: bool = True
    backwards: bool = False
    limit: bool = True
    filled: bool = False
    seed: int = 3
    kind: str = "float32"
    tensors: dict[str, T] = field(default_factory=dict)
    operators: list[Op] = field(default_factory=list)

    def like(self, shape: Sequence[int]) -> T:
        """A computed tensor of the elements of the file."""
        return T(shape) if self.kind == "float32" else T(shape, None, "int8", [0.02], [3])

    def zeros(self, shape: Sequence[int]) -> T:
        """A constant of the elements of the file."""
        zero = np.float32(0) if self.kind == "float32" else np.int8(3)
        return replace(self.like(shape), data=np.full(shape, zero))

    def write(self, path: Path) -> Path:
        """The file."""
        units = self.features if self.cell == "sum" else self.units
        length = self.steps if self.every else 1
        states = ["h", "c"] if self.cell == "lstm" else ["h"]
        carried = ["count", "time", "list", *states, "rows"]
        shapes = {
            "count": T((), None, "int32"), "time": T((), None, "int32"),
            "list": self.like((length, 1, units)),
            "rows": self.like((self.steps, 1, self.features)),
            **{name: self.like((1, units)) for name in states},
        }  # fmt: skip
        main: dict[str, T] = {
            "x": self.like((1, self.steps, self.features)),
            "perm": numbers(1, 0, 2),
            "rows": shapes["rows"],
            "count": number(0),
            "time": number(self.steps - 1 if self.backwards else 0),
            "list": self.zeros((length, 1, units)),
            **{name: self.zeros((1, units)) for name in states},
            **{f"{name}'": shapes[name] for name in carried},
        }
        ops = [Op("TRANSPOSE", ["x", "perm"], ["rows"])]
        if self.filled:
            main |= {"h": shapes["h"], "dims": numbers(1, units), "zero": const(np.float32(0))}
            ops.append(Op("FILL", ["dims", "zero"], ["h"]))
        options = {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2}
        results = [f"{name}'" for name in carried]
        ops.append(Op("WHILE", carried, results, "WhileOptions", options))
        if self.every:
            main["y"] = self.like((1, self.steps, units))
            ops.append(Op("TRANSPOSE", ["list'", "perm"], ["y"]))
        else:
            main |= {"flat": numbers(1, units), "y": self.like((1, units))}
            ops.append(Op("RESHAPE", ["list'", "flat"], ["y"]))
        bodies = [self._cond(shapes, carried), self._body(shapes, carried, states, units)]
        return write_tflite(path, main, ops, bodies=bodies)

    def _cond(self, shapes: dict[str, T], carried: Sequence[str]) -> Net:
        last = "time" if not self.backwards else "count"
        tensors = {**shapes, "most": number(self.steps)}
        tensors |= {name: T((), None, "bool") for name in ("in time", "in count", "goes on")}
        ops = [Op("LESS", [last, "most"], ["in time"])]
        if not self.limit:
            return Net(tensors, ops, carried, ["in time"])
        ops.append(Op("LESS", ["count", "most"], ["in count"]))
        ops.append(Op("LOGICAL_AND", ["in time", "in count"], ["goes on"]))
        return Net(tensors, ops, carried, ["goes on"])

    def _body(
        self, shapes: dict[str, T], carried: Sequence[str], states: Sequence[str], units: int
    ) -> Net:
        self.tensors, self.operators = dict(shapes), []
        step = "time" if self.every else "place"
        self.tensors |= {
            "one": number(1), "step": number(-1 if self.backwards else 1), "place": number(0),
            "count'": T((), None, "int32"), "time'": T((), None, "int32"),
        }  # fmt: skip
        self._op("ADD", ["count", "one"], "count'")
        self._op("ADD", ["time", "step"], "time'")
        self._read()
        {"gru": self._gru, "lstm": self._lstm, "sum": self._sum}[self.cell](units)
        self.tensors |= {"row_shape": numbers(1, 1, units)}
        self._op("RESHAPE", ["h'", "row_shape"], "row", (1, 1, units))
        getattr(self, f"_{self.listed}")(step, units)
        outputs = ["count'", "time'", "list'", *(f"{name}'" for name in states), "rows"]
        return Net(self.tensors, self.operators, carried, outputs)

    def _op(
        self, op: str, inputs: Sequence[str], y: str, shape: Sequence[int] | None = None,
        kind: str = "", **options: object,
    ) -> str:  # fmt: skip
        if shape is not None:
            self.tensors[y] = self.like(shape)
        self.operators.append(Op(op, inputs, [y], kind, options))
        return y

    def _read(self) -> None:
        if self.read == "gather":
            self._op("GATHER", ["rows", "time"], "x_t", (1, self.features), "GatherOptions", Axis=0)
            return
        self.tensors |= {
            "zero": number(0), "size": numbers(1, 1, self.features),
            "begin": T((3,), None, "int32"), "x_shape": numbers(1, self.features),
        }  # fmt: skip
        self._op("PACK", ["time", "zero", "zero"], "begin", None, "PackOptions", ValuesCount=3)
        self._op("SLICE", ["rows", "begin", "size"], "x_r", (1, 1, self.features))
        self._op("RESHAPE", ["x_r", "x_shape"], "x_t", (1, self.features))

    def _update(self, step: str, units: int) -> None:
        self.tensors |= {"zero": number(0), "at": T((3,), None, "int32")}
        self._op("PACK", [step, "zero", "zero"], "at", None, "PackOptions", ValuesCount=3)
        shape = self.tensors["list"].shape
        self._op("DYNAMIC_UPDATE_SLICE", ["list", "row", "at"], "list'", shape)

    def _concat(self, step: str, units: int) -> None:
        rank1 = T((3,), None, "int32")
        self.tensors |= {
            "all": number(-1), "zero": number(0), "zeros": numbers(0, 0, 0),
            "rest": numbers(-1, -1, -1), "next": T((), None, "int32"),
            "before_size": rank1, "after_begin": rank1,
            "before": T((1, 1, units)), "after": T((1, 1, units)),
        }  # fmt: skip
        self._op("PACK", [step, "all", "all"], "before_size", None, "PackOptions", ValuesCount=3)
        self._op("ADD", [step, "one"], "next")
        self._op(
            "PACK", ["next", "zero", "zero"], "after_begin", None, "PackOptions", ValuesCount=3
        )
        self._op("SLICE", ["list", "zeros", "before_size"], "before")
        self._op("SLICE", ["list", "after_begin", "rest"], "after")
        shape = self.tensors["list"].shape
        self._op(
            "CONCATENATION",
            ["before", "row", "after"],
            "list'",
            shape,
            "ConcatenationOptions",
            Axis=0,
        )

    def _weights(self, name: str, rows: int, columns: int) -> str:
        rng = np.random.default_rng(self.seed + len(self.tensors))
        array = rng.normal(size=(rows, columns)) / np.sqrt(columns)
        self.tensors[name] = const(array.astype(np.float32))
        return name

    def _dense(self, x: str, name: str, rows: int, columns: int) -> str:
        w = self._weights(f"w_{name}", rows, columns)
        rng = np.random.default_rng(self.seed)
        self.tensors[f"b_{name}"] = const(rng.normal(size=rows).astype(np.float32) / 4)
        return self._op("FULLY_CONNECTED", [x, w, f"b_{name}"], name, (1, rows))

    def _parts(self, x: str, count: int, units: int) -> list[str]:
        names = [f"{x}_{part}" for part in range(count)]
        self.tensors |= {"axis": number(1), **{name: T((1, units)) for name in names}}
        self.operators.append(Op("SPLIT", ["axis", x], names, "SplitOptions", {"NumSplits": count}))
        return names

    def _gru(self, units: int) -> None:
        """Keras with reset_after: three gates of x and of h apart."""
        shape = (1, units)
        xz, xr, xn = self._parts(self._dense("x_t", "of_x", 3 * units, self.features), 3, units)
        hz, hr, hn = self._parts(self._dense("h", "of_h", 3 * units, units), 3, units)
        for gate, a, b in (("z", xz, hz), ("r", xr, hr)):
            self._op("ADD", [a, b], f"{gate}_sum", shape)
            self._op("LOGISTIC", [f"{gate}_sum"], gate, shape)
        self._op("MUL", ["r", hn], "reset", shape)
        self._op("ADD", [xn, "reset"], "n_sum", shape)
        self._op("TANH", ["n_sum"], "n", shape)
        self.tensors["whole"] = const(np.float32(1))
        self._op("MUL", ["z", "h"], "kept", shape)
        self._op("SUB", ["whole", "z"], "fresh", shape)
        self._op("MUL", ["fresh", "n"], "new", shape)
        self._op("ADD", ["kept", "new"], "h'", shape)

    def _lstm(self, units: int) -> None:
        shape = (1, units)
        self._dense("x_t", "of_x", 4 * units, self.features)
        self._dense("h", "of_h", 4 * units, units)
        self._op("ADD", ["of_x", "of_h"], "gates", (1, 4 * units))
        i, f, g, o = self._parts("gates", 4, units)
        for name, gate, kind in (
            ("i", i, "LOGISTIC"), ("f", f, "LOGISTIC"), ("g", g, "TANH"), ("o", o, "LOGISTIC"),
        ):  # fmt: skip
            self._op(kind, [gate], name, shape)
        self._op("MUL", ["f", "c"], "kept", shape)
        self._op("MUL", ["i", "g"], "new", shape)
        self._op("ADD", ["kept", "new"], "c'", shape)
        self._op("TANH", ["c'"], "shown", shape)
        self._op("MUL", ["o", "shown"], "h'", shape)

    def _sum(self, units: int) -> None:
        self._op("ADD", ["x_t", "h"], "h'", (1, units))
