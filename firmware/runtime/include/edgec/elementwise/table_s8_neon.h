/* A table of 256 int8 in 16 registers of A64; Armv7-A has too few of them.
 *
 * Only kernels for such cores use these functions; there is no C form.
 */
#ifndef EDGEC_ELEMENTWISE_TABLE_S8_NEON_H
#define EDGEC_ELEMENTWISE_TABLE_S8_NEON_H

#if defined(__ARM_NEON) && defined(__aarch64__)

#include <arm_neon.h>
#include <stdint.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Four parts of 64 entries. */
typedef struct edgec_neon_table {
    int8x16x4_t part[4];
} edgec_neon_table_t;

EDGEC_INLINE edgec_neon_table_t edgec_neon_table(const int8_t *from) {
    const edgec_neon_table_t table = {{vld1q_s8_x4(from), vld1q_s8_x4(from + 64),
                                       vld1q_s8_x4(from + 128), vld1q_s8_x4(from + 192)}};
    return table;
}

/* table[x + 128] of 16 codes: a look-up outside a part leaves what was there. */
EDGEC_INLINE int8x16_t edgec_neon_lut(const edgec_neon_table_t *table, int8x16_t x) {
    const uint8x16_t step = vdupq_n_u8(64);
    const uint8x16_t first = veorq_u8(vreinterpretq_u8_s8(x), vdupq_n_u8(128));
    const uint8x16_t second = vsubq_u8(first, step);
    const uint8x16_t third = vsubq_u8(second, step);
    const uint8x16_t fourth = vsubq_u8(third, step);
    int8x16_t y = vqtbl4q_s8(table->part[0], first);
    y = vqtbx4q_s8(y, table->part[1], second);
    y = vqtbx4q_s8(y, table->part[2], third);
    return vqtbx4q_s8(y, table->part[3], fourth);
}

#ifdef __cplusplus
}
#endif

#endif
#endif
