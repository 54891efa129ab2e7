#ifndef EDGEC_HAS_edgec_dense_5x2_store_1_4_0_0_32_bounded
#define EDGEC_HAS_edgec_dense_5x2_store_1_4_0_0_32_bounded
#define EDGEC_CODE_edgec_dense_5x2_store_1_4_0_0_32_bounded(ACC) edgec_requantize_by_s8(4, ACC, multiplier, 32, p.y_zero_point, p.act_min, p.act_max)
EDGEC_DENSE_5X2_STORE(edgec_dense_5x2_store_1_4_0_0_32_bounded, 1, EDGEC_CODE_edgec_dense_5x2_store_1_4_0_0_32_bounded)
#endif

/* Convolution [5, 5, 12] to [5, 5, 5], 1x1 window, stride 1x1, five rows at a time. */
static void dense_5x2_s8_m0_s8_0(const int8_t *x, int8_t *y, int8_t *scratch, const edgec_conv_params_t *params)
{
    static const edgec_dense_5x2_layer_t layer = {
        .store = edgec_dense_5x2_store_1_4_0_0_32_bounded,
        .outputs = { .channels = 5, .parts = 1, .part_words = 18 },
        .rows = 25,
        .depth = 12,
        .padded_depth = 12,
        .segment = 12,
        .batch = 6,
        .words_at = 144,
        .block_at = 216,
    };
    edgec_dense_5x2_layer(x, y, scratch, params, &layer);
}
