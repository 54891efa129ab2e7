"""Binary networks of files: signs of all forms are found, packed, and no output bit changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from binary_models import BinaryModel, images, network
from cross import MACHINES, check_cross
from parity import check_host, samples_of

from edgec.base.dtypes import Array, DType
from edgec.base.errors import EdgecError
from edgec.base.options import QuantOptions
from edgec.importers.formats import import_model
from edgec.interp import run_graph
from edgec.ir import Graph, QuantParams, Value, ops, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.signs import packed, unpacked
from edgec.ir.verify import Stage, verify
from edgec.ir.weighted import layer_inputs
from edgec.passes import INTEGER_PASSES, REAL_PASSES, run_passes
from edgec.passes.binarize import binarize
from edgec.passes.edit import never_negative
from edgec.passes.pack_signs import pack_signs
from edgec.quant.cnn.annotation import annotate_beside
from edgec.quant.convert.converters import CONVERTERS

QONNX_DOMAIN = "qonnx.custom_op.general"
STYLES = ("sign", "where", "twice", "cast", "through")


def integer(path: Path) -> Graph:
    """The integer graph of a file, before the passes that optimise it."""
    real = run_passes(import_model(path), REAL_PASSES).graph
    (name,) = real.inputs
    data = {name: images(48).transpose(0, 2, 3, 1)}
    return annotate_beside(real, data, QuantOptions()).converted(CONVERTERS)


def optimised(graph: Graph, *, packs: bool) -> Graph:
    passes = [each for each in INTEGER_PASSES if packs or each.name != "pack_signs"]
    return run_passes(graph, passes).graph


def outputs(graph: Graph, real: Array) -> Array:
    """Real outputs for images [N, C, H, W]."""
    found = []
    (x,), (y,) = graph.inputs, graph.outputs
    for image in real:
        codes = graph.quant(x).quantize(image.transpose(1, 2, 0)[None])
        found.append(graph.quant(y).dequantize(run_graph(graph, {x: codes})[y]))
    return np.concatenate(found)


@pytest.mark.parametrize("style", STYLES)
def test_signs_of_all_forms_are_packed_and_change_nothing(style: str, tmp_path: Path) -> None:
    path = network(tmp_path / "net.onnx", style)
    graph = integer(path)
    plain, bits = (optimised(graph, packs=packs) for packs in (False, True))
    layers = [node.attrs for node in bits.nodes if isinstance(node.attrs, qops.BinaryLayer)]
    # The first of five gives signs alone; all others give codes that are added or read flat.
    assert [layer.output is None for layer in layers] == [True, False, False, False, False]
    assert sum(isinstance(layer, qops.QBinaryGemm) for layer in layers) == 1
    assert [layer.residual is not None for layer in layers].count(True) == 1
    assert not any(isinstance(node.attrs, qops.QLut) for node in bits.nodes)
    real = images(6, 7)
    assert np.array_equal(outputs(plain, real), outputs(bits, real))


def test_thresholds_are_those_of_the_file(tmp_path: Path) -> None:
    """Where the input's codes are exact, three layers of signs agree with the file's floats."""
    m = BinaryModel(4, "where")
    x = m.binary(m.sign("x"), 3, 40)
    x = m.binary(m.sign(x), 40, 40)
    path = m.save(m.binary(m.sign(x), 40, 8), tmp_path / "net.onnx")
    graph = optimised(integer(path), packs=True)
    ends = [node.attrs.output for node in graph.nodes if isinstance(node.attrs, qops.BinaryLayer)]
    assert [end is None for end in ends] == [True, True, False]
    quant = graph.quant(graph.only_input)
    real = quant.dequantize(quant.quantize(images(8, 7)))
    session = onnxruntime.InferenceSession(path)
    wanted = np.concatenate([session.run(None, {"x": image[None]})[0] for image in real])
    found = outputs(graph, real).transpose(0, 3, 1, 2)
    far = np.abs(wanted - found) > 2 * graph.quant(graph.outputs[0]).tensor_scale
    # A sum that lies at its threshold may fall on the other side.
    assert far.mean() < 0.001


def _bipolar(path: Path, scale: float) -> Path:
    """Two convolutions with QONNX's quantizers of one bit on both sides."""
    m = BinaryModel(4, "where")

    def quantizer(x: str, scale: float) -> str:
        return m.node("BipolarQuant", x, m.constant(np.array(scale)), domain=QONNX_DOMAIN)

    x = "x"
    for inputs, outputs_ in ((3, 40), (40, 8)):
        w = m.constant(m.rng.normal(0, 1, (outputs_, inputs, 3, 3)))
        y = m.node("Conv", quantizer(x, scale), quantizer(w, 0.3), pads=[1] * 4)
        x = m.norm(y, outputs_, 0.3 * scale * 10)
    return m.save(x, path)


def test_quantizers_of_one_bit_give_layers_of_signs(tmp_path: Path) -> None:
    graph = optimised(integer(_bipolar(tmp_path / "net.onnx", 0.5)), packs=True)
    assert [node.op for node in graph.nodes] == ["QSigns", "QBinaryConv", "QBinaryConv"]
    assert graph.nodes[1].attrs_as(qops.QBinaryConv).output is None


def test_a_quantizer_of_one_bit_without_a_scale_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EdgecError, match="scale"):
        import_model(_bipolar(tmp_path / "net.onnx", 0.0))


def test_c_of_a_binary_network(tmp_path: Path) -> None:
    graph = optimised(integer(network(tmp_path / "net.onnx")), packs=True)
    (tmp_path / "host").mkdir()
    check_host(graph, tmp_path / "host")
    program = check_cross(MACHINES["a53"], graph, samples_of(graph), tmp_path)
    assert "binary_4x4_neon" in {kernel.spec.family for kernel in program.kernels}


def test_signs_of_what_is_nowhere_negative_stay(tmp_path: Path) -> None:
    """After a Relu a sign tells zero from other numbers: two values, but not these two."""
    m = BinaryModel(1, "sign")
    y = m.binary(m.node("Sign", m.node("Relu", "x")), 3, 8)
    real = run_passes(import_model(m.save(y, tmp_path / "net.onnx")), REAL_PASSES).graph
    kinds = [node.attrs.kind for node in real.nodes if isinstance(node.attrs, ops.Unary)]
    assert kinds and ops.UnaryKind.BINARIZE not in kinds
    assert binarize(real) is real


def _far_from_the_file(path: Path, graph: Graph) -> float:
    """Share of outputs that lie more than three steps from those that onnxruntime gives."""
    quant = graph.quant(graph.only_input)
    real = quant.dequantize(quant.quantize(images(8, 3)))
    session = onnxruntime.InferenceSession(path)
    wanted = np.concatenate([session.run(None, {"x": image[None]})[0] for image in real])
    found = outputs(graph, real).transpose(0, 3, 1, 2)
    step = graph.quant(graph.outputs[0]).tensor_scale
    return float((np.abs(wanted - found) > 3 * step).mean())


def test_two_signs_of_one_tensor_with_other_thresholds(tmp_path: Path) -> None:
    m = BinaryModel(1, "sign")
    first = m.constant(m.rng.normal(0, 0.3, (8, 3, 3, 3)))
    x = m.node("Conv", "x", first, pads=[1] * 4)
    joined = []
    for threshold in (-0.5, 0.5):
        signs = m.node("Sign", m.node("Add", x, m.constant(np.array(threshold + 0.0123))))
        joined += [
            m.binary(signs, 8, 8),
            m.node("AveragePool", signs, kernel_shape=[3, 3], pads=[1] * 4),
        ]
    y = joined[0]
    for other in joined[1:]:
        y = m.node("Add", y, other)
    graph = integer(m.save(y, tmp_path / "net.onnx"))
    plain, bits = (optimised(graph, packs=packs) for packs in (False, True))
    assert [node.op for node in bits.nodes].count("QBinaryConv") == 2
    real = images(6, 7)
    assert np.array_equal(outputs(plain, real), outputs(bits, real))


def test_factors_of_channels_are_no_binary_layer(tmp_path: Path) -> None:
    """A depthwise layer of 1x1 has one weight a filter: a magnitude of its own each."""
    m = BinaryModel(1, "sign")
    weights = np.array([0.3, 1.7, -2.2]).reshape(3, 1, 1, 1)
    path = m.save(m.node("Conv", m.node("Sign", "x"), m.constant(weights), group=3), tmp_path / "m")
    graph = optimised(integer(path), packs=True)
    assert not any(isinstance(node.attrs, qops.BinaryLayer) for node in graph.nodes)
    assert _far_from_the_file(path, graph) == 0.0


@pytest.mark.parametrize("op", ["Relu", "AveragePool"])
def test_a_sign_that_may_be_zero_stays(op: str, tmp_path: Path) -> None:
    """Means of what is nowhere negative have no negative sign either."""
    m = BinaryModel(1, "sign")
    x = m.node("Relu", "x")
    if op == "AveragePool":
        x = m.node("AveragePool", x, kernel_shape=[2, 2])
    path = m.save(m.binary(m.node("Sign", x), 3, 8), tmp_path / "net.onnx")
    graph = optimised(integer(path), packs=True)
    assert not any(isinstance(node.attrs, qops.BinaryLayer) for node in graph.nodes)
    # A mean below half a step is zero.
    assert _far_from_the_file(path, graph) < (0.05 if op == "AveragePool" else 0.001)


def test_a_sign_that_may_be_zero_stays_in_a_large_network() -> None:
    """Rules of large graphs see parts of 128 nodes; the operator that tells is in another part."""
    b = GraphBuilder("large")
    shape = (1, 4, 4, 8)
    b.inputs.append(b.value(Value("x0", shape, DType.FLOAT32)))
    kinds = [*[ops.UnaryKind.TANH] * 1022, ops.UnaryKind.ABS]
    rules = [*map(ops.Unary, kinds), *[ops.MaxPool((1, 1))] * 3, ops.Unary(ops.UnaryKind.SIGN)]
    for n, attrs in enumerate(rules):
        b.node(f"n{n}", attrs, (f"x{n}",), (b.value(Value(f"x{n + 1}", shape, DType.FLOAT32)),))
    w = b.constant("w", np.where(np.arange(64).reshape(8, 1, 1, 8) % 3, 1, -1).astype(np.float32))
    b.node(
        "conv", ops.Conv(), (f"x{len(rules)}", w, ""), (b.value(Value("y", shape, DType.FLOAT32)),)
    )
    b.outputs.append("y")
    graph = b.build()
    assert [node.attrs for node in binarize(graph).nodes] == [node.attrs for node in graph.nodes]


def test_values_that_are_nowhere_negative_are_found_in_one_walk() -> None:
    """Each level doubles the ways to the first value, and there are many levels."""
    b = GraphBuilder("levels")
    shape = (1, 8)
    b.inputs.append(b.value(Value("x", shape, DType.FLOAT32)))
    x = b.value(Value("x0", shape, DType.FLOAT32))
    b.node("relu", ops.Clip(0.0, np.inf), ("x",), (x,))
    for level in range(1500):
        both = b.value(Value(f"b{level}", (1, 16), DType.FLOAT32))
        b.node(f"concat{level}", ops.Concat(1), (x, x), (both,))
        x = b.value(Value(f"x{level + 1}", shape, DType.FLOAT32))
        b.node(f"slice{level}", ops.Slice((0, 0), shape, (1, 1)), (both,), (x,))
    b.outputs.append(x)
    found = never_negative(b.build())
    assert x in found and "x" not in found


def test_ternary_weights_of_signs_stay_three_codes(tmp_path: Path) -> None:
    m = BinaryModel(1, "where")
    first = m.constant(m.rng.normal(0, 0.3, (32, 3, 3, 3)))
    ternary = m.constant(m.rng.choice([-0.5, 0.0, 0.5], (8, 32, 3, 3)))
    y = m.node("Conv", m.sign(m.node("Conv", "x", first)), ternary)
    graph = optimised(integer(m.save(y, tmp_path / "net.onnx")), packs=True)
    rows = graph.constants[layer_inputs(graph.nodes[-1]).rows]
    assert np.unique(rows.array).tolist() == [-1, 0, 1]


@pytest.mark.parametrize("style", ["sign", "where"])
def test_padding_by_ones(style: str, tmp_path: Path) -> None:
    """Larq's usual padding: a part of the layer, without a correction for each edge."""
    m = BinaryModel(2, style)
    first = m.constant(m.rng.normal(0, 0.3, (8, 3, 3, 3)))
    x = m.node("Conv", "x", first, pads=[1] * 4)
    pads = m.whole([0, 0, 1, 1, 0, 0, 1, 1])
    for channels in (40, 8):
        x = m.node("Pad", m.sign(x), pads, m.constant(np.array(1.0)))
        x = m.binary(x, 8 if channels == 40 else 40, channels, pad=0)
    graph = integer(m.save(x, tmp_path / "net.onnx"))
    plain, bits = (optimised(graph, packs=packs) for packs in (False, True))
    layers = [node.attrs for node in bits.nodes if isinstance(node.attrs, qops.QBinaryConv)]
    assert [(each.pads_ones, each.pads) for each in layers] == [(True, (1, 1, 1, 1))] * 2
    assert layers[0].output is None
    real = images(6, 7)
    assert np.array_equal(outputs(plain, real), outputs(bits, real))


def test_weights_of_two_magnitudes_stay(tmp_path: Path) -> None:
    m = BinaryModel(1, "where")
    weights = m.rng.choice([-0.5, 0.5], (8, 3, 3, 3))
    weights[:, 0] *= 2
    y = m.node("Conv", m.sign("x"), m.constant(weights))
    graph = optimised(integer(m.save(y, tmp_path / "net.onnx")), packs=True)
    assert not any(isinstance(node.attrs, qops.BinaryLayer) for node in graph.nodes)


def test_batch_normalization_before_a_sign_is_a_threshold_of_codes(tmp_path: Path) -> None:
    m = BinaryModel(3, "where")
    pooled = m.node("MaxPool", "x", kernel_shape=[2, 2], strides=[2, 2])
    y = m.binary(m.sign(m.norm(pooled, 3, 1.0)), 3, 8)
    graph = optimised(integer(m.save(y, tmp_path / "net.onnx")), packs=True)
    assert [node.op for node in graph.nodes] == ["QMaxPool", "QSigns", "QBinaryConv"]
    plain = optimised(integer(tmp_path / "net.onnx"), packs=False)
    real = images(4, 5)
    assert np.array_equal(outputs(plain, real), outputs(graph, real))


def _signs_after(least: int, most: int, multiplier: int) -> Graph:
    """A layer of signs whose codes within an interval become -1."""
    b = GraphBuilder("after")
    quant = QuantParams.per_tensor(0.1, 0)
    x = b.value(Value("x", (1, 3, 3, 5), DType.INT8, quant))
    b.inputs.append(x)
    rng = np.random.default_rng(0)

    def signs(x: str, channels: int, ends: tuple[int, int]) -> str:
        names = [b.constant("end", np.full(channels, end, np.int8)) for end in ends]
        y = b.value(Value(b.fresh("s"), (1, 3, 3, 1), qops.SIGNS))
        b.node(y, qops.QSigns(), [x, *names], [y])
        return y

    def layer(x: str, channels: int, multiplier: int) -> str:
        w = b.constant("w", packed(rng.random((6, 3, 3, channels)) < 0.5))
        numbers = [np.array([0, 3, -4, 50, -50, 1]), np.full(6, multiplier)]
        names = [b.constant("n", each.astype(np.int32)) for each in numbers]
        y = b.value(Value(b.fresh("y"), (1, 3, 3, 6), DType.INT8, quant))
        attrs = qops.QBinaryConv(channels, qops.Requant31(24), pads=(1, 1, 1, 1))
        b.node(f"{y} node", attrs, [x, w, *names], [y])
        return y

    codes = layer(signs(x, 5, (-128, -1)), 5, multiplier)
    b.outputs.append(layer(signs(codes, 6, (least, most)), 6, 1 << 24))
    return b.build()


@pytest.mark.parametrize(
    "ends", [(-128, -1), (-128, 5), (0, 127), (3, 127), (127, -128), (-128, 127)]
)
@pytest.mark.parametrize("multiplier", [1 << 24, -(1 << 23), 3 << 22, 1])
def test_thresholds_in_both_directions(ends: tuple[int, int], multiplier: int) -> None:
    graph = _signs_after(*ends, multiplier)
    verify(graph, Stage.INTEGER)
    found = pack_signs(graph)
    verify(found, Stage.INTEGER)
    assert [node.op for node in found.nodes] == ["QSigns", "QBinaryConv", "QBinaryConv"]
    rng = np.random.default_rng(1)
    for _ in range(5):
        codes = {"x": rng.integers(-128, 128, (1, 3, 3, 5)).astype(np.int8)}
        (y,), (z,) = graph.outputs, found.outputs
        assert np.array_equal(run_graph(graph, codes)[y], run_graph(found, codes)[z])


def test_an_interval_with_two_ends_is_no_threshold() -> None:
    graph = _signs_after(-3, 3, 1 << 24)
    assert pack_signs(graph) is graph


def test_the_order_of_bits() -> None:
    negative = np.zeros((1, 40), bool)
    negative[0, [0, 5, 31, 32, 39]] = True
    words = packed(negative)
    assert words.tolist() == [[1 | 1 << 5 | 1 << 31, 1 | 1 << 7]]
    assert np.array_equal(unpacked(words, 40) < 0, negative)
    assert words.dtype == np.uint32
