"""From a float transformer to an integer graph; the one entry of this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from edgec.base.dtypes import Array
from edgec.base.options import QuantOptions, QuantSettings
from edgec.floatrun.activations import checked_calibration
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.quant.common.calibrate import Progress
from edgec.quant.common.intervals import check_intervals
from edgec.quant.common.refuse import refuse_in_transformer, refuse_some_pins
from edgec.quant.common.report import CalibrationSource, InForce, QuantReport, quality_of
from edgec.quant.common.synthetic import describe, synthetic_inputs, warn_synthetic
from edgec.quant.transformer.emit_attention import emit_attention, emit_norm, emit_softmax
from edgec.quant.transformer.emit_layers import emit_layer
from edgec.quant.transformer.emit_other import SUPPORTED, emit_other
from edgec.quant.transformer.emitter import Emitter
from edgec.quant.transformer.layers import find_layers, is_column_slice
from edgec.quant.transformer.lengths import collect_at_lengths
from edgec.quant.transformer.plan import make_plan, stream_params
from edgec.quant.transformer.stream import NORMS, is_real, stream_groups

QUALITY_SAMPLES = 8
"""Calibration samples that the quality of each operator is measured on."""


def quantize_transformer(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
) -> tuple[Graph, QuantReport]:
    """Quantize a transformer: 16x15 requantization throughout, an int16 stream.

    Args:
        graph: REAL stage.
        calibration: graph input name to [N, ...graph shape without batch...], or None: synthetic.
        options: synthetic range, bias correction, residual.  There is no observer: scales are
            searched by the error of what reads them.
        progress: told what is being done.

    Returns:
        The graph in the INTEGER stage, and what there is to know about it.

    Raises:
        ConfigError: the calibration data do not fit the graph.
        UnsupportedModelError: operators without an integer form.
        QuantizationError: NaN or infinite numbers, an operator that could overflow 32 bits, or
            tensors that the model pins.
    """
    refuse_some_pins(graph)
    refuse_in_transformer(graph, SUPPORTED)
    source = CalibrationSource.USER if calibration is not None else CalibrationSource.SYNTHETIC
    if calibration is None:
        warn_synthetic(*options.synthetic_range)
        calibration = synthetic_inputs(graph, *options.synthetic_range)
    settings = options.settings()
    if source is CalibrationSource.SYNTHETIC:
        settings = replace(settings, bias_correction=False)
    data = checked_calibration(graph, calibration)
    integer = _integer_graph(graph, data, settings, progress)
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
    )
    return integer, report


def _integer_graph(
    graph: Graph, data: Mapping[str, Array], options: QuantSettings, progress: Progress | None
) -> Graph:
    """Samples, then scales, then operators, then the proof."""
    seen = collect_at_lengths(
        graph, [name for name in graph.values if is_real(graph, name)], data, progress
    )
    stream = stream_params(graph, stream_groups(graph), seen, options.residual)
    layers = find_layers(graph, frozenset(stream))
    plan = make_plan(graph, layers, stream, seen)
    integer = _emitted(Emitter(graph, plan, seen, options.bias_correction))
    check_intervals(integer)
    return integer


def _warnings(source: CalibrationSource, options: QuantOptions) -> tuple[str, ...]:
    if source is not CalibrationSource.SYNTHETIC:
        return ()
    return (f"calibrated on {describe(*options.synthetic_range)}; expect bad accuracy",)


def _emitted(e: Emitter) -> Graph:
    by_last = {layer.nodes[-1].name: layer for layer in e.plan.layers}
    held = {node.name for layer in e.plan.layers for node in layer.nodes}
    for node in e.graph.nodes:
        # A layer is added where its last node is: by then its residual exists.
        if node.name in by_last:
            emit_layer(e, by_last[node.name])
        elif node.name in held or is_column_slice(e.graph, node):
            continue
        elif isinstance(node.attrs, ops.Attention):
            emit_attention(e, node)
        elif isinstance(node.attrs, ops.Softmax):
            emit_softmax(e, node)
        elif isinstance(node.attrs, NORMS):
            emit_norm(e, node)
        else:
            emit_other(e, node)
    return e.finish()
