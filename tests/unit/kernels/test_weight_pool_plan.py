"""The planner of pooled layers: what it chooses, within which limits, and what it says."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pooled_models import integer_stage, pooled_network, small_network

from edgec.base.errors import ConfigError, WeightPoolError
from edgec.base.options import PoolKernel, PoolKernelOptions, PoolKernelRule
from edgec.interp import run_graph
from edgec.ir import Graph, qops
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weight_pool_graph import limited_bits, pooled_nodes
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import select_kernels
from edgec.kernels.weightpool.bounds import sums_fit_lanes
from edgec.kernels.weightpool.decision import READY_INDEX_BITS, PoolFamily
from edgec.kernels.weightpool.decode_dsp import PooledDecodeDsp
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.plan.flash import constant_bytes
from edgec.kernels.weightpool.plan.plan import PoolPlan, plan_pools
from edgec.lower.lower import lower
from edgec.memory import plan_memory
from edgec.target.board import Board, load_board
from edgec.target.target import Target

BOARD = load_board("nucleo_f446re")


@pytest.fixture(scope="module")
def graph() -> Graph:
    """INTEGER stage, three pooled layers: inner, second (with a residual), wide."""
    return integer_stage(pooled_network(small_network()))


def _options(*rules: str, **fields: object) -> PoolKernelOptions:
    parsed = tuple(PoolKernelRule.parse(rule) for rule in rules)
    return replace(PoolKernelOptions(rules=parsed), **fields)


def _arena(plan: PoolPlan, board: Board) -> int:
    choices = select_kernels(plan.graph, Target.of(board), plan.configs)
    buffers, overlaps, _ = buffers_of(plan.graph, choices)
    return plan_memory(buffers, overlaps).arena_bytes


def test_a_plan_keeps_order_and_names(graph: Graph) -> None:
    plan = plan_pools(graph, BOARD, _options())
    assert [node.name for node in plan.graph.nodes] == [node.name for node in graph.nodes]
    assert [layer.output for layer in plan.layers] == [n.output for n in pooled_nodes(graph)]
    assert set(plan.configs) == {node.name for node in pooled_nodes(plan.graph)}


def test_two_lanes_are_proved_to_fit(graph: Graph) -> None:
    plan = plan_pools(graph, BOARD, _options("responses"))
    for node, layer in zip(pooled_nodes(plan.graph), plan.layers, strict=True):
        assert layer.kernel is PoolKernel.RESPONSES
        assert layer.lanes == 2
        rounding: qops.PoolRounding = node.attrs.rounding
        assert rounding.response_shift == layer.response_shift
        pool, indices = (plan.graph.constants[name].array for name in node.inputs[1:3])
        zero_point = plan.graph.quant(node.inputs[0]).tensor_zero_point
        assert sums_fit_lanes(pool, indices, zero_point, 8, rounding.response_shift)
        assert rounding.response_shift == 0 or not sums_fit_lanes(
            pool, indices, zero_point, 8, rounding.response_shift - 1
        )


@pytest.mark.parametrize("kernel", ["responses", "decode", "direct", "expand"])
def test_layers_of_sums_are_planned(kernel: str) -> None:
    """Every kernel knows the terms, and stores all indices; its outputs are near the exact ones."""
    graph = integer_stage(pooled_network(small_network(), terms=3))
    plan = plan_pools(graph, BOARD, _options(kernel))
    assert {layer.kernel.value for layer in plan.layers} == {kernel}
    choices = select_kernels(plan.graph, Target.of(BOARD), plan.configs)
    terms = [getattr(c.spec, "terms", 1) for c in choices if c.node.name in plan.configs]
    assert terms == [3] * len(plan.configs)
    x = np.random.default_rng(1).integers(-128, 128, (1, 8, 8, 3)).astype(np.int8)
    found, wanted = run_graph(plan.graph, {"x": x}), run_graph(graph, {"x": x})
    for name in graph.outputs:
        assert np.abs(found[name].astype(int) - wanted[name]).max() <= 3


@pytest.mark.parametrize("kernel", ["decode", "direct", "expand"])
def test_other_kernels_round_no_responses(graph: Graph, kernel: str) -> None:
    """Biases and multipliers of 16 bits move a code by one, here and there."""
    plan = plan_pools(graph, BOARD, _options(kernel))
    assert {layer.kernel.value for layer in plan.layers} == {kernel}
    x = np.random.default_rng(1).integers(-128, 128, (1, 8, 8, 3)).astype(np.int8)
    found, wanted = run_graph(plan.graph, {"x": x}), run_graph(graph, {"x": x})
    most = 0 if kernel == "expand" else 1
    for name in graph.outputs:
        assert np.abs(found[name].astype(int) - wanted[name]).max() <= most


def test_the_last_rule_that_matches_holds(graph: Graph) -> None:
    plan = plan_pools(graph, BOARD, _options("decode", "*inner*=direct", "*inner*=responses"))
    kernels = {layer.output: layer.kernel for layer in plan.layers}
    inner = next(name for name in kernels if "inner" in name)
    assert kernels.pop(inner) is PoolKernel.RESPONSES
    assert set(kernels.values()) == {PoolKernel.DECODE}
    reasons = {layer.reason.split(";")[0] for layer in plan.layers}
    assert reasons == {"as asked"}


def test_table_space_limits_scratch_memory(graph: Graph) -> None:
    sizes = []
    for limit in (64 << 10, 7 << 10, 6 << 10):
        plan = plan_pools(graph, BOARD, _options("responses", table_bytes=limit))
        assert all(layer.scratch_bytes <= limit for layer in plan.layers)
        cycles = [layer.cycles for layer in plan.layers]
        sizes.append(sum(c for c in cycles if c is not None))
    assert sizes == sorted(sizes)
    with pytest.raises(WeightPoolError, match="responses"):
        plan_pools(graph, BOARD, _options("responses", table_bytes=256))


def test_the_arena_is_made_to_fit(graph: Graph) -> None:
    """A board with so little SRAM that large tables do not fit takes smaller ones, or none."""
    free = plan_pools(graph, BOARD, _options())
    assert BOARD.memory is not None
    region = BOARD.memory.region(BOARD.memory.arena_in)
    for spare in (6000, 4000):
        ram = replace(region, size_bytes=BOARD.memory.stack_bytes + 2048 + spare)
        memory = replace(BOARD.memory, ram=(ram,), data_in=ram.name, arena_in=ram.name)
        small = replace(BOARD, memory=memory)
        plan = plan_pools(graph, small, _options())
        assert _arena(plan, small) <= spare < _arena(free, BOARD)


def test_little_table_space_leaves_weights_pooled(graph: Graph) -> None:
    """Decoding for cores with DSP takes what space there is."""
    batches = []
    for limit in (8 << 10, 4 << 10):
        plan = plan_pools(graph, BOARD, _options("decode", table_bytes=limit))
        assert all(config.dsp for config in plan.configs.values())
        assert all(layer.scratch_bytes <= limit for layer in plan.layers)
        choices = select_kernels(plan.graph, Target.of(BOARD), plan.configs)
        specs = [c.spec for c in choices if isinstance(c.spec, PooledDecodeDsp)]
        assert len(specs) == len(plan.layers)
        batches.append(sum(spec.batch for spec in specs))
    assert batches[0] > batches[1]


def test_constants_are_made_to_fit_the_flash() -> None:
    """Ready lists and a look-up table are faster, packed indices and the pool alone smaller."""
    graph = limited_bits(integer_stage(pooled_network(small_network(channels=16))), 6)
    board = load_board("nucleo_g0b1re")
    assert board.memory is not None
    sizes = []
    for size in (board.memory.flash.size_bytes, 18 << 10):
        flash = replace(board.memory.flash, size_bytes=size, boot_bytes=0)
        small = replace(board, memory=replace(board.memory, flash=flash))
        plan = plan_pools(graph, small, _options())
        tables = max(layer.table_bytes for layer in plan.layers)
        sizes.append((tables, max(config.index_bits for config in plan.configs.values())))
    assert sizes == [(8192, READY_INDEX_BITS), (0, 5)]


def test_widths(graph: Graph) -> None:
    fixed = plan_pools(limited_bits(graph, 3), BOARD, _options())
    assert {layer.activation_bits for layer in fixed.layers} == {3}
    assert not any(config.runtime_bits for config in fixed.configs.values())
    free = plan_pools(graph, BOARD, _options(runtime_bits=True))
    assert all(config.runtime_bits for config in free.configs.values())
    assert all(layer.kernel is not PoolKernel.EXPAND for layer in (*fixed.layers, *free.layers))
    with pytest.raises(WeightPoolError, match="expand"):
        plan_pools(limited_bits(graph, 3), BOARD, _options("expand"))


@pytest.mark.parametrize("kernel", ["responses", "decode", "direct"])
def test_numbers_of_16_bits(graph: Graph, kernel: str) -> None:
    plan = plan_pools(graph, BOARD, _options(kernel))
    assert all(config.short for config in plan.configs.values())
    for before, after in zip(pooled_nodes(graph), pooled_nodes(plan.graph), strict=True):
        old, new = graph.constants[before.inputs[4]], plan.graph.constants[after.inputs[4]]
        assert not np.array_equal(old.array, new.array)
        assert np.abs(new.array / old.array - 1).max() <= 2.0**-12
    free = plan_pools(graph, BOARD, _options(kernel, runtime_bits=True))
    assert not any(config.short for config in free.configs.values())


def test_numbers_of_32_bits_where_a_bias_is_far_larger_than_outputs(graph: Graph) -> None:
    """Its lowest bits would be missed."""
    node = pooled_nodes(graph)[0]
    builder = GraphBuilder.of(graph)
    name = node.inputs[3]
    far = graph.constants[name].array.copy()
    far[0] = 1 << 30
    builder.constants[name] = replace(graph.constants[name], array=far)
    plan = plan_pools(builder.build(), BOARD, _options("responses"))
    short = {name: config.short for name, config in plan.configs.items()}
    assert short == {each.name: each is not node for each in pooled_nodes(graph)}


def test_one_lane_where_rounding_would_cost_too_much() -> None:
    """Outputs so fine that rounded responses move them, unless activations are coarse as well."""
    graph = integer_stage(pooled_network(small_network(channels=64)))
    builder = GraphBuilder.of(graph)
    for node in pooled_nodes(graph):
        conv: qops.QConv = node.attrs.conv
        finer = replace(conv, output=replace(conv.output, shift=conv.output.shift - 4))
        builder.put(replace(node, attrs=replace(node.attrs, conv=finer)))
    fine = builder.build()
    plan = plan_pools(fine, BOARD, _options("responses"))
    assert all(layer.lanes == 1 and layer.response_shift == 0 for layer in plan.layers)
    assert all("one lane" in layer.reason for layer in plan.layers)
    coarse = plan_pools(limited_bits(fine, 4), BOARD, _options("responses"))
    assert all(layer.lanes == 2 and layer.response_shift > 0 for layer in coarse.layers)


def test_options_need_pooled_layers() -> None:
    plain = integer_stage(small_network())
    assert plan_pools(plain, BOARD, _options()) == PoolPlan(plain, {}, ())
    for wrong in (
        _options("decode"),
        _options(runtime_bits=True),
        _options(activation_bits=4),
        _options(table_bytes=1000),
    ):
        with pytest.raises(ConfigError, match="no layer of the model has pooled weights"):
            plan_pools(plain, BOARD, wrong)


def test_a_pattern_must_match(graph: Graph) -> None:
    with pytest.raises(ConfigError, match="is called 'nothing'"):
        plan_pools(graph, BOARD, _options("nothing=decode"))


def test_estimates_follow_the_width(graph: Graph) -> None:
    """Of the direct kernel, whose work is in the planes."""
    cycles = []
    for bits in (1, 2, 4, 8):
        plan = plan_pools(limited_bits(graph, bits), BOARD, _options("direct"))
        cycles.append(sum(layer.cycles or 0 for layer in plan.layers))
    assert cycles == sorted(set(cycles))


def test_the_host_has_kernels_but_no_cycles(graph: Graph) -> None:
    plan = plan_pools(graph, load_board("host"), _options())
    assert all(layer.cycles is None for layer in plan.layers)
    families = {config.family for config in plan.configs.values()}
    assert families <= set(PoolFamily)


def test_records_tell_what_is_lowered(graph: Graph) -> None:
    plan = plan_pools(graph, BOARD, _options("responses"))
    choices = {c.node.output: c for c in select_kernels(plan.graph, Target.of(BOARD), plan.configs)}
    for layer in plan.layers:
        spec = choices[layer.output].spec
        assert isinstance(spec, PooledConv)
        assert (layer.lanes, layer.chunk_groups) == (spec.lanes, spec.chunk_groups)
        assert layer.scratch_bytes == spec.scratch_bytes == choices[layer.output].scratch_bytes
        assert layer.builder == spec.builder.value


@pytest.mark.parametrize("text", ["", "fast", "=decode", "x=", "decode=x"])
def test_bad_rules(text: str) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        PoolKernelRule.parse(text)


@pytest.mark.parametrize(
    "wrong",
    [
        *(("0", 0.5, None), ("9", 0.5, None), ("x", 0.5, None), ("-1", 0.5, None)),
        *(("8", -1.0, None), ("8", 101.0, None), ("8", 0.5, "x"), ("8", 0.5, "0")),
    ],
)
def test_bad_options(wrong: tuple[str, float, str | None]) -> None:
    bits, drop, table = wrong
    with pytest.raises(ConfigError):
        PoolKernelOptions.parse(bits, drop, False, (), table)


def test_options_of_the_command_line() -> None:
    found = PoolKernelOptions.parse("auto", 1.0, True, ["decode", "a*=direct"], "32K")
    assert found.activation_bits == "auto"
    assert found.table_bytes == 32768
    assert found.rules[1] == PoolKernelRule("a*", PoolKernel.DIRECT)


@pytest.mark.parametrize("runtime_bits", [False, True])
def test_constants_are_estimated_as_they_are_stored(
    graph: Graph, runtime_bits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Biases and multipliers have 16 bits each, with run-time widths 32."""
    estimated: list[int] = []

    def fits_flash(*given: Any) -> bool:
        before, _, nodes, chosen = given
        estimated.append(constant_bytes(before, nodes, chosen))
        return True

    monkeypatch.setattr("edgec.kernels.weightpool.plan.plan.fits_flash", fits_flash)
    plan = plan_pools(graph, BOARD, _options("decode", runtime_bits=runtime_bits))
    assert all(config.short is not runtime_bits for config in plan.configs.values())
    choices = select_kernels(plan.graph, Target.of(BOARD), plan.configs)
    buffers, overlaps, _ = buffers_of(plan.graph, choices)
    stored = lower(plan.graph, choices, plan_memory(buffers, overlaps)).constant_bytes
    # Kernels fill rows of weights up to words.
    assert estimated[0] <= stored <= estimated[0] + 16 * len(choices)
