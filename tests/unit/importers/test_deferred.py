"""What a compile does not load: SymPy before a dimension is computed with, the other format."""

import subprocess
import sys

_SCRIPT = """
import sys
import edgec.commands.compile
import onnx_ir
for name in ("sympy.core", "tflite", "edgec.profile"):
    assert name not in sys.modules, name
print((onnx_ir.SymbolicDim("n*2") + 3).value)
assert "sympy.core" in sys.modules
"""


def test_sympy_is_loaded_when_it_is_needed():
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "2*n + 3"
