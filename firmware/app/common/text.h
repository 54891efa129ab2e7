/* Text in and out without stdio: numbers and hexadecimal bytes, for the serial protocol. */
#ifndef EDGEC_APP_TEXT_H
#define EDGEC_APP_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Output goes to the console through `port_write`; a running CRC covers it (see protocol.h). */
void text_begin_reply(void);
uint32_t text_reply_crc(void);
void text_put(const char *text);
void text_put_uint(uint32_t value);
void text_put_int(int32_t value);
void text_put_hex32(uint32_t value);
void text_put_bytes(const uint8_t *bytes, uint32_t count);
void text_end_line(void);

/* Write a whole number below 2^61. */
void text_put_uint64(uint64_t value);

/* Write a number as printf's "%.3f" does: rounded to the nearest, ties to even.  Beyond 2^53 it is
 * 2^53; no output of a network is that. */
void text_put_real(float value);

/* Take the next word, if any, off the front of `*rest`, a mutable string: words are separated by
 * spaces.  NULL when the string is exhausted. */
char *text_next_word(char **rest);

bool text_words_equal(const char *a, const char *b);

/* Parse all of `word` as a decimal number of 32 bits; false when it is not one. */
bool text_parse_uint(const char *word, uint32_t *value);

/* Parse all of `word` as a decimal number like `-12.5` or `3e-4`; false when it is not one, or is
 * beyond float.  Digits after the first nine count as zeros. */
bool text_parse_real(const char *word, float *value);

/* Parse exactly eight hexadecimal digits at `digits`; false when they are not. */
bool text_parse_hex32(const char *digits, uint32_t *value);

/* Decode all of `word`, pairs of hexadecimal digits, in place.  Number of bytes; -1 when it is not
 * such a word. */
int32_t text_decode_bytes(char *word);

#endif
