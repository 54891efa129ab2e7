"""Cycles of one inference, layer by layer, from the built firmware alone.

Owns what `edgec profile` and `edgec compare` find out and show: `run` traces the firmware and adds
up, `pricing` puts the core model's prices on the trace, `measured` reads what a board measured,
`floor` says what the core could do at best, `text` shows it, `compare` puts builds side by side.
For boards with Linux, of which there is no cycle model, `instructions` counts what is executed and
`instructions_text` shows it; `commands.budget` uses it, too.

Owns the pages as well: `plot` and `points` place a plot, `charts` and `turns_chart` make some, and
a module `..._html` is a page or a part of one: `compile_html` the page of a build, in tabs.  Pages
are Jinja templates, so it imports `codegen.env`.
"""

from edgec.profile.instructions import InstructionProfile, count_instructions
from edgec.profile.run import profile
from edgec.profile.types import LayerProfile, Profile

__all__ = [
    "InstructionProfile",
    "LayerProfile",
    "Profile",
    "count_instructions",
    "profile",
]
