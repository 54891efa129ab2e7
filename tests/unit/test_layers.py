"""The import rule of docs/architecture.md, checked on the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "edgec"

BASE = (
    "errors",
    "interrupts",
    "dtypes",
    "fixedpoint",
    "options",
    "resources",
    "cores",
    "samples",
    "output_dir",
)
MIDDLE = (
    *("integer", "inspection", "quantization", "checks", "fits", "session", "evaluation"),
    *("report", "report_build", "report_text", "console", "stack", "firmware", "report_bundle"),
    *("pooling", "accuracy", "compression", "compression_text"),
)
CLI_PARTS = ("cli_errors", "cli_options", "cli_compress", "cli_judge")
LAYERS = {
    **dict.fromkeys(BASE, 0),
    **dict.fromkeys(("ir", "board_memory"), 1),
    **dict.fromkeys(("frontend", "interp", "memory", "board"), 2),
    **dict.fromkeys(("quant", "weightpool", "toolchain", "timing"), 3),
    **dict.fromkeys(("passes", "lower", "finetune"), 4),
    **dict.fromkeys(("codegen", "templates", "sim"), 5),
    **dict.fromkeys(MIDDLE, 6),
    "profile": 7,
    **dict.fromkeys(("driver", "budget", "bundle"), 8),
    **dict.fromkeys(
        ("cli", "cli_errors", "cli_options", "cli_compress", "cli_judge", "__main__"), 9
    ),
}

ONLY_IN = {
    "onnx": ("frontend",),
    "onnx_ir": ("frontend",),
    "onnxscript": ("frontend",),
    "onnxruntime": ("frontend",),
    "jinja2": ("codegen",),
    "subprocess": ("toolchain",),
    "typer": ("cli", "cli_options", "cli_compress", "cli_judge"),
    "unicorn": ("sim",),
    "capstone": ("timing",),
    "serial": ("sim",),
    "torch": ("finetune",),
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def unit(path: Path) -> str:
    """The package or top-level module that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    """Dotted names of everything a file imports, at any depth of the code."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def may_import(own: str, other: str) -> bool:
    """Lower layers always; in one layer single modules (not packages) may share."""
    if LAYERS[own] != LAYERS[other]:
        return LAYERS[own] > LAYERS[other]
    return not (PACKAGE / own).is_dir() and not (PACKAGE / other).is_dir()


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path: Path):
    own = unit(path)
    if path == PACKAGE / "__init__.py":
        return  # the public API: re-exports from every layer
    assert own in LAYERS, f"{own} has no layer: add it to docs/architecture.md and here"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "edgec" or len(parts) < 2 or parts[1] == own:
            continue
        if parts[1] not in LAYERS:  # a name of edgec/__init__.py, which imports from all layers
            assert LAYERS[own] >= 6, f"{own} imports from edgec itself: {name}"
            continue
        assert may_import(own, parts[1]), f"layer of {own} may not import {name}"


@pytest.mark.parametrize("library", ONLY_IN)
def test_libraries_have_one_home(library: str):
    for path in modules():
        if any(name.split(".")[0] == library for name in imports(path)):
            assert unit(path) in ONLY_IN[library], f"{path} imports {library}"
