"""Small transformers in the real stage, made by hand: no PyTorch, no files."""

from __future__ import annotations

import numpy as np
from sketch import Sketch

from edgec.base.dtypes import DType
from edgec.ir import ops
from edgec.ir.graph import Graph, Value
from edgec.ir.ops import UnaryKind

GELU, SILU = ops.Unary(UnaryKind.GELU), ops.Unary(UnaryKind.SWISH, alpha=1.0)


class Net(Sketch):
    """Blocks of a transformer, random weights with uneven channels."""

    def linear(self, x: str, outputs: int, name: str, bias: bool = True) -> str:
        inputs = self.builder.values[x].shape[-1]
        w = self.normal(f"{name}_w", outputs, inputs, scale=inputs**-0.5)
        b = self.normal(f"{name}_b", outputs, scale=0.2) if bias else ""
        return self(ops.Gemm(), x, w, b, name=name)

    def norm(self, x: str, name: str, rms: bool = False) -> str:
        channels = self.builder.values[x].shape[-1]
        gamma = self.const(f"{name}_g", np.exp(self.rng.normal(0, 0.7, channels)))
        if rms:
            return self(ops.RMSNormalization(), x, gamma, name=name)
        beta = self.normal(f"{name}_b", channels, scale=0.3)
        return self(ops.LayerNormalization(), x, gamma, beta, name=name)

    def attention(self, x: str, heads: int, name: str, keys: str = "", bias: str = "") -> str:
        """One layer for queries, keys and values, cut by slices."""
        *lead, width = self.builder.values[x].shape
        qkv = self.linear(x, 3 * width, f"{name}_qkv")
        steps = (1,) * (len(lead) + 1)
        parts = [
            self(ops.Slice((0,) * len(lead) + (start,), steps, (*lead, width)), qkv)
            for start in (0, width, 2 * width)
        ]
        scale = (width // heads) ** -0.5
        y = self(ops.Attention(heads, scale), *parts, bias, keys, name=f"{name}_attention")
        return self.linear(y, width, f"{name}_proj")

    def block(self, x: str, heads: int, name: str, act: ops.Unary = GELU, rms: bool = False) -> str:
        """Pre-norm: attention, then two layers with a function between them."""
        y = self.attention(self.norm(x, f"{name}_n1", rms), heads, name)
        x = self(ops.Add(), x, y, name=f"{name}_mid")
        width = self.builder.values[x].shape[-1]
        hidden = self.linear(self.norm(x, f"{name}_n2", rms), 2 * width, f"{name}_up")
        y = self.linear(self(act, hidden, name=f"{name}_act"), width, f"{name}_down")
        return self(ops.Add(), x, y, name=f"{name}_out")


def vit(blocks: int = 2, rms: bool = False) -> Graph:
    """Patches, class token, positions, blocks, the class token's row, classes; x [1, 8, 8, 3]."""
    n = Net("vit", 1)
    x = n.input("x", 1, 8, 8, 3)
    w = n.normal("patch_w", 16, 2, 2, 3, scale=12**-0.5)
    x = n(ops.Conv(strides=(2, 2)), x, w, n.normal("patch_b", 16, scale=0.2), name="patch")
    x = n(ops.Reshape((1, 16, 16)), x, name="tokens")
    x = n(ops.Concat(1), n.normal("cls", 1, 1, 16), x, name="all")
    x = n(ops.Add(), x, n.normal("pos", 1, 17, 16, scale=0.5), name="placed")
    for i in range(blocks):
        x = n.block(x, 2, f"b{i}", SILU if rms else GELU, rms)
    x = n.norm(x, "last", rms)
    x = n(ops.Slice((0, 0, 0), (1, 1, 1), (1, 1, 16)), x, name="first")
    return n.graph(n.linear(n(ops.Reshape((1, 16)), x), 5, "head"))


def cct() -> Graph:
    """A tokenizer with pooling, one block, sequence pooling; x [1, 8, 8, 3]."""
    n = Net("cct", 2)
    x = n.input("x", 1, 8, 8, 3)
    w = n.normal("token_w", 16, 3, 3, 3, scale=27**-0.5)
    x = n(ops.Conv(pads=(1, 1, 1, 1)), x, w, "", name="token")
    x = n(ops.MaxPool((2, 2), (2, 2)), n(ops.Clip(0.0), x, name="relu"), name="pooled")
    x = n(ops.Reshape((1, 16, 16)), x, name="tokens")
    x = n(ops.Add(), x, n.normal("pos", 1, 16, 16, scale=0.5), name="placed")
    x = n.norm(n.block(x, 2, "b0"), "last")
    weights = n(ops.Reshape((1, 1, 16)), n.linear(x, 1, "pool"))
    x = n(ops.MatMul(), n(ops.Softmax(), weights), x, name="mixed")
    return n.graph(n.linear(n(ops.Reshape((1, 16)), x), 5, "head"))


def post_norm(mean: bool = False) -> Graph:
    """BERT's: ids, a mask, norms after the sums; ids and mask int32 [1, 9]."""
    n = Net("bert", 3)
    for name in ("ids", "mask"):
        n.builder.inputs.append(name)
        n.builder.value(Value(name, (1, 9), DType.INT32))
    x = n(ops.Embedding(), "ids", n.normal("words", 40, 16), name="word")
    x = n(ops.Add(), x, n.normal("pos", 1, 9, 16, scale=0.5), name="placed")
    x = n.norm(x, "first")
    # A mask that is moved before it is used.
    mask = n.builder.value(Value("moved", (9, 1), DType.INT32))
    n.builder.node("moving", ops.Reshape((9, 1)), ("mask",), (mask,))
    back = n.builder.value(Value("back", (1, 9), DType.INT32))
    n.builder.node("moving back", ops.Reshape((1, 9)), (mask,), (back,))
    y = n.attention(x, 2, "b0", keys=back)
    x = n.norm(n(ops.Add(), x, y, name="mid"), "n1")
    y = n.linear(n(GELU, n.linear(x, 32, "up"), name="act"), 16, "down")
    x = n.norm(n(ops.Add(), x, y, name="sum"), "n2")
    if mean:
        return n.graph(n(ops.Reduce(ops.ReduceKind.MEAN, (1,)), x, name="mean"))
    return n.graph(n.linear(x, 4, "head"))


def convolutional() -> Graph:
    """CvT's: a clipped convolution starts the stream, layers are convolutions; x [1, 8, 8, 3]."""
    n = Net("cvt", 7)
    x = n.input("x", 1, 8, 8, 3)
    w = n.normal("stem_w", 8, 3, 3, 3, scale=27**-0.5)
    x = n(ops.Conv(strides=(2, 2), pads=(1, 1, 1, 1)), x, w, "", name="stem")
    x = n(ops.Clip(0.0, 3.0), x, name="relu")
    y = n.norm(x, "n")
    parts = []
    for name in ("q", "k", "v"):
        deep = n(
            ops.Conv(pads=(1, 1, 1, 1), group=8),
            y,
            n.normal(f"{name}_d", 8, 3, 3, 1),
            "",
            name=name,
        )
        wide = n(ops.Conv(), deep, n.normal(f"{name}_w", 8, 1, 1, 8, scale=0.3), "")
        parts.append(n(ops.Reshape((1, 16, 8)), wide))
    y = n(ops.Attention(2, 0.5), *parts, "", "", name="attention")
    y = n(ops.Reshape((1, 4, 4, 8)), y)
    y = n(ops.Conv(), y, n.normal("out_w", 8, 1, 1, 8, scale=0.3), "", name="out")
    x = n(ops.Add(), x, y, name="sum")
    x = n(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=False), x, name="mean")
    return n.graph(n.linear(x, 4, "head"))


def gated() -> Graph:
    """RMSNorm, a SiLU gate, a product of activations, the stream as output; x [1, 9, 16]."""
    n = Net("gated", 4)
    x = n.input("x", 1, 9, 16)
    x = n(ops.Add(), x, n.attention(n.norm(x, "n1", rms=True), 2, "a"), name="mid")
    y = n.norm(x, "n2", rms=True)
    gate = n(SILU, n.linear(y, 24, "gate", bias=False), name="act")
    y = n(ops.Mul(), gate, n.linear(y, 24, "up", bias=False), name="product")
    return n.graph(n(ops.Add(), x, n.linear(y, 16, "down", bias=False), name="y"))


def relative() -> Graph:
    """Swin's and T5's: biases by position, pairs that are hidden, keys that are; an average pool,
    probabilities; x [1, 8, 8, 3], hidden int32 [1, 16]."""
    n = Net("relative", 9)
    x = n.input("x", 1, 8, 8, 3)
    n.builder.inputs.append("hidden")
    n.builder.value(Value("hidden", (1, 16), DType.INT32))
    shown = n.builder.value(Value("shown", (1, 16), DType.INT32))
    n.builder.node("not", ops.Unary(UnaryKind.NOT), ("hidden",), (shown,))
    w = n.normal("patch_w", 16, 3, 3, 3, scale=27**-0.5)
    x = n(ops.Conv(pads=(1, 1, 1, 1)), x, w, n.normal("patch_b", 16, scale=0.2), name="patch")
    x = n(ops.AveragePool((3, 3), (2, 2), (1, 1, 1, 1)), x, name="pooled")
    x = n(ops.Reshape((1, 16, 16)), x, name="tokens")
    places = np.arange(16)[None, :] - np.arange(16)[:, None]
    bias = n.rng.normal(0, 1.5, (1, 2, 31))[..., places + 15]
    bias[..., np.abs(places) > 9] = np.finfo(np.float32).min
    bias = n.const("bias", bias)
    y = n.attention(n.norm(x, "n1"), 2, "a", keys=shown, bias=bias)
    x = n.norm(n(ops.Add(), x, y, name="mid"), "n2")
    x = n(ops.Slice((0, 0, 0), (1, 1, 1), (1, 1, 16)), x, name="first")
    x = n.linear(n(ops.Reshape((1, 16)), x), 5, "head")
    return n.graph(n(ops.Softmax(), x, name="share"))


NETS = {
    "vit": vit,
    "vit_rms": lambda: vit(1, rms=True),
    "cct": cct,
    "post_norm": post_norm,
    "post_norm_mean": lambda: post_norm(mean=True),
    "gated": gated,
    "convolutional": convolutional,
    "relative": relative,
}


def inputs_of(graph: Graph, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Samples [count, ...]: normal numbers, ids below 40, masks that hide the last keys."""
    rng = np.random.default_rng(seed)
    found = {}
    for name in graph.inputs:
        shape = graph.shape(name)[1:]
        if name == "mask":
            lengths = rng.integers(1, shape[0] + 1, (count, 1))
            found[name] = (np.arange(shape[0]) < lengths).astype(np.int32)
        elif name == "hidden":
            lengths = rng.integers(8, shape[0] + 1, (count, 1))
            found[name] = (np.arange(shape[0]) >= lengths).astype(np.int32)
        elif graph.dtype(name) is DType.INT32:
            found[name] = rng.integers(0, 40, (count, *shape)).astype(np.int32)
        else:
            found[name] = rng.normal(0, 1, (count, *shape)).astype(np.float32)
    return found
