"""Writes a trained network as ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from torch import nn

from edgec.base.output_file import write_whole


def export(
    model: nn.Module,
    path: Path,
    shape: Sequence[int] = (3, 32, 32),
    outputs: Sequence[str] = ("logits",),
) -> None:
    """Writes the network with its normalizations folded by the exporter, batch 1.

    Args:
        model: the network.
        path: the file.
        shape: of one input.
        outputs: names of what the network gives.

    Raises:
        ConfigError: the file cannot be written; an earlier one is as it was.
    """
    model.eval().to("cpu", memory_format=torch.contiguous_format)
    program = torch.onnx.export(
        model, (torch.zeros(1, *shape),), input_names=["input"], output_names=list(outputs),
        opset_version=18, dynamo=True, verbose=False,
    )  # fmt: skip
    assert program is not None
    write_whole(path, without_traces(program.model_proto).SerializeToString())


def without_traces(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without the stack traces and paths of this computer that the exporter leaves."""
    del model.metadata_props[:], model.graph.metadata_props[:]
    for item in (*model.graph.node, *model.graph.value_info, *model.graph.initializer):
        del item.metadata_props[:]
        item.doc_string = ""
    return model
