"""The codes that an integer graph reads for a calibration sample."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph


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
