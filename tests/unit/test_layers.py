"""The import rule of docs/architecture.md, checked on the source."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from places import PACKAGE
from source_trees import module_trees

LAYERS = (
    ("base",),
    ("target", "ir"),
    ("importers", "exporters", "interp", "memory", "toolchain", "timing", "report"),
    ("floatrun", "frontends"),
    ("passes", "layererror"),
    ("quant", "weightpool"),
    ("finetune",),
    ("kernels",),
    ("lower",),
    ("codegen", "sim"),
    ("workflow",),
    ("profile",),
    ("commands",),
    ("fit",),
    ("explore",),
    ("cli",),
    ("__init__", "__main__"),
)
"""Every package of edgec, lowest layer first; `docs/architecture.md` says what each is for."""
LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}

ONLY_IN = {
    "onnx": ("importers.onnx", "exporters.onnx", "floatrun"),
    "onnx_ir": ("importers.onnx",),
    "onnxscript": ("importers.onnx",),
    "onnxruntime": ("floatrun", "frontends"),
    "tflite": ("importers.tflite",),
    "jinja2": ("codegen",),
    "subprocess": ("toolchain",),
    "typer": ("cli",),
    "unicorn": ("sim",),
    "capstone": ("timing",),
    "serial": ("sim",),
    "torch": ("finetune",),
    "highspy": ("fit.program",),
    "optuna": ("explore",),
    "distributed": ("explore",),
}

FRONTS = "importers"
"""The package whose packages are fronts, one a file format, beside `common`."""


def modules() -> list[Path]:
    return list(module_trees())


def unit(path: Path) -> str:
    """The package or top-level module that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def imports(path: Path) -> list[str]:
    """Dotted names of everything a file imports, at any depth of the code."""
    names = []
    for node in ast.walk(module_trees()[path]):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def import_fault(own: str, name: str) -> str | None:
    """What is wrong with an import of `name` in the package `own`."""
    package, *parts = name.split(".")
    if package != "edgec" or (parts and parts[0] == own):
        return None
    if not parts or parts[0] not in LEVELS:
        return f"imports from edgec itself: {name}"
    return None if LEVELS[parts[0]] < LEVELS[own] else f"{own} may not import {name}"


def test_imports_go_down():
    faults = [
        f"{path.relative_to(PACKAGE)}: {fault}"
        for path in modules()
        for name in imports(path)
        if (fault := import_fault(unit(path), name))
    ]
    assert faults == []


@pytest.mark.parametrize(
    ("own", "name", "wrong"),
    [
        ("kernels", "edgec.lower.program", True),
        ("codegen", "edgec.sim.host", True),
        ("ir", "edgec.version", True),
        ("ir", "edgec", True),
        ("lower", "edgec.kernels.registry", False),
        ("lower", "edgec.lower.program", False),
        ("lower", "numpy", False),
    ],
)
def test_imports_that_go_up_are_faults(own: str, name: str, wrong: bool):
    assert (import_fault(own, name) is not None) is wrong


def fronts() -> list[str]:
    """The packages of importers but the one that they share."""
    found = [path.name for path in (PACKAGE / FRONTS).iterdir() if (path / "__init__.py").exists()]
    assert "common" in found
    return sorted(set(found) - {"common"})


@pytest.mark.parametrize("front", ["common", *fronts()])
def test_fronts_stand_side_by_side(front: str):
    """The common builder knows no file format; a front knows no other front."""
    paths = sorted((PACKAGE / FRONTS / front).rglob("*.py"))
    assert paths
    others = {f"edgec.{FRONTS}.{other}." for other in fronts() if other != front}
    for path in paths:
        for name in imports(path):
            assert not any(f"{name}.".startswith(other) for other in others), f"{path}: {name}"
            package = name.split(".")[0]
            assert front != "common" or package in {*sys.stdlib_module_names, "numpy", "edgec"}, (
                f"{path} imports {name}"
            )


def test_every_layer_exists():
    """A new package gets a layer in docs/architecture.md and here."""
    found = {unit(path) for path in modules()}
    assert found == set(LEVELS)


@pytest.mark.parametrize("library", ONLY_IN)
def test_libraries_have_one_home(library: str):
    users = [path for path in modules() if any(n.split(".")[0] == library for n in imports(path))]
    assert users, f"nothing imports {library}: take it out of this table"
    for path in users:
        home = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        homes = ONLY_IN[library]
        assert any(f"{home}.".startswith(f"{h}.") for h in homes), f"{path} imports {library}"


def test_the_package_imports_nothing_heavy():
    """`edgec --help` must not wait for onnx, numpy and others."""
    code = "import sys, edgec; print(*sorted({n.split('.')[0] for n in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "onnx", "onnxruntime", "jinja2", "rich"} & set(done.stdout.split())


def test_names_of_test_modules_differ():
    """Else pytest does not read the second one of a run of the whole suite."""
    tests = Path(__file__).resolve().parents[1]
    counts = Counter(path.name for path in tests.rglob("test_*.py"))
    assert [name for name, count in counts.items() if count > 1] == []
