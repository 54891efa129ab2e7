/* Counts what a firmware executes in the Unicorn emulator; see trace_hook.h. */
#include "trace_hook.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define FIRST_CAPACITY 1024U
#define CHECK_BLOCKS (1U << 20U) /* executed between two questions whether to go on */

/* ---- Growing arrays and the two hash tables on them ---- */

typedef struct {
    uint32_t segment, start, size, next_in_bucket;
    uint32_t first_edge; /* NONE: no execution is complete yet */
    uint32_t first_share, num_shares;
    uint64_t fetch_stalls, data_stalls;
} block_t;

typedef struct {
    uint32_t next_start;
    uint32_t target;    /* block that ran next, or NONE when it was not counted */
    uint32_t next_edge; /* of the same block */
    uint64_t count;
} edge_t;

struct edgec_trace {
    edgec_trace_config_t config;
    block_t *blocks;
    uint32_t num_blocks, blocks_capacity;
    edge_t *edges;
    uint32_t num_edges, edges_capacity;
    trace_share_t *shares;
    uint32_t num_shares, shares_capacity;
    uint32_t *buckets; /* first block of each */
    uint32_t bucket_mask;
    edgec_trace_divide_t *divides;
    uint32_t num_divides, divides_capacity;
    trace_flash_t flash;
    uint32_t block; /* that runs now; NONE: what runs does not count */
    uint32_t return_address, resume_address;
    uint32_t segment, runs;
    uint64_t executed;
    uint32_t low, high;
    bool running, paused, finished, failed;
};

static void stop(edgec_trace_t *trace) {
    trace->failed = true;
    (void)trace->config.emu_stop(trace->config.uc);
}

/* Room for `extra` more items; false, and the run stopped, when there is no memory. */
static bool reserve(edgec_trace_t *trace, void **items, size_t item_bytes, uint32_t count,
                    uint32_t *capacity, uint32_t extra) {
    if (extra <= *capacity - count) {
        return true;
    }
    uint32_t wanted = *capacity == 0U ? FIRST_CAPACITY : *capacity;
    while (wanted - count < extra) {
        if (wanted > UINT32_MAX / 2U) {
            stop(trace);
            return false;
        }
        wanted *= 2U;
    }
    void *grown = realloc(*items, (size_t)wanted * item_bytes);
    if (grown == NULL) {
        stop(trace);
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

static uint32_t bucket_of(const edgec_trace_t *trace, uint32_t start) {
    const uint32_t mixed = (start ^ (trace->segment << 20U)) * 2654435761U;
    return (mixed >> 12U) & trace->bucket_mask;
}

static bool grow_buckets(edgec_trace_t *trace) {
    const uint32_t count = (trace->bucket_mask + 1U) * 4U;
    uint32_t *buckets = malloc((size_t)count * sizeof *buckets);
    if (buckets == NULL) {
        stop(trace);
        return false;
    }
    free(trace->buckets);
    trace->buckets = buckets;
    trace->bucket_mask = count - 1U;
    for (uint32_t i = 0; i < count; i++) {
        buckets[i] = NONE;
    }
    /* Blocks of finished segments are never looked up again. */
    for (uint32_t i = 0; i < trace->num_blocks; i++) {
        block_t *block = &trace->blocks[i];
        if (block->segment == trace->segment) {
            uint32_t *bucket = &buckets[bucket_of(trace, block->start)];
            block->next_in_bucket = *bucket;
            *bucket = i;
        }
    }
    return true;
}

/* ---- Blocks and edges ---- */

static bool describe(edgec_trace_t *trace, block_t *block) {
    block->first_share = trace->num_shares;
    block->num_shares = 0;
    if (trace->config.flash.wait_states == 0U) {
        return true;
    }
    const uint32_t most = EDGEC_TRACE_MAX_SHARES;
    uint32_t pairs[2U * EDGEC_TRACE_MAX_SHARES];
    const int32_t count = trace->config.describe(block->start, block->size, pairs);
    if (count < 0 || (uint32_t)count > most ||
        !reserve(trace, (void **)&trace->shares, sizeof(trace_share_t), trace->num_shares,
                 &trace->shares_capacity, (uint32_t)count)) {
        stop(trace);
        return false;
    }
    for (uint32_t i = 0; i < (uint32_t)count; i++) {
        const trace_share_t share = {pairs[2U * i], pairs[2U * i + 1U]};
        trace->shares[trace->num_shares++] = share;
    }
    block->num_shares = (uint32_t)count;
    return true;
}

/* Index of a block of this segment, made when new; NONE when the run must stop. */
static uint32_t find_block(edgec_trace_t *trace, uint32_t start, uint32_t size) {
    uint32_t *bucket = &trace->buckets[bucket_of(trace, start)];
    for (uint32_t i = *bucket; i != NONE; i = trace->blocks[i].next_in_bucket) {
        const block_t *block = &trace->blocks[i];
        if (block->start == start && block->size == size && block->segment == trace->segment) {
            return i;
        }
    }
    block_t made = {.segment = trace->segment, .start = start, .size = size, .first_edge = NONE};
    if (!reserve(trace, (void **)&trace->blocks, sizeof(block_t), trace->num_blocks,
                 &trace->blocks_capacity, 1) ||
        !describe(trace, &made)) {
        return NONE;
    }
    const uint32_t index = trace->num_blocks++;
    made.next_in_bucket = *bucket;
    trace->blocks[index] = made;
    *bucket = index;
    if (trace->num_blocks > trace->bucket_mask && !grow_buckets(trace)) {
        return NONE;
    }
    return index;
}

/* The edge from the block that runs to `next_start`, made when new; NULL when the run must stop. */
static edge_t *find_edge(edgec_trace_t *trace, uint32_t next_start) {
    block_t *block = &trace->blocks[trace->block];
    for (uint32_t i = block->first_edge; i != NONE; i = trace->edges[i].next_edge) {
        if (trace->edges[i].next_start == next_start) {
            return &trace->edges[i];
        }
    }
    if (!reserve(trace, (void **)&trace->edges, sizeof(edge_t), trace->num_edges,
                 &trace->edges_capacity, 1)) {
        return NULL;
    }
    const uint32_t index = trace->num_edges++;
    const edge_t made = {next_start, NONE, block->first_edge, 0};
    trace->edges[index] = made;
    block->first_edge = index;
    return &trace->edges[index];
}

static uint32_t read_register(const edgec_trace_t *trace, int32_t identifier) {
    uint64_t value = 0; /* as wide as the registers of 64-bit cores; their addresses fit 32 bits */
    (void)trace->config.reg_read(trace->config.uc, identifier, &value);
    return (uint32_t)value;
}

/* Start to run a block that counts; `edge` is how it was reached, NULL from outside. */
static void enter(edgec_trace_t *trace, uint32_t start, uint32_t size, edge_t *edge) {
    uint32_t index = edge != NULL ? edge->target : NONE;
    if (index == NONE || trace->blocks[index].size != size) {
        index = find_block(trace, start, size);
        if (edge != NULL) {
            edge->target = index;
        }
    }
    trace->block = index;
    if (index == NONE) {
        return;
    }
    if ((++trace->executed & (CHECK_BLOCKS - 1U)) == 0U && !trace->config.go_on()) {
        stop(trace);
    }
    block_t *block = &trace->blocks[index];
    if (block->num_shares != 0U) {
        block->fetch_stalls +=
            trace_flash_fetch(&trace->flash, &trace->shares[block->first_share], block->num_shares);
    }
}

void edgec_trace_on_block(void *uc, uint64_t address, uint32_t size, void *user) {
    edgec_trace_t *trace = user;
    const uint32_t start = (uint32_t)address;
    edge_t *edge = NULL;
    (void)uc;
    if (trace->failed) {
        return;
    }
    if (!trace->running) {
        if (start != trace->config.run_entry || trace->finished) {
            return;
        }
        trace->running = true;
        trace->return_address = read_register(trace, trace->config.registers[14]) & ~1U;
    } else if (trace->paused) {
        if (start != trace->resume_address) {
            return;
        }
        trace->paused = false;
        trace->segment++;
    } else {
        edge = find_edge(trace, start);
        if (edge == NULL) {
            return;
        }
        edge->count++;
        if (start == trace->config.hook_entry) {
            trace->paused = true;
            trace->resume_address = read_register(trace, trace->config.registers[14]) & ~1U;
        } else if (start == trace->return_address) {
            trace->running = false;
            trace->finished = ++trace->runs == trace->config.runs;
        }
        if (trace->paused || !trace->running) {
            trace->block = NONE;
            return;
        }
    }
    enter(trace, start, size, edge);
}

/* ---- Data ---- */

/* The bits of XPSR that say which instructions of an IT block are left (Arm v7-M architecture
 * reference manual, B1.4.2). */
#define IT_BITS 0x0600FC00U

/* Unicorn puts these bits into the state of the core for a hook on memory, and leaves them there:
 * the next block of code would begin as if it still belonged to the IT block.  Inside a block of
 * code it does not read them. */
static void leave_it_block(const edgec_trace_t *trace) {
    const uint32_t status = read_register(trace, trace->config.status);
    if ((status & IT_BITS) != 0U) {
        const uint64_t left = status & ~IT_BITS;
        (void)trace->config.reg_write(trace->config.uc, trace->config.status, &left);
    }
}

void edgec_trace_on_read(void *uc, int32_t access, uint64_t address, int32_t size, int64_t value,
                         void *user) {
    edgec_trace_t *trace = user;
    (void)uc;
    (void)access;
    (void)value;
    leave_it_block(trace);
    if (trace->block != NONE) {
        trace->blocks[trace->block].data_stalls +=
            trace_flash_read(&trace->flash, (uint32_t)address, (uint32_t)size);
    }
}

void edgec_trace_on_write(void *uc, int32_t access, uint64_t address, int32_t size, int64_t value,
                          void *user) {
    edgec_trace_t *trace = user;
    const uint32_t start = (uint32_t)address;
    const uint32_t end = start + (uint32_t)size;
    (void)uc;
    (void)access;
    (void)value;
    leave_it_block(trace);
    trace->low = start < trace->low ? start : trace->low;
    trace->high = end > trace->high ? end : trace->high;
    /* The arena may lie in tightly coupled memory, which no cache serves. */
    const trace_flash_timing_t *timing = &trace->config.flash;
    if (trace->block != NONE && start - timing->ram_origin < timing->ram_bytes) {
        trace_flash_touch(&trace->flash, start, (uint32_t)size);
    }
}

void edgec_trace_on_ram_read(void *uc, int32_t access, uint64_t address, int32_t size,
                             int64_t value, void *user) {
    edgec_trace_t *trace = user;
    (void)uc;
    (void)access;
    (void)value;
    leave_it_block(trace);
    if (trace->block != NONE) {
        trace_flash_touch(&trace->flash, (uint32_t)address, (uint32_t)size);
    }
}

/* ---- Divides ---- */

static uint32_t magnitude(uint32_t value) {
    return value > 0x80000000U ? 0U - value : value;
}

static uint32_t quotient_bits(uint32_t dividend, uint32_t divisor, bool is_signed) {
    if (is_signed) {
        dividend = magnitude(dividend);
        divisor = magnitude(divisor);
    }
    uint32_t quotient = divisor != 0U ? dividend / divisor : 0U;
    uint32_t bits = 0;
    for (; quotient != 0U; quotient >>= 1U) {
        bits++;
    }
    return bits;
}

void edgec_trace_on_divide(void *uc, uint64_t address, uint32_t size, void *user) {
    edgec_trace_t *trace = user;
    uint8_t code[4] = {0};
    (void)size;
    if (trace->block == NONE || trace->config.mem_read(uc, address, code, sizeof code) != 0) {
        return;
    }
    const uint32_t dividend = read_register(trace, trace->config.registers[code[0] & 15U]);
    const uint32_t divisor = read_register(trace, trace->config.registers[code[2] & 15U]);
    const bool is_signed = (code[0] & 0xF0U) == 0x90U;
    const uint32_t bits = quotient_bits(dividend, divisor, is_signed);
    for (uint32_t i = trace->num_divides; i > 0U; i--) {
        edgec_trace_divide_t *seen = &trace->divides[i - 1U];
        if (seen->segment != trace->segment) {
            break;
        }
        if (seen->address == (uint32_t)address && seen->bits == bits) {
            seen->count++;
            return;
        }
    }
    if (reserve(trace, (void **)&trace->divides, sizeof(edgec_trace_divide_t), trace->num_divides,
                &trace->divides_capacity, 1)) {
        const edgec_trace_divide_t made = {1, trace->segment, (uint32_t)address, bits, 0};
        trace->divides[trace->num_divides++] = made;
    }
}

/* ---- Life and results ---- */

edgec_trace_t *edgec_trace_new(const edgec_trace_config_t *config) {
    edgec_trace_t *trace = calloc(1, sizeof *trace);
    if (trace == NULL) {
        return NULL;
    }
    trace->config = *config;
    trace->block = NONE;
    trace->low = UINT32_MAX;
    trace->bucket_mask = FIRST_CAPACITY / 4U - 1U;
    if (!trace_flash_init(&trace->flash, &config->flash) || !grow_buckets(trace)) {
        edgec_trace_free(trace);
        return NULL;
    }
    return trace;
}

void edgec_trace_free(edgec_trace_t *trace) {
    if (trace != NULL) {
        trace_flash_free(&trace->flash);
        free(trace->blocks);
        free(trace->edges);
        free(trace->shares);
        free(trace->buckets);
        free(trace->divides);
        free(trace);
    }
}

void edgec_trace_summary(const edgec_trace_t *trace, edgec_trace_summary_t *summary) {
    const edgec_trace_summary_t made = {
        .num_blocks = trace->num_blocks,
        .num_edges = trace->num_edges,
        .num_divides = trace->num_divides,
        .segments = trace->segment,
        .low = trace->low,
        .high = trace->high,
        .finished = trace->finished,
        .failed = trace->failed,
    };
    *summary = made;
}

void edgec_trace_results(const edgec_trace_t *trace, edgec_trace_block_t *blocks,
                         edgec_trace_edge_t *edges, edgec_trace_divide_t *divides) {
    uint32_t edge = 0;
    for (uint32_t i = 0; i < trace->num_blocks; i++) {
        const block_t *block = &trace->blocks[i];
        const edgec_trace_block_t made = {block->fetch_stalls, block->data_stalls, block->segment,
                                          block->start};
        blocks[i] = made;
        for (uint32_t j = block->first_edge; j != NONE; j = trace->edges[j].next_edge) {
            const edgec_trace_edge_t way = {trace->edges[j].count, block->segment, block->start,
                                            block->size, trace->edges[j].next_start};
            edges[edge++] = way;
        }
    }
    for (uint32_t i = 0; i < trace->num_divides; i++) {
        divides[i] = trace->divides[i];
    }
}
