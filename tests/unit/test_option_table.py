"""Every option of `edgec compile` is in the table that project files are read with."""

from __future__ import annotations

import enum
from pathlib import Path

from typer.main import get_command

from edgec.cli.app import app
from edgec.cli.compile_request import compile_request
from edgec.cli.option_table import options_of

OUTPUT_ALONE = {"project", "fit", "html", "json", "verbose", "help_all"}
"""Options about what is shown, the search before a build, and the project file itself."""
TABLE = {option.name: option for option in options_of(compile_request)}


def test_options_are_those_of_the_command_line() -> None:
    command = get_command(app).commands["compile"]
    assert {each.name for each in command.params} == set(TABLE) | OUTPUT_ALONE
    for parameter in command.params:
        if parameter.name in TABLE and parameter.opts[0].startswith("-"):
            assert f"--{TABLE[parameter.name].key}" in parameter.opts


def test_types_of_values() -> None:
    kinds = {name: (option.type, option.many) for name, option in TABLE.items()}
    assert kinds["model"] == (Path, False)
    assert kinds["shape"] == (str, True)
    assert kinds["build"] == (bool, False)
    assert kinds["target_db"] == (float, False)
    assert issubclass(kinds["observer"][0], enum.Enum)
    known = (bool, int, float, str, Path)
    assert all(kind in known or issubclass(kind, enum.Enum) for kind, _ in kinds.values())


def test_what_is_required_and_what_may_be_a_bare_number() -> None:
    assert {name for name, each in TABLE.items() if each.required} == {"model", "board"}
    numbers = {name for name, each in TABLE.items() if each.takes_a_bare_number}
    assert {"max_length", "activation_bits", "pool_table"} <= numbers
    assert not numbers & {"model", "board", "budget", "shape", "normalize"}
