/* A table of 256 int8: in 16 registers of A64, in memory on Armv7-A, which has too few of them.
 *
 * Only kernels for such cores use these functions; there is no C form.
 */
#ifndef EDGEC_ELEMENTWISE_TABLE_S8_NEON_H
#define EDGEC_ELEMENTWISE_TABLE_S8_NEON_H

#if defined(__ARM_NEON)

#include <arm_neon.h>
#include <stdint.h>

#include "edgec/arithmetic/math.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__aarch64__)

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

/* The same of eight codes in lanes of 16 bits. */
EDGEC_INLINE int16x8_t edgec_neon_lut8(const edgec_neon_table_t *table, int16x8_t x) {
    const uint8x8_t step = vdup_n_u8(64);
    const uint8x8_t first = veor_u8(vreinterpret_u8_s8(vmovn_s16(x)), vdup_n_u8(128));
    const uint8x8_t second = vsub_u8(first, step);
    const uint8x8_t third = vsub_u8(second, step);
    const uint8x8_t fourth = vsub_u8(third, step);
    int8x8_t y = vqtbl4_s8(table->part[0], first);
    y = vqtbx4_s8(y, table->part[1], second);
    y = vqtbx4_s8(y, table->part[2], third);
    return vmovl_s8(vqtbx4_s8(y, table->part[3], fourth));
}

#else

typedef struct edgec_neon_table {
    const int8_t *middle;
} edgec_neon_table_t;

EDGEC_INLINE edgec_neon_table_t edgec_neon_table(const int8_t *from) {
    const edgec_neon_table_t table = {from + 128};
    return table;
}

/* table[x + 128] of eight codes in lanes of 16 bits. */
EDGEC_INLINE int16x8_t edgec_neon_lut8(const edgec_neon_table_t *table, int16x8_t x) {
    const int8_t *const middle = table->middle;
    int16x8_t y = vdupq_n_s16(middle[vgetq_lane_s16(x, 0)]);
    y = vsetq_lane_s16(middle[vgetq_lane_s16(x, 1)], y, 1);
    y = vsetq_lane_s16(middle[vgetq_lane_s16(x, 2)], y, 2);
    y = vsetq_lane_s16(middle[vgetq_lane_s16(x, 3)], y, 3);
    y = vsetq_lane_s16(middle[vgetq_lane_s16(x, 4)], y, 4);
    y = vsetq_lane_s16(middle[vgetq_lane_s16(x, 5)], y, 5);
    y = vsetq_lane_s16(middle[vgetq_lane_s16(x, 6)], y, 6);
    return vsetq_lane_s16(middle[vgetq_lane_s16(x, 7)], y, 7);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
#endif
