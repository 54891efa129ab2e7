"""Bare C functions on emulated Cortex-M cores, for tests: `bare_code` of benchmarks/, or a skip."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("unicorn", reason="Unicorn is not installed")

from bare_code import TARGETS, BareProgram, Target

CORES = {name: TARGETS[name] for name in ("m0plus", "m3", "m4", "m7", "m33")}


class ArmProgram(BareProgram):
    """A C file for a core, ready to be called."""

    def __init__(self, source: Path, core: Target, flags: Sequence[str] = ("-O2",)) -> None:
        """Compile `source`; skips without compiler."""
        if shutil.which("arm-none-eabi-gcc") is None:
            pytest.skip("arm-none-eabi-gcc is not installed")
        super().__init__([source], core, flags)
