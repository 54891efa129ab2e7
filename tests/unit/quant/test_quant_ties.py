"""Which values share parameters, and requantization where a model forbids it."""

from __future__ import annotations

from quant_samples import Sketch, conv, relu

from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.scales.groups import code_groups, split_conflicts

A = QuantParams.per_tensor(0.5, 3)
B = QuantParams.per_tensor(0.25, -7)


def groups_of(graph: Graph) -> dict[str, set[str]]:
    """Members of the group of each value."""
    return {n: set(g.members) for g in code_groups(graph) for n in g.members}


def test_operators_that_move_codes_tie_their_sides():
    s = Sketch()
    x = s.input("x", 1, 4, 4, 2)
    chain = [x]
    for attrs in (
        ops.MaxPool((2, 2)),
        ops.Pad(((0, 0), (1, 0), (0, 0), (0, 0))),
        ops.Transpose((0, 2, 1, 3)),
        ops.Slice((0, 0, 0, 0), (1, 1, 1, 1), (1, 3, 4, 2)),
        ops.Resize(ops.ResizeMode.NEAREST, (0,), (0,), (0.0,), (0,), (0,), (0.0,)),
        ops.Reduce(ops.ReduceKind.MAX, (3,)),
        ops.Reshape((1, 1)),
    ):
        chain.append(s(attrs, chain[-1]))
    (group,) = code_groups(s.graph(chain[-1]))
    assert group.members == tuple(chain)
    assert group.sources == (x,)


def test_operators_that_compute_do_not_tie():
    s = Sketch()
    x = s.input("x", 1, 4, 4, 2)
    outputs = [
        s(ops.AveragePool((2, 2)), x),
        s(ops.Reduce(ops.ReduceKind.MEAN, (1,)), x),
        s(ops.Unary(ops.UnaryKind.IDENTITY), x),
        s(ops.Add(), x, x),
        s(ops.Clip(0.0), x),
    ]
    assert len(code_groups(s.graph(*outputs))) == 6


def test_concat_ties_all_inputs_and_names_all_sources():
    s = Sketch()
    x, y = s.input("x", 1, 2), s.input("y", 1, 3)
    c = s(ops.Concat(1), x, y, s.const("c", [[1.0]]))
    (group,) = code_groups(s.graph(c))
    assert set(group.members) == {x, y, c}
    assert group.sources == (x, y)


def test_a_value_before_its_fused_clip_follows_the_clip():
    s = Sketch()
    before = conv(s, s.input("x", 1, 4, 4, 2), 3)
    after = relu(s, before)
    pooled = s(ops.MaxPool((2, 2)), after)
    group = next(g for g in code_groups(s.graph(pooled)) if after in g.members)
    assert group.members == (before, after, pooled)
    assert group.sources == (after,)


def test_a_value_that_others_read_is_not_fused():
    s = Sketch()
    before = conv(s, s.input("x", 1, 4, 4, 2), 3)
    after = relu(s, before)
    groups = groups_of(s.graph(after, s(ops.Unary(ops.UnaryKind.NEG), before)))
    assert groups[before] == {before}
    assert groups[after] == {after}


def test_pinned_parameters_spread_over_the_group():
    s = Sketch()
    x = s.input("x", 1, 4)
    y = s(ops.Reshape((1, 2, 2)), x)
    z = s(ops.Transpose((0, 2, 1)), y, quant=A)
    (group,) = code_groups(s.graph(z))
    assert group.pinned == A
    assert set(group.members) == {x, y, z}


def test_an_unpinned_clip_takes_the_parameters_pinned_on_its_input():
    s = Sketch()
    x = s(ops.Gemm(), s.input("x", 1, 4), s.normal("w", 3, 4), "", quant=A)
    y = relu(s, x)
    group = next(g for g in code_groups(s.graph(y)) if y in g.members)
    assert group.pinned == A


def test_conflicting_pins_get_a_requantization():
    s = Sketch()
    x, y = s.input("x", 1, 2, quant=A), s.input("y", 1, 2, quant=B)
    z = s(ops.Concat(1), x, y, x, quant=B)
    graph = split_conflicts(s.graph(z))
    identity = next(n for n in graph.nodes if isinstance(n.attrs, ops.Unary))
    concat = next(n for n in graph.nodes if isinstance(n.attrs, ops.Concat))
    assert identity.inputs == (x,)
    assert concat.inputs == (identity.output, y, identity.output)
    groups = groups_of(graph)
    assert groups[x] == {x}
    assert groups[z] == {identity.output, y, z}


def test_a_conflict_two_moves_away_is_found():
    s = Sketch()
    x = s.input("x", 1, 4, quant=A)
    middle = s(ops.Reshape((1, 2, 2)), x)
    z = s(ops.Transpose((0, 2, 1)), middle, quant=B)
    graph = split_conflicts(s.graph(z))
    assert sum(isinstance(n.attrs, ops.Unary) for n in graph.nodes) == 1
    assert {g.pinned for g in code_groups(graph)} == {A, B}


def test_without_conflict_the_graph_stays_as_it_is():
    s = Sketch()
    x = s.input("x", 1, 4, quant=A)
    graph = s.graph(s(ops.Reshape((2, 2)), x, quant=A))
    assert split_conflicts(graph) is graph


def test_argmax_indices_are_in_no_group():
    s = Sketch()
    x = s.input("x", 1, 4)
    y = s(ops.ArgMax(1), x)
    assert [g.members for g in code_groups(s.graph(y))] == [(x,)]
