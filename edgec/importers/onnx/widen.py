"""Models of float16 and bfloat16 as models of float32.

Every number of these types is a float32 number, so a widened model means the same, up to the
rounding of its sums.  What libraries cannot infer or compute in 16 bits (bfloat16 constants, nodes
that mix both precisions) thereby stops being in the way.
"""

from __future__ import annotations

import onnx
from onnx import TensorProto, numpy_helper

from edgec.importers.common.boundary import library_call
from edgec.importers.onnx.walk import all_nodes, all_tensors

_HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype")
"""Attributes that name an element type."""


def widen(model: onnx.ModelProto) -> None:
    """Turn all tensors, inputs, outputs and casts of 16-bit floats into float32, in place.

    Raises:
        ImportModelError: a tensor cannot be read.
    """
    for tensor, _ in all_tensors(model):
        if tensor.data_type in _HALVES:
            _widen_tensor(tensor)
    for node in all_nodes(model):
        for attribute in node.attribute:
            if attribute.name in _TYPE_ATTRIBUTES and attribute.i in _HALVES:
                attribute.i = TensorProto.FLOAT
    for info in (*model.graph.input, *model.graph.output):
        kind = info.type.tensor_type
        if kind.elem_type in _HALVES:
            kind.elem_type = TensorProto.FLOAT


def _widen_tensor(tensor: onnx.TensorProto) -> None:
    with library_call("a tensor cannot be read"):
        wide = numpy_helper.to_array(tensor).astype("float32")
        tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))
