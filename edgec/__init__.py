"""edgec: from a trained ONNX network to tested, flashable firmware on an Arm microcontroller.

>>> result = edgec.compile_model("model.onnx", "nucleo", calibration="samples.npz")
>>> scores = result.run(x, on="host")
>>> edgec.load("build/model-nucleo_f446re")  # another day; a notebook shows size, speed, accuracy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from edgec.base.version import __version__

if TYPE_CHECKING:
    from edgec.base.options import CompileOptions, MaxLength, QuantOptions
    from edgec.base.samples import Normalize, SampleFile
    from edgec.commands.compile import CompileResult, compile_model
    from edgec.commands.inspect import inspect
    from edgec.commands.quantize import quantize_model
    from edgec.target.board import load_board
    from edgec.workflow.build import Build, load
    from edgec.workflow.evaluation import evaluate

__all__ = [
    "Build",
    "CompileOptions",
    "CompileResult",
    "MaxLength",
    "Normalize",
    "QuantOptions",
    "SampleFile",
    "__version__",
    "compile_model",
    "evaluate",
    "inspect",
    "load",
    "load_board",
    "quantize_model",
]

_HOMES = {
    "Build": "workflow.build",
    "CompileOptions": "base.options",
    "CompileResult": "commands.compile",
    "MaxLength": "base.options",
    "Normalize": "base.samples",
    "QuantOptions": "base.options",
    "SampleFile": "base.samples",
    "compile_model": "commands.compile",
    "evaluate": "workflow.evaluation",
    "inspect": "commands.inspect",
    "load": "workflow.build",
    "load_board": "target.board",
    "quantize_model": "commands.quantize",
}


def __getattr__(name: str) -> Any:
    """Load the public names on first use: `edgec --help` must not wait for onnx."""
    if name not in _HOMES:
        raise AttributeError(f"module 'edgec' has no attribute {name!r}")
    import importlib  # noqa: PLC0415

    return getattr(importlib.import_module(f"edgec.{_HOMES[name]}"), name)
