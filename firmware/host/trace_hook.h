/* Counts what a firmware executes in the Unicorn emulator: hooks, and the simulation of its flash.
 *
 * The hooks have the types of Unicorn's uc_cb_hookcode_t and uc_cb_hookmem_t.  This file needs
 * nothing of Unicorn but three functions, which come as pointers.  It counts exactly as
 * edgec/sim/trace_python.py does; the records are explained in edgec/sim/trace_records.py. */
#ifndef EDGEC_TRACE_HOOK_H
#define EDGEC_TRACE_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_flash.h"

/* The most flash lines that one block touches: Unicorn's longest block is 4096 bytes. */
#define EDGEC_TRACE_MAX_SHARES 1026

typedef struct {
    void *uc;
    int (*reg_read)(void *uc, int identifier, void *value);
    int (*reg_write)(void *uc, int identifier, const void *value);
    int (*mem_read)(void *uc, uint64_t address, void *bytes, uint64_t size);
    int (*emu_stop)(void *uc);
    /* Flash lines and cycles of a block, in pairs; how many pairs, below 0: stop the run. */
    int32_t (*describe)(uint32_t start, uint32_t size, uint32_t *pairs);
    bool (*go_on)(void);   /* asked about once a second */
    int32_t registers[16]; /* Unicorn's numbers of r0 to r15 */
    int32_t status;        /* its number of XPSR */
    uint32_t run_entry, hook_entry;
    uint32_t runs;              /* that are counted, one after the other */
    trace_flash_timing_t flash; /* without wait states: nothing is simulated */
} edgec_trace_config_t;

typedef struct {
    uint32_t num_blocks, num_edges, num_divides, segments;
    uint32_t low, high; /* addresses written in the arena; high == 0: none */
    bool finished, failed;
} edgec_trace_summary_t;

typedef struct {
    uint64_t fetch_stalls, data_stalls;
    uint32_t segment, start;
} edgec_trace_block_t;

typedef struct {
    uint64_t count;
    uint32_t segment, start, size, next_start;
} edgec_trace_edge_t;

typedef struct {
    uint64_t count;
    uint32_t segment, address, bits, unused;
} edgec_trace_divide_t;

typedef struct edgec_trace edgec_trace_t;

/* NULL: no memory. */
edgec_trace_t *edgec_trace_new(const edgec_trace_config_t *config);
void edgec_trace_free(edgec_trace_t *trace);

void edgec_trace_on_block(void *uc, uint64_t address, uint32_t size, void *user);
void edgec_trace_on_read(void *uc, int32_t access, uint64_t address, int32_t size, int64_t value,
                         void *user);
void edgec_trace_on_write(void *uc, int32_t access, uint64_t address, int32_t size, int64_t value,
                          void *user);
/* For what lies in cached RAM: the arena, or constants. */
void edgec_trace_on_ram_read(void *uc, int32_t access, uint64_t address, int32_t size,
                             int64_t value, void *user);
void edgec_trace_on_divide(void *uc, uint64_t address, uint32_t size, void *user);

void edgec_trace_summary(const edgec_trace_t *trace, edgec_trace_summary_t *summary);
/* Fill arrays of the sizes that the summary tells. */
void edgec_trace_results(const edgec_trace_t *trace, edgec_trace_block_t *blocks,
                         edgec_trace_edge_t *edges, edgec_trace_divide_t *divides);

#endif
