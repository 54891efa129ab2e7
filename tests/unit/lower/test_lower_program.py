"""The program: sharing, constants, folded biases, digest."""

import dataclasses

import numpy as np
import pytest
from lower_samples import BOARD, NetBuilder, lowered, small_net

from edgec.base.errors import InternalError, LoweringError
from edgec.ir.graph import Graph
from edgec.kernels.common.constants import ConstantRef
from edgec.kernels.common.weighted import ConvParams, SumParams
from edgec.kernels.select import select_kernels
from edgec.lower import lower
from edgec.lower.program import TensorArg
from edgec.memory import MemoryPlan


def test_equal_layers_share_a_function_and_have_their_own_arguments() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 4, 4, 8)
    for number in range(4):
        x = net.conv(x, f"y{number}", (1, 4, 4, 8))
    program = lowered(net.build(x)).program
    assert len(program.kernels) == 1
    assert [step.kernel for step in program.steps] == [0] * 4
    assert len({step.params for step in program.steps}) == 4


def test_input_zero_point_is_folded_into_the_bias() -> None:
    net = NetBuilder(zero_point=-5)
    graph = net.build(net.conv(net.input("x", 1, 4, 4, 3), "y", (1, 4, 4, 2), 3, pad=1))
    program = lowered(graph).program
    (params,) = program.steps[0].params
    assert isinstance(params, ConvParams)
    weights = graph.constants["y_weight"].array.astype(np.int64).reshape(2, -1)
    expected = graph.constants["y_bias"].array + 5 * weights.sum(axis=1)
    assert np.array_equal(program.constants[params.bias.index].array, expected)


def test_bias_that_folds_out_of_32_bits_is_a_broken_invariant() -> None:
    net = NetBuilder(zero_point=-128)
    graph = net.build(net.gemm(net.input("x", 1, 4), "y", 1))
    constants = dict(graph.constants)
    constants["y_bias"] = dataclasses.replace(
        constants["y_bias"], array=np.array([2**31 - 1], np.int32)
    )
    constants["y_weight"] = dataclasses.replace(
        constants["y_weight"], array=np.full((1, 4), 127, np.int8)
    )
    with pytest.raises(InternalError, match="overflow 32 bits"):
        lowered(graph.replace(constants=constants))


def test_arena_beyond_32_bit_offsets_is_refused() -> None:
    ready = lowered(small_net())
    plan = dataclasses.replace(ready.plan, arena_bytes=2**31)
    with pytest.raises(LoweringError, match="arena of 2147483648 bytes is too large"):
        lower(ready.graph, ready.choices, plan)


def test_depthwise_weights_lie_filter_by_filter() -> None:
    net = NetBuilder()
    graph = net.build(net.conv(net.input("x", 1, 4, 4, 6), "y", (1, 4, 4, 6), 3, pad=1, group=6))
    program = lowered(graph).program
    params = program.steps[0].params[0]
    assert isinstance(params, ConvParams)
    weights = graph.constants["y_weight"].array
    stored = program.constants[params.weights.index].array
    assert stored.tobytes() == weights.tobytes()
    assert weights.shape == (6, 3, 3, 1)


def test_residual_comes_as_second_input_and_second_struct() -> None:
    program = lowered(small_net()).program
    step = program.steps[3]
    assert len(step.inputs) == 2
    assert isinstance(step.params[1], SumParams)
    assert step.scratch is not None


def test_equal_constants_are_kept_once() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 8)
    y = net.gemm(x, "y", 8)
    z = net.gemm(y, "z", 8)
    graph = net.build(z)
    constants = dict(graph.constants)
    for name in ("weight", "bias", "multiplier"):
        constants[f"z_{name}"] = dataclasses.replace(
            constants[f"y_{name}"], name=f"z_{name}", array=constants[f"y_{name}"].array
        )
    assert len(lowered(graph.replace(constants=constants)).program.constants) == 3


def test_reshape_output_lies_where_its_input_lies() -> None:
    program = lowered(small_net()).program
    offsets = {tensor.name: tensor.offset_bytes for tensor in program.tensors}
    assert offsets["f"] == offsets["m"]
    assert program.steps[6].inputs == (TensorArg(offsets["m"]),)


def test_steps_name_their_onnx_nodes() -> None:
    program = lowered(small_net()).program
    assert program.steps[0].sources == ("c_onnx",)
    assert program.macs == sum(step.macs for step in program.steps) > 0


def test_constant_operand_is_an_argument() -> None:
    net = NetBuilder()
    x = net.input("x", 1, 4)
    constant = net.builder.constant("k", net.int8(4), net.quant)
    program = lowered(net.build(net.add(x, constant, "y"))).program
    assert program.steps[0].inputs[1] == ConstantRef(0)


def test_same_graph_same_digest() -> None:
    assert lowered(small_net()).program.digest == lowered(small_net()).program.digest
    assert len(lowered(small_net()).program.digest) == 64


def test_one_changed_weight_changes_the_digest() -> None:
    graph = small_net()
    weight = graph.constants["c_weight"].array.copy()
    weight[0, 0, 0, 0] += 1 if weight[0, 0, 0, 0] < 127 else -1
    changed = dict(graph.constants)
    changed["c_weight"] = dataclasses.replace(changed["c_weight"], array=weight)
    other = graph.replace(constants=changed)
    assert lowered(graph).program.digest != lowered(other).program.digest


def test_name_is_part_of_the_digest() -> None:
    assert lowered(small_net("a")).program.digest != lowered(small_net("b")).program.digest


def test_layouts_reach_the_ports() -> None:
    graph = small_net().replace(input_layouts={"x": (0, 2, 3, 1)})
    program = lowered(graph).program
    assert program.inputs[0].model_perm == (0, 2, 3, 1)
    assert program.outputs[0].model_perm is None


def test_plan_without_a_tensor_is_a_broken_invariant() -> None:
    graph: Graph = small_net()
    with pytest.raises(InternalError, match="no place for a tensor"):
        lower(graph, select_kernels(graph, BOARD), MemoryPlan({}, 0, 0))


def test_constant_output_is_refused() -> None:
    graph = small_net()
    constant = graph.constants["c_weight"]
    graph = graph.replace(outputs=("s", constant.name))
    choices = select_kernels(small_net(), BOARD)
    with pytest.raises(LoweringError, match="depends on no input"):
        lower(graph, choices, lowered(small_net()).plan)


def test_graph_without_inputs_is_refused() -> None:
    graph = small_net().replace(inputs=())
    with pytest.raises(LoweringError, match="no inputs"):
        lower(graph, (), MemoryPlan({}, 0, 0))
