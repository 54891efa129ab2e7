"""The codes that an integer graph reads for calibration samples, and its runs on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.streams import RESETS
from edgec.interp.int_interp import Change, run_stream
from edgec.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class Outputs:
    """Outputs of a network for the first samples of some data, collected where it was run.

    Attributes:
        real: arrays by output of the float network, one record a sample.
        codes: arrays by output of the integer graph, likewise.
    """

    real: list[Mapping[str, Array]] = field(default_factory=list)
    codes: list[Mapping[str, Array]] = field(default_factory=list)


def sample_codes(graph: Graph, data: Mapping[str, Array], index: int) -> dict[str, Array]:
    """The codes of one sample, [1, ...] by input.

    Args:
        graph: INTEGER stage.
        data: real numbers (token ids and masks: whole numbers) [N, ...] by input.
        index: number of the sample.
    """
    codes = {}
    for name in graph.inputs:
        array, quant = data[name][index : index + 1], graph.values[name].quant
        codes[name] = array.astype(np.int32) if quant is None else quant.quantize(array)
    return codes


def runs(
    graph: Graph, data: Mapping[str, Array], change: Change | None = None
) -> Iterator[dict[str, Array]]:
    """Every tensor of an integer graph for each sample, in order; those of a stream have state.

    Args:
        graph: INTEGER stage.
        data: as for `sample_codes`; all samples are run.
        change: see `run_graph`.
    """
    count = len(next(iter(data.values())))
    samples = (sample_codes(graph, data, index) for index in range(count))
    yield from run_stream(graph, samples, data.get(RESETS), change)
