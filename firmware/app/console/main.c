/* The firmware's main program: serves models over the console, and does nothing else. */
#include "console.h"
#include "port.h"

int main(void) {
    port_init();
    if (!console_begin()) {
        return 1;
    }
    for (;;) {
        const int character = port_read_char();
        if (character < 0) {
            return 0; /* the end of input, which only a host has */
        }
        console_receive((char)character);
    }
}
