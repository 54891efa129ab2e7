/* Pooled convolution [5, 5, 3] to [3, 3, 6], 2x2 window, stride 2x2, sums of 2 vectors, looked up bit by bit. */
EDGEC_SEPARATE void pooled_direct_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_pool_params_t *params)
{
    enum {
        HEIGHT = 5,
        WIDTH = 5,
        CHANNELS = 3,
        OUT_HEIGHT = 3,
        OUT_WIDTH = 3,
        KERNEL_H = 2,
        KERNEL_W = 2,
        STRIDE_H = 2,
        STRIDE_W = 2,
        PAD_TOP = 1,
        PAD_LEFT = 1,
        DILATION_H = 1,
        DILATION_W = 1,
        OUT_CHANNELS = 6,
        GROUP = 8,
        LOOK_UPS = 8,
        INDEX_BITS = 8,
        ROW = 20,
        PARTS = 1,
        PART = ROW << 8,
        SHIFT = 32,
    };
    const edgec_pool_params_t p = *params;
    const int32_t drop = 8 - 4;
    const uint8_t *const table = (const uint8_t *)p.table;
    uint32_t *const sums = (uint32_t *)(void *)scratch;
    const uint8_t *const indices = (const uint8_t *)p.indices;
    for (int32_t pixel = 0; pixel < OUT_HEIGHT * OUT_WIDTH; pixel++) {
        const int32_t oy = pixel / OUT_WIDTH;
        const int32_t ox = pixel % OUT_WIDTH;
        const uint8_t *next = indices;
        memset(sums, 0, sizeof(*sums) * OUT_CHANNELS);
        for (int32_t tap = 0; tap < KERNEL_H * KERNEL_W; tap++) {
            const int32_t iy = oy * STRIDE_H - PAD_TOP + (tap / KERNEL_W) * DILATION_H;
            const int32_t ix = ox * STRIDE_W - PAD_LEFT + (tap % KERNEL_W) * DILATION_W;
            const bool inside = iy >= 0 && iy < HEIGHT && ix >= 0 && ix < WIDTH;
            for (int32_t c = 0; c < CHANNELS; c += GROUP) {
                const int8_t *const from = inside ? x + (iy * WIDTH + ix) * CHANNELS + c : NULL;
                uint32_t codes[GROUP / 4];
                edgec_pool_codes(codes, GROUP, from, CHANNELS - c, p.x_zero_point);
                const uint32_t low0 = edgec_pool_round(codes[0], drop);
                const uint32_t high0 = edgec_pool_round(codes[1], drop);
                const uint32_t planes0[2] = {edgec_pool_planes(low0, high0),
                                             edgec_pool_planes(low0 << 4, high0 << 4)};
                const uint8_t *row[4];
                row[0] = table + 0 * PART + (planes0[0] >> 24 & 0xFFU) * ROW;
                row[1] = table + 0 * PART + (planes0[0] >> 16 & 0xFFU) * ROW;
                row[2] = table + 0 * PART + (planes0[0] >> 8 & 0xFFU) * ROW;
                row[3] = table + 0 * PART + (planes0[0] >> 0 & 0xFFU) * ROW;
                for (int32_t term = 0; term < 2; term++) {
                    for (int32_t o = 0; o < OUT_CHANNELS; o++) {
                        const uint32_t index = *next++;
                        uint32_t response = 0U + row[0][index];
                        response = (response << 1) + row[1][index];
                        response = (response << 1) + row[2][index];
                        response = (response << 1) + row[3][index];
                        sums[o] += response;
                    }
                }
            }
        }
        for (int32_t o = 0; o < OUT_CHANNELS; o++) {
            const int32_t bias = p.bias[o];
            const int32_t multiplier = p.multiplier[o];
            const uint32_t constant = (uint32_t)bias;
            const int32_t acc = (int32_t)(constant + (sums[o] << drop));
            const int8_t value = edgec_requantize_s8(acc, multiplier, SHIFT,
                                                     p.y_zero_point, p.act_min, p.act_max);
            y[pixel * OUT_CHANNELS + o] = value;
        }
    }
}
