"""When the options of quantization have an effect on a network."""

from __future__ import annotations

from edgec.base.effect import Effect
from edgec.base.options import CompileOptions, Observer
from edgec.ir import Graph
from edgec.quant.cnn.annotation import has_open_ranges
from edgec.quant.cnn.equalize import can_equalize
from edgec.quant.common.searched import is_searched

_SEARCHED = "the scales of a transformer are searched by the error of what reads them"
_PINNED = "the model brings the ranges of all its tensors (QuantizeLinear)"
_NO_DATA = "there is no calibration data, only noise, whose extremes are the ranges"
_GIVE_DATA = "give --calibration DATA.npz"


def quantization_effects(
    options: CompileOptions, graph: Graph, *, has_data: bool
) -> tuple[Effect, ...]:
    """The table of the options that `quantize` reads.

    Args:
        options: the options that the user gave.
        graph: REAL stage, cleaned.
        has_data: the user gave calibration data.
    """
    quant = options.quant
    transformer = is_searched(graph)
    observer, percentile = quant.observer is not None, quant.percentile is not None
    is_open = not (observer or percentile) or transformer or has_open_ranges(graph, has_data)
    shaped = quant.observer not in (None, Observer.MINMAX)
    corrects, equalizes = quant.bias_correction is True, quant.equalize is True
    return (
        Effect("--observer", observer, not transformer, _SEARCHED),
        Effect("--percentile", percentile, not transformer, _SEARCHED),
        Effect("--observer", observer, is_open, _PINNED),
        Effect("--percentile", percentile, is_open, _PINNED),
        Effect(
            "--percentile",
            percentile,
            quant.observer is Observer.PERCENTILE,
            "only one observer keeps a share of the values",
            "add --observer percentile",
        ),
        Effect("--observer", shaped, has_data, _NO_DATA, _GIVE_DATA),
        Effect("--bias-correction", corrects, has_data, _NO_DATA, _GIVE_DATA),
        Effect(
            "--equalize",
            equalizes,
            not transformer and can_equalize(graph),
            "no two neighbouring layers can share the magnitude of their float weights",
        ),
        Effect(
            "--residual",
            quant.residual is not None,
            transformer,
            "only transformers have a residual stream of their own",
            "leave it out; the tensors of this network are int8 anyway",
        ),
        Effect(
            "--max-length",
            options.max_length is not None,
            transformer,
            "only transformers can have a variable length",
            "fix the shapes with --shape",
        ),
    )
