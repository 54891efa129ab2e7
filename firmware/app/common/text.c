#include "text.h"

#include "crc32.h"
#include "port.h"

static uint32_t reply_crc;

static void put_counted(const char *characters, uint32_t count) {
    reply_crc = crc32_update(reply_crc, characters, count);
    port_write(characters, count);
}

void text_begin_reply(void) {
    reply_crc = 0;
}

uint32_t text_reply_crc(void) {
    return reply_crc;
}

void text_put(const char *text) {
    uint32_t count = 0;
    while (text[count] != '\0') {
        count++;
    }
    put_counted(text, count);
}

/* Subtracts powers of ten: the smallest cores cannot divide. */
void text_put_uint(uint32_t value) {
    static const uint32_t powers[] = {1000000000U, 100000000U, 10000000U, 1000000U, 100000U,
                                      10000U,      1000U,      100U,      10U,      1U};
    char digits[sizeof powers / sizeof powers[0]];
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
        char digit = '0';
        while (value >= powers[i]) {
            value -= powers[i];
            digit++;
        }
        if (digit != '0' || count > 0U || powers[i] == 1U) {
            digits[count++] = digit;
        }
    }
    put_counted(digits, count);
}

void text_put_int(int32_t value) {
    if (value < 0) {
        text_put("-");
        text_put_uint(0U - (uint32_t)value);
    } else {
        text_put_uint((uint32_t)value);
    }
}

void text_put_bytes(const uint8_t *bytes, uint32_t count) {
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0; i < count; i++) {
        const char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15U]};
        put_counted(pair, sizeof pair);
    }
}

void text_put_hex32(uint32_t value) {
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                              (uint8_t)value};
    text_put_bytes(bytes, sizeof bytes);
}

void text_end_line(void) {
    /* Terminals want the carriage return; the CRC leaves it out. */
    port_write("\r", 1);
    put_counted("\n", 1);
}

char *text_next_word(char **rest) {
    char *word = *rest;
    while (*word == ' ') {
        word++;
    }
    if (*word == '\0') {
        return (char *)0;
    }
    char *end = word;
    while (*end != ' ' && *end != '\0') {
        end++;
    }
    *rest = end;
    if (*end == ' ') {
        *end = '\0';
        *rest = end + 1;
    }
    return word;
}

bool text_words_equal(const char *a, const char *b) {
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

bool text_parse_uint(const char *word, uint32_t *value) {
    uint32_t result = 0;
    const char *next = word;
    do {
        if (*next < '0' || *next > '9') {
            return false;
        }
        const uint32_t digit = (uint32_t)(*next - '0');
        if (result > 429496729U || (result == 429496729U && digit > 5U)) {
            return false; /* 2^32 and more */
        }
        result = result * 10U + digit;
        next++;
    } while (*next != '\0');
    *value = result;
    return true;
}

/* Value of a hexadecimal digit; 16 when it is none. */
static uint32_t hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') {
        return (uint32_t)(digit - '0');
    }
    const char lower = (char)(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? (uint32_t)(lower - 'a') + 10U : 16U;
}

bool text_parse_hex32(const char *digits, uint32_t *value) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 8U; i++) {
        const uint32_t digit = hex_digit(digits[i]);
        if (digit > 15U) {
            return false;
        }
        result = (result << 4) | digit;
    }
    *value = result;
    return true;
}

int32_t text_decode_bytes(char *word) {
    uint32_t count = 0;
    while (word[2U * count] != '\0') {
        const uint32_t high = hex_digit(word[2U * count]);
        const uint32_t low = hex_digit(word[2U * count + 1U]);
        if (high > 15U || low > 15U) {
            return -1;
        }
        word[count] = (char)(uint8_t)(high << 4 | low);
        count++;
    }
    return (int32_t)count;
}
