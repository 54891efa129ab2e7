"""Templates and their contexts agree: no name that is unknown, no field that is unused."""

import dataclasses
import inspect
from pathlib import Path

import pytest
from jinja2 import meta, nodes

from edgec.codegen import contexts
from edgec.codegen.env import TEMPLATES, environment
from edgec.lower import spec as specs
from edgec.lower.spec_base import Plain

KERNELS = TEMPLATES / "kernels"
SPECS = {spec.family: spec for spec in specs.KernelSpec.__args__}
_NOT_FOR_TEMPLATES = {
    *("scratch_bytes", "macs", "out_elements", "out_bytes", "out_pixels"),
    "vectors",
    *("fits_entries", "list_entries", "look_ups", "writes_at_end"),
    *("has_pair_loop", "pairs", "raised", "stores_singly", "adds", "y_type"),  # of a base
    "sum_rows",
}
"""Properties that reports and the planner use."""
_WORDS_ONLY = {"mode", "kind", "mask_stride", "bias_steps", "bias_stride", "shifted", "narrowed"}
"""Fields that templates see as decided bools."""


def _tree(path: Path) -> nodes.Template:
    return environment().parse(path.read_text("utf-8"))


def _attributes(path: Path, name: str) -> set[str]:
    """Attributes that a template (with what it imports) reads from the variable `name`."""
    return {
        node.attr
        for part in (path, *_imported(path))
        for node in _tree(part).find_all(nodes.Getattr)
        if isinstance(node.node, nodes.Name) and node.node.name == name
    }


def _imported(path: Path) -> list[Path]:
    names = meta.find_referenced_templates(_tree(path))
    return [TEMPLATES / name for name in names if name is not None]


def _public(cls: type) -> set[str]:
    fields = {field.name for field in dataclasses.fields(cls)}
    properties = {n for n, v in inspect.getmembers(cls) if isinstance(v, property)}
    return fields | properties


def test_every_family_has_a_template_and_back() -> None:
    files = {path.name.removesuffix(".c.j2") for path in KERNELS.glob("[!_]*.c.j2")}
    assert files == set(SPECS)


@pytest.mark.parametrize("family", sorted(SPECS))
def test_kernel_template_knows_its_context(family: str) -> None:
    path = KERNELS / f"{family}.c.j2"
    expected = {field.name for field in dataclasses.fields(contexts.KernelContext)}
    assert meta.find_undeclared_variables(_tree(path)) == expected
    used = _attributes(path, "k")
    shared = {"residual_shift", "narrow", "shift"}
    assert used - shared - _of_parts(SPECS[family]) <= _public(SPECS[family])
    unused = _public(SPECS[family]) - used - _NOT_FOR_TEMPLATES - _WORDS_ONLY
    if unused:
        # A field that a property stands for: the property must be used.
        assert unused <= _behind_properties(SPECS[family], used), unused


def _of_parts(cls: type) -> set[str]:
    """What macros read from a part that is a kernel of its own."""
    found: set[str] = set()
    for value in vars(cls).values():
        part = value.fget.__annotations__.get("return") if isinstance(value, property) else None
        found |= next((_public(each) for each in SPECS.values() if each.__name__ == part), set())
    return found


def _behind_properties(cls: type, used: set[str]) -> set[str]:
    """Fields that only the used properties read."""
    sources = "".join(
        inspect.getsource(value.fget)
        for name, value in inspect.getmembers(cls)
        if isinstance(value, property) and name in used
    )
    return {name for name in _public(cls) if f"self.{name}" in sources}


@pytest.mark.parametrize(
    ("template", "context"),
    [
        ("model.h.j2", contexts.HeaderContext),
        ("model.c.j2", contexts.SourceContext),
        ("weights.h.j2", contexts.WeightsContext),
        ("weights.c.j2", contexts.WeightsContext),
        ("CMakeLists.txt.j2", contexts.CMakeContext),
    ],
)
def test_file_template_uses_all_of_its_context(template: str, context: type) -> None:
    used = meta.find_undeclared_variables(_tree(TEMPLATES / template))
    assert used == {field.name for field in dataclasses.fields(context)}


@pytest.mark.parametrize(
    ("templates", "variable", "context"),
    [
        (["model.h.j2", "model.c.j2"], "port", contexts.PortContext),
        (["model.c.j2"], "step", contexts.StepContext),
        (["model.c.j2"], "table", contexts.ParamsContext),
        (["weights.h.j2", "weights.c.j2"], "constant", contexts.ConstantContext),
    ],
)
def test_parts_of_contexts_are_used(templates: list[str], variable: str, context: type) -> None:
    used = set().union(*(_attributes(TEMPLATES / name, variable) for name in templates))
    assert used == {field.name for field in dataclasses.fields(context)}


def test_templates_are_short() -> None:
    """Those of C: what a reader has to hold in mind at once."""
    for path in TEMPLATES.rglob("*.[ch].j2"):
        assert len(path.read_text("utf-8").splitlines()) <= 160, path


def test_plain_kernels_have_no_scratch() -> None:
    assert Plain().scratch_bytes == 0
    assert Plain().macs == 0
