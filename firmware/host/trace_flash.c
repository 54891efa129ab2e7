/* Simulates a flash with wait states, prefetch buffer and caches; see trace_flash.h. */
#include "trace_flash.h"

#include <stdlib.h>
#include <string.h>

static bool cache_init(trace_cache_t *cache, const trace_cache_shape_t *shape,
                       uint32_t memory_bytes) {
    memset(cache, 0, sizeof *cache);
    if (shape->size_bytes == 0U) {
        return true;
    }
    const uint32_t slots = shape->size_bytes / shape->line_bytes;
    const uint32_t lines =
        memory_bytes / shape->line_bytes + 2U; /* prefetch looks beyond the end */
    cache->shape = *shape;
    cache->sets = slots / shape->ways;
    cache->slot_of_line = malloc((size_t)lines * sizeof(uint32_t));
    cache->line_of_slot = malloc((size_t)slots * sizeof(uint32_t));
    cache->valid = calloc(slots, sizeof(uint32_t));
    cache->used = calloc(slots, sizeof(uint64_t));
    if (cache->slot_of_line == NULL || cache->line_of_slot == NULL || cache->valid == NULL ||
        cache->used == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < lines; i++) {
        cache->slot_of_line[i] = TRACE_NO_LINE;
    }
    for (uint32_t i = 0; i < slots; i++) {
        cache->line_of_slot[i] = TRACE_NO_LINE;
    }
    return true;
}

static void cache_free(trace_cache_t *cache) {
    free(cache->slot_of_line);
    free(cache->line_of_slot);
    free(cache->valid);
    free(cache->used);
}

static bool cache_exists(const trace_cache_t *cache) {
    return cache->sets != 0U;
}

static uint32_t cache_part(const trace_cache_t *cache, uint32_t offset) {
    return 1U << (offset % cache->shape.line_bytes / cache->shape.fill_bytes);
}

static bool cache_holds(const trace_cache_t *cache, uint32_t offset) {
    const uint32_t slot = cache->slot_of_line[offset / cache->shape.line_bytes];
    return slot != TRACE_NO_LINE && (cache->valid[slot] & cache_part(cache, offset)) != 0U;
}

static uint32_t cache_oldest(const trace_cache_t *cache, uint32_t set) {
    uint32_t oldest = set * cache->shape.ways;
    for (uint32_t slot = oldest + 1U; slot < (set + 1U) * cache->shape.ways; slot++) {
        if (cache->used[slot] < cache->used[oldest]) {
            oldest = slot;
        }
    }
    return oldest;
}

/* Read at an offset in flash, filling on a miss; whether it hit. */
static bool cache_access(trace_cache_t *cache, uint32_t offset) {
    const uint32_t line = offset / cache->shape.line_bytes;
    const uint32_t part = cache_part(cache, offset);
    uint32_t slot = cache->slot_of_line[line];
    if (slot == TRACE_NO_LINE) {
        slot = cache_oldest(cache, line % cache->sets);
        if (cache->line_of_slot[slot] != TRACE_NO_LINE) {
            cache->slot_of_line[cache->line_of_slot[slot]] = TRACE_NO_LINE;
        }
        cache->line_of_slot[slot] = line;
        cache->slot_of_line[line] = slot;
        cache->valid[slot] = 0;
    }
    const bool hit = (cache->valid[slot] & part) != 0U;
    cache->valid[slot] |= part;
    cache->used[slot] = ++cache->uses;
    return hit;
}

static uint32_t miss_cycles(const trace_flash_timing_t *timing, const trace_cache_t *cache) {
    const uint32_t reads = cache_exists(cache) ? cache->shape.fill_bytes / timing->line_bytes : 1U;
    return reads * (timing->wait_states + 1U) - 1U;
}

bool trace_flash_init(trace_flash_t *flash, const trace_flash_timing_t *timing) {
    const trace_cache_shape_t none = {0};
    flash->timing = *timing;
    flash->now = 0;
    flash->ready = 0;
    flash->busy = 0;
    flash->current_line = TRACE_NO_LINE;
    flash->prefetched_line = TRACE_NO_LINE;
    const uint32_t memory_bytes =
        timing->ram_bytes != 0U ? timing->ram_base + timing->ram_bytes : timing->size_bytes;
    const bool first =
        cache_init(&flash->instruction_cache, &timing->instruction_cache, memory_bytes);
    const trace_cache_shape_t *data = timing->unified ? &none : &timing->data_cache;
    return cache_init(&flash->data_cache, data, memory_bytes) && first;
}

void trace_flash_free(trace_flash_t *flash) {
    cache_free(&flash->instruction_cache);
    cache_free(&flash->data_cache);
}

static uint64_t later(uint64_t first, uint64_t second) {
    return first > second ? first : second;
}

/* The cycles waited for a read that begins when the flash has nothing else to do. */
static uint64_t read_flash(trace_flash_t *flash, const trace_cache_t *cache) {
    flash->busy = later(flash->busy, flash->now) + miss_cycles(&flash->timing, cache);
    return flash->busy - flash->now;
}

/* Make a line the current one; the cycles waited for it. */
static uint64_t take_up(trace_flash_t *flash, uint32_t line) {
    trace_cache_t *cache = &flash->instruction_cache;
    const uint32_t offset = line * flash->timing.line_bytes;
    uint64_t waited = 0;
    flash->current_line = line;
    if (cache_exists(cache) && cache_holds(cache, offset)) {
        (void)cache_access(cache, offset);
        return 0;
    }
    if (line == flash->prefetched_line) {
        waited = later(flash->ready, flash->now) - flash->now;
    } else {
        waited = read_flash(flash, cache);
    }
    if (cache_exists(cache) && (waited != 0U || flash->timing.unified)) {
        (void)cache_access(cache, offset);
    }
    return waited;
}

static void prefetch(trace_flash_t *flash, uint32_t line) {
    const trace_cache_t *cache = &flash->instruction_cache;
    if (!flash->timing.prefetch || line == flash->prefetched_line) {
        return;
    }
    if (!cache_exists(cache) || !cache_holds(cache, line * flash->timing.line_bytes)) {
        flash->prefetched_line = line;
        flash->ready = later(flash->now, flash->busy) + flash->timing.wait_states + 1U;
        flash->busy = flash->ready;
    }
}

uint64_t trace_flash_fetch(trace_flash_t *flash, const trace_share_t *shares, uint32_t count) {
    uint64_t waited = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t line = shares[i].line;
        if (line != TRACE_NO_LINE && line != flash->current_line) {
            const uint64_t stall = take_up(flash, line);
            flash->now += stall;
            waited += stall;
            prefetch(flash, line + 1U);
        }
        flash->now += shares[i].cycles;
    }
    return waited;
}

static trace_cache_t *data_cache(trace_flash_t *flash) {
    return flash->timing.unified ? &flash->instruction_cache : &flash->data_cache;
}

uint64_t trace_flash_read(trace_flash_t *flash, uint32_t address, uint32_t size) {
    const trace_flash_timing_t *timing = &flash->timing;
    trace_cache_t *cache = data_cache(flash);
    const uint32_t first = address - timing->origin;
    const uint32_t last = first + size - 1U;
    uint64_t total = 0;
    for (uint32_t line = first / timing->line_bytes; line <= last / timing->line_bytes; line++) {
        if (!cache_exists(cache) || !cache_access(cache, line * timing->line_bytes)) {
            const uint64_t waited = read_flash(flash, cache);
            flash->now += waited;
            total += waited;
        }
    }
    return total;
}

void trace_flash_touch(trace_flash_t *flash, uint32_t address, uint32_t size) {
    const trace_flash_timing_t *timing = &flash->timing;
    trace_cache_t *cache = data_cache(flash);
    const uint32_t first = timing->ram_base + (address - timing->ram_origin);
    const uint32_t last = first + size - 1U;
    if (!cache_exists(cache)) {
        return;
    }
    for (uint32_t line = first / timing->line_bytes; line <= last / timing->line_bytes; line++) {
        (void)cache_access(cache, line * timing->line_bytes);
    }
}
