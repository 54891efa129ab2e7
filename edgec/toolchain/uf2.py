"""UF2 images, which the boot ROMs of RP2040 and RP2350 take as files on a USB drive.

Source: "USB Flashing Format (UF2)", github.com/microsoft/uf2; RP2040 datasheet 2.8.4.2.
"""

from __future__ import annotations

import struct

_PAYLOAD_BYTES = 256
_BLOCK = struct.Struct("<8I476sI")
_MAGIC_START = (0x0A324655, 0x9E5D5157)
_MAGIC_END = 0x0AB16F30
_FAMILY_PRESENT = 0x2000


def uf2_image(image: bytes, origin: int, family: int) -> bytes:
    """A flash image as UF2.

    Args:
        image: the bytes to write, from `origin` on.
        origin: address of the first byte; a multiple of 256.
        family: number of the chip family, `upload.uf2_family` of the board file.
    """
    count = -(-len(image) // _PAYLOAD_BYTES)
    blocks = []
    for number in range(count):
        start = number * _PAYLOAD_BYTES
        payload = image[start : start + _PAYLOAD_BYTES].ljust(_PAYLOAD_BYTES, b"\0")
        header = (*_MAGIC_START, _FAMILY_PRESENT, origin + start, _PAYLOAD_BYTES, number, count)
        blocks.append(_BLOCK.pack(*header, family, payload, _MAGIC_END))
    return b"".join(blocks)
