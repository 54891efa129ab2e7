/* Bytes of a known number that come as they are, and their CRC-32, most significant byte first. */
#ifndef EDGEC_APP_FRAME_H
#define EDGEC_APP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

typedef struct frame {
    uint8_t *target; /* where the bytes go; NULL: nowhere */
    uint32_t count;
    uint32_t left; /* bytes to come, the CRC's too */
    uint32_t expected_crc;
} frame_t;

/* From now on `count` bytes and their CRC are expected. */
void frame_begin(frame_t *frame, uint8_t *target, uint32_t count);

bool frame_is_open(const frame_t *frame);

/* Take a byte of an open frame; true with the last one. */
bool frame_take(frame_t *frame, uint8_t byte);

/* The bytes that were put at the target have the CRC that came with them. */
bool frame_is_whole(const frame_t *frame);

#endif
