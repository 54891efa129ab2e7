"""edgec: from a trained ONNX network to tested, flashable firmware on an Arm microcontroller.

>>> result = edgec.compile_model("model.onnx", "nucleo", calibration="samples.npz")
>>> scores = result.run(x, on="host")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgec.board import load_board
    from edgec.driver import CompileResult, compile_model
    from edgec.evaluation import evaluate
    from edgec.inspection import inspect
    from edgec.options import CompileOptions, MaxLength, QuantOptions
    from edgec.quantization import quantize_model

__version__ = "0.1.0"
__all__ = [
    "CompileOptions",
    "CompileResult",
    "MaxLength",
    "QuantOptions",
    "compile_model",
    "evaluate",
    "inspect",
    "load_board",
    "quantize_model",
]

_HOMES = {
    "CompileOptions": "options",
    "CompileResult": "driver",
    "MaxLength": "options",
    "QuantOptions": "options",
    "compile_model": "driver",
    "evaluate": "evaluation",
    "inspect": "inspection",
    "load_board": "board",
    "quantize_model": "quantization",
}


def __getattr__(name: str) -> Any:
    """Load the public names on first use: `edgec --help` must not wait for onnx."""
    if name not in _HOMES:
        raise AttributeError(f"module 'edgec' has no attribute {name!r}")
    import importlib  # noqa: PLC0415

    return getattr(importlib.import_module(f"edgec.{_HOMES[name]}"), name)
