"""LayerNormalization and RMSNormalization to `QNorm`."""

from __future__ import annotations

import numpy as np

from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.quant.common.numbers import RealNorm, norm_numbers
from edgec.quant.common.params import per_channel
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.LayerNormalization, ops.RMSNormalization)
def norm(c: Conversion) -> None:
    """A norm of int16 numbers, which int8 codes become first."""
    attrs = c.node.attrs_as(ops.Norm)
    real = attrs.Inputs.of(c.node.inputs)
    x, channels = c.wide(real.x), c.graph.shape(real.x)[-1]
    scale, zero = per_channel(c.y, channels)
    found = norm_numbers(
        RealNorm(
            centred=isinstance(attrs, ops.LayerNormalization),
            gamma=c.graph.constants[real.gamma].real64(),
            beta=np.zeros(channels) if real.beta is None else c.graph.constants[real.beta].real64(),
            epsilon=attrs.epsilon,
            x_scale=x.unit,
            y_scale=scale,
            y_zero=zero,
            dtype=c.y.dtype,
            bounds=c.act_bounds,
        ),
        c.node.name,
    )
    inputs = qops.QNorm.Inputs(
        x=x.name,
        gamma=c.constant("gamma", found.gamma),
        beta=c.constant("beta", found.beta),
        k=x.shifts,
    )
    c.emit(found.attrs, inputs)
