/* Memory that ends where an unreadable page begins: for programs without sanitizers.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=free; what the C library itself allocates is not wrapped.
 * Blocks are aligned to 8 bytes as an arena must be, so up to 7 bytes behind them can be touched.
 */
#define _DEFAULT_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void *__wrap_malloc(size_t bytes);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = (bytes + 7U) / 8U * 8U;
    const size_t pages = (room + page - 1U) / page * page;
    uint8_t *const whole =
        mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED || mprotect(whole + pages, page, PROT_NONE) != 0) {
        return NULL;
    }
    return whole + pages - room;
}

void __wrap_free(void *memory) {
    (void)memory;
}
