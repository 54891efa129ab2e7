"""The cycle model of a board's core."""

from __future__ import annotations

from edgec.base.errors import ConfigError
from edgec.target.cores import Core, Fpu
from edgec.timing.core_m0 import cortex_m0, cortex_m0plus
from edgec.timing.core_m3 import cortex_m3, cortex_m4
from edgec.timing.core_m7 import cortex_m7
from edgec.timing.core_m33 import cortex_m33
from edgec.timing.core_model import CoreModel


def core_model(core: Core, fpu: Fpu = Fpu.NONE) -> CoreModel:
    """The cycle model of `core`.

    Args:
        core: the processor core.
        fpu: its floating-point unit.

    Raises:
        ConfigError: there is none (the host).
    """
    if core is Core.CORTEX_M0:
        return cortex_m0()
    if core is Core.CORTEX_M0PLUS:
        return cortex_m0plus()
    if core is Core.CORTEX_M3:
        return cortex_m3()
    if core is Core.CORTEX_M4:
        return cortex_m4(fpu)
    if core is Core.CORTEX_M7:
        return cortex_m7(fpu)
    if core is Core.CORTEX_M33:
        return cortex_m33(fpu)
    raise ConfigError(
        f"there is no cycle model of {core.value!r}",
        hint="profile a build for a board with a Cortex-M core",
    )
