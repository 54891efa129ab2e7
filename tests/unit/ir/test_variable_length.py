"""One graph for all lengths: what varies in it, what a run of one length is, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from small_transformers import Net, inputs_of
from variable_nets import MAXIMUM, NETS, SequenceNet, integer_graph, samples

from edgec.base.errors import ConfigError, ImportModelError, InternalError, UnsupportedModelError
from edgec.base.options import MaxLength
from edgec.floatrun.activations import activations
from edgec.interp import run_graph
from edgec.ir import ops, qops
from edgec.ir.graph import Graph
from edgec.ir.length import VariableLength
from edgec.ir.specialize import specialized
from edgec.ir.verify import Stage, verify
from edgec.kernels.common.extent import Extent
from edgec.passes.compare_lengths import with_real_length
from edgec.passes.pooling import mean_by_attention


@pytest.fixture(scope="module")
def graphs() -> dict[str, Graph]:
    return {name: integer_graph(make) for name, make in NETS.items()}


@pytest.mark.parametrize("name", NETS)
def test_a_run_of_one_length_is_a_sound_graph(graphs, name: str) -> None:
    graph = graphs[name]
    for length in range(1, MAXIMUM + 1):
        one = specialized(graph, length)
        verify(one, Stage.INTEGER, "specialized")
        assert one.length is None
        for tensor in one.values:
            gap = np.subtract(graph.shape(tensor), one.shape(tensor))
            assert sorted(gap)[:-1] == [0] * (len(gap) - 1)
            assert max(gap) == (MAXIMUM - length if tensor in graph.length.axes else 0)
        for tensor, constant in one.constants.items():
            whole = graph.constants[tensor].array
            front = whole[tuple(slice(size) for size in constant.shape)]
            assert np.array_equal(constant.array, front)


def test_the_longest_run_is_the_graph_itself(graphs) -> None:
    graph = graphs["bert"]
    one = specialized(graph, MAXIMUM)
    assert one.nodes == graph.nodes
    assert one.values == graph.values


def test_constants_with_an_entry_for_each_position(graphs) -> None:
    found = {
        name: {tensor for tensor in graph.length.axes if tensor in graph.constants}
        for name, graph in graphs.items()
    }
    assert {name: len(tensors) for name, tensors in found.items()} == {
        "vit": 1,
        "bert": 1,
        "pooled": 0,
        "moves": 1,
        "biased": 0,
    }
    assert {name: len(graph.length.squares) for name, graph in graphs.items()} == {
        **dict.fromkeys(found, 0),
        "biased": 2,
    }


@pytest.mark.parametrize("name", ["vit", "pooled", "biased"])
def test_a_shorter_run_is_the_float_network_of_that_length(graphs, name: str) -> None:
    for length in (2, 5):
        real = NETS[name](length)
        data = inputs_of(real, 8, seed=length)
        (_, wanted), *_ = activations(real, list(real.outputs), data)
        graph = specialized(graphs[name], length)
        for tensor in graph.outputs:
            gaps = []
            for index in range(8):
                codes = {n: graph.quant(n).quantize(data[n][index : index + 1]) for n in data}
                found = graph.quant(tensor).dequantize(run_graph(graph, codes)[tensor])
                gaps.append(found - wanted[tensor][index].reshape(found.shape))
            assert np.sqrt(np.mean(np.square(gaps))) < 0.2 * np.std(wanted[tensor])


def test_lengths_that_no_run_has(graphs) -> None:
    for length in (0, -1, MAXIMUM + 1):
        with pytest.raises(ConfigError, match=f"{length} is no length"):
            specialized(graphs["vit"], length)
    with pytest.raises(InternalError, match="one length"):
        specialized(specialized(graphs["vit"], 3), 2)


def test_a_mean_of_all_tokens_divides_by_their_number(graphs) -> None:
    graph = graphs["pooled"]
    pools = [n for n in graph.nodes if isinstance(n.attrs, qops.QAttention) and n.attrs.heads == 1]
    assert len(pools) == 2
    (query,) = (n.inputs[0] for n in pools if not graph.constants[n.inputs[0]].array.any())
    mean = next(n for n in pools if n.inputs[0] == query)
    for length in (1, 4, MAXIMUM):
        one = specialized(graph, length)
        x = np.random.default_rng(length).integers(-128, 128, one.shape("x")).astype(np.int8)
        values = run_graph(one, {"x": x})
        tokens = graph.quant(mean.inputs[1]).dequantize(values[mean.inputs[1]])
        found = graph.quant(mean.output).dequantize(values[mean.output])
        step = graph.quant(mean.output).tensor_scale
        assert np.abs(found - tokens.mean(axis=1, keepdims=True)).max() <= 0.53 * step


def test_means_of_other_axes_stay() -> None:
    net = Net("n")
    x = net.input("x", 1, 6, 8)
    y = net(ops.Reduce(ops.ReduceKind.MEAN, (2,)), x)
    graph = net.graph(y, net(ops.Reduce(ops.ReduceKind.SUM, (1,)), x))
    assert mean_by_attention(graph).nodes == graph.nodes
    variable = graph.replace(length=VariableLength(6, {"x": 1}))
    assert mean_by_attention(variable).nodes == graph.nodes


def start(net: SequenceNet, n: int) -> str:
    """Tokens of a network that is a transformer."""
    return net.norm(net.linear(net.input("x", 1, n, 8), 8, "embed"), "norm")


def merged(n: int) -> Graph:
    net = SequenceNet("n")
    return net.graph(net(ops.Reshape((1, 8 * n)), start(net, n), name="flat"))


def halves(n: int) -> Graph:
    net = SequenceNet("n")
    x = start(net, n)
    return net.graph(net(ops.Slice((0, n // 2, 0), (1, 1, 1), (1, 1, 8)), x, name="middle"))


def scaled_by_length(n: int) -> Graph:
    net = SequenceNet("n")
    return net.graph(net(ops.Mul(), start(net, n), net.const("share", np.full((1, 1, 8), 1 / n))))


def resampled(n: int) -> Graph:
    net = SequenceNet("n")
    grid = np.linspace(-1, 1, 8 * n).reshape(1, n, 8)
    return net.graph(net(ops.Add(), start(net, n), net.const("grid", grid), name="placed"))


IN_THE_FLOAT_GRAPH = {
    merged: "mixes the variable axis",
    halves: "its numbers depend on the length",
    scaled_by_length: "is another one at another length",
    resampled: "is another one at another length",
}


@pytest.mark.parametrize("make", IN_THE_FLOAT_GRAPH, ids=lambda make: make.__name__)
def test_numbers_that_depend_on_the_length_are_refused(make: Callable[[int], Graph]) -> None:
    with pytest.raises(UnsupportedModelError, match=IN_THE_FLOAT_GRAPH[make]) as caught:
        integer_graph(make)
    assert "--max-length" in str(caught.value)


def test_another_network_at_another_length_is_refused() -> None:
    def deeper(n: int) -> Graph:
        net = SequenceNet("n")
        x = start(net, n)
        return net.graph(net.linear(x, 8, "more") if n % 2 else x)

    with pytest.raises(ImportModelError, match="the network changes when its input is shorter"):
        integer_graph(deeper)


def test_an_input_with_the_axis_twice_is_refused() -> None:
    def square(n: int) -> Graph:
        net = SequenceNet("n")
        return net.graph(net(ops.Unary(ops.UnaryKind.TANH), net.input("mask", 1, n, n)))

    with pytest.raises(ImportModelError, match="more than once") as caught:
        with_real_length(square(6), square(5))
    assert caught.value.where == "mask"


def summed(net: SequenceNet, x: str, n: int) -> str:
    return net(ops.Reduce(ops.ReduceKind.SUM, (1,)), x)


def highest(net: SequenceNet, x: str, n: int) -> str:
    return net(ops.Reduce(ops.ReduceKind.MAX, (1,)), x)


def swapped(net: SequenceNet, x: str, n: int) -> str:
    return net(ops.Transpose((0, 2, 1)), x)


def fourth(net: SequenceNet, x: str, n: int) -> str:
    return net(ops.Slice((0, 3, 0), (1, 1, 1), (1, 1, 8)), x)


def padded(net: SequenceNet, x: str, n: int) -> str:
    return net(ops.Pad(((0, 0), (1, 1), (0, 0))), x)


def all_but_the_first(net: SequenceNet, x: str, n: int) -> str:
    return net(ops.Slice((0, 1, 0), (1, 1, 1), (1, n - 1, 8)), x)


def product(net: SequenceNet, x: str, n: int) -> str:
    return net(ops.MatMul(transpose_b=True), x, x)


def neighbours(net: SequenceNet, x: str, n: int) -> str:
    image = net(ops.Reshape((1, n, 1, 8)), x)
    weights = net.normal("w", 8, 3, 1, 8)
    return net(ops.Conv(pads=(1, 0, 1, 0)), image, weights, "", name="conv")


REFUSED = {
    summed: "mixes positions",
    highest: "mixes positions",
    swapped: "is not the first one",
    fourth: "shorter runs do not have",
    all_but_the_first: "nothing is left of it at length 1",
    product: "mixes",
    neighbours: "mixes positions",
    padded: "mixes positions",
}


@pytest.mark.parametrize("add", REFUSED, ids=lambda add: add.__name__)
def test_operators_that_mix_positions_are_refused(add: Callable[..., str]) -> None:
    def make(n: int) -> Graph:
        net = SequenceNet("n")
        return net.graph(add(net, start(net, n), n))

    with pytest.raises(UnsupportedModelError, match=REFUSED[add]) as caught:
        integer_graph(make)
    assert "remedy" in str(caught.value)


def test_all_problems_are_named_at_once() -> None:
    def make(n: int) -> Graph:
        net = SequenceNet("n")
        x = start(net, n)
        return net.graph(
            summed(net, x, n), fourth(net, x, n), net.linear(highest(net, x, n), 2, "h")
        )

    with pytest.raises(UnsupportedModelError) as caught:
        integer_graph(make)
    assert len(caught.value.nodes) == 3


def test_a_maximum_is_read_as_it_is_written() -> None:
    assert MaxLength.parse("128") == MaxLength(128)
    assert MaxLength.parse("seq=64") == MaxLength(64, "seq")
    assert MaxLength.parse("a=b=64") == MaxLength(64, "a=b")
    for text in ("", "seq", "=64", "seq=", "-3", "1e3", "seq=1,2", "9" * 10):
        with pytest.raises(ConfigError, match="cannot read"):
            MaxLength.parse(text)
    for wrong in ("0", "2", "4096"):
        with pytest.raises(ConfigError, match="no maximum length"):
            MaxLength.parse(wrong)


def test_an_extent_in_numbers_and_in_c() -> None:
    for extent, text in [
        (Extent(0, 5), "5"),
        (Extent(1, 0), "n"),
        (Extent(4, 0), "4 * n"),
        (Extent(4, 8), "4 * n + 8"),
        (Extent(4, -4), "4 * n - 4"),
    ]:
        assert extent.text("n") == text
        assert extent.at(3) == extent.each * 3 + extent.fixed


def test_movers_follow_the_length(graphs) -> None:
    one = specialized(graphs["moves"], 4)
    for node in one.nodes:
        if isinstance(node.attrs, qops.QReshape):
            assert node.attrs.shape == one.shape(node.output)
        if isinstance(node.attrs, qops.QSlice):
            assert node.attrs.sizes == one.shape(node.output)


def renamed(graph: Graph, names: dict[str, str]) -> Graph:
    """The graph with other names of some values that nodes compute."""

    def new(known: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, name) for name in known)

    values = [replace(v, name=names.get(v.name, v.name)) for v in graph.values.values()]
    nodes = [replace(n, inputs=new(n.inputs), outputs=new(n.outputs)) for n in graph.nodes]
    return graph.replace(
        values={value.name: value for value in values},
        nodes=tuple(nodes),
        outputs=new(graph.outputs),
    )


@pytest.mark.parametrize(
    ("name", "names"),
    [("pooled", {"mean": "x/int16"}), ("bert", {"sum": "first/int8", "n2": "n1/int8"})],
)
def test_a_tensor_may_have_the_name_of_another_ones_form(graphs, name, names) -> None:
    """Quantization adds forms of values; their usual names are those of other tensors here."""
    plain = graphs[name]
    assert {plain.values[form].form_of for form in names.values()} == {
        form.partition("/")[0] for form in names.values()
    }
    found = integer_graph(lambda n: renamed(NETS[name](n), names))
    assert len(found.nodes) == len(plain.nodes)
    for tensor, form in names.items():
        assert (form in found.length.axes) == (tensor in plain.length.axes)
    assert sorted(found.length.axes.values()) == sorted(plain.length.axes.values())
    for length in (1, MAXIMUM):
        for inputs, wanted in samples(plain, length):
            codes = dict(zip(found.inputs, inputs, strict=True))
            outputs = run_graph(specialized(found, length), codes)
            for old, new in zip(plain.outputs, found.outputs, strict=True):
                assert np.array_equal(outputs[new], wanted[old])
