"""SymPy is loaded when a symbolic dimension is computed with, not with onnx-ir.

onnx-ir imports it for the arithmetic of such dimensions.  edgec's models have none when they are
cleaned up, and SymPy is a quarter of all the modules of a compile.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_DEFERRED = ("sympy", "onnx_ir._symbolic_shapes")
"""The package, and the module that reads names of it as it is loaded; where another version of
onnx-ir has no such module, nothing is gained."""


class _Deferring(MetaPathFinder):
    """Finds these modules as ones that are executed when a name of theirs is first read."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of one of them; None for other modules."""
        if fullname not in _DEFERRED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def load_onnx_ir() -> None:
    """Import onnx-ir, without SymPy where nobody has imported that."""
    finder = _Deferring()
    sys.meta_path.insert(0, finder)
    try:
        import onnx_ir  # noqa: F401, PLC0415
    finally:
        sys.meta_path.remove(finder)
