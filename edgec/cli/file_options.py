"""Options of the commands that write networks with integers as ONNX files."""

from __future__ import annotations

from typing import Annotated

import typer

from edgec.base.options import WeightTypes
from edgec.cli.help import OUTPUT

WeightTypesOption = Annotated[
    WeightTypes | None,
    typer.Option(
        "--weight-types",
        help="Narrowest element type of weights in the file: int8 (default), which every runtime "
        "reads, int4 (opset 21) or, between float activations, int2 (opset 25).",
        rich_help_panel=OUTPUT,
    ),
]
QonnxOption = Annotated[
    bool,
    typer.Option(
        "--qonnx",
        help="Write QONNX (Quant and BipolarQuant) in place of Q/DQ, for tools that read it; "
        "onnxruntime does not.",
        rich_help_panel=OUTPUT,
    ),
]
