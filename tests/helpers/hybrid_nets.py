"""Networks of convolutions and attention whose tensors have int8 and int16 codes."""

from collections.abc import Callable

from small_transformers import GELU, NETS, SILU, Net, inputs_of

from edgec.base.options import QuantOptions
from edgec.floatrun.activations import checked_calibration
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.passes.base import run_passes
from edgec.passes.pipeline import TRANSFORMER_PASSES
from edgec.quant.convert.converters import CONVERTERS
from edgec.quant.transformer.quantize import Search


def _conv(n: Net, x: str, outputs: int, kernel: int, name: str, *, depthwise: bool = False) -> str:
    channels = n.builder.values[x].shape[-1]
    inner, group = (1, channels) if depthwise else (channels, 1)
    w = n.normal(f"{name}_w", outputs, kernel, kernel, inner, scale=(kernel**2 * inner) ** -0.5)
    pads = (kernel // 2,) * 4
    attrs = ops.Conv(pads=pads, group=group)
    return n(attrs, x, w, n.normal(f"{name}_b", outputs, scale=0.2), name=name)


def hybrid() -> Graph:
    """MobileViT's and EfficientViT's: convolutions, linear attention, a block on tokens, a fusion
    with what came before, a squeeze; x [1, 8, 8, 3]."""
    n = Net("hybrid", 11)
    x = n.input("x", 1, 8, 8, 3)
    w = n.normal("stem_w", 12, 3, 3, 3, scale=27**-0.5)
    x = n(ops.Conv(strides=(2, 2), pads=(1, 1, 1, 1)), x, w, "", name="stem")
    x = n(SILU, x, name="stem act")
    y = n(ops.Clip(0.0, 6.0), _conv(n, x, 12, 3, "dw", depthwise=True), name="dw act")
    x = n(ops.Add(), x, _conv(n, y, 12, 1, "project"), name="skip")
    tokens = n(ops.Reshape((1, 16, 12)), x, name="rows")
    q, k, v = (n.linear(tokens, 12, name) for name in ("lq", "lk", "lv"))
    q, k = (n(ops.Clip(0.0), part) for part in (q, k))
    kv = n(ops.MatMul(transpose_a=True), k, v, name="kv")
    mass = n(ops.Reduce(ops.ReduceKind.SUM, (1,), keepdims=True), k, name="mass")
    share = n(ops.MatMul(transpose_b=True, scale=0.5), q, mass, name="share")
    share = n(ops.Add(), share, n.const("one", [1.0]), name="more")
    y = n(ops.Div(), n(ops.MatMul(), q, kv, name="qkv"), share, name="linear attention")
    before = n(ops.Add(), tokens, n.linear(y, 12, "lproj"), name="mixed")
    x = n.norm(n.block(before, 2, "b0", GELU), "last")
    x = n(ops.Reshape((1, 4, 4, 12)), x, name="image")
    old = n(ops.Reshape((1, 4, 4, 12)), before, name="old")
    x = n(SILU, _conv(n, n(ops.Concat(3), old, x, name="both"), 8, 3, "fuse"), name="fused")
    x = n(ops.MaxPool((2, 2), (2, 2)), x, name="pooled")
    gate = n(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=True), x, name="squeezed")
    gate = n(ops.Unary(ops.UnaryKind.SIGMOID), _conv(n, gate, 8, 1, "gate"), name="gate act")
    x = n(ops.Mul(), x, gate, name="gated")
    x = n(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=False), x, name="mean")
    return n.graph(n.linear(x, 5, "head"))


HYBRIDS = {"hybrid": hybrid, **NETS}
CHOICES: dict[str, Callable[[int], bool]] = {
    "all": lambda _: True,
    "even": lambda i: i % 2 == 0,
    "odd": lambda i: i % 2 == 1,
}
"""Which groups of tensors have int16 codes, by their number."""


def searched(graph: Graph, samples: int = 16) -> Search:
    """The scales of a network, on normal numbers."""
    real = run_passes(graph, TRANSFORMER_PASSES).graph
    data = checked_calibration(real, inputs_of(real, samples))
    return Search(real, data, QuantOptions().settings(), None, CONVERTERS)


def mixed(graph: Graph, chosen: Callable[[int], bool], samples: int = 16) -> Graph:
    """The integer graph with int16 codes for some groups of tensors."""
    search = searched(graph, samples)
    found = search.candidates()
    names = [n for i, group in enumerate(found.groups) if chosen(i) for n in group.members]
    return search.integer({name: found.codes[name] for name in names})
