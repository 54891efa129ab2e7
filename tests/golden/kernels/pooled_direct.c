/* Pooled convolution [5, 6, 4] to [5, 6, 8], 3x3 window, stride 1x1, looked up bit by bit. */
EDGEC_SEPARATE void pooled_direct_s8_0(const int8_t *x, const int8_t *residual, int8_t *y, int8_t *scratch, const edgec_pool_params_t *params, const edgec_add_params_t *add)
{
    enum {
        HEIGHT = 5,
        WIDTH = 6,
        CHANNELS = 4,
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
        OUT_CHANNELS = 8,
        GROUP = 4,
        LOOK_UPS = 9,
        INDEX_BITS = 6,
        ROW = 64,
        PARTS = 1,
        PART = ROW << 4,
        SHIFT = 32,
        RESIDUAL_SHIFT = 12,
    };
    const edgec_pool_params_t p = *params;
    edgec_add_params_t addition = *add;
    addition.shift = RESIDUAL_SHIFT;
    const int32_t drop = 8 - 4;
    const uint8_t *const table = (const uint8_t *)p.table;
    uint32_t *const sums = (uint32_t *)(void *)scratch;
    uint8_t *const indices = (uint8_t *)scratch + 32;
    edgec_pool_indices_t packed = edgec_pool_indices(p.indices);
    for (int32_t n = 0; n < LOOK_UPS * OUT_CHANNELS; n++) {
        indices[n] = (uint8_t)edgec_next_index(&packed, INDEX_BITS);
    }
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
                const uint32_t high0 = 0;
                const uint32_t planes0[2] = {edgec_pool_planes(low0, high0),
                                             edgec_pool_planes(low0 << 4, high0 << 4)};
                const uint8_t *row[4];
                row[0] = table + 0 * PART + (planes0[0] >> 24 & 0xFU) * ROW;
                row[1] = table + 0 * PART + (planes0[0] >> 16 & 0xFU) * ROW;
                row[2] = table + 0 * PART + (planes0[0] >> 8 & 0xFU) * ROW;
                row[3] = table + 0 * PART + (planes0[0] >> 0 & 0xFU) * ROW;
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
        for (int32_t o = 0; o < OUT_CHANNELS; o++) {
            const int32_t bias = p.bias[o];
            const int32_t multiplier = p.multiplier[o];
            const uint32_t constant = (uint32_t)bias;
            const int32_t acc = (int32_t)(constant + (sums[o] << drop));
            const int8_t value = edgec_requantize_s8(acc, multiplier, SHIFT,
                                                     p.y_zero_point, p.act_min, p.act_max);
            y[pixel * OUT_CHANNELS + o] = edgec_add_s8(value, residual[pixel * OUT_CHANNELS + o], &addition);
        }
    }
}
