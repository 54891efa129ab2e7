"""From a float transformer to an integer graph; the one entry of this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from edgec.base.dtypes import Array
from edgec.base.options import QuantOptions, QuantSettings
from edgec.floatrun.activations import checked_calibration
from edgec.ir.graph import Graph
from edgec.quant.common.calibrate import Progress
from edgec.quant.common.intervals import check_intervals
from edgec.quant.common.losses import losses_alone
from edgec.quant.common.quality import quality_of
from edgec.quant.common.refuse import refuse_in_transformer, refuse_some_pins
from edgec.quant.common.report import CalibrationSource, InForce, QuantReport
from edgec.quant.common.synthetic import describe, synthetic_inputs, warn_synthetic
from edgec.quant.convert.conversion import Converters, convert
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.transformer.layers import find_layers
from edgec.quant.transformer.lengths import collect_at_lengths
from edgec.quant.transformer.plan import make_plan, stream_params
from edgec.quant.transformer.searched import conversions
from edgec.quant.transformer.stream import is_real, stream_groups
from edgec.quant.transformer.tensors import Tensors

QUALITY_SAMPLES = 8
"""Calibration samples that the quality of each operator is measured on."""


def quantize_transformer(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
) -> tuple[Graph, QuantReport]:
    """Quantize a transformer: 16x15 requantization throughout, an int16 stream.

    Args:
        graph: REAL stage.
        calibration: graph input name to [N, ...graph shape without batch...], or None: synthetic.
        options: synthetic range, bias correction, residual.  There is no observer: scales are
            searched by the error of what reads them.
        progress: told what is being done.
        converters: converter of each operator that the graph holds.

    Returns:
        The graph in the INTEGER stage, and what there is to know about it.

    Raises:
        ConfigError: the calibration data do not fit the graph.
        UnsupportedModelError: operators without an integer form.
        QuantizationError: NaN or infinite numbers, an operator that could overflow 32 bits, or
            tensors that the model pins.
    """
    refuse_some_pins(graph)
    refuse_in_transformer(graph, converters)
    source = CalibrationSource.USER if calibration is not None else CalibrationSource.SYNTHETIC
    if calibration is None:
        warn_synthetic(*options.synthetic_range)
        calibration = synthetic_inputs(graph, *options.synthetic_range)
    settings = options.settings()
    if source is CalibrationSource.SYNTHETIC:
        settings = replace(settings, bias_correction=False)
    data = checked_calibration(graph, calibration)
    integer = _integer_graph(graph, data, settings, progress, converters)
    few = {name: array[:QUALITY_SAMPLES] for name, array in data.items()}
    report = QuantReport(
        source=source,
        samples=len(next(iter(data.values()))),
        in_force=InForce(
            observer=None,
            equalize=False,
            bias_correction=settings.bias_correction,
            residual=settings.residual,
        ),
        warnings=_warnings(source, options),
        layers=quality_of(graph, integer, few, progress),
        losses=losses_alone(graph, integer, few) if source is CalibrationSource.USER else (),
    )
    return integer, report


def _integer_graph(
    graph: Graph,
    data: Mapping[str, Array],
    options: QuantSettings,
    progress: Progress | None,
    converters: Converters,
) -> Graph:
    """Samples, then scales, then operators, then the proof."""
    seen = collect_at_lengths(
        graph, [name for name in graph.values if is_real(graph, name)], data, progress
    )
    stream = stream_params(graph, stream_groups(graph), seen, options.residual)
    layers = find_layers(graph, frozenset(stream))
    plan = make_plan(graph, layers, stream, seen)
    tensors = Tensors(graph, plan, seen, options.bias_correction)
    for conversion in conversions(tensors):
        convert(conversion, converters)
    integer = tensors.finish()
    check_intervals(integer)
    return integer


def _warnings(source: CalibrationSource, options: QuantOptions) -> tuple[str, ...]:
    if source is not CalibrationSource.SYNTHETIC:
        return ()
    return (f"calibrated on {describe(*options.synthetic_range)}; expect bad accuracy",)
