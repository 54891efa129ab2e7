"""How the kernel of a node ends: the form of requantization of the layer as kernels see it."""

from __future__ import annotations

from typing import NamedTuple

from edgec.base.errors import LoweringError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import form_of, residual_of
from edgec.kernels.common.rescale16 import Rescale16
from edgec.target.target import Target


class End(NamedTuple):
    """The end of a layer with weights, in the order of the fields of specifications.

    Attributes:
        shift: right shift of the product with the multiplier.
        residual_shift: right shift of the addition that follows (`qops.AddParams`), if any.
        rescale16: numbers of a layer that ends in `qops.Rescale16x15`; None for `qops.Requant31`.
    """

    shift: int
    residual_shift: int | None
    rescale16: Rescale16 | None


def end_of(node: Node) -> End:
    """The end of a layer with weights.

    Raises:
        LoweringError: it has none.
    """
    match form_of(node.attrs):
        case qops.Requant31() as form:
            added = residual_of(node.attrs)
            return End(form.shift, added.shift if isinstance(added, qops.AddParams) else None, None)
        case qops.Rescale16x15() as form:
            return End(form.shift, None, _rescale16(node, form))
        case _:
            raise LoweringError(f"{node.op} ends in no requantization", where=node.name)


def _rescale16(node: Node, form: qops.Rescale16x15) -> Rescale16:
    table = getattr(node.attrs.Inputs.of(node.inputs), "table", None)
    return Rescale16(form, table is not None, residual_of(node.attrs) is not None)


def requant31_of(node: Node) -> qops.Requant31:
    """The form of a node whose kernels have this one only.

    Raises:
        LoweringError: it ends otherwise.
    """
    form = form_of(node.attrs)
    if not isinstance(form, qops.Requant31):
        raise LoweringError(f"no kernel of {node.op} ends in this form", where=node.name)
    return form


def rescale16x15_of(node: Node) -> qops.Rescale16x15:
    """The form of a node whose kernels have this one only.

    Raises:
        LoweringError: it ends otherwise.
    """
    form = form_of(node.attrs)
    if not isinstance(form, qops.Rescale16x15):
        raise LoweringError(f"no kernel of {node.op} ends in this form", where=node.name)
    return form


def ends_in_rescale16(node: Node) -> bool:
    """Whether a node ends in `qops.Rescale16x15`."""
    return isinstance(form_of(node.attrs), qops.Rescale16x15)


def accepts_rescale16(_graph: Graph, node: Node, _target: Target) -> bool:
    """`ends_in_rescale16` as a family asks it (`KernelFamily.accepts`)."""
    return ends_in_rescale16(node)
