"""Fits of a network whose ranges are observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from edgec.base.dtypes import Array
from edgec.base.options import Precision, QuantOptions
from edgec.ir.graph import Graph
from edgec.quant.cnn.annotation import Annotated, Ranged, with_weights
from edgec.quant.common.progress import Progress
from edgec.quant.convert.codes import Codes16
from edgec.quant.convert.conversion import Converters
from edgec.quant.precision.candidates import observed_candidates
from edgec.quant.precision.held import Fit, Fits


class ObservedFits(Fits[Annotated]):
    """The fits of weights and biases.

    Ranges are those of all samples whatever a fit is made of: the outliers among the others would
    be cut off, which are not in what is compiled.
    """

    def __init__(
        self,
        found: Ranged,
        samples: Mapping[str, Array],
        options: QuantOptions,
        converters: Converters,
        progress: Progress | None = None,
    ) -> None:
        """Nothing is found before it is asked for.

        Args:
            found: the network with the parameters of its values.
            samples: what weights and biases are fitted to.
            options: bias correction, effort.
            converters: converter of each operator that has an integer form.
            progress: told what is being done.
        """
        self._found, self._samples, self._options = found, samples, options
        self._converters, self._progress = converters, progress

    def _narrow(self) -> Fit[Annotated]:
        return self._fit(Precision.INT8)

    def _wide(self) -> Fit[Annotated]:
        # Biases for int8 codes make up for a rounding that many tensors will not have.
        return self._fit(Precision.INT16)

    def _fit(self, precision: Precision) -> Fit[Annotated]:
        options = replace(self._options, precision=precision)
        found = with_weights(self._found, self._samples, options, self._progress)

        def converted(int16: Mapping[str, Codes16]) -> Graph:
            return found.converted(self._converters, int16)

        assert found.data is not None
        candidates = observed_candidates(found.graph, found.data)
        return Fit(found, found.real, candidates, converted)
