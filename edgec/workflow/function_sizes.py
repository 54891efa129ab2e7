"""Flash that the functions of kernels take, compiled beside each other: `function_sizes`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from edgec.base.digests import canonical_digest
from edgec.base.options import Optimize
from edgec.base.resources import data_dir
from edgec.codegen.contexts import KernelContext
from edgec.codegen.includes import runtime_headers, used_headers
from edgec.codegen.library import render_kernel
from edgec.codegen.project import LEVELS
from edgec.kernels.family import KernelSpec
from edgec.target.board import Board
from edgec.toolchain.code_sections import code_sections

_DIGITS = 16
_STANDARD = ("stdbool", "stddef", "stdint", "string")


def function_sizes(
    specs: Iterable[KernelSpec], board: Board, optimize: Optimize
) -> dict[KernelSpec, Mapping[str, int]]:
    """Sections of code and tables that each kernel's function needs, as firmware has them.

    All functions are one C source.  What several of them call is a section of its own name, which
    firmware holds once.

    Args:
        specs: the kernels, each once.
        board: the target.
        optimize: what is preferred where fast code and small code differ.

    Returns:
        Bytes of sections by name, for each kernel.

    Raises:
        BuildError: no compiler, or it reports errors.
    """
    # Names of their own, whatever they are compiled beside: callers join answers.
    names = {spec: f"edgec_{canonical_digest(repr(spec))[:_DIGITS]}" for spec in specs}
    if not names:
        return {}
    code = [render_kernel(KernelContext(s.describe(), name, s)) for s, name in names.items()]
    headers = used_headers("\n".join(code), runtime_headers())
    lines = [
        *(f"#include <{name}.h>" for name in _STANDARD),
        *(f'#include "edgec/{name}"' for name in headers),
        *code,
        # Functions whose address nobody takes would not be compiled, or into their callers.
        "typedef void (*edgec_any_t)(void);",
        "extern const edgec_any_t edgec_all[];",
        "const edgec_any_t edgec_all[] = {",
        *(f"    (edgec_any_t){name}," for name in names.values()),
        "};\n",
    ]
    include = data_dir("firmware") / "runtime" / "include"
    found = code_sections("\n".join(lines), include, board, LEVELS[optimize])
    return {spec: found[name] for spec, name in names.items()}
