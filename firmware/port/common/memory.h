/* The memory functions of <string.h>, see memory.c. */
#ifndef EDGEC_PORT_MEMORY_H
#define EDGEC_PORT_MEMORY_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);

#endif
