"""From a float transformer to an integer graph; the one entry of this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from types import MappingProxyType

from edgec.base.dtypes import Array
from edgec.base.options import Effort, QuantOptions, QuantSettings
from edgec.floatrun.activations import checked_calibration
from edgec.ir.graph import Graph
from edgec.quant.common.calibrate import Progress
from edgec.quant.common.intervals import check_intervals
from edgec.quant.common.losses import layer_losses
from edgec.quant.common.quality import quality_of
from edgec.quant.common.refuse import refuse_in_transformer, refuse_some_pins
from edgec.quant.common.report import (
    CalibrationSource,
    InForce,
    LayerLoss,
    QuantReport,
    WeightsReport,
)
from edgec.quant.common.synthetic import describe, synthetic_inputs, warn_synthetic
from edgec.quant.convert.conversion import Converters
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.convert.mixed.context import Codes16
from edgec.quant.precision.candidates import Candidates
from edgec.quant.precision.choose import Choice
from edgec.quant.precision.codes import check_reach
from edgec.quant.transformer.fitted import with_fitted_weights
from edgec.quant.transformer.int16_codes import searched_candidates, widened
from edgec.quant.transformer.layers import find_layers
from edgec.quant.transformer.lengths import collect_at_lengths
from edgec.quant.transformer.plan import make_plan, stream_params
from edgec.quant.transformer.samples import Seen
from edgec.quant.transformer.searched import conversions
from edgec.quant.transformer.searched_mixed import add_searched
from edgec.quant.transformer.stream import is_real, stream_groups
from edgec.quant.transformer.tensors import Tensors

QUALITY_SAMPLES = 8
"""Calibration samples that the quality of each operator is measured on."""


Searching = Callable[[Mapping[str, Array], "Search | None"], "Search"]
"""Searches scales by calibration data, with room for what another search has seen."""
Choose = Callable[[Searching, Mapping[str, Array]], "Choice[Search]"]
"""Chooses the tensors with int16 codes, told how scales are searched, by calibration data."""


class Search:
    """Scales of a network, from which its integer graph is made."""

    def __init__(
        self,
        graph: Graph,
        data: Mapping[str, Array],
        options: QuantSettings,
        progress: Progress | None,
        converters: Converters,
        extremes: Mapping[str, Seen] = MappingProxyType({}),
    ) -> None:
        """Collect samples and search scales.

        Args:
            graph: REAL stage.
            data: from `checked_calibration`.
            options: bias correction, residual.
            progress: told what is being done.
            converters: converter of each operator that the graph holds.
            extremes: more samples of some values, whose extremes count as if they were in `data`.

        Raises:
            QuantizationError: NaN or infinite numbers.
        """
        self.graph, self._data, self._progress = graph, data, progress
        self._options, self._converters = options, converters
        self.effort: Effort | None = None
        self.weights: WeightsReport | None = None
        names = [name for name in graph.values if is_real(graph, name)]
        seen = collect_at_lengths(graph, names, data, progress)
        self.seen = {n: x.reaching(extremes[n]) if n in extremes else x for n, x in seen.items()}
        stream = stream_params(graph, stream_groups(graph), self.seen, options.residual)
        layers = find_layers(graph, frozenset(stream))
        self._plan = make_plan(graph, layers, stream, self.seen)

    def with_fitted_weights(self) -> Search:
        """This search with weights that are chosen by what they do to the outputs."""
        found = copy(self)
        more = self.seen, self._data, self._options, self._progress
        found.graph, found.effort, found.weights = with_fitted_weights(self.graph, *more)
        layers = find_layers(found.graph, frozenset(self._plan.stream))
        found._plan = replace(self._plan, layers=layers)
        return found

    def candidates(self) -> Candidates:
        """The values that could have int16 codes."""
        return searched_candidates(self.graph, self._plan, self.seen)

    def integer(self, int16: Mapping[str, Codes16] = MappingProxyType({})) -> Graph:
        """The integer graph: operators, then the proof.

        Args:
            int16: values with int16 codes.

        Raises:
            QuantizationError: an operator could overflow 32 bits.
        """
        plan = widened(self._plan, int16, self.seen) if int16 else self._plan
        tensors = Tensors(self.graph, plan, self.seen, self._options.bias_correction)
        for conversion in conversions(tensors):
            add_searched(conversion, self._converters)
        integer = tensors.finish()
        check_intervals(integer)
        check_reach(integer)
        return integer


def quantize_transformer(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
    choose: Choose | None = None,
) -> tuple[Graph, QuantReport]:
    """Quantize a transformer: 16x15 requantization, an int16 stream, int16 codes where chosen.

    Args:
        graph: REAL stage.
        calibration: graph input name to [N, ...graph shape without batch...], or None: synthetic.
        options: synthetic range, bias correction, residual.  There is no observer: scales are
            searched by the error of what reads them.
        progress: told what is being done.
        converters: converter of each operator that the graph holds.
        choose: chooses tensors with int16 codes; None: there are none.

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

    def searched(samples: Mapping[str, Array], more: Search | None = None) -> Search:
        extremes = {} if more is None else more.seen
        return Search(graph, samples, settings, progress, converters, extremes)

    choice = None if choose is None else choose(searched, data)
    search = searched(data) if choice is None else choice.made
    integer = search.integer() if choice is None else choice.integer
    few = {name: array[:QUALITY_SAMPLES] for name, array in data.items()}
    report = QuantReport(
        source=source,
        samples=len(next(iter(data.values()))),
        in_force=InForce(
            observer=None,
            equalize=False,
            bias_correction=settings.bias_correction,
            residual=settings.residual,
            effort=search.effort,
        ),
        warnings=_warnings(source, options),
        layers=quality_of(graph, integer, few, progress),
        losses=_losses(graph, integer, few, source, settings),
        weights=search.weights,
        precision=None if choice is None else choice.report,
    )
    return integer, report


def _losses(
    graph: Graph,
    integer: Graph,
    data: Mapping[str, Array],
    source: CalibrationSource,
    settings: QuantSettings,
) -> tuple[LayerLoss, ...]:
    """What layers add to the noise at the outputs, on the user's own data."""
    if source is not CalibrationSource.USER:
        return ()
    return layer_losses(graph, integer, data, corrected=settings.bias_correction)


def _warnings(source: CalibrationSource, options: QuantOptions) -> tuple[str, ...]:
    if source is not CalibrationSource.SYNTHETIC:
        return ()
    return (f"calibrated on {describe(*options.synthetic_range)}; expect bad accuracy",)
