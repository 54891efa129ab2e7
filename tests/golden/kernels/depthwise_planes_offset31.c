#ifndef EDGEC_PLANES_offsets_1_5
#define EDGEC_PLANES_offsets_1_5
EDGEC_PLANES_TILE(edgec_planes_offsets_1_5, 1, 3, 5, 1, 4)
#endif

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
        COLUMNS = 11,
        LEFT = 1,
        INSIDE = 9,
        PAIRS = 3,
        STRIP = 4,
    };
    const edgec_offset_params_t p = *params;
    edgec_pair_t *const planes = (edgec_pair_t *)(void *)scratch;
    const edgec_planes_image_t image = {
        .padding = (uint8_t)p.x_zero_point * 0x01010101U,
        .height = HEIGHT,
        .row = WIDTH * CHANNELS,
        .channels = CHANNELS,
        .left = LEFT,
        .inside = INSIDE,
        .column = PAIRS * EDGEC_PLANES,
    };
    edgec_planes_pad(planes, &image, 0, LEFT);
    edgec_planes_pad(planes, &image, LEFT + INSIDE, COLUMNS);
    for (int32_t top = 0; top < OUT_HEIGHT; top += STRIP) {
        const int32_t count = edgec_min_s32(OUT_HEIGHT - top, STRIP);
        const int32_t taken = ((count - 1) * STRIDE_H + KERNEL_H + 1) / 2;
        for (int32_t first = 0; first < CHANNELS; first += EDGEC_PLANES) {
            /* The last planes may hold channels that are done already. */
            const int32_t c = edgec_min_s32(first, CHANNELS - EDGEC_PLANES);
            edgec_planes_take(x + c, planes, &image, top * STRIDE_H - PAD_TOP, taken);
            edgec_planes_tile_t tile = {
                .row_step = OUT_WIDTH * CHANNELS,
                .pixel_step = CHANNELS,
                .weights = p.weights + first * KERNEL_W * 4,
                .bias = p.bias + first,
                .multiplier = p.multiplier + first,
                .offset = p.offset + first,
                .y = y + top * OUT_WIDTH * CHANNELS + first,
                .planes = planes + (first - c),
                .end = planes + (first - c) + OUT_WIDTH / 2 * 2 * STRIDE_W * PAIRS * EDGEC_PLANES,
                .pairs = count / 2,
                .channels = c + EDGEC_PLANES - first,
                .odd = OUT_WIDTH % 2,
            };
            if (count > 1) {
                edgec_planes_offsets_1_5(&tile);
            }
            if (count % 2 > 0) {
                tile.row_step = 0;
                tile.y += (count - 1) * OUT_WIDTH * CHANNELS;
                tile.planes += count / 2 * STRIDE_H * EDGEC_PLANES;
                tile.end += count / 2 * STRIDE_H * EDGEC_PLANES;
                tile.pairs = 1;
                edgec_planes_offsets_1_5(&tile);
            }
        }
    }
}
