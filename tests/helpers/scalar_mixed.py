"""The definitions of `ir.qops.mixed`, one element at a time: the oracle of the oracle."""

from scalar_kernels import ELEMENTS, average_pool, conv, ended, gemm

from edgec.ir import qops


def _of(array, at):
    at = at[len(at) - array.ndim :]
    return int(array[tuple(0 if n == 1 else i for n, i in zip(array.shape, at, strict=True))])


def matmul(attrs, inputs, at):
    a, b = (operand.array.astype(int) - operand.zero_point for operand in inputs)
    *lead, row, column = at
    a = a.swapaxes(-1, -2) if attrs.transpose_a else a
    b = b.swapaxes(-1, -2) if attrs.transpose_b else b
    depth = a.shape[-1]
    acc = sum(_of(a, (*lead, row, d)) * _of(b, (*lead, d, column)) for d in range(depth))
    assert abs(a).max() <= attrs.a_reach
    assert abs(b).max() <= attrs.b_reach
    assert abs(acc) < 2**31
    return ended(attrs.output, acc, attrs.multiplier)


def _element(attrs, inputs, at):
    return ELEMENTS[type(attrs)](attrs, inputs, 0, at)


MIXED = {
    **dict.fromkeys((qops.QAdd, qops.QMul, qops.QDiv, qops.QLut), _element),
    **dict.fromkeys((qops.QWhere, qops.QCompare, qops.QExtremum, qops.QConvTranspose), _element),
    qops.QConv: lambda attrs, inputs, at: conv(attrs, inputs, None, at),
    qops.QGemm: lambda attrs, inputs, at: gemm(attrs, inputs, None, at),
    qops.QMatMul: matmul,
    qops.QAveragePool: lambda attrs, inputs, at: average_pool(attrs, inputs, None, at),
}
