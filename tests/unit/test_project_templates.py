"""The templates of the PlatformIO project use all that their contexts give, and nothing else."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from jinja2 import meta

from edgec.codegen import project_contexts
from edgec.codegen.env import TEMPLATES, environment
from edgec.codegen.project import linker_script
from edgec.target.board import list_boards

CONTEXTS: list[Any] = [
    value
    for value in vars(project_contexts).values()
    if dataclasses.is_dataclass(value) and hasattr(value, "template")
]


def test_every_template_has_a_context() -> None:
    files = {f"project/{path.name}" for path in (TEMPLATES / "project").glob("*.j2")}
    assert {context.template for context in CONTEXTS} == files


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda context: context.__name__)
def test_template_uses_exactly_the_fields(context: Any) -> None:
    source = (TEMPLATES / context.template).read_text("utf-8")
    used = meta.find_undeclared_variables(environment().parse(source))
    assert used == {field.name for field in dataclasses.fields(context)}


@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_linker_script_names_every_memory(board: Any) -> None:
    if board.memory is None:
        return
    script = linker_script(board, board.memory)
    for region in board.memory.ram:
        assert f"ORIGIN = {region.origin:#x}, LENGTH = {region.size_bytes}" in script
    assert (".boot2" in script) == (board.memory.flash.boot_bytes > 0)
