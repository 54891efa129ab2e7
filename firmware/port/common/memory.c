/* The four functions that compilers call on their own, so that no C library is linked.
 *
 * Words where both sides are aligned alike, bytes elsewhere.  Must be compiled with
 * -fno-tree-loop-distribute-patterns, or GCC turns the loops into calls of these very functions. */
#include "memory.h"

#include <stdint.h>

#define WORD_MASK 3U
#define BLOCK_BYTES 16U

typedef uint32_t __attribute__((may_alias)) word_t;

/* Copies four words that lie at multiples of four bytes, and goes on after them.  All are read
 * before the first is written. */
static inline void copy_block(uint8_t **out, const uint8_t **in) {
    uint8_t *to = *out;
    const uint8_t *from = *in;
#if defined(__thumb__)
    __asm__ volatile("ldmia %1!, {r3, r4, r5, r6}\n"
                     "stmia %0!, {r3, r4, r5, r6}\n"
                     : "+l"(to), "+l"(from)
                     :
                     : "r3", "r4", "r5", "r6", "memory");
#else
    const word_t *const words = (const word_t *)(const void *)from;
    const uint32_t kept[] = {words[0], words[1], words[2], words[3]};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        ((word_t *)(void *)to)[i] = kept[i];
    }
    to += BLOCK_BYTES;
    from += BLOCK_BYTES;
#endif
    *out = to;
    *in = from;
}

/* Also right for overlapping blocks when `out` lies below `in`. */
static void copy_up(uint8_t *out, const uint8_t *in, size_t count) {
    if ((((uintptr_t)out ^ (uintptr_t)in) & WORD_MASK) == 0U) {
        for (; count > 0U && ((uintptr_t)out & WORD_MASK) != 0U; count--) {
            *out++ = *in++;
        }
        while (count >= BLOCK_BYTES) {
            copy_block(&out, &in);
            count -= BLOCK_BYTES;
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
