/* CRC-32 as in Ethernet, zip and zlib: reflected polynomial 0xEDB88320. */
#ifndef EDGEC_APP_CRC32_H
#define EDGEC_APP_CRC32_H

#include <stdint.h>

/* The CRC of some bytes, continuing from `crc`, the CRC of the bytes before them (0: none). */
uint32_t crc32_update(uint32_t crc, const void *bytes, uint32_t count);

#endif
