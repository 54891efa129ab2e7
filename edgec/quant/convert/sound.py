"""Logarithms of energies of sound, from samples of 16 bits."""

from __future__ import annotations

import math

from edgec.base.dtypes import DType
from edgec.base.errors import ConfigError, QuantizationError
from edgec.base.portable_functions import LN_2, real_log
from edgec.frontends.mel import LogNumbers, log_mel_tables
from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.ir.qops.spectrum import SAMPLE_BITS
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.LogMel)
def log_mel(c: Conversion) -> None:
    """LogMel to QLogMel."""
    attrs, real = c.node.attrs_as(ops.LogMel), ops.LogMel.Inputs.of(c.node.inputs)
    x = c.widened(real.x)
    window, bank = (c.graph.constants[name].real64() for name in (real.window, real.bank))
    largest = float(window.max())
    order = 1 if attrs.magnitude else 2
    floor = (
        attrs.gain * real_log(max(attrs.least, attrs.added)) + attrs.bias if attrs.least else None
    )
    numbers = LogNumbers(
        hop=attrs.hop,
        points=attrs.points,
        magnitude=attrs.magnitude,
        # The tables take samples for numbers of -1 to 1, and a window of 0 to 1.
        scale=(x.scale * 2.0**SAMPLE_BITS * largest) ** order,
        added=attrs.added,
        per_octave=attrs.gain * LN_2,
        bias=attrs.bias,
        low=-math.inf if floor is None else floor,
    )
    try:
        found = log_mel_tables(window / largest, bank.T, numbers)
    except ConfigError as error:
        raise QuantizationError(error.what, where=c.node.name) from error
    inputs = qops.QLogMel.Inputs(
        x=x.name,
        window=c.constant("window", found.window),
        sines=c.constant("sines", found.sines),
        bank=c.constant("bank", found.bank),
        bins=c.constant("bins", found.bins),
    )
    c.emit(found.attrs, inputs, QuantParams.per_tensor(found.scale, 0, DType.INT16))
