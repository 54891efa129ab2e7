/* A plugin for QEMU 7.2 and later: prints how many instructions a process has executed.
 *
 *     gcc -shared -fPIC -O2 benchmarks/count_instructions.c -o count.so
 *
 * Debian's qemu-user has no header for plugins; these are the declarations of its qemu-plugin.h
 * that are needed (QEMU documentation, "QEMU TCG Plugins", API version 1).
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

enum { ADD_U64 = 0 };
typedef uint64_t plugin_id_t;
struct qemu_plugin_tb;
typedef void (*translated_t)(plugin_id_t, struct qemu_plugin_tb *);
typedef void (*ended_t)(plugin_id_t, void *);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id_t, translated_t);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
void qemu_plugin_register_atexit_cb(plugin_id_t, ended_t, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
EXPORT int qemu_plugin_install(plugin_id_t id, const void *info, int argc, char **argv);

EXPORT int qemu_plugin_version = 1;
static uint64_t executed;

static void translated(plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &executed,
                                             qemu_plugin_tb_n_insns(block));
}

static void ended(plugin_id_t id, void *data) {
    (void)id;
    (void)data;
    fprintf(stderr, "executed instructions: %" PRIu64 "\n", executed);
}

EXPORT int qemu_plugin_install(plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
