"""What the functions of layers of int8 or int16 activations are called with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.params import ConstantRef
from edgec.kernels.common.weighted import Pack, as_stored


@dataclass(frozen=True, slots=True)
class MixedParams:
    """Convolutions and matrix products of int8 or int16 activations."""

    c_type: ClassVar[str] = "edgec_mixed_params_t"
    weights: ConstantRef
    bias: ConstantRef
    multiplier: ConstantRef
    x_zero_point: int
    y_zero_point: int
    low: int
    high: int


def layer_params(
    graph: Graph, node: Node, pool: ConstantPool, pack: Pack = as_stored
) -> MixedParams:
    """The argument struct of a QMixedConv.

    Args:
        graph: INTEGER stage.
        node: the layer.
        pool: takes the constants.
        pack: brings them into the kernel's layout.
    """
    inputs = qops.QMixedConv.Inputs.of(node.inputs)
    names = inputs.w, inputs.b, inputs.multiplier
    weights, bias, multiplier = pack(*(graph.constants[name].array for name in names))
    form = node.attrs_as(qops.QMixedConv).output
    return MixedParams(
        pool.add("weights", weights),
        pool.add("bias", bias),
        pool.add("multipliers", multiplier),
        graph.quant(inputs.x).tensor_zero_point,
        form.zero_point,
        form.low,
        form.high,
    )
