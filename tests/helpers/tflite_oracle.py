"""TensorFlow Lite's own interpreter, where the extra `edgec[tflite]` is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from edgec.base.dtypes import Array

needs_litert = pytest.mark.skipif(
    find_spec("ai_edge_litert") is None, reason="needs ai-edge-litert: pip install edgec[tflite]"
)


def run_litert(path: Path, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs of the reference kernels, where there are such, by the file's names of them."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    try:
        resolver = OpResolverType.BUILTIN_REF
        interpreter = Interpreter(str(path), experimental_op_resolver_type=resolver)
    except ValueError:
        resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        interpreter = Interpreter(str(path), experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    for tensor in interpreter.get_input_details():
        interpreter.set_tensor(tensor["index"], inputs[tensor["name"]])
    interpreter.invoke()
    return {t["name"]: interpreter.get_tensor(t["index"]) for t in interpreter.get_output_details()}
