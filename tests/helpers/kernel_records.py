"""Records of kernel families, found by what tests have at hand."""

from __future__ import annotations

import sys

from edgec.kernels.family import Distances, KernelFamily, KernelSpec
from edgec.kernels.registry import FAMILIES


def family_of(spec: KernelSpec) -> KernelFamily:
    """The family whose specification this is."""
    return next(family for family in FAMILIES if family.spec_type is type(spec))


def distances(spec: KernelSpec) -> Distances:
    """How far the output may lie over each tensor operand."""
    return family_of(spec).overlap(spec)


def param_structs() -> set[type]:
    """Every argument struct of the families of kernels."""
    modules = [module for name, module in sys.modules.items() if name.startswith("edgec.kernels.")]
    values = [value for module in modules for value in vars(module).values()]
    return {v for v in values if isinstance(getattr(v, "c_type", None), str)}
