"""From a program to C: the model's library, and the PlatformIO project around it.

Sees `lower.Program`, never a graph; the only package that imports jinja2.  Templates get one frozen
dataclass each (`contexts`) with everything decided: names by `cnames`, literals by `cliterals`.
"""

from edgec.codegen.cnames import LibraryNames, library_names
from edgec.codegen.library import emit_library
from edgec.codegen.project import FirmwareModel, emit_project

__all__ = ["FirmwareModel", "LibraryNames", "emit_library", "emit_project", "library_names"]
