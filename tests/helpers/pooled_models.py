"""Networks with pooled weights for tests, as ONNX files: pools of some of their own vectors."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import QuantOptions
from edgec.exporters.onnx.export import export_real
from edgec.importers.onnx.importer import import_model
from edgec.ir import Graph, Value, ops
from edgec.ir.graph import Constant
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shape
from edgec.ir.qparams import QuantParams
from edgec.ir.weight_pool import PooledWeights, WeightPool
from edgec.passes.base import run_passes
from edgec.passes.pipeline import INTEGER_PASSES, REAL_PASSES
from edgec.quant import annotate, to_integer

GROUP = 8


def small_network(seed: int = 3, channels: int = 16) -> Graph:
    """REAL stage: 8x8x3 images, four convolutions with a shortcut, 10 classes."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder("small")
    builder.inputs.append(builder.value(Value("x", (1, 8, 8, 3))))

    def add(attrs: object, *inputs: str, name: str) -> str:
        known = [builder.values.get(n) or builder.constants.get(n) for n in inputs]
        shape = infer_shape(attrs, [found.shape if found else None for found in known])
        builder.value(Value(name, shape))
        builder.node(f"{name}_node", attrs, inputs, [name], [name])
        return name

    def conv(x: str, name: str, filters: int, size: int, stride: int = 1) -> str:
        channels = builder.values[x].shape[3]
        scale = np.sqrt(2 / (size * size * channels))
        weight = rng.normal(0, scale, (filters, size, size, channels)).astype(np.float32)
        bias = rng.normal(0, 0.1, filters).astype(np.float32)
        pad = size // 2
        attrs = ops.Conv((stride, stride), (pad,) * 4)
        inputs = (x, builder.constant(f"{name}_w", weight), builder.constant(f"{name}_b", bias))
        return add(attrs, *inputs, name=name)

    def relu(x: str) -> str:
        return add(ops.Clip(0.0, np.inf), x, name=f"{x}_relu")

    first = relu(conv("x", "first", channels, 3))
    inner = relu(conv(first, "inner", channels, 3))
    second = conv(inner, "second", channels, 3)
    total = relu(add(ops.Add(), second, first, name="total"))
    wide = relu(conv(total, "wide", 32, 3, 2))
    mean = add(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), False), wide, name="mean")
    weight = builder.constant("fc_w", rng.normal(0, 0.3, (10, 32)).astype(np.float32))
    bias = builder.constant("fc_b", np.zeros(10, np.float32))
    builder.outputs.append(add(ops.Gemm(), mean, weight, bias, name="scores"))
    return builder.build()


def save(graph: Graph, path: Path) -> Path:
    """Write a network of the REAL stage as ONNX file."""
    path.write_bytes(export_real(graph).SerializeToString())
    return path


def pooled_network(
    graph: Graph,
    size: int = 32,
    seed: int = 0,
    pool: WeightPool | None = None,
    terms: int = 1,
) -> Graph:
    """REAL stage: convolutions of more than one tap use a pool.

    Args:
        graph: REAL stage.
        size: vectors of the pool, drawn at random from those of the network.
        seed: of the draw.
        pool: to use instead.
        terms: vectors that are added up to one of a layer; those of a pool that is drawn are so
            short that any sum fits int8.
    """
    weights = {
        node.inputs[1]: graph.constants[node.inputs[1]]
        for node in graph.nodes
        if isinstance(node.attrs, ops.Conv) and _fits(graph.constants[node.inputs[1]], node.attrs)
    }
    if pool is None:
        rng = np.random.default_rng(seed)
        every = np.concatenate([_unit(c.array).reshape(-1, GROUP) for c in weights.values()])
        pool = pool_of(every[rng.choice(len(every), size, replace=False)], terms)
    changed = {name: _assigned(constant, pool, terms) for name, constant in weights.items()}
    return graph.replace(constants={**graph.constants, **changed})


def pool_of(vectors: Array, terms: int = 1) -> WeightPool:
    """A legal pool of real vectors [S, GROUP], all on one scale; sums of `terms` fit int8."""
    load = np.maximum(np.maximum(vectors, 0).sum(1), np.maximum(-vectors, 0).sum(1)).max()
    return WeightPool(np.trunc(vectors / load * (127 / terms)).astype(np.int8))


def _fits(constant: Constant, attrs: ops.Conv) -> bool:
    shape = constant.shape
    return attrs.group == 1 and shape[1] * shape[2] > 1 and shape[3] % GROUP == 0


def _unit(weight: Array) -> Array:
    flat = weight.reshape(len(weight), -1)
    return (flat / np.abs(flat).max(axis=1, keepdims=True)).reshape(weight.shape)


def _assigned(constant: Constant, pool: WeightPool, terms: int) -> Constant:
    """The constant with the nearest vectors, each further term the nearest to what is left."""
    weight = constant.array
    cut = weight.reshape(*weight.shape[:-1], -1, GROUP).astype(np.float64)
    real = pool.vectors.astype(np.float64)
    scale = np.abs(weight).reshape(len(weight), -1).max(1) / np.abs(real).max()
    left = cut / scale[:, None, None, None, None]
    chosen = []
    for _ in range(terms):
        chosen.append(((real**2).sum(1) - 2 * left @ real.T).argmin(-1))
        left = left - real[chosen[-1]]
    indices = np.stack(chosen, -1).reshape(*weight.shape[:-1], -1).astype(np.uint16)
    pooled = PooledWeights(pool, indices, terms)
    quant = QuantParams(tuple(float(np.float32(s)) for s in scale), (0,) * len(scale), axis=0)
    array = pooled.expand(weight.shape[-1])
    return replace(constant, array=array, quant=quant, pooled=pooled)


def integer_stage(real: Graph) -> Graph:
    """INTEGER stage of a network of 8x8x3 images, calibrated on noise."""
    cleaned = run_passes(real, REAL_PASSES).graph
    samples = np.random.default_rng(0).normal(size=(16, 8, 8, 3)).astype(np.float32)
    annotated, _ = annotate(cleaned, {"x": samples}, QuantOptions())
    return run_passes(to_integer(annotated), INTEGER_PASSES).graph


def write_pooled(graph: Graph, path: Path, size: int = 32, pool: WeightPool | None = None) -> Path:
    """The ONNX file of a pooled network."""
    path.write_bytes(export_real(pooled_network(graph, size, pool=pool)).SerializeToString())
    return path


def pooled_file(source: Path, path: Path, size: int = 64) -> Path:
    """An ONNX file with its convolutions pooled, inputs in the layout of the graph."""
    real = run_passes(import_model(source), REAL_PASSES).graph
    model = export_real(pooled_network(real, size), model_layout=True)
    path.write_bytes(model.SerializeToString())
    return path
