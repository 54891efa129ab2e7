/* The four functions that compilers call on their own, so that no C library is linked.
 *
 * Words where both sides are aligned alike, bytes elsewhere.  Must be compiled with
 * -fno-tree-loop-distribute-patterns, or GCC turns the loops into calls of these very functions. */
#include "memory.h"

#include <stdint.h>

#define WORD_MASK 3U

typedef uint32_t __attribute__((may_alias)) word_t;

/* Copies `bytes`, a multiple of BLOCK_BYTES above 0, that lie at multiples of four bytes, and goes
 * on after them.  All of a block is read before the first of it is written. */
#if defined(__thumb__)
#if defined(__thumb2__)
#define BLOCK_BYTES 32U
#define BLOCK "{r3, r4, r5, r6, r8, r9, r10, r12}"
#define CHANGED "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12"
#else
#define BLOCK_BYTES 16U
#define BLOCK "{r3, r4, r5, r6}"
#define CHANGED "r3", "r4", "r5", "r6"
#endif
static inline void copy_blocks(uint8_t **out, const uint8_t **in, size_t bytes) {
    __asm__ volatile(".syntax unified\n"
                     "1:\n"
                     "ldmia %1!, " BLOCK "\n"
                     "stmia %0!, " BLOCK "\n"
                     "subs %2, %2, %3\n"
                     "bne 1b\n"
                     : "+l"(*out), "+l"(*in), "+l"(bytes)
                     : "I"(BLOCK_BYTES)
                     : CHANGED, "memory", "cc");
}
#else
#define BLOCK_BYTES 4U
static inline void copy_blocks(uint8_t **out, const uint8_t **in, size_t bytes) {
    for (; bytes > 0U; bytes -= BLOCK_BYTES, *out += BLOCK_BYTES, *in += BLOCK_BYTES) {
        *(word_t *)(void *)*out = *(const word_t *)(const void *)*in;
    }
}
#endif

/* Also right for overlapping blocks when `out` lies below `in`. */
static void copy_up(uint8_t *out, const uint8_t *in, size_t count) {
    if ((((uintptr_t)out ^ (uintptr_t)in) & WORD_MASK) == 0U) {
        for (; count > 0U && ((uintptr_t)out & WORD_MASK) != 0U; count--) {
            *out++ = *in++;
        }
        if (count >= BLOCK_BYTES) {
            copy_blocks(&out, &in, count & ~(BLOCK_BYTES - 1U));
            count &= BLOCK_BYTES - 1U;
        }
        for (; count > WORD_MASK; count -= 4U) {
            *(word_t *)(void *)out = *(const word_t *)(const void *)in;
            out += 4;
            in += 4;
        }
    }
    for (; count > 0U; count--) {
        *out++ = *in++;
    }
}

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    copy_up(to, from, count);
    return to;
}

void *memmove(void *to, const void *from, size_t count) {
    if ((uintptr_t)to - (uintptr_t)from >= count) {
        copy_up(to, from, count); /* never meets bytes that are still to be read */
        return to;
    }
    uint8_t *out = to;
    const uint8_t *in = from;
    while (count > 0U) {
        count--;
        out[count] = in[count];
    }
    return to;
}

void *memset(void *to, int value, size_t count) {
    uint8_t *out = to;
    const uint32_t word = (uint8_t)value * 0x01010101U;
    for (; count > 0U && ((uintptr_t)out & WORD_MASK) != 0U; count--) {
        *out++ = (uint8_t)value;
    }
    for (; count > WORD_MASK; count -= 4U) {
        *(word_t *)(void *)out = word;
        out += 4;
    }
    for (; count > 0U; count--) {
        *out++ = (uint8_t)value;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t count) {
    const uint8_t *left = a;
    const uint8_t *right = b;
    for (size_t i = 0; i < count; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}
