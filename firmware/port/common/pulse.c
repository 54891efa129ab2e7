/* A pulse at the pin for time stamps, which the board file names by its [defines]:
 *     PORT_PULSE_CLOCK, PORT_PULSE_CLOCK_BIT  register and bit that give its port a clock
 *     PORT_PULSE_GPIO, PORT_PULSE_PIN         address of the port, and the pin of it, 0 to 15 */
#include "board_config.h"
#include "port.h"

#if defined(PORT_PULSE_GPIO)

#include "stm32_gpio.h"

#define CYCLES_OF_A_PASS 8U /* at least */
#define PULSES_PER_SECOND 1000U

bool port_pulse(void) {
    REG32(PORT_PULSE_CLOCK) |= 1U << PORT_PULSE_CLOCK_BIT;
    (void)REG32(PORT_PULSE_CLOCK); /* the clock is there two cycles after the write */
    gpio_drive(PORT_PULSE_GPIO, PORT_PULSE_PIN, false);
    const uint32_t passes = port_cycles_hz() / (CYCLES_OF_A_PASS * PULSES_PER_SECOND);
    for (volatile uint32_t i = 0; i < passes; i++) {
    }
    gpio_drive(PORT_PULSE_GPIO, PORT_PULSE_PIN, true);
    return true;
}

#else

bool port_pulse(void) {
    return false;
}

#endif
