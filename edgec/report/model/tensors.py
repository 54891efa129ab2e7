"""Inputs and outputs of a build."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.samples import Normalize
from edgec.ir.qparams import QuantParams


@dataclass(frozen=True, slots=True)
class TensorReport:
    """An input or output: how the model sees it and how the generated library does.

    Attributes:
        name: the model's name for it.
        dtype: what the model takes or gives: "float32", "int8", "uint8" or "int64".
        shape: the model's shape, batch axis included.
        library_shape: shape in the arena; ``library = model.transpose(layout)`` when `layout` is
            not empty.
        library_dtype: "int8", "int16" or "int32".
        scale, zero_point: ``real = scale * (q - zero_point)``; scale 0 for indices (ArgMax), and
            where features have their own.
        feature_scales, feature_zero_points: the same for each feature of an input whose features
            have a scale each; empty: all have `scale` and `zero_point`.
        feature_axis: axis of `library_shape` that counts them; None: the last one.
        size_bytes: bytes in the arena.
        length_axis: axis of `shape` whose size goes with the length of a run; sizes here are those
            of the longest.
        normalize: how pixels become its numbers, if the file of the model or `--normalize` says it.
        labels: names of the classes that it has scores or numbers for, if the file has them.
        rows: rows of the table from which an input of token ids chooses; None: it chooses none.
        in_float32: see `QuantParams`.
        runs: runs that take it together, each the next rows of `library_shape`; `size_bytes` are
            those of one.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    library_shape: tuple[int, ...]
    layout: tuple[int, ...]
    library_dtype: str
    scale: float
    zero_point: int
    size_bytes: int
    length_axis: int | None = None
    feature_scales: tuple[float, ...] = ()
    feature_zero_points: tuple[int, ...] = ()
    feature_axis: int | None = None
    normalize: Normalize | None = None
    labels: tuple[str, ...] = ()
    rows: int | None = None
    in_float32: bool = False
    runs: int = 1

    @property
    def run_shape(self) -> tuple[int, ...]:
        """Shape in the arena of the part that a run takes."""
        if self.runs == 1:
            return self.library_shape
        return (1, self.library_shape[1] // self.runs, *self.library_shape[2:])

    @property
    def quant(self) -> QuantParams:
        """Quantization parameters of the library's codes."""
        if not self.feature_scales:
            codes = (self.scale,), (self.zero_point,), DType(self.library_dtype)
            return QuantParams(*codes, in_float32=self.in_float32)
        axis = len(self.library_shape) - 1 if self.feature_axis is None else self.feature_axis
        scales, zero_points = np.asarray(self.feature_scales), np.asarray(self.feature_zero_points)
        return QuantParams.per_feature(scales, zero_points, axis)

    def library_shape_less(self, less: int) -> tuple[int, ...]:
        """The shape in the arena in a run that is shorter than the longest by `less`."""
        if self.length_axis is None:
            return self.library_shape
        axis = self.layout.index(self.length_axis) if self.layout else self.length_axis
        sizes = enumerate(self.library_shape)
        return tuple(size - less if index == axis else size for index, size in sizes)
