"""What a firmware takes of flash and RAM, read from its ELF file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from edgec.base.errors import BuildError


@dataclass(frozen=True, slots=True)
class FirmwareSize:
    """Sizes in bytes, by the linker script's sections.

    Attributes:
        weights_bytes: constants of the models in flash (section .weights).
        code_bytes: everything else in flash: code, tables, strings, initial values.
        data_bytes: variables, with and without initial values.
        arena_bytes: the models' arena.
        stack_bytes: what is reserved for the stack.
    """

    weights_bytes: int
    code_bytes: int
    data_bytes: int
    arena_bytes: int
    stack_bytes: int

    @property
    def flash_bytes(self) -> int:
        """Flash in use."""
        return self.weights_bytes + self.code_bytes

    @property
    def ram_bytes(self) -> int:
        """RAM in use, stack included."""
        return self.data_bytes + self.arena_bytes + self.stack_bytes


def firmware_size(elf: Path) -> FirmwareSize:
    """The sizes of a firmware built with edgec's linker script.

    Raises:
        BuildError: not a readable ELF file.
    """
    flash: dict[str, int] = {}
    ram: dict[str, int] = {}
    try:
        with elf.open("rb") as stream:
            for section in ELFFile(stream).iter_sections():
                if not section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
                    continue
                name, size = str(section.name), int(section["sh_size"])
                if section["sh_type"] != "SHT_NOBITS":
                    flash[name] = flash.get(name, 0) + size
                if section["sh_flags"] & SH_FLAGS.SHF_WRITE:
                    ram[name] = ram.get(name, 0) + size
    except (OSError, ELFError) as error:
        raise BuildError(f"cannot read the firmware: {error}", where=str(elf)) from error
    weights = flash.get(".weights", 0)
    arena, stack = ram.get(".arena", 0), ram.get(".stack", 0)
    return FirmwareSize(
        weights_bytes=weights,
        code_bytes=sum(flash.values()) - weights,
        data_bytes=sum(ram.values()) - arena - stack,
        arena_bytes=arena,
        stack_bytes=stack,
    )
