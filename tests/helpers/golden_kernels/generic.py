"""Small cases of the kernels of plain C."""

from dataclasses import replace

import specs as s

from edgec.base.camera import CameraForm, Rectangle
from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.ops import PadMode, ReduceKind
from edgec.ir.qops.sensor_features import STATISTICS
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec
from golden_kernels.common import ANY, BYTE, DILATED, INDEX, ODD, TWICE, VALID, WINDOW

_LOG_MEL = qops.QLogMel(
    *(160, 512, 31744),
    magnitude=False,
    more=1 << 30,
    more_shift=5,
    offset=-2_000_000,
    multiplier=1 << 30,
    shift=40,
    low=-100,
    high=16000,
)
_LOG_MEL_OF_MAGNITUDES = qops.QLogMel(
    *(320, 720, 0),
    magnitude=True,
    more=0,
    more_shift=0,
    offset=7,
    multiplier=1 << 30,
    shift=40,
    low=-32768,
    high=32767,
)

_PART = Rectangle(24, 32, 3, 4)
_COLOURS = qops.QFrame(CameraForm(30, 40, "rgb565", "big", _PART), 12, 20, 3, "area")
_GRAY = qops.QFrame(CameraForm(30, 40, "gray", "big", _PART), 12, 20, 1, "area")
_AS_GRAY = qops.QFrame(CameraForm(30, 40, "rgb888", "big", _PART), 12, 20, 1, "nearest")
_YUV = CameraForm(30, 40, "uyvy", "big", _PART)
_BLUE = qops.QFrame(_YUV, 12, 20, 3, "area", blue_first=True)
_WIDE = qops.QFrame(CameraForm(30, 40, "bgr888", "big", _PART), 11, 19, 3, "area")
_COPIES = qops.QFrame(CameraForm(30, 40, "gray", "big", _PART), 8, 8, 3, "area")
_ALL = qops.QSensorFeatures(3, 100, 50, STATISTICS, 100, -2_000_000, DType.INT8)
_FEW = qops.QSensorFeatures(1, 64, 64, ("mean", "rms"), 0, 0, DType.INT16)

_PAIRS = ((s.Loop(3, (20, 0)),), 4, 5, 6, (5, 1), (1, 5))
_LARGE = Window(9, 9, 4, 5, 5, 5, 5, 1, 1, 0, 0, 1, 1)
_SPACE = ((s.Loop(8, (1,)),), (s.Loop(25, (8,)),))
_ROWS = ((s.Loop(4, (8,)),), (s.Loop(8, (1,)),))
_INT16 = TypedEnd(DType.INT16, DType.INT16)
_ONCE = TypedEnd(DType.INT16, DType.INT16, 64, has_shifts=True)

CASES: dict[str, KernelSpec] = {
    "conv2d_padded": s.Conv2D(WINDOW, 8, 1, 32),
    "conv2d_valid_residual": s.Conv2D(VALID, 6, 1, 32, residual_shift=12),
    "conv2d_grouped_dilated": s.Conv2D(DILATED, 6, 2, 34),
    "conv2d_grouped_rest": s.Conv2D(VALID, 10, 2, 34),
    "channel_scale": s.ChannelScale(6, 8, 32, residual_shift=12),
    "channel_scale_to_int16": s.ChannelScale(
        1, 10, 32, typed=TypedEnd(DType.INT8, DType.INT16), lift=8
    ),
    "depthwise": s.Depthwise(WINDOW, 1, 32),
    "depthwise_multiplier_residual": s.Depthwise(WINDOW, 2, 32, residual_shift=12),
    "depthwise_odd": s.Depthwise(ODD, 1, 32),
    "gemm": s.Gemm(4, 16, 10, 32),
    "sparse_rows": s.SparseRows(4, 300, 10, 90, 32),
    "sparse_rows_residual": s.SparseRows(1, 64, 10, 20, 32, residual_shift=12),
    "sparse_rows_s16": s.SparseRows(1, 64, 10, 20, 33, typed=TypedEnd(DType.INT16, DType.INT8)),
    "conv2d_s16": s.Conv2D(WINDOW, 8, 1, 32, typed=_INT16),
    "conv2d_s16_to_int8": s.Conv2D(DILATED, 6, 2, 33, typed=TypedEnd(DType.INT16, DType.INT8)),
    "conv2d_to_int16": s.Conv2D(VALID, 6, 1, 33, typed=TypedEnd(DType.INT8, DType.INT16)),
    "conv2d_once": s.Conv2D(WINDOW, 8, 1, 0, typed=_ONCE),
    "depthwise_s16": s.Depthwise(ODD, 1, 32, typed=_INT16),
    "depthwise_to_int16": s.Depthwise(ODD, 1, 32, typed=TypedEnd(DType.INT8, DType.INT16)),
    "depthwise_once": s.Depthwise(WINDOW, 2, 0, typed=_ONCE),
    "gemm_s16": s.Gemm(4, 16, 10, 33, typed=TypedEnd(DType.INT16, DType.INT8)),
    "gemm_once": s.Gemm(4, 16, 10, 0, typed=_ONCE),
    "gemm_twice_s16": s.Gemm(
        4, 16, 10, 0, tflite31=Tflite31("two_roundings31_any", 0, False, int16=(-32768, 32767))
    ),
    "window_dot": s.WindowDot(2, 5, 8, 12, 4, qops.TwoRoundings31((-17,), 3)),
    "conv_transpose": s.ConvTranspose(WINDOW, 8, 1, 32),
    "conv_transpose_once": s.ConvTranspose(WINDOW, 8, 1, 0, typed=_ONCE),
    "matmul": s.MatMul(*_PAIRS, DType.INT8, DType.INT8, BYTE),
    "matmul_twice": s.MatMul(*_PAIRS, DType.INT8, DType.INT8, qops.TwoRoundings31((-8,))),
    "matmul_s16": s.MatMul(
        *(*_PAIRS, DType.INT16, DType.INT8), qops.Requant31(36, 0, -32767, 32767, DType.INT16)
    ),
    "matmul_once": s.MatMul(*_PAIRS, DType.INT16, DType.INT16, qops.Once15((24,))),
    "softmax_quotients": s.Softmax(1, 10, qops.Quotients(1 << 20, 32, -128)),
    "softmax_quotients_by_words": s.Softmax(30, 10, qops.Quotients(1 << 20, 32, -128)),
    "softmax_reciprocal31": s.Softmax(1, 10, qops.Reciprocal31()),
    "softmax_reciprocal31_by_words": s.Softmax(7, 66, qops.Reciprocal31()),
    "softmax_octaves": s.Softmax(2, 10, qops.Octaves(96_820_000, 11, 15)),
    "softmax_interpolated": s.Softmax(3, 10, qops.Interpolated(qops.Factor(1288490189, 2))),
    "max_pool": s.MaxPool(WINDOW),
    "max_pool_words": s.MaxPool(WINDOW, in_words=True),
    "max_pool_looped": s.MaxPool(_LARGE),
    "average_pool": s.AveragePool(WINDOW, False, DType.INT8, -3, qops.Requant31(32, 5)),
    "average_pool_small": s.AveragePool(WINDOW, False, DType.INT8, -3, qops.Requant31(34, 5)),
    "average_pool_codes_odd": s.AveragePool(ODD, False, DType.INT8, 0, qops.CodeMean(0, 127)),
    "average_pool_short": s.AveragePool(WINDOW, False, DType.INT8, -3, qops.Requant31(30, 5)),
    "average_pool_bounded": s.AveragePool(
        *(ODD, True, DType.INT8, -3), qops.Requant31(32, 5, -20, 100)
    ),
    "average_pool_s16": s.AveragePool(
        *(ODD, False, DType.INT16, 0), qops.Requant31(32, 0, -32767, 32767, DType.INT16)
    ),
    "average_pool_codes": s.AveragePool(WINDOW, False, DType.INT8, 0, qops.CodeMean(0, 127)),
    "reduce_mean": s.Reduce(ReduceKind.MEAN, DType.INT8, *_SPACE, qops.Requant31(32)),
    "reduce_mean_by_words": s.Reduce(ReduceKind.MEAN, DType.INT8, *_SPACE, qops.Requant31(38)),
    "reduce_mean_s16": s.Reduce(ReduceKind.MEAN, DType.INT16, *_SPACE, BYTE, variable=True),
    "reduce_mean_twice_s16": s.Reduce(
        *(ReduceKind.MEAN, DType.INT16, *_SPACE), qops.TwoRoundings31((-4,), dtype=DType.INT16)
    ),
    "reduce_max": s.Reduce(ReduceKind.MAX, DType.INT8, *_ROWS, None),
    "strided_copy": s.StridedCopy(2, (s.Loop(3, (8,)), s.Loop(2, (-4,))), 4),
    "stack_turn": s.StackTurn((s.Loop(3, (40,)),), 8),
    "slide": s.Slide(1, 88, 8),
    "columns_from": s.Columns(2, 24, 8, 4, 40, 32, -3),
    "fill": s.Fill(40, 253),
    "concat": s.Concat(9, (8, 4)),
    "pad_constant": s.Pad(PadMode.CONSTANT, (s.PadAxis(3, 1, 5),), 8, -7),
    "pad_reflect": s.Pad(PadMode.REFLECT, (s.PadAxis(3, 1, 5), s.PadAxis(4, 2, 6)), 8, 0),
    "resize_nearest": s.ResizeNearest(4, 8, 8, 8),
    "resize_linear": s.ResizeLinear(4, 8, 8, 8),
    "resize_linear_half_away": s.ResizeLinear(4, 8, 8, 8, half_away=True),
    "resize_linear_few": s.ResizeLinear(4, 3, 8, 8),
    "resize_linear_few_half_away": s.ResizeLinear(4, 3, 8, 8, half_away=True),
    "reduce_min": s.Reduce(ReduceKind.MIN, DType.INT16, *_ROWS, None),
    "reduce_l1": s.Reduce(ReduceKind.L1, DType.INT8, *_ROWS, qops.Requant31(30)),
    "reduce_l2": s.Reduce(ReduceKind.L2, DType.INT8, *_ROWS, qops.Requant31(31), 6),
    "top_k": s.TopK(2, 10, 3, largest=True, indices=False),
    "top_k_indices": s.TopK(1, 10, 3, largest=False, indices=True),
    "log_softmax": s.LogSoftmax(2, 10, 20, 26),
    "log_mel": s.LogMel(*(2, 40, 400, 500), _LOG_MEL),
    "log_mel_magnitude": s.LogMel(*(1, 10, 480, 400), _LOG_MEL_OF_MAGNITUDES),
    "log_mel_of_frames_alone": s.LogMel(
        *(1, 10, 480, 400), replace(_LOG_MEL, within=True, centred=True)
    ),
    "frame": s.Frame(_COLOURS, DType.INT8, 3),
    "frame_same_codes": s.Frame(_COLOURS, DType.INT8, 1),
    "frame_gray": s.Frame(_GRAY, DType.INT8, 1),
    "frame_gray_nearest": s.Frame(replace(_GRAY, method="nearest"), DType.INT8, 1),
    "frame_of_colours_as_gray": s.Frame(_AS_GRAY, DType.INT16, 1),
    "frame_unrolled": s.Frame(_COLOURS, DType.INT8, 3, unrolled=True),
    "frame_yuv": s.Frame(_BLUE, DType.INT8, 3),
    "frame_yuv_as_gray": s.Frame(replace(_BLUE, channels=1, blue_first=False), DType.INT8, 1),
    "frame_wide_sums": s.Frame(_WIDE, DType.INT8, 1),
    "frame_gray_as_colours": s.Frame(_COPIES, DType.INT8, 3),
    "biquad": s.Biquad(60, 3, 1, 4, 42),
    "biquad_decimated": s.Biquad(64, 1, 4, 2, 8),
    "sensor_features": s.SensorFeatures(2, 3, 40, _ALL),
    "sensor_features_statistics": s.SensorFeatures(1, 0, 0, _FEW),
    "micro_features": s.MicroFeatures(2, 40, 480, 160, 480),
    "tree_ensemble": s.TreeEnsemble(20, 3, 1 << 30, qops.Requant31(41)),
    "arg_max": s.ArgMax(1, 10, 1, last=False),
    "arg_min": s.ArgMax(2, 7, 3, last=True, smallest=True),
    "gemm_rescale16_table": s.Gemm(4, 16, 10, 9, rescale16=Rescale16(INDEX, table=True)),
    "gemm_two_roundings31": s.Gemm(4, 16, 10, 0, tflite31=TWICE),
    "conv_transpose_two_roundings31": s.ConvTranspose(WINDOW, 8, 1, 0, tflite31=ANY),
    "max_pool_16": s.MaxPool(ODD, DType.INT16),
    "max_pool_16_words": s.MaxPool(ODD, DType.INT16, in_words=True),
}
