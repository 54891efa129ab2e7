#include "frame.h"

#include <stddef.h>

#include "crc32.h"

#define CRC_BYTES 4U

void frame_begin(frame_t *frame, uint8_t *target, uint32_t count) {
    frame->target = target;
    frame->count = count;
    frame->left = count + CRC_BYTES;
    frame->expected_crc = 0;
}

bool frame_is_open(const frame_t *frame) {
    return frame->left > 0U;
}

bool frame_take(frame_t *frame, uint8_t byte) {
    if (frame->left <= CRC_BYTES) {
        frame->expected_crc = frame->expected_crc << 8 | byte;
    } else if (frame->target != NULL) {
        frame->target[frame->count + CRC_BYTES - frame->left] = byte;
    }
    frame->left--;
    return frame->left == 0U;
}

bool frame_is_whole(const frame_t *frame) {
    return crc32_update(0, frame->target, frame->count) == frame->expected_crc;
}
