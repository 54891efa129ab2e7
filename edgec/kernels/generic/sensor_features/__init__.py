"""Statistics and bands of windows of samples in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.base import LIMITS
from edgec.ir.qops.dft import dft_macs, quarter_points
from edgec.ir.qops.operands import numbers
from edgec.ir.qops.sensor_features import fine_bits
from edgec.kernels.common.parts import Parts, Run, WeightReads
from edgec.kernels.common.transform import Transform, transform_parts
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_ALIGNMENT = 8
_CODE_BYTES = 2600
"""The functions of a window on a core with Thumb-2, by their sizes in the firmware."""
_ROOTS = ("std", "rms")
_MOMENTS = ("skewness", "kurtosis")
_CROSSINGS = ("crossings", "mean-crossings")


@dataclass(frozen=True, slots=True)
class SensorFeatures:
    """x int16 [samples]; y int8 or int16 [windows, features]; see `qops.QSensorFeatures`.

    Attributes:
        windows, bands: how many.
        bins: of all bands.
        op: the operator, with all other numbers.
    """

    family: ClassVar[str] = "sensor_features"
    template: ClassVar[Path] = template_beside(__file__, "sensor_features")
    windows: int
    bands: int
    bins: int
    op: qops.QSensorFeatures

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        of_axis = 5 * self.op.width + (dft_macs(self.op.points) if self.bands else 0)
        return self.windows * self.op.axes * of_axis

    @property
    def transform(self) -> Transform:
        """The DFT of the deviations, where there are bands."""
        return Transform(self.op.points, self.op.width)

    @property
    def z_at(self) -> int:
        """Where the transform lies in the scratch memory, after the deviations."""
        return -(-2 * self.op.width // _ALIGNMENT) * _ALIGNMENT

    @property
    def scratch_bytes(self) -> int:
        """The deviations of a window, and its transform; 0 where there are neither."""
        if not self.has_deviations:
            return 0
        return self.z_at + (self.transform.scratch_bytes if self.bands else 0)

    @property
    def y_type(self) -> str:
        """The C type of y."""
        return "int8_t" if self.op.dtype is DType.INT8 else "int16_t"

    @property
    def low(self) -> int:
        """The least code."""
        return LIMITS[self.op.dtype][0]

    @property
    def high(self) -> int:
        """The greatest code."""
        return LIMITS[self.op.dtype][1]

    @property
    def fine(self) -> int:
        """Fraction bits of roots of mean squares."""
        return fine_bits(self.op.width)

    @property
    def has_moments(self) -> bool:
        """Whether powers of deviations are added up."""
        return any(name in self.op.statistics for name in _MOMENTS)

    @property
    def has_deviations(self) -> bool:
        """Whether deviations are scaled."""
        return self.has_moments or self.bands > 0

    @property
    def results(self) -> tuple[str, ...]:
        """The result of each statistic, as C writes it."""
        return tuple(_RESULTS[name].format(fine=self.fine) for name in self.op.statistics)

    def describe(self) -> str:
        """What the function computes, in words."""
        each = f"{len(self.op.statistics)} statistics and {self.bands} bands"
        return f"{each} of {self.op.width} samples of {self.op.axes} axes"


_RESULTS = {
    "mean": "w.total",
    "std": "edgec_std_of(&w, {fine})",
    "rms": "edgec_rms_of(&w, {fine})",
    "min": "w.least",
    "max": "w.greatest",
    "skewness": "edgec_skewness(&w)",
    "kurtosis": "edgec_kurtosis(&w)",
    "crossings": "edgec_crossings(&w, 0)",
    "mean-crossings": "edgec_crossings(&w, w.total)",
}
"""C of each statistic of a window `w`."""


def spec(graph: Graph, node: Node, _target: Target) -> SensorFeatures:
    """The specification for a QSensorFeatures."""
    attrs = node.attrs_as(qops.QSensorFeatures)
    _, windows, _ = graph.shape(node.output)
    bins = attrs.Inputs.of(node.inputs).bins
    counts = numbers(graph.constants[bins])[:, 1] if bins is not None else np.zeros(0, np.int64)
    return SensorFeatures(windows, len(counts), int(counts.sum()), attrs)


def overlap(spec: SensorFeatures) -> Distances:
    """Windows overlap, so y lies apart from x; the tables are constants."""
    return (None,) * (5 if spec.bands else 2)


def parts(spec: SensorFeatures, _run: Run) -> Parts:
    """Counts of a call: windows of axes, and what each runs for samples, features and bands."""
    op, each = spec.op, spec.windows * spec.op.axes
    of_window = {
        "window": 1,
        "sample": op.width,
        "deviation": op.width if spec.has_deviations else 0,
        "moments of a sample": op.width if spec.has_moments else 0,
        "sample that may cross": op.width * sum(name in op.statistics for name in _CROSSINGS),
        "root": sum(name in op.statistics for name in _ROOTS),
        "ratio of moments": sum(name in op.statistics for name in _MOMENTS),
        "feature": len(op.statistics) + spec.bands,
    }
    if spec.bands:
        of_window |= {"sample of the transform": op.width, "band": spec.bands, "bin": spec.bins}
        of_window |= transform_parts(op.points, magnitude=False)
    counts = {name: float(each * count) for name, count in of_window.items() if count}
    tables = 2 * op.width + 4 * quarter_points(op.points) if spec.bands else 16
    return Parts({"call": 1.0} | counts, _CODE_BYTES, WeightReads(tables, each))


FAMILY = KernelFamily(
    spec_type=SensorFeatures,
    operators=(qops.QSensorFeatures,),
    spec=spec,
    overlap=overlap,
    constant_stem="sensor",
    parts=parts,
)
