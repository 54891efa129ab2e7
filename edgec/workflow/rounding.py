"""Rounding of a model: its file's own, or the user's choice."""

from __future__ import annotations

from edgec.base.errors import Effect, refuse_without_effect
from edgec.base.rounding import Rounding
from edgec.importers.tflite.notes import BIAS_SCALES, NARROW_BIASES, ZERO_POINTS
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.metadata import has_note
from edgec.ir.weighted import form_of

_NO_CHOICE = (
    "only an integer TensorFlow Lite file has another rounding than edgec's own; every other model "
    "gets that one anyway"
)
_OWN = (
    "scales and weights are the file's own, but every layer rounds once, where TensorFlow Lite "
    "rounds twice: codes differ from its own by a step here and there (docs/tflite.md)"
)
_EXACT = "exact with --rounding tflm, to the last bit of TensorFlow Lite Micro"
_OWN_RULE = (
    qops.QLogSoftmax,
    qops.QResizeLinear,
    qops.QNorm,
    qops.QDiv,
)
"""Operators that TensorFlow Lite Micro computes by other rules."""
_SHOWN = 3


def with_rounding(imported: Graph, wanted: Rounding | None) -> Graph:
    """The graph with the rounding that the user asked for.

    Args:
        imported: REAL stage as imported: its rounding is that of the runtime the file is made for.
        wanted: what the user asked for; None: the file's own.

    Raises:
        ConfigError: the file leaves no choice.
    """
    choice = imported.rounding is not Rounding.EDGEC
    refuse_without_effect([Effect("--rounding", wanted is not None, choice, _NO_CHOICE)])
    return imported if wanted is None else imported.replace(rounding=wanted)


def rounding_of(graph: Graph) -> str:
    """Numbers of a network that are TensorFlow Lite Micro's own, in words; "" if none is to be.

    Args:
        graph: INTEGER stage.
    """
    if graph.rounding is not Rounding.TFLM:
        return ""
    for kind in (BIAS_SCALES, NARROW_BIASES, ZERO_POINTS):
        if has_note(graph, kind):
            return f"edgec's own in layers with {kind}, and in what follows"
    own = [node for node in graph.nodes if any(map(_is_own, qops.unchained(graph, node)[1]))]
    if not own:
        return f"{_EXACT}: every tensor"
    names = ", ".join(f"{node.op.removeprefix('Q')} {node.output}" for node in own[:_SHOWN])
    more = f" and {len(own) - _SHOWN} more" if len(own) > _SHOWN else ""
    return f"{_EXACT}, but for {names}{more} and what follows: there edgec rounds its own way"


def _is_own(node: Node) -> bool:
    return isinstance(node.attrs, _OWN_RULE) or _ends_once(node)


def _ends_once(node: Node) -> bool:
    if isinstance(node.attrs, qops.QSoftmax):
        return isinstance(node.attrs.rule, qops.Quotients)
    if isinstance(node.attrs, qops.QAdd):
        return isinstance(node.attrs.form, qops.AddParams)
    return isinstance(form_of(node.attrs), qops.Requant31)


def rounding_notes(imported: Graph, chosen: Graph) -> tuple[str, ...]:
    """Notes for users on the rounding of a build.

    Args:
        imported: REAL stage as imported.
        chosen: the same with the rounding in force.
    """
    return () if imported.rounding is chosen.rounding else (_OWN,)
