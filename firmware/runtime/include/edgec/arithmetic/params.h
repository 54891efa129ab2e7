/* Argument structs of generated code: the numbers that differ between layers of one kernel.
 *
 * One struct per kernel family, filled with `static const` tables next to the weights.  Shapes,
 * strides and shifts are not here: they are compiled into the kernel.
 * edgec/kernels/common/constants.py holds the same fields in the same order.
 *
 * Zero points are int8 codes, or 0 of int16; bounds (act_min <= act_max) are codes of the output.
 * `edgec_add_params_t` is in math.h.
 */
#ifndef EDGEC_ARITHMETIC_PARAMS_H
#define EDGEC_ARITHMETIC_PARAMS_H

#include <stdint.h>

#include "edgec/arithmetic/math.h"
#include "edgec/arithmetic/tflite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Convolutions and matrix products: y = clamp(zy + requantize(bias[o] + sum x * w, multiplier[o])).
 * The kernels that add up every tap have the input's zero point folded into the bias. */
typedef struct edgec_conv_params {
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    int8_t x_zero_point; /* what padding holds */
    int8_t y_zero_point;
    int8_t act_min;
    int8_t act_max;
} edgec_conv_params_t;

/* The same of int8 or int16 activations: zero points and bounds are codes of either type. */
typedef struct edgec_conv16_params {
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    int16_t x_zero_point;
    int16_t y_zero_point;
    int16_t low;
    int16_t high;
} edgec_conv16_params_t;

/* The same in the form Once15, see edgec_tflite_s16_end. */
typedef struct edgec_once_params {
    const int8_t *weights;
    const int32_t *bias;
    const int16_t *multiplier;
    const int8_t *shift;
    int16_t low;
    int16_t high;
} edgec_once_params_t;

/* Convolutions and matrix products whose codes are TensorFlow Lite Micro's, in the form Offset31:
 * y = clamp((high(bias[o] + sum x * w, multiplier[o]) + offset[o]) >> shift), see
 * edgec_requantize_offset_s8. */
typedef struct edgec_offset_params {
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int32_t *offset;
    int8_t x_zero_point; /* what padding holds */
    int8_t act_min;
    int8_t act_max;
} edgec_offset_params_t;

/* The same in the form TwoRoundings31: offset and shift are those of edgec_requantize_twice_s8, or
 * zero point and shift of edgec_requantize_twice_any_s8. */
typedef struct edgec_twice_params {
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int32_t *offset;
    const int8_t *shift;
    int8_t x_zero_point; /* what padding holds */
    int8_t act_min;
    int8_t act_max;
} edgec_twice_params_t;

/* Convolutions and matrix products of any form whose outputs are made from registers; weights are
 * the stream of dense_4x2_pair.h, biases and numbers included. */
typedef struct edgec_residual_params {
    const int8_t *weights;
    int8_t x_zero_point; /* what padding holds */
    int8_t y_zero_point; /* unless outputs are made with an offset of each filter */
} edgec_residual_params_t;

/* The forms Offset31 and TwoRoundings31, bounds being those of int8: the numbers of a filter beside
 * each other, as dense_4x2_tflite.h reads them. */
typedef struct edgec_tflite_params {
    const int8_t *weights;
    const int32_t *bias;
    const int32_t *numbers;
    int8_t x_zero_point; /* what padding holds */
} edgec_tflite_params_t;

/* Convolutions and matrix products with weights from a pool: as above, a weight vector being an
 * entry of the pool.  What `table` and `indices` hold depends on the kernel. */
typedef struct edgec_pool_params {
    const void *table;   /* the pool, or look-up tables of it; aligned to 4 bytes */
    const void *indices; /* of the weight vectors, in the kernel's order and packing */
    const int32_t *bias;
    const int32_t *multiplier;
    int8_t x_zero_point;
    int8_t y_zero_point;
    int8_t act_min;
    int8_t act_max;
} edgec_pool_params_t;

/* The same with numbers of 16 bits, which numbers_s16.h expands. */
typedef struct edgec_pool_short_params {
    const void *table;
    const void *indices;
    const int16_t *bias;
    const uint16_t *multiplier;
    int8_t x_zero_point;
    int8_t y_zero_point;
    int8_t act_min;
    int8_t act_max;
    int8_t bias_shift;
    int8_t multiplier_shift;
} edgec_pool_short_params_t;

/* Convolutions and matrix products of a transformer: y = clamp(rescale(bias[o] + sum x * w,
 * multiplier[o])), see rescale16.h; shifts and bounds are compiled in. */
typedef struct edgec_rescale16_params {
    const int8_t *weights;
    const int32_t *bias;
    const int16_t *multiplier;
    int8_t x_zero_point; /* what padding holds */
} edgec_rescale16_params_t;

/* The same with weights from a pool, as in edgec_pool_params_t. */
typedef struct edgec_pool_rescale16_params {
    const void *table;
    const void *indices;
    const int32_t *bias;
    const int16_t *multiplier;
    int8_t x_zero_point;
} edgec_pool_rescale16_params_t;

/* Operators with one multiplier, of (a - za) * (b - zb), of sums of them, or of x - za; shifts and
 * bounds are compiled in. */
typedef struct edgec_single_params {
    int32_t multiplier;
    int32_t bias;
    int8_t a_zero_point;
    int8_t b_zero_point;
    int8_t y_zero_point; /* in forms of 31 bits; else it is in the bias */
} edgec_single_params_t;

/* Normalizations of a transformer, see norm.h. */
typedef struct edgec_norm_params {
    const int16_t *gamma;
    const int32_t *beta;
    int32_t epsilon;
    int32_t least_shift;
} edgec_norm_params_t;

/* Attention, see attention.h. */
typedef struct edgec_attention_params {
    const int32_t *heads; /* [heads][4], in the order of edgec_attention_head_t */
} edgec_attention_params_t;

/* y = clamp(zy + twice(f(A, B), y_multiplier)), A = twice((a - za) << bits, a_multiplier), B alike.
 */
typedef struct edgec_tflite_sum_params {
    int32_t a_multiplier;
    int32_t b_multiplier;
    int32_t y_multiplier;
    int8_t a_zero_point;
    int8_t b_zero_point;
    int8_t y_zero_point;
    int16_t act_min;
    int16_t act_max;
} edgec_tflite_sum_params_t;

/* y = clamp(zy + requantize((a - za) * (b - zb), multiplier)). */
typedef struct edgec_mul_params {
    int32_t multiplier;
    int8_t a_zero_point;
    int8_t b_zero_point;
    int8_t y_zero_point;
    int16_t act_min;
    int16_t act_max;
} edgec_mul_params_t;

/* y = clamp(zy + f(x - zx)): with multiplier where x >= zx, elsewhere with the slope of the
 * channel. */
typedef struct edgec_prelu_params {
    int32_t multiplier;
    int32_t below_multiplier; /* of products with slopes that are codes */
    int8_t x_zero_point;
    int8_t y_zero_point;
    int16_t act_min;
    int16_t act_max;
} edgec_prelu_params_t;

/* y = clamp(zy + rshr((x - max) * multiplier - L * log_multiplier, shift)), L = log2(sum E) - k. */
typedef struct edgec_log_softmax_params {
    const int32_t *table;
    int32_t multiplier;
    int32_t log_multiplier;
    int8_t y_zero_point;
    int8_t act_min;
    int8_t act_max;
} edgec_log_softmax_params_t;

/* Dot products of whole windows of int16, as ir/qops/window_dot.py defines them. */
typedef struct edgec_window_dot_params {
    const int16_t *weights;
    const int32_t *bias;
    int32_t multiplier;
} edgec_window_dot_params_t;

/* Layers of signs, as ir/qops/binary_layers.py defines them: y is -1 where more bits of a window
 * and a filter differ than thresholds[class of the pixel][o]. */
typedef struct edgec_threshold_params {
    const uint32_t *weights;
    const int16_t *thresholds;
} edgec_threshold_params_t;

/* The same with codes: y = clamp(zy + requantize(bias[o] + step * (outside[class][o] - 2 * bits),
 * multiplier[o])); the bias holds the products of all taps, `outside` takes away those of padding.
 */
typedef struct edgec_binary_params {
    const uint32_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    const int16_t *outside;
    int8_t y_zero_point;
    int8_t act_min;
    int8_t act_max;
} edgec_binary_params_t;

/* Signs of int8 codes: y is -1 where least[c] <= x <= most[c]. */
typedef struct edgec_signs_params {
    const int8_t *least;
    const int8_t *most;
} edgec_signs_params_t;

/* Planes of int8 codes, as ir/qops/planes.py defines them: y is the number of k with x >
 * below[k][c].
 */
typedef struct edgec_planes_params {
    const int8_t *below;
} edgec_planes_params_t;

/* Layers of bit planes, as ir/qops/plane_layers.py defines them.  With `total` = step * bits -
 * slope
 * * sum of a window and a filter, y is the number of k for which total is at most most[k][o]. */
typedef struct edgec_plane_threshold_params {
    const uint32_t *weights;
    const int16_t *most;
} edgec_plane_threshold_params_t;

/* The same with codes: y = clamp(zy + requantize(bias[o] + (-common * total) / 2, rounded down,
 * multiplier[o])). */
typedef struct edgec_plane_params {
    const uint32_t *weights;
    const int32_t *bias;
    const int32_t *multiplier;
    int8_t y_zero_point;
    int8_t act_min;
    int8_t act_max;
} edgec_plane_params_t;

/* Signs of int16 codes. */
typedef struct edgec_signs16_params {
    const int16_t *least;
    const int16_t *most;
} edgec_signs16_params_t;

/* Source positions of a resize: rows and columns, as ir/qops/ defines them. */
typedef struct edgec_resize_params {
    const int32_t *rows;
    const int32_t *cols;
} edgec_resize_params_t;

#ifdef __cplusplus
}
#endif

#endif
