from __future__ import annotations

import numpy as np
from integer_samples import random_integer_graph
from pass_samples import Maker

from edgec.ir import ops
from edgec.ir.qparams import QuantParams
from edgec.ir.text import graph_text


def sample():
    m = Maker()
    quant = QuantParams.per_tensor(0.5, -3)
    weight = m.const(name="w", array=np.array([[1.0, 2.0], [-1.5, 0.0]], np.float32))
    y = m.op(ops.Gemm(), m.input(1, 2, name="a\n'b'"), weight, "", name="y", quant=quant)
    z = m.op(ops.Clip(0.0), y, name="ü")
    return m.graph(z).replace(output_layouts={"ü": (1, 0)}, metadata={"edgec.k": "v"})


def test_text():
    assert graph_text(sample()) == (
        "graph 'test'\n"
        "  meta 'edgec.k' = 'v'\n"
        "  input \"a\\n'b'\": float32[1,2]\n"
        "  const 'w': float32[2,2] [-1.5, 2.0] crc 122c1edb\n"
        "  'y': float32[1,2] q(0.5, -3, int8) = Gemm(\"a\\n'b'\", 'w', -)\n"
        "  '\\xfc': float32[1,2] = Clip('y') {low=0.0}\n"
        "  output '\\xfc' layout [1,0]\n"
    )


def test_same_graph_same_text():
    for seed in range(5):
        first, second = (graph_text(random_integer_graph(seed)) for _ in range(2))
        assert first == second
        assert first.isascii()
    assert graph_text(random_integer_graph(0)) != graph_text(random_integer_graph(1))
