/* Simulates a flash with wait states, prefetch buffer and caches, for trace_hook.c.
 *
 * The same as edgec/timing/memory.py, where the model is explained; numbers agree exactly. */
#ifndef EDGEC_TRACE_FLASH_H
#define EDGEC_TRACE_FLASH_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_NO_LINE UINT32_MAX

/* All 0: there is no cache. */
typedef struct {
    uint32_t size_bytes, line_bytes, ways, fill_bytes;
} trace_cache_shape_t;

typedef struct {
    uint32_t origin, size_bytes, wait_states, line_bytes;
    uint32_t ram_origin, ram_bytes, ram_base; /* RAM that is cached; ram_bytes 0: none */
    bool prefetch, unified;
    trace_cache_shape_t instruction_cache, data_cache;
} trace_flash_timing_t;

typedef struct {
    trace_cache_shape_t shape;
    uint32_t sets;
    uint32_t *slot_of_line; /* TRACE_NO_LINE: not in the cache */
    uint32_t *line_of_slot; /* TRACE_NO_LINE: empty */
    uint32_t *valid;        /* by slot: mask of parts */
    uint64_t *used;         /* by slot: time of the last use, 0 never */
    uint64_t uses;
} trace_cache_t;

typedef struct {
    trace_flash_timing_t timing;
    trace_cache_t instruction_cache, data_cache;
    uint64_t now, ready, busy; /* busy: when the flash can begin the next read */
    uint32_t current_line, prefetched_line;
} trace_flash_t;

/* A flash line, or TRACE_NO_LINE, that a block's fetches touch, and the cycles spent in it. */
typedef struct {
    uint32_t line, cycles;
} trace_share_t;

/* False: no memory; `trace_flash_free` all the same. */
bool trace_flash_init(trace_flash_t *flash, const trace_flash_timing_t *timing);
void trace_flash_free(trace_flash_t *flash);

/* Run a block; the cycles that its fetches waited. */
uint64_t trace_flash_fetch(trace_flash_t *flash, const trace_share_t *shares, uint32_t count);

/* Read data at an address in the flash; the cycles waited. */
uint64_t trace_flash_read(trace_flash_t *flash, uint32_t address, uint32_t size);

/* Read or write in cached RAM: nothing waits, but lines are replaced. */
void trace_flash_touch(trace_flash_t *flash, uint32_t address, uint32_t size);

#endif
