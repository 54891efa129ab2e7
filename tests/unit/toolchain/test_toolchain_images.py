"""UF2 images and ELF sizes."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from edgec.base.errors import BuildError
from edgec.toolchain.size import FirmwareSize, firmware_size
from edgec.toolchain.uf2 import uf2_image


@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 5000])
def test_uf2_blocks_hold_the_image(length: int) -> None:
    image = bytes(i * 31 % 256 for i in range(length))
    uf2 = uf2_image(image, 0x1000_0000, 0xE48BFF56)
    blocks = [uf2[i : i + 512] for i in range(0, len(uf2), 512)]
    assert len(uf2) % 512 == 0
    assert len(blocks) == -(-length // 256)
    content = b""
    for number, block in enumerate(blocks):
        fields = struct.unpack("<8I", block[:32])
        address = 0x1000_0000 + 256 * number
        assert fields[:5] == (0x0A324655, 0x9E5D5157, 0x2000, address, 256)
        assert fields[5:] == (number, len(blocks), 0xE48BFF56)
        assert block[-4:] == bytes.fromhex("306fb10a")
        content += block[32 : 32 + 256]
    assert content[:length] == image
    assert not any(content[length:])


SCRIPT = """
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 64K
         RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 64K }
SECTIONS {
  .text : { *(.text*) } > FLASH
  .odd : { BYTE(1) } > FLASH
  .weights : { *(.rodata.w) } > FLASH
  .stack (NOLOAD) : { . += 512; } > RAM
  .data : { *(.data*) } > RAM AT > FLASH
  .arena (NOLOAD) : { *(.bss.arena) } > RAM
  .bss (NOLOAD) : { *(.bss*) } > RAM
  /DISCARD/ : { *(.comment .ARM.*) }
}
"""
SOURCE = """
__attribute__((section(".rodata.w"))) const unsigned char weights[1000] = {1};
unsigned char arena[2000];
unsigned initial[5] = {1};
unsigned zero[7];
void start(void) { zero[0] = initial[0] + weights[3]; arena[0] = 1; }
"""


def test_sizes_by_section(tmp_path: Path) -> None:
    compiler = shutil.which("arm-none-eabi-gcc")
    if compiler is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    (tmp_path / "x.c").write_text(SOURCE)
    (tmp_path / "x.ld").write_text(SCRIPT)
    flags = ["-mcpu=cortex-m3", "-mthumb", "-Os", "-fdata-sections", "-nostdlib", "-Tx.ld"]
    argv = [compiler, *flags, "-Wl,--entry=start", "x.c", "-o", "x.elf"]
    subprocess.run(argv, cwd=tmp_path, check=True)
    size = firmware_size(tmp_path / "x.elf")
    assert (size.weights_bytes, size.arena_bytes, size.stack_bytes) == (1000, 2000, 512)
    assert size.data_bytes == 5 * 4 + 7 * 4
    assert 20 + 10 < size.code_bytes < 120  # the initial values and a few instructions
    assert size.flash_bytes == size.code_bytes + 1000
    argv = ["arm-none-eabi-objcopy", "-O", "binary", "x.elf", "x.bin"]
    subprocess.run(argv, cwd=tmp_path, check=True)
    assert size.flash_bytes == (tmp_path / "x.bin").stat().st_size
    assert size.ram_bytes == 48 + 2000 + 512
    assert isinstance(size, FirmwareSize)


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"not an ELF file" * 10])
def test_files_that_are_no_elf_are_clear_errors(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.elf"
    path.write_bytes(content)
    with pytest.raises(BuildError, match="cannot read the firmware"):
        firmware_size(path)
    with pytest.raises(BuildError, match="cannot read the firmware"):
        firmware_size(tmp_path / "absent.elf")
