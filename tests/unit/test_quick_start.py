"""Help and `edgec boards` answer at once: they import no heavy package."""

import subprocess
import sys

import pytest

HEAVY = (
    *("capstone", "elftools", "jinja2", "ml_dtypes", "numpy", "onnx", "onnx_ir", "onnxruntime"),
    *("onnxscript", "platformio", "scipy", "sympy", "torch", "unicorn"),
)


@pytest.mark.parametrize(
    "words", [["--help"], ["compile", "--help"], ["--version"], ["boards"], ["boards", "--json"]]
)
def test_no_heavy_package_is_imported(words: list[str]) -> None:
    script = (
        "import sys\nfrom edgec.cli.app import run_app\n"
        f"code = run_app({words!r})\n"
        f"print(code, [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    argv = [sys.executable, "-c", script]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stderr == "0 []\n"
