"""Lifetimes, scratch and aliases."""

from collections.abc import Mapping

from lower_samples import BOARD, DSP_BOARD, NetBuilder, small_net

from edgec.ir import Graph
from edgec.kernels.buffers import buffers_of, scratch_name
from edgec.kernels.places import Place
from edgec.kernels.select import select_kernels
from edgec.memory import Buffer, Overlap, check_plan, plan_memory


def _buffers(graph: Graph) -> tuple[dict[str, Buffer], tuple[Overlap, ...], dict[str, str]]:
    buffers, overlaps, places = buffers_of(graph, select_kernels(graph, BOARD))
    return {buffer.name: buffer for buffer in buffers}, overlaps, _roots(places)


def _roots(places: Mapping[str, Place]) -> dict[str, str]:
    """The values whose bytes those without bytes of their own are."""
    assert all(place.is_whole for place in places.values())
    return {name: place.root for name, place in places.items()}


def test_tensor_lives_from_its_step_through_its_last_reader() -> None:
    buffers, _, _ = _buffers(small_net())
    # Steps: c d p r a m g s; d is read by p (2) and a (4).
    assert buffers["d"] == Buffer("d", 200, 1, 5)
    assert buffers["p"] == Buffer("p", 200, 2, 4)


def test_input_lives_from_step_0_and_output_until_the_caller_read_it() -> None:
    buffers, _, _ = _buffers(small_net())
    assert buffers["x"] == Buffer("x", 243, 0, 1)
    assert buffers["s"] == Buffer("s", 10, 7, 9)


def test_reshape_has_no_buffer_and_no_step() -> None:
    buffers, overlaps, aliases = _buffers(small_net())
    assert aliases == {"f": "m"}
    assert "f" not in buffers
    assert buffers["m"].end_step == 7
    assert Overlap("g", "m", 8) in overlaps


def test_scratch_lives_for_its_step_alone() -> None:
    graph = small_net()
    choices = select_kernels(graph, BOARD)
    buffers, _, _ = _buffers(graph)
    assert buffers[scratch_name(graph, choices[0])] == Buffer("scratch of c_node", 27, 0, 1)
    assert buffers[scratch_name(graph, choices[3])] == Buffer("scratch of r_node", 72, 3, 4)


def _depthwise_twice(*, read_again: bool) -> tuple[dict[str, Buffer], dict[str, str]]:
    net = NetBuilder()
    x = net.input("x", 1, 9, 9, 48)
    d = net.conv(x, "d", (1, 9, 9, 48), kernel=3, pad=1, group=48)
    e = net.conv(d, "e", (1, 9, 9, 48), kernel=3, pad=1, group=48)
    graph = net.build(net.add(e, d, "a") if read_again else net.softmax(e, "s"))
    buffers, _, places = buffers_of(graph, select_kernels(graph, DSP_BOARD))
    return {buffer.name: buffer for buffer in buffers}, _roots(places)


def test_an_output_takes_the_place_of_what_nobody_reads_any_more() -> None:
    buffers, aliases = _depthwise_twice(read_again=False)
    assert aliases == {"d": "x", "e": "x"}
    assert buffers["x"] == Buffer("x", 9 * 9 * 48, 0, 3)
    assert not {"d", "e"} & set(buffers)


def test_an_output_beside_what_is_read_again_has_its_own_place() -> None:
    buffers, aliases = _depthwise_twice(read_again=True)
    assert aliases == {"d": "x"}
    assert buffers["x"] == Buffer("x", 9 * 9 * 48, 0, 3)
    assert buffers["e"] == Buffer("e", 9 * 9 * 48, 1, 3)


def test_scratch_gets_a_name_no_tensor_has() -> None:
    net = NetBuilder()
    x = net.input("scratch of y_node", 1, 4, 4, 1)
    graph = net.build(net.conv(x, "y", (1, 4, 4, 4), kernel=3, pad=1))
    (choice,) = select_kernels(graph, BOARD)
    assert scratch_name(graph, choice) == "scratch of y_node'"


def test_reshaped_view_as_graph_output_keeps_its_bytes_to_the_end() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 2, 2, 4)
    y = net.conv(x, "y", (1, 2, 2, 4))
    view = net.reshape(y, "view", (1, 16))
    graph = net.build(view, net.gemm(view, "g", 4))
    buffers, overlaps, aliases = _buffers(graph)
    assert aliases == {"view": "y"}
    assert buffers["y"].end_step == 3
    plan = plan_memory(tuple(buffers.values()), overlaps)
    check_plan(plan, tuple(buffers.values()), overlaps)
    assert plan.slots["y"].end <= plan.slots["g"].offset or (
        plan.slots["g"].end <= plan.slots["y"].offset
    )


def test_view_of_a_view_is_a_view_of_the_first() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 2, 2, 4)
    flat = net.reshape(net.reshape(x, "v", (4, 4)), "w", (1, 16))
    _, _, aliases = _buffers(net.build(net.gemm(flat, "g", 2)))
    assert aliases == {"v": "x", "w": "x"}


def test_graph_of_views_alone_has_no_steps() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 2, 2, 4)
    buffers, overlaps, _ = _buffers(net.build(net.reshape(x, "v", (1, 16))))
    assert list(buffers.values()) == [Buffer("x", 16, 0, 1)]
    assert overlaps == ()


def test_overlap_saves_memory() -> None:
    buffers, overlaps, _ = _buffers(small_net())
    items = tuple(buffers.values())
    assert plan_memory(items, overlaps).arena_bytes < plan_memory(items, ()).arena_bytes
