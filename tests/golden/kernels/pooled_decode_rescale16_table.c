/* Pooled convolution [5, 5, 12] to [5, 5, 10], 1x1 window, stride 1x1, 4 filters decoded at a time. */
EDGEC_SEPARATE void pooled_decode_s8_0(const int8_t *x, const int8_t *table, int8_t *y, int8_t *scratch, const edgec_pool_rescale16_params_t *params)
{
    enum {
        HEIGHT = 5,
        WIDTH = 5,
        CHANNELS = 12,
        OUT_HEIGHT = 5,
        OUT_WIDTH = 5,
        KERNEL_H = 1,
        KERNEL_W = 1,
        STRIDE_H = 1,
        STRIDE_W = 1,
        PAD_TOP = 0,
        PAD_LEFT = 0,
        DILATION_H = 1,
        DILATION_W = 1,
        OUT_CHANNELS = 10,
        GROUP = 8,
        FULL = 1,
        LAST = 4,
        INDEX_BITS = 6,
        DEPTH = 12,
        BATCH = 4,
        BLOCK = 4,
        REST = 2,
        PRE_SHIFT = 3, SHIFT = 9, LOW = -512, HIGH = 511,
    };
    const int8_t *const pool = (const int8_t *)params->table;
    edgec_pool_indices_t indices = edgec_pool_indices(params->indices);
    int8_t *const filters = scratch + 0;
    for (int32_t start = 0; start < OUT_CHANNELS; start += BATCH) {
        const int32_t end = (OUT_CHANNELS - start < BATCH) ? OUT_CHANNELS - start : BATCH;
        int8_t *weight = filters;
        for (int32_t n = 0; n < end * (KERNEL_H * KERNEL_W); n++) {
            for (int32_t v = 0; v < FULL; v++) {
                memcpy(weight, pool + edgec_next_index(&indices, INDEX_BITS) * GROUP, GROUP);
                weight += GROUP;
            }
            memcpy(weight, pool + edgec_next_index(&indices, INDEX_BITS) * GROUP, LAST);
            weight += LAST;
        }
        const edgec_rescale16_params_t p = {
            .weights = filters,
            .bias = params->bias + start,
            .multiplier = params->multiplier + start,
            .x_zero_point = params->x_zero_point,
        };
        for (int32_t pixel = 0; pixel < OUT_HEIGHT * OUT_WIDTH; pixel++) {
            const int8_t *const row = x + pixel * DEPTH;
            const int32_t first = pixel * OUT_CHANNELS + start;
            int32_t o = 0;
            for (; o <= end - BLOCK; o += BLOCK) {
                const int8_t *const w = p.weights + o * DEPTH;
                int32_t sum0 = p.bias[o + 0];
                int32_t sum1 = p.bias[o + 1];
                int32_t sum2 = p.bias[o + 2];
                int32_t sum3 = p.bias[o + 3];
                for (int32_t i = 0; i < DEPTH; i++) {
                    const int32_t value = row[i];
                    sum0 += value * w[0 * DEPTH + i];
                    sum1 += value * w[1 * DEPTH + i];
                    sum2 += value * w[2 * DEPTH + i];
                    sum3 += value * w[3 * DEPTH + i];
                }
                const int32_t acc[4] = {sum0, sum1, sum2, sum3};
                for (int32_t j = 0; j < 4; j++) {
                    const int32_t scaled = edgec_rescale(acc[j], p.multiplier[o + j], PRE_SHIFT, SHIFT);
                    y[first + o + j] = table[edgec_limit(scaled, LOW, HIGH) - LOW];
                }
            }
            if (o < end) {
                const int8_t *const w = p.weights + o * DEPTH;
                int32_t sum0 = p.bias[o + 0];
                int32_t sum1 = p.bias[o + 1];
                for (int32_t i = 0; i < DEPTH; i++) {
                    const int32_t value = row[i];
                    sum0 += value * w[0 * DEPTH + i];
                    sum1 += value * w[1 * DEPTH + i];
                }
                const int32_t acc[2] = {sum0, sum1};
                for (int32_t j = 0; j < 2; j++) {
                    const int32_t scaled = edgec_rescale(acc[j], p.multiplier[o + j], PRE_SHIFT, SHIFT);
                    y[first + o + j] = table[edgec_limit(scaled, LOW, HIGH) - LOW];
                }
            }
        }
    }
}
