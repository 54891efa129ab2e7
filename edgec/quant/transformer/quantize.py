"""From a float transformer to an integer graph; the one entry of this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from types import MappingProxyType

from edgec.base.dtypes import Array
from edgec.base.options import Effort, QuantOptions, QuantSettings
from edgec.ir.graph import Graph
from edgec.quant.common.calibration import Calibration, few_of
from edgec.quant.common.losses import layer_losses
from edgec.quant.common.numbers import check_intervals
from edgec.quant.common.progress import Progress
from edgec.quant.common.quality import quality_of
from edgec.quant.common.refuse import refuse_in_transformer, refuse_some_pins
from edgec.quant.common.report import (
    InForce,
    LayerLoss,
    QuantReport,
    WeightsReport,
)
from edgec.quant.convert.codes import Codes16
from edgec.quant.convert.conversion import Converters
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.estimate import Refit
from edgec.quant.precision.candidates import Candidates
from edgec.quant.precision.choose import Choice
from edgec.quant.precision.codes import check_reach
from edgec.quant.scales.groups import is_real
from edgec.quant.transformer.fitted import with_fitted_weights
from edgec.quant.transformer.int16_codes import searched_candidates, widened
from edgec.quant.transformer.layers import find_layers
from edgec.quant.transformer.lengths import collect_at_lengths
from edgec.quant.transformer.plan import make_plan, stream_params
from edgec.quant.transformer.residual import stream_groups
from edgec.quant.transformer.samples import Seen
from edgec.quant.transformer.searched import conversions
from edgec.quant.transformer.searched_mixed import add_searched
from edgec.quant.transformer.tensors import Tensors

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
        more = self.seen, self._plan.codes, self._data, self._options, self._progress
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
    return with_refit(graph, calibration, options, progress, converters, choose)[:2]


def with_refit(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: QuantOptions,
    progress: Progress | None = None,
    converters: Converters = CONVERTERS,
    choose: Choose | None = None,
    reweigh: Refit | None = None,
) -> tuple[Graph, QuantReport, Refit]:
    """As `quantize_transformer`, with what fits the network to other samples.

    `reweigh` gives the real graph with weights chosen from other samples; None: they stay.
    """
    refuse_some_pins(graph)
    refuse_in_transformer(graph, converters)
    settings = options.settings()
    used = Calibration.given(graph, calibration).or_noise(graph, settings)
    assert used.data is not None
    data = used.data
    if used.is_noise:
        settings = replace(settings, bias_correction=False)

    def searched(samples: Mapping[str, Array], more: Search | None = None) -> Search:
        extremes = {} if more is None else more.seen
        return Search(graph, samples, settings, progress, converters, extremes)

    choice = None if choose is None else choose(searched, data)
    search = searched(data) if choice is None else choice.made
    integer = search.integer() if choice is None else choice.integer
    few = few_of(data)
    in_force = InForce(
        observer=None,
        equalize=False,
        bias_correction=settings.bias_correction,
        residual=settings.residual,
        effort=search.effort,
    )
    losses: tuple[LayerLoss, ...] = ()
    if used.is_users:
        losses = layer_losses(graph, integer, few, corrected=settings.bias_correction)
    report = used.report(in_force, (), quality_of(graph, integer, few, progress))
    precision = None if choice is None else choice.report

    def refit(samples: Mapping[str, Array]) -> Graph:
        real = graph if reweigh is None else reweigh(samples)
        again = Search(real, samples, settings, None, converters)
        if choice is None or not choice.wide:
            return again.integer()
        again = again.with_fitted_weights()
        groups = {name for group in choice.groups for name in group.members}
        codes = again.candidates().codes
        return again.integer({n: codes[n] for n in groups & codes.keys()})

    report = replace(report, losses=losses, weights=search.weights, precision=precision)
    return integer, report, refit
