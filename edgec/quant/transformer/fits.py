"""Fits of a network whose scales are searched."""

from __future__ import annotations

from collections.abc import Mapping

from edgec.base.dtypes import Array
from edgec.quant.precision.held import Fit, Fits
from edgec.quant.transformer.quantize import Search, Searching


class SearchedFits(Fits[Search]):
    """With nearest weights, and with weights chosen by what they do to the outputs."""

    def __init__(
        self, data: Mapping[str, Array], search: Searching, known: SearchedFits | None = None
    ) -> None:
        """Nothing is found before it is asked for.

        Args:
            data: what is fitted to, from `checked_calibration`.
            search: searches the scales.
            known: the fits to all samples, whose extremes codes have room for.
        """
        self._data, self._search, self._known = data, search, known

    def _narrow(self) -> Fit[Search]:
        more = None if self._known is None else self._known.narrow.made
        return _fit(self._search(self._data, more))

    def _wide(self) -> Fit[Search]:
        return _fit(self.narrow.made.with_fitted_weights())


def _fit(search: Search) -> Fit[Search]:
    return Fit(search, search.graph, search.candidates(), search.integer)
