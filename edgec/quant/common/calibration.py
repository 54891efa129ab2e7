"""The samples that a network is quantized by: the user's, or noise where there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edgec.base.dtypes import Array
from edgec.base.options import QuantSettings
from edgec.floatrun.activations import checked_calibration
from edgec.ir.graph import Graph
from edgec.quant.common.report import CalibrationSource, InForce, LayerQuality, QuantReport
from edgec.quant.common.synthetic import describe, synthetic_inputs, warn_synthetic

QUALITY_SAMPLES = 8
"""Calibration samples that the quality of each layer is measured on."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Samples, and where they come from.

    Attributes:
        source: where they come from.
        data: by input, [N, ...]; None where nothing needs any.
        warnings: what is to be expected of them.
    """

    source: CalibrationSource
    data: Mapping[str, Array] | None
    warnings: tuple[str, ...] = ()

    @classmethod
    def given(cls, graph: Graph, data: Mapping[str, Array] | None) -> Calibration:
        """The user's samples, or none.

        Raises:
            ConfigError: the data do not fit the graph.
        """
        if data is None:
            return cls(CalibrationSource.NONE, None)
        return cls(CalibrationSource.USER, checked_calibration(graph, data))

    def or_noise(self, graph: Graph, options: QuantSettings) -> Calibration:
        """These, or uniform noise where the user gave none, with a warning."""
        if self.data is not None:
            return self
        noise = (*options.synthetic_range, options.synthetic_samples)
        warn_synthetic(*noise)
        warning = f"calibrated on {describe(*noise)}; expect bad accuracy"
        return Calibration(CalibrationSource.SYNTHETIC, synthetic_inputs(graph, *noise), (warning,))

    @property
    def is_users(self) -> bool:
        """Whether the user gave them."""
        return self.source is CalibrationSource.USER

    @property
    def is_noise(self) -> bool:
        """Whether they say nothing about the shape of a distribution."""
        return self.source is CalibrationSource.SYNTHETIC

    def report(
        self, in_force: InForce, notes: tuple[str, ...], layers: tuple[LayerQuality, ...]
    ) -> QuantReport:
        """The report of a quantization by them."""
        samples = len(next(iter(self.data.values()))) if self.data else 0
        return QuantReport(self.source, samples, in_force, (*self.warnings, *notes), layers)


def few_of(data: Mapping[str, Array]) -> dict[str, Array]:
    """The samples that the quality of layers is measured on."""
    return {name: array[:QUALITY_SAMPLES] for name, array in data.items()}
