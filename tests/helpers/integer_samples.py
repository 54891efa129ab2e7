"""Hand-made and random integer graphs, for the tests of integer passes."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import DType
from edgec.interp import run_graph
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shape
from edgec.ir.ops import PadMode, ReduceKind
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify

PAIR = (1, 1)


class IntegerMaker:
    """Writes an integer graph one operator a line; each value has its own zero point."""

    def __init__(self, seed: int = 0) -> None:
        self.builder = GraphBuilder("test")
        self.rng = np.random.default_rng(seed)

    def input(self, *shape: int, name: str = "x", zero: int = 3) -> str:
        self.builder.inputs.append(name)
        return self.value(name, shape, zero)

    def value(self, name: str, shape: tuple[int, ...], zero: int, dtype: DType = DType.INT8) -> str:
        quant = QuantParams.per_tensor(0.5, zero, dtype)
        return self.builder.value(Value(name, shape, dtype, quant))

    def const(self, array, dtype: str, quant: QuantParams | None = None) -> str:
        return self.builder.constant("c", np.asarray(array, dtype), quant)

    def shape(self, name: str) -> tuple[int, ...]:
        held = self.builder.constants.get(name) or self.builder.values[name]
        return held.shape

    def zero(self, name: str) -> int:
        held = self.builder.constants.get(name) or self.builder.values[name]
        return held.quant.tensor_zero_point

    def op(
        self,
        attrs,
        *inputs: str,
        zero: int = 0,
        name: str | None = None,
        dtype: DType = DType.INT8,
    ) -> str:
        name = self.builder.fresh(name or type(attrs).__name__.lower())
        shape = infer_shape(attrs, [self.shape(i) for i in inputs])
        self.value(name, shape, zero, dtype)
        self.builder.node(name + ".node", attrs, inputs, (name,), (name,))
        return name

    def weights(self, *shape: int, constant: float = 0.3) -> tuple[str, str, str]:
        """Weights, bias and multiplier; about `constant` of the channels come out constant."""
        weight = self.rng.integers(-127, 128, shape)
        bias = self.rng.integers(-2000, 2000, shape[0])
        kind = self.rng.random(shape[0])
        weight[kind < constant / 2] = 0
        bias[kind > 1 - constant / 2] = -(2**24)  # the lower clamp, whatever the input
        multiplier = self.rng.integers(2**20, 2**22, shape[0])
        return (
            self.const(weight, "int8"),
            self.const(bias, "int32"),
            self.const(multiplier, "int32"),
        )

    def conv(
        self,
        x: str,
        outputs: int,
        kernel: int = 3,
        *,
        pad: bool = True,
        zero: int | None = None,
        **kw,
    ) -> str:
        p = kernel // 2 if pad else 0
        chosen = int(self.rng.choice([-128, -128, 5]))
        zero = chosen if zero is None else zero
        form = qops.Requant31(32, zero, zero if zero == -128 else -100, 120)
        attrs = qops.QConv(PAIR, (p,) * 4, PAIR, 1, form)
        weights = self.weights(outputs, kernel, kernel, self.shape(x)[3], **kw)
        return self.op(attrs, x, *weights, zero=zero)

    def depthwise(self, x: str, times: int = 1, **kw) -> str:
        channels = self.shape(x)[3]
        zero = int(self.rng.choice([-128, -128, 5]))
        attrs = qops.QConv(PAIR, (1,) * 4, PAIR, channels, qops.Requant31(32, zero))
        return self.op(attrs, x, *self.weights(channels * times, 3, 3, 1, **kw), zero=zero)

    def gemm(self, x: str, outputs: int, **kw) -> str:
        weights = self.weights(outputs, self.shape(x)[-1], **kw)
        return self.op(qops.QGemm(qops.Requant31(32, -7)), x, *weights, zero=-7)

    def add(self, a: str, b: str, zero: int = -128) -> str:
        params = qops.AddParams(self.zero(a), self.zero(b), 2**19, 2**19, 20, zero)
        return self.op(qops.QAdd(params), a, b, zero=zero)

    def mul(self, a: str, b: str) -> str:
        return self.op(qops.QMul(qops.Requant31(30, 4), 2**22), a, b, zero=4)

    def lut(self, x: str) -> str:
        table = np.maximum(np.arange(-128, 128), self.rng.integers(-128, 100))
        return self.op(qops.QLut(), x, self.const(table, "int8"), zero=1)

    def average(self, x: str, *, include: bool = False) -> str:
        multiplier = [0, *(2**30 // n for n in range(1, 10))]
        attrs = qops.QAveragePool(
            (3, 3), PAIR, (1,) * 4, PAIR, include, qops.Requant31(30, self.zero(x))
        )
        return self.op(attrs, x, self.const(multiplier, "int32"), zero=self.zero(x))

    def mean(self, x: str) -> str:
        _, h, w, _ = self.shape(x)
        form = qops.Requant31(30, self.zero(x))
        attrs = qops.QReduce(ReduceKind.MEAN, (1, 2), True, form, 2**30 // (h * w))
        return self.op(attrs, x, zero=self.zero(x))

    def same(self, attrs, *xs: str) -> str:
        """An operator that keeps the codes."""
        return self.op(attrs, *xs, zero=self.zero(xs[0]))

    def graph(self, *outputs: str) -> Graph:
        self.builder.outputs = list(outputs)
        graph = self.builder.build()
        verify(graph, Stage.INTEGER)
        return graph


def random_integer_graph(seed: int, images: int = 1) -> Graph:
    """A few operators in random order on small images, with many constant channels."""
    m = IntegerMaker(seed)
    rng = m.rng
    live = [m.conv(m.input(images, 5, 4, 3), int(rng.integers(2, 7)))]
    for _ in range(int(rng.integers(2, 8))):
        x = live[rng.integers(max(0, len(live) - 2), len(live))]
        like = [v for v in live if m.shape(v) == m.shape(x)]
        match rng.integers(12):
            case 0 | 1 | 2:
                kernel = int(rng.choice([1, 3]))
                live.append(m.conv(x, int(rng.integers(2, 7)), kernel))
            case 3 | 4:
                live.append(m.depthwise(x, int(rng.integers(1, 3))))
            case 5:
                live.append(m.add(x, like[rng.integers(len(like))]))
            case 6:
                live.append(m.lut(x))
            case 7:
                live.append(m.average(x, include=bool(rng.integers(2))))
            case 8:
                live.append(m.same(qops.QMaxPool((2, 2), PAIR, (1, 0, 0, 1), PAIR), x))
            case 9:
                codes = rng.integers(-128, 128, m.shape(x)[-1])
                quant = QuantParams.per_tensor(0.5, 2)
                constant = m.const(codes, "int8", quant)
                live.append(m.mul(x, constant) if rng.integers(2) else m.add(x, constant))
            case 10:
                live.append(m.mul(x, m.mean(x)))
            case 11:
                pads = ((0, 0), (1, 0), (0, 1), (0, 0))
                live.append(m.same(qops.QPad(pads, PadMode.CONSTANT, m.zero(x)), x))
    last = live[-1]
    flat = m.same(qops.QReshape((images, int(np.prod(m.shape(last)[1:])))), last)
    outputs = [m.gemm(flat, 4, constant=0.0)]
    if rng.integers(3) == 0 and len(live) > 1:
        outputs.append(live[-2])
    return m.graph(*outputs)


def assert_same_codes(before: Graph, after: Graph, runs: int = 3, seed: int = 0) -> None:
    """Both graphs give the same codes on random inputs and on the extreme ones."""
    verify(after, Stage.INTEGER, "the pass under test")
    assert (before.inputs, before.outputs) == (after.inputs, after.outputs)
    rng = np.random.default_rng(seed)
    for run in range(runs + 2):
        low, high = ((-128, 127), (-128, -127), (127, 128))[max(0, run - runs + 1)]
        feeds = {n: rng.integers(low, high, before.shape(n)).astype(np.int8) for n in before.inputs}
        expected, found = run_graph(before, feeds), run_graph(after, feeds)
        for name in before.outputs:
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
