"""Converters of the operators with weights: convolutions and Gemm."""

from __future__ import annotations

from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.Conv)
def conv(c: Conversion) -> None:
    """Conv to QConv."""
    attrs, layer = c.node.attrs_as(ops.Conv), c.layer()
    integer = qops.QConv(
        strides=attrs.strides,
        pads=attrs.pads,
        dilations=attrs.dilations,
        group=attrs.group,
        output=layer.form,
        residual=layer.residual,
        reach=layer.reach,
    )
    c.emit(integer, layer.inputs)


@CONVERTERS.entry(ops.ConvTranspose)
def conv_transpose(c: Conversion) -> None:
    """ConvTranspose to QConvTranspose."""
    attrs, layer = c.node.attrs_as(ops.ConvTranspose), c.layer()
    integer = qops.QConvTranspose(
        strides=attrs.strides,
        pads=attrs.pads,
        dilations=attrs.dilations,
        group=attrs.group,
        output_padding=attrs.output_padding,
        output=layer.form,
        reach=layer.reach,
    )
    c.emit(integer, layer.inputs)


@CONVERTERS.entry(ops.Gemm)
def gemm(c: Conversion) -> None:
    """Gemm to QGemm."""
    layer = c.layer()
    c.emit(qops.QGemm(layer.form, layer.residual, layer.raw, layer.reach), layer.inputs)
