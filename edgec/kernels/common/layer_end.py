"""How the kernel of a node ends: the form of requantization of the layer as kernels see it."""

from __future__ import annotations

from typing import NamedTuple

from edgec.base.dtypes import DType
from edgec.base.errors import LoweringError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import form_of, residual_of
from edgec.kernels.common.exact31 import Exact31, exact31
from edgec.kernels.common.rescale16 import Rescale16
from edgec.target.target import Target


class End(NamedTuple):
    """The end of a layer with weights, in the order of the fields of specifications.

    Attributes:
        shift: right shift of the product with the multiplier.
        residual_shift: right shift of the addition that follows (`qops.AddParams`), if any.
        rescale16: numbers of a layer that ends in `qops.Rescale16x15`; None for other forms.
        exact31: what is compiled in of a layer that ends in `qops.Twice31` or `qops.Offset31`; None
            for other forms.
    """

    shift: int
    residual_shift: int | None
    rescale16: Rescale16 | None
    exact31: Exact31 | None


def end_of(graph: Graph, node: Node) -> End:
    """The end of a layer with weights.

    Raises:
        LoweringError: it has none.
    """
    match form_of(node.attrs):
        case qops.Requant31(dtype=DType.INT8) as form:
            added = residual_of(node.attrs)
            shift = added.shift if isinstance(added, qops.AddParams) else None
            return End(form.shift, shift, None, None)
        case qops.Twice31() | qops.Offset31() as form:
            return End(0, None, None, exact31(graph, node, form))
        case qops.Rescale16x15() as form:
            return End(form.shift, None, _rescale16(node, form), None)
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
    if not isinstance(form, qops.Requant31) or form.dtype is not DType.INT8:
        raise LoweringError(f"no kernel of {node.op} ends in this form", where=node.name)
    return form


class SingleEnd(NamedTuple):
    """The end of an operator with one multiplier.

    Attributes:
        shift: right shift of the product.
        left: left shift before the product, in a form that rounds twice; None: it rounds once.
    """

    shift: int
    left: int | None


def single31(node: Node) -> SingleEnd:
    """The end of an operator with one multiplier of 31 bits.

    Raises:
        LoweringError: it ends otherwise.
    """
    form = form31_of(node)
    if isinstance(form, qops.Requant31):
        return SingleEnd(form.shift, None)
    return SingleEnd(max(-form.shifts[0], 0), max(form.shifts[0], 0))


def form31_of(node: Node) -> qops.Requant31 | qops.Twice31:
    """The form of an operator with one multiplier of 31 bits.

    Raises:
        LoweringError: it ends otherwise.
    """
    form = form_of(node.attrs)
    wide = isinstance(form, qops.Requant31) and form.dtype is not DType.INT8
    if wide or not isinstance(form, qops.Requant31 | qops.Twice31):
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


def ends_in_requant31(node: Node, low: int, high: int) -> bool:
    """Whether a node ends in `qops.Requant31` with these bounds."""
    form = form_of(node.attrs)
    return isinstance(form, qops.Requant31) and (form.low, form.high) == (low, high)


def ends_in_rescale16(node: Node) -> bool:
    """Whether a node ends in `qops.Rescale16x15`."""
    return isinstance(form_of(node.attrs), qops.Rescale16x15)


def accepts_rescale16(_graph: Graph, node: Node, _target: Target) -> bool:
    """`ends_in_rescale16` as a family asks it (`KernelFamily.accepts`)."""
    return ends_in_rescale16(node)
