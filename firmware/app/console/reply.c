#include "reply.h"

#include "text.h"

#define DATA_LINE_BYTES 64U

void reply_text(const char *name, const char *value) {
    text_put(name);
    text_put(value);
    text_end_line();
}

void reply_number(const char *name, uint32_t value) {
    text_put(name);
    text_put_uint(value);
    text_end_line();
}

void reply_data(const uint8_t *bytes, uint32_t count) {
    while (count > 0U) {
        const uint32_t length = count < DATA_LINE_BYTES ? count : DATA_LINE_BYTES;
        text_put("data=");
        text_put_bytes(bytes, length);
        text_end_line();
        bytes += length;
        count -= length;
    }
}
