"""The front end that a model's own file names.

It loads the importers, which commands on builds do without: so it is not in `workflow.front_end`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions
from edgec.base.options.front_end import METADATA_KEY, NONE, OPTION, FrontEndOptions
from edgec.frontends.parameters import any_parameters_of
from edgec.importers.formats import describe


def with_said_front_end(options: CompileOptions, model: Path) -> CompileOptions:
    """Options with the front end that the model's own file names, where they name none.

    Args:
        options: asked for by the user; ``none`` leaves out what the file says.
        model: model file.

    Raises:
        ConfigError: the file's front end cannot be read, or other options do not go with it.
        ImportModelError: it is no sound model.
    """
    asked = options.front_end
    if asked is not None:
        return replace(options, front_end=None) if asked.name == NONE else options
    text = describe(model).front_end
    if not text:
        return options
    try:
        found = FrontEndOptions.parse(text)
        any_parameters_of(found)
    except ConfigError as error:
        where = f"{model}: property {METADATA_KEY}"
        hint = f"{error.hint}; or give {OPTION} NAME, or {OPTION} {NONE}"
        raise ConfigError(error.what, where=where, hint=hint) from error
    return replace(options, front_end=found)
