"""A graph as the file that is written of it, and what is read from that file."""

from __future__ import annotations

from edgec.base.options import CompileOptions
from edgec.base.output_file import write_whole
from edgec.base.work_folder import temporary_folder
from edgec.exporters.onnx.export import export_real
from edgec.ir.graph import Graph
from edgec.workflow.integer import RealModel, real_model


def exported(graph: Graph) -> bytes:
    """The ONNX file of a graph of the REAL stage, with the axes of its model."""
    data: bytes = export_real(graph, model_layout=True).SerializeToString(deterministic=True)
    return data


def read_again(data: bytes, name: str) -> RealModel:
    """The model that is in a file, as a compile reads it.

    Args:
        data: the content of the file.
        name: the name of the file.
    """
    with temporary_folder() as folder:
        path = folder / name
        write_whole(path, data)
        return real_model(path, None, CompileOptions())
