/* Lines of the protocol's replies. */
#ifndef EDGEC_APP_REPLY_H
#define EDGEC_APP_REPLY_H

#include <stdint.h>

/* `name` ends in what stands between it and the value. */
void reply_text(const char *name, const char *value);
void reply_number(const char *name, uint32_t value);

/* Bytes as `data=HEX`, 64 on a line. */
void reply_data(const uint8_t *bytes, uint32_t count);

#endif
