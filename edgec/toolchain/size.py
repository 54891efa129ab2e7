"""Flash and RAM of a firmware, read from its ELF file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

from edgec.base.errors import BuildError


@dataclass(frozen=True, slots=True)
class FirmwareSize:
    """Sizes in bytes, by the linker script's sections.

    Attributes:
        flash_bytes: the image in flash from its first byte to its last, so what lies between
            sections for their alignment is in it: the size of `firmware.bin`.
        weights_bytes: constants of the models, all of which flash holds (sections .weights*).
        data_bytes: variables, with and without initial values.
        arena_bytes: the models' arena.
        stack_bytes: what is reserved for the stack.
        ram_weights_bytes: constants that start-up copies to RAM (sections .weights_*).
    """

    flash_bytes: int
    weights_bytes: int
    data_bytes: int
    arena_bytes: int
    stack_bytes: int
    ram_weights_bytes: int = 0

    @property
    def code_bytes(self) -> int:
        """Flash that is not weights: code, tables, strings, initial values, alignment."""
        return self.flash_bytes - self.weights_bytes

    @property
    def ram_bytes(self) -> int:
        """RAM in use, stack included."""
        return self.data_bytes + self.arena_bytes + self.stack_bytes + self.ram_weights_bytes


def firmware_size(elf: Path) -> FirmwareSize:
    """The sizes of a firmware built with edgec's linker script.

    Raises:
        BuildError: not a readable ELF file.
    """
    ram: dict[str, int] = {}
    try:
        with elf.open("rb") as stream:
            file = ELFFile(stream)
            image = _image(file)
            for section in _allocated(file):
                if section["sh_flags"] & SH_FLAGS.SHF_WRITE:
                    name = str(section.name)
                    ram[name] = ram.get(name, 0) + int(section["sh_size"])
    except (OSError, ELFError) as error:
        raise BuildError(f"cannot read the firmware: {error}", where=str(elf)) from error
    arena, stack = ram.get(".arena", 0), ram.get(".stack", 0)
    start = min((block.start for block in image), default=0)
    return FirmwareSize(
        flash_bytes=max((block.end for block in image), default=0) - start,
        weights_bytes=sum(
            block.size for block in image if block.name == ".weights" or _is_in_ram(block)
        ),
        data_bytes=sum(ram.values()) - arena - stack,
        arena_bytes=arena,
        stack_bytes=stack,
        ram_weights_bytes=sum(block.size for block in image if _is_in_ram(block)),
    )


@dataclass(frozen=True, slots=True)
class _Block:
    """A section in the flash image, at the addresses [start, end)."""

    name: str
    start: int
    end: int

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.end - self.start


def _is_in_ram(block: _Block) -> bool:
    """Whether it holds constants that start-up copies; the linker script names them so."""
    return block.name.startswith(".weights_")


def _allocated(file: ELFFile) -> Iterator[Section]:
    """Sections that take memory of the target."""
    return (
        section
        for section in file.iter_sections()
        if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section["sh_size"]
    )


def _image(file: ELFFile) -> list[_Block]:
    """The sections that are stored in flash, where they are stored there."""
    blocks = []
    for section in _allocated(file):
        if section["sh_type"] == "SHT_NOBITS":
            continue
        size = int(section["sh_size"])
        start = int(section["sh_addr"])
        for segment in file.iter_segments("PT_LOAD"):
            if segment.section_in_segment(section):
                # Initial values of variables are stored elsewhere than where they are used.
                start += int(segment["p_paddr"]) - int(segment["p_vaddr"])
                break
        blocks.append(_Block(str(section.name), start, start + size))
    return blocks
