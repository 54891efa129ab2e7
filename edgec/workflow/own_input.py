"""The input of a model's own file, before which there is a front end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgec.report.model import TensorReport

if TYPE_CHECKING:
    from edgec.workflow.integer import IntegerModel


def own_input(model: IntegerModel, name: str) -> TensorReport:
    """An input with the codes that it has in the graph."""
    value, quant = model.imported.values[name], model.integer.quant(name)
    return TensorReport(
        name=name,
        dtype=value.dtype.value,
        shape=value.shape,
        library_shape=model.integer.shape(name),
        layout=model.integer.input_layouts.get(name, ()),
        library_dtype=quant.dtype.value,
        scale=quant.tensor_scale,
        zero_point=quant.tensor_zero_point,
        size_bytes=model.integer.values[name].size_bytes,
        in_float32=quant.in_float32,
    )
