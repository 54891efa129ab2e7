/* The first 8 KB of the flash of an i.MX RT1060, which its boot ROM reads: how the flash is read
 * (offset 0), and where the program starts (offset 4096).  The vector table follows.
 *
 * Source: IMXRT1060RM rev. 3, 9.6.3.1 (FlexSPI configuration block), 9.7.1 (image vector table and
 * boot data), 27.5.8 (lookup table); W25Q64JV datasheet 8.2.13 (fast read quad I/O, EBh). */
#include <stdint.h>

#define FLASH_ORIGIN 0x60000000U
#define FLASH_BYTES 0x00800000U
#define IVT_OFFSET 0x1000U
#define BOOT_DATA_OFFSET 0x1020U
#define VECTORS_OFFSET 0x2000U

#define BLOCK_TAG 0x42464346U      /* FCFB */
#define BLOCK_VERSION 0x56010000U  /* 1.0 */
#define BLOCK_SAMPLING 0x00020101U /* DQS pad looped back; chip select held 1, set up 2 cycles */
#define BLOCK_DEVICE 0x00030401U   /* serial NOR, 4 pads, 60 MHz */
#define READ_COMMAND 0x0A1804EBU   /* command EBh on 1 pad, 24 address bits on 4 */
#define READ_DATA 0x26043206U      /* 6 dummy cycles, then data, on 4 pads */
#define IVT_HEADER 0x432000D1U     /* tag D1h, 32 bytes, version 4.3 */

__attribute__((section(".boot"), used)) static const uint32_t boot_header[VECTORS_OFFSET / 4U] = {
    [0x00U / 4U] = BLOCK_TAG,
    [0x04U / 4U] = BLOCK_VERSION,
    [0x0CU / 4U] = BLOCK_SAMPLING,
    [0x44U / 4U] = BLOCK_DEVICE,
    [0x50U / 4U] = FLASH_BYTES,
    [0x80U / 4U] = READ_COMMAND,
    [0x84U / 4U] = READ_DATA,
    [IVT_OFFSET / 4U + 0U] = IVT_HEADER,
    [IVT_OFFSET / 4U + 1U] = FLASH_ORIGIN + VECTORS_OFFSET, /* stack and entry */
    [IVT_OFFSET / 4U + 4U] = FLASH_ORIGIN + BOOT_DATA_OFFSET,
    [IVT_OFFSET / 4U + 5U] = FLASH_ORIGIN + IVT_OFFSET,
    [BOOT_DATA_OFFSET / 4U + 0U] = FLASH_ORIGIN,
    [BOOT_DATA_OFFSET / 4U + 1U] = FLASH_BYTES,
};
