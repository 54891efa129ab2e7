"""Writes a trained network as ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from torch import nn


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
    """
    model.eval().to("cpu", memory_format=torch.contiguous_format)
    torch.onnx.export(
        model, (torch.zeros(1, *shape),), path, input_names=["input"],
        output_names=list(outputs), opset_version=18, dynamo=True, external_data=False,
        verbose=False,
    )  # fmt: skip
    onnx.save(without_traces(onnx.load(path)), path)


def without_traces(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without the stack traces and paths of this computer that the exporter leaves."""
    del model.metadata_props[:], model.graph.metadata_props[:]
    for item in (*model.graph.node, *model.graph.value_info, *model.graph.initializer):
        del item.metadata_props[:]
        item.doc_string = ""
    return model
