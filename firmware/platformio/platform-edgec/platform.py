"""PlatformIO development platform of edgec: any board of the project's boards/ folder.

It needs no package when the compiler is on PATH.  When it is not, the Arm toolchain is taken from
PlatformIO's registry; `custom_toolchain = registry` in platformio.ini asks for that in any case.
"""

import shutil
from typing import Any

from platformio.platform.base import PlatformBase

PREFIX = "arm-none-eabi-"


class EdgecPlatform(PlatformBase):
    """Named by PlatformIO's rule: the platform's name and "Platform"."""

    def configure_default_packages(self, options: dict[str, Any], targets: list[str]) -> Any:
        """Ask for the registry's packages only where the computer does not have the programs."""
        board = self.board_config(options.get("board"))
        wanted = options.get("custom_toolchain") == "registry"
        is_bare = board.get("build.gcc_prefix") == PREFIX
        if is_bare and (wanted or not shutil.which(f"{PREFIX}gcc")):
            self.packages["toolchain-gccarmnoneeabi"]["optional"] = False
        return super().configure_default_packages(options, targets)
