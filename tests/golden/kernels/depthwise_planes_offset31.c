/* Depthwise convolution [9, 9, 8] to [9, 9, 8], 3x3 window, stride 1x1, four channels at a time. */
EDGEC_SEPARATE void depthwise_planes_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_offset_params_t *params)
{
    enum {
        HEIGHT = 9,
        WIDTH = 9,
        CHANNELS = 8,
        OUT_HEIGHT = 9,
        OUT_WIDTH = 9,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        PAIRS = 6,
        STRIP = 3,
        ROW_STEP = 6,
        PLANE_WORDS = 30,
    };
    const edgec_offset_params_t p = *params;
    edgec_pair_t *const planes = (edgec_pair_t *)(void *)scratch;
    const edgec_plane_columns_t columns = {PAIRS, PAD_LEFT, WIDTH, CHANNELS};
    const uint32_t padding = (uint8_t)p.x_zero_point * 0x01010101U;
    for (int32_t top = 0; top < OUT_HEIGHT; top += STRIP) {
        const int32_t count = edgec_min_s32(OUT_HEIGHT - top, STRIP);
        for (int32_t first = 0; first < CHANNELS; first += EDGEC_PLANES) {
            /* The last planes may hold channels that are done already. */
            const int32_t c = edgec_min_s32(first, CHANNELS - EDGEC_PLANES);
            for (int32_t r = 0; r < (count - 1) * STRIDE_H + KERNEL_H; r++) {
                const int32_t iy = top * STRIDE_H - PAD_TOP + r;
                edgec_pair_t *const to = planes + r * PAIRS;
                if (iy < 0 || iy >= HEIGHT) {
                    edgec_plane_fill(padding, to, PLANE_WORDS, 0, PAIRS);
                } else {
                    edgec_plane_row(x + iy * WIDTH * CHANNELS + c, to, PLANE_WORDS, columns, padding);
                }
            }
            for (int32_t o = first; o < c + EDGEC_PLANES; o++) {
                const edgec_taps3_t taps0 = edgec_taps3(p.weights + (o * KERNEL_H + 0) * 4);
                const edgec_taps3_t taps1 = edgec_taps3(p.weights + (o * KERNEL_H + 1) * 4);
                const edgec_taps3_t taps2 = edgec_taps3(p.weights + (o * KERNEL_H + 2) * 4);
                const int32_t bias = p.bias[o];
                const int32_t multiplier = p.multiplier[o];
                const int32_t offset = p.offset[o];
                const edgec_pair_t *row = planes + (o - c) * PLANE_WORDS;
                int8_t *to = y + top * OUT_WIDTH * CHANNELS + o;
                for (int32_t oy = 0; oy < count; oy++) {
                    const edgec_pair_t *at = row;
                    for (int32_t ox = 0; ox + 1 < OUT_WIDTH; ox += 2, at++) {
                        int32_t even = bias;
                        int32_t odd = bias;
                        edgec_taps3_both(taps0, at + 0 * PAIRS, &even, &odd);
                        edgec_taps3_both(taps1, at + 1 * PAIRS, &even, &odd);
                        edgec_taps3_both(taps2, at + 2 * PAIRS, &even, &odd);
                        to[(ox) * CHANNELS] = edgec_requantize_offset_s8(even, multiplier, offset, 5, INT8_MIN, INT8_MAX);

                        to[(ox + 1) * CHANNELS] = edgec_requantize_offset_s8(odd, multiplier, offset, 5, INT8_MIN, INT8_MAX);
                    }
                    int32_t even = bias;
                    even = edgec_taps3_even(taps0, at[0 * PAIRS], at[0 * PAIRS + 1], even);
                    even = edgec_taps3_even(taps1, at[1 * PAIRS], at[1 * PAIRS + 1], even);
                    even = edgec_taps3_even(taps2, at[2 * PAIRS], at[2 * PAIRS + 1], even);
                    to[(OUT_WIDTH - 1) * CHANNELS] = edgec_requantize_offset_s8(even, multiplier, offset, 5, INT8_MIN, INT8_MAX);
                    row += ROW_STEP;
                    to += OUT_WIDTH * CHANNELS;
                }
            }
        }
    }
}
