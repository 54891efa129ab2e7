/* Depthwise convolution [20, 20, 8] to [10, 10, 8], 3x3 window, stride 2x2, four channels at a time. */
EDGEC_SEPARATE void depthwise_3x3_s8_dsp_s8_0(const int8_t *x, const int8_t *table, int8_t *y, int8_t *scratch, const edgec_rescale16_params_t *params)
{
    enum {
        HEIGHT = 20,
        WIDTH = 20,
        CHANNELS = 8,
        OUT_HEIGHT = 10,
        OUT_WIDTH = 10,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 2,
        STRIDE_W = 2,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        COLUMNS = 21,
        LEFT = 1,
        INSIDE = 20,
        PAIRS = 5,
        STRIP = 4,
        PRE_SHIFT = 3, SHIFT = 9, LOW = -512, HIGH = 511,
    };
    const edgec_rescale16_params_t p = *params;
    edgec_pair_t *const planes = (edgec_pair_t *)(void *)scratch;
    const edgec_depthwise_3x3_image_t image = {
        .padding = (uint8_t)p.x_zero_point * 0x01010101U,
        .height = HEIGHT,
        .row = WIDTH * CHANNELS,
        .channels = CHANNELS,
        .left = LEFT,
        .inside = INSIDE,
        .column = PAIRS * EDGEC_DEPTHWISE_3X3,
    };
    edgec_depthwise_3x3_pad(planes, &image, 0, LEFT);
    edgec_depthwise_3x3_pad(planes, &image, LEFT + INSIDE, COLUMNS);
    for (int32_t top = 0; top < OUT_HEIGHT; top += STRIP) {
        const int32_t count = edgec_min_s32(OUT_HEIGHT - top, STRIP);
        const edgec_depthwise_3x3_strip_t strip = edgec_depthwise_3x3_strip(top * STRIDE_H - PAD_TOP, ((count - 1) * STRIDE_H + KERNEL_H + 1) / 2, HEIGHT);
        for (int32_t first = 0; first < CHANNELS; first += EDGEC_DEPTHWISE_3X3) {
            /* The last planes may hold channels that are done already. */
            const int32_t c = edgec_min_s32(first, CHANNELS - EDGEC_DEPTHWISE_3X3);
            edgec_depthwise_3x3_take(x + c, planes, &image, &strip);
            for (int32_t o = first; o < c + EDGEC_DEPTHWISE_3X3; o++) {
                const edgec_taps3_t taps0 = edgec_taps3(p.weights + (o * KERNEL_W + 0) * 4);
                const edgec_taps3_t taps1 = edgec_taps3(p.weights + (o * KERNEL_W + 1) * 4);
                const edgec_taps3_t taps2 = edgec_taps3(p.weights + (o * KERNEL_W + 2) * 4);
                const int32_t bias = p.bias[o];
                const int16_t multiplier = p.multiplier[o];
                const edgec_pair_t *row = planes + (o - c);
                int8_t *to = y + top * OUT_WIDTH * CHANNELS + o;
                for (int32_t oy = 0; oy < count; oy += 1) {
                    const edgec_pair_t *at = row;
                    for (int32_t ox = 0; ox < OUT_WIDTH; ox++, at += STRIDE_W * PAIRS * EDGEC_DEPTHWISE_3X3) {
                        int32_t even = bias;
                        even = edgec_taps3_by_two(taps0, at[0 * PAIRS * EDGEC_DEPTHWISE_3X3], at[(0 * PAIRS + 1) * EDGEC_DEPTHWISE_3X3], even);
                        even = edgec_taps3_by_two(taps1, at[1 * PAIRS * EDGEC_DEPTHWISE_3X3], at[(1 * PAIRS + 1) * EDGEC_DEPTHWISE_3X3], even);
                        even = edgec_taps3_by_two(taps2, at[2 * PAIRS * EDGEC_DEPTHWISE_3X3], at[(2 * PAIRS + 1) * EDGEC_DEPTHWISE_3X3], even);
                        {
                            const int32_t scaled = edgec_rescale(even, multiplier, PRE_SHIFT, SHIFT);
                            to[ox * CHANNELS] = table[edgec_limit(scaled, LOW, HIGH) - LOW];
                        }
                    }
                    row += EDGEC_DEPTHWISE_3X3;
                    to += 1 * OUT_WIDTH * CHANNELS;
                }
            }
        }
    }
}
