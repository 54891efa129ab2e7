"""Conditions under which the options of quantization have an effect on a network."""

from __future__ import annotations

from edgec.base.errors import Effect
from edgec.base.options import Effort, IntegerOptions, Observer, Precision, QuantOptions, Residual
from edgec.ir import Graph
from edgec.ir.searched import is_searched
from edgec.quant.cnn.balance import can_balance
from edgec.quant.cnn.fit_weights import LEAST_SAMPLES, has_real_weights
from edgec.quant.scales.known import has_open_ranges

_SEARCHED = "the scales of a transformer are searched by the error of what reads them"
_WITH_INT16 = "the weights of a transformer are chosen where its tensors have int16 codes"
_PINNED = "the model brings the ranges of all its tensors (QuantizeLinear)"
_NO_DATA = "there is no calibration data, only noise, whose extremes are the ranges"
_INTEGER_WEIGHTS = "the model brings integer weights, which stay as they are"
_NO_SAMPLES = "weights are chosen by calibration data, and there are none"
_GIVE_DATA = "give --calibration DATA.npz"


def quantization_effects(options: IntegerOptions, graph: Graph, samples: int) -> tuple[Effect, ...]:
    """The table of the options that `quantize` reads.

    Args:
        options: the options that the user gave.
        graph: REAL stage, cleaned.
        samples: calibration samples that the user gave.
    """
    quant, has_data = options.quant, samples > 0
    transformer = is_searched(graph)
    observer, percentile = quant.observer is not None, quant.percentile is not None
    is_open = not (observer or percentile) or transformer or has_open_ranges(graph, has_data)
    shaped = quant.observer not in (None, Observer.MINMAX)
    wider = quant.precision not in (None, Precision.INT8)
    open_ranges = not wider or transformer or has_open_ranges(graph, has_data)
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
            not transformer and can_balance(graph),
            "no channel can be scaled between float weights of two layers",
        ),
        Effect("--equalize", equalizes, has_data, _NO_DATA, _GIVE_DATA),
        Effect("--rounding", options.rounding is not None, not transformer, _SEARCHED),
        Effect(
            "--residual",
            quant.residual is not None,
            transformer,
            "only transformers have a residual stream of their own",
            "leave it out; the tensors of this network are int8 anyway",
        ),
        Effect(
            "--precision",
            wider,
            quant.residual is not Residual.INT8,
            "a stream of int8 is what it would make more precise",
            "leave out --residual int8",
        ),
        Effect(
            "--precision",
            wider,
            options.max_length is None,
            "operators of int16 codes compute runs of one length only",
            "leave out --max-length, or --precision",
        ),
        Effect("--precision", wider, open_ranges, _PINNED),
        Effect("--precision", wider, has_data, _NO_DATA, _GIVE_DATA),
        Effect(
            "--target-db",
            quant.target_db is not None,
            quant.precision is Precision.AUTO,
            "nothing is chosen by it",
            "it belongs to --precision auto",
        ),
        Effect(
            "--max-drop",
            quant.max_drop is not None,
            quant.precision is Precision.AUTO,
            "nothing is chosen by it",
            "it belongs to --precision auto",
        ),
        Effect(
            "--int16",
            bool(quant.int16),
            quant.precision is Precision.AUTO,
            "it names tensors of a network that has both int8 and int16",
            "add --precision auto",
        ),
        Effect(
            "--int16",
            bool(quant.int16),
            quant.target_db is None and quant.max_drop is None,
            "nothing is left to choose by an accuracy",
            "leave out --target-db and --max-drop",
        ),
        *_effort_effects(quant, graph, samples),
    )


def _effort_effects(quant: QuantOptions, graph: Graph, samples: int) -> tuple[Effect, ...]:
    """Conditions under which there is something to try for the integer weights."""
    tries = quant.effort not in (None, Effort.FAST)
    wider = quant.precision not in (None, Precision.INT8)
    return (
        Effect(
            "--effort", tries, not is_searched(graph) or wider, _WITH_INT16, "add --precision auto"
        ),
        Effect("--effort", tries, has_real_weights(graph), _INTEGER_WEIGHTS),
        Effect("--effort", tries, samples > 0, _NO_SAMPLES, _GIVE_DATA),
        Effect(
            "--effort",
            tries,
            samples >= LEAST_SAMPLES,
            f"{samples} calibration samples are too few to choose weights by",
            f"give {LEAST_SAMPLES} or more",
        ),
        Effect(
            "--effort",
            tries,
            quant.bias_correction is not False,
            "weights are chosen by the error that is left when biases are corrected",
            "leave out --no-bias-correction",
        ),
    )
