EDGEC_SEPARATE void plane_4x4_neon_s8_0_4(const uint8_t *packed, const edgec_plane_threshold_params_t *params,
    uint8_t *masks, uint32_t *y, int32_t count)
{
    enum { FILTERS = 36, OUT_WORDS = 2, Y_PLANES = 2, MASKS = 256 };
    const edgec_plane_threshold_params_t p = *params;
    const edgec_neon_planes_t form = {288, 4, 8 > 0};
    const edgec_neon_apart_t sums = edgec_neon_planes_sums(packed, 2, form, -1);
    const uint8_t *weights = (const uint8_t *)p.weights;
    uint8_t *to = masks;
    for (int32_t o = 0; o < FILTERS; o += EDGEC_NEON_ROWS) {
        const edgec_neon_apart_t total = edgec_neon_planes_total(edgec_neon_planes_apart(packed, weights, 2, 2, form), sums, 1);
        const uint8x16_t reached0 = edgec_neon_planes_reached(total, p.most + 0 * FILTERS + o);
        const uint8x16_t reached1 = edgec_neon_planes_reached(total, p.most + 1 * FILTERS + o);
        const uint8x16_t reached2 = edgec_neon_planes_reached(total, p.most + 2 * FILTERS + o);
        uint8x16_t bits0 = vdupq_n_u8(0);
        bits0 = veorq_u8(bits0, reached0);
        bits0 = veorq_u8(bits0, reached1);
        bits0 = veorq_u8(bits0, reached2);
        vst1q_u8(to + 0 * MASKS, bits0);
        uint8x16_t bits1 = vdupq_n_u8(0);
        bits1 = veorq_u8(bits1, reached1);
        vst1q_u8(to + 1 * MASKS, bits1);
        weights += 576;
        to += 16;
    }
    for (int32_t plane = 0; plane < Y_PLANES; plane++) {
        for (int32_t n = 0; n < OUT_WORDS; n++) {
            uint32_t words[EDGEC_NEON_ROWS];
            vst1q_u32(words, edgec_neon_signs_words(masks + plane * MASKS + n * 128));
            for (int32_t t = 0; t < count; t++) {
                y[(t * Y_PLANES + plane) * OUT_WORDS + n] = words[t];
            }
        }
    }
}

/* Convolution of planes, 2 by 2 bits to 2 bits, [5, 6, 40] to [5, 6, 33], 3x3 window, stride 1x1, four rows at a time; sums of 360 products. */
static void plane_4x4_neon_s8_0(const uint32_t *planes, uint32_t *y, int8_t *scratch, const edgec_plane_threshold_params_t *params)
{
    enum {
        HEIGHT = 5,
        WIDTH = 6,
        CHANNELS = 8,
        OUT_HEIGHT = 5,
        OUT_WIDTH = 6,
        KERNEL_H = 3,
        KERNEL_W = 3,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        ROWS = 30,
        OUT_WORDS = 2,
        Y_PLANES = 2,
    };
    const int16_t *const x = (const int16_t *)(const void *)planes;
    uint8_t *const packed = (uint8_t *)scratch;
    int8_t *const patch = scratch + 576;
    int8_t *const split = scratch + 720;
    uint8_t *const masks = (uint8_t *)scratch + 864;
    /* There are no filters for the last bits of a word. */
    memset(masks, 0, 512);
    /* Bits beyond the last one of a row are alike on both sides. */
    memset(packed, 0, 576);
    int32_t oy = 0;
    int32_t ox = 0;
    for (int32_t first = 0; first < ROWS; first += EDGEC_NEON_ROWS) {
        const int32_t count = edgec_min_s32(ROWS - first, EDGEC_NEON_ROWS);
        for (int32_t t = 0; t < EDGEC_NEON_ROWS; t++) {
            /* Rows beyond the last one repeat it; what they give is not stored, or stored again. */
            const int32_t ix = ox * STRIDE_W - PAD_LEFT;
            for (int32_t ky = 0; ky < KERNEL_H; ky++) {
                const int32_t iy = oy * STRIDE_H - PAD_TOP + ky * DILATION_H;
                int8_t *const to = patch + ky * (2 * (KERNEL_W * CHANNELS));
                if (iy < 0 || iy >= HEIGHT) {
                    memset(to, 0, (size_t)(2 * (KERNEL_W * CHANNELS)));
                    continue;
                }
                if (ix < 0 || ix > WIDTH - KERNEL_W) {
                    for (int32_t kx = 0; kx < KERNEL_W; kx++) {
                        if (ix + kx >= 0 && ix + kx < WIDTH) {
                            memcpy(to + kx * (2 * CHANNELS), x + (iy * WIDTH + ix + kx) * CHANNELS, (size_t)(2 * CHANNELS));
                        } else {
                            memset(to + kx * (2 * CHANNELS), 0, (size_t)(2 * CHANNELS));
                        }
                    }
                    continue;
                }
                memcpy(to, x + (iy * WIDTH + ix) * CHANNELS, (size_t)(2 * (KERNEL_W * CHANNELS)));
            }
            edgec_planes_split((const uint32_t *)(const void *)patch, (uint32_t *)(void *)split, 2, KERNEL_H * KERNEL_W, 2);
            edgec_neon_signs_spread(split + 0, scratch + 0 + t * EDGEC_NEON_LANES, scratch + 256 + t * 8, 4, 72);
            edgec_neon_signs_spread(split + 72, scratch + 288 + t * EDGEC_NEON_LANES, scratch + 544 + t * 8, 4, 72);
            if (t < count - 1) {
                ox++;
                oy += (ox == OUT_WIDTH) ? 1 : 0;
                ox = (ox == OUT_WIDTH) ? 0 : ox;
            }
        }
        ox++;
        oy += (ox == OUT_WIDTH) ? 1 : 0;
        ox = (ox == OUT_WIDTH) ? 0 : ox;
        plane_4x4_neon_s8_0_4(packed, params, masks, y + first * Y_PLANES * OUT_WORDS, count);
    }
}
